"""Foreign text for a person's eyes: nothing in it steers a terminal, hides, or drowns the rest."""

from unicodedata import category

from pegboard.schema.types import Json, canonical

REASON = 500
"""Characters of a model's reason that are shown."""
SHOWN = 2_000
"""Characters of a tool's arguments that are shown."""

_HIDDEN_KINDS = frozenset(("Cc", "Cf", "Cs", "Co", "Zl", "Zp"))
"""Unicode's categories of control, format, surrogate and private characters, and of line and paragraph separators."""
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0") | {chr(code) for code in range(0xFE00, 0xFE10)}
"""Letters and marks that show nothing."""


def _hidden(char: str) -> bool:
    return not (" " <= char <= "~") and (category(char) in _HIDDEN_KINDS or char in _BLANK)


def plain(text: object, limit: int = REASON) -> str:
    """A foreign text on one line, without control, bidirectional and invisible characters, and capped.

    Parameters:
        text: the text.
        limit: how many characters are kept; what is left out is told by its length.
    """
    line = " ".join("".join(" " if _hidden(char) else char for char in str(text)).split())
    return line if len(line) <= limit else f"{line[:limit].rstrip()} ... ({len(line) - limit} characters more)"


def shown(value: Json, limit: int = SHOWN) -> str:
    """A JSON value for a person's eyes, hidden characters written out as escapes."""
    text = "".join(char.encode("unicode_escape").decode() if _hidden(char) else char for char in canonical(value))
    return text if len(text) <= limit else f"{text[:limit]} ... ({len(text) - limit} characters more)"
