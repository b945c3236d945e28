"""`pegboard search`: find tools by what they do."""

from collections.abc import Sequence
from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from pegboard.cli import shapes
from pegboard.cli.exit import Exit
from pegboard.cli.open import opened
from pegboard.cli.options import DEFAULT_CONFIG, AsJson, ConfigFile
from pegboard.cli.output import document, say, table
from pegboard.core import Effects, Mode, Selection, SourceState
from pegboard.index import Found, Hit, Where


async def search(
    query: str,
    *,
    limit: Annotated[int, Parameter(validator=Number(gte=1))] = 8,
    only: Sequence[str] = (),
    namespace: str | None = None,
    category: str | None = None,
    effects: Sequence[Effects] = (),
    mode: Mode | None = None,
    version: str | None = None,
    state: Sequence[SourceState] = (),
    auth_met: Annotated[bool, Parameter(negative=())] = False,
    explain: Annotated[bool, Parameter(negative=())] = False,
    config: ConfigFile = DEFAULT_CONFIG,
    json: AsJson = False,
) -> int:
    """Find tools by what they do.

    Parameters
    ----------
    query
        What the tool should do, or its name.
    limit
        How many to show.
    only
        Only among tools that these selectors pick, such as "git.*".
    namespace
        Only tools of this namespace.
    category
        Only tools that declare this category.
    effects
        Only tools with these effects.
    mode
        Only tools that run in this mode themselves, such as preview.
    version
        Only this version of a tool; "" for tools without one.
    state
        Only tools of sources in this state.
    auth_met
        Leave out tools whose sign-in is known not to be there.
    explain
        Also show which words matched in which field, and which did not.
    """
    where = Where(
        select=Selection.parse(only) if only else None,
        namespace=namespace,
        category=category,
        effects=frozenset(effects) or None,
        mode=mode,
        version=version,
    )
    async with opened(config) as board:
        where = board.narrowed(where, states=state, auth_met=auth_met)
        answer = await board.search(query, limit, where)
        if json:
            document(shapes.found(answer, board.aliases))
        else:
            _show(answer, explain=explain)
    return Exit.OK


def _show(answer: Found, *, explain: bool) -> None:
    rows = [
        (hit.name, f"{hit.confidence:.0%}", _words(hit), hit.spec.title or hit.spec.description) for hit in answer.hits
    ]
    table(("tool", "fits", "by", "what it does"), rows)
    for hit in answer.hits if explain else ():
        say(f"{hit.name} ({hit.score:.3f})")
        for field, matched in hit.matched.items():
            say(f"  {field}: {', '.join(matched)}")
        if hit.unmatched:
            say(f"  in no field: {', '.join(hit.unmatched)}")
    if explain:
        say(f"Something here fits: {answer.confidence:.0%}. Matched at all: {answer.total}.")
    if answer.next_names:
        say(f"Next: {', '.join(map(str, answer.next_names[:5]))}.")
    if not answer.hits:
        say("Nothing fits. Try other words, or see everything with: pegboard list")
    if answer.unknown_terms:
        say(f"No tool knows: {', '.join(answer.unknown_terms)}.")
    if answer.did_you_mean:
        say(f"Did you mean: {', '.join(answer.did_you_mean)}?")


def _words(hit: Hit) -> str:
    """The words that matched, each once; where none did it was found by its meaning."""
    found = dict.fromkeys(word for matched in hit.matched.values() for word in matched)
    return ", ".join(found) or "meaning"
