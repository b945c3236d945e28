"""What is worked out for every tool at each request: compiled (`native/`) where it could be, else in numpy (`plain`).

Both give the same numbers to the last bit; what each function does stands in `plain`.
"""

from pathlib import Path
from types import ModuleType
from zlib import crc32

from pegboard.index import plain

try:
    from pegboard.index import _kernel as compiled
except ImportError:
    compiled = None


def fresh(module: ModuleType | None) -> bool:
    """Whether a kernel was compiled from the sources that lie beside it: an older one may do other things."""
    sources = sorted((Path(__file__).parent / "native").glob("*.[ch]"))
    told = crc32(b"".join([source.read_bytes() for source in sources])) & 0x7FFFFFFF
    return getattr(module, "SOURCES", None) == told


def slower(module: ModuleType | None) -> str | None:
    """Why search is slower than it could be and what to do; None where nothing holds it up.

    Parameters:
        module: what was compiled, if anything was.
    """
    if fresh(module):
        return None
    if module is None:
        why, remedy = "could not be compiled", "See that there is a C compiler, and install Pegboard again"
    else:
        why, remedy = "was compiled from other sources", "Install Pegboard again"
    return f"Search works in numpy and takes two to three times as long: its kernel {why}. {remedy}."


chosen = compiled if compiled and fresh(compiled) else plain

chances = chosen.chances
close = chosen.close
compared = chosen.compared
evidence = chosen.evidence
exact = chosen.exact
fused = chosen.fused
held = chosen.held
matched = chosen.matched
nearest = chosen.nearest
odds = chosen.odds
ordered = chosen.ordered
spread = chosen.spread
summed = chosen.summed
told = chosen.told
weighed = chosen.weighed
whole = chosen.whole
