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
from pegboard.core import Selection
from pegboard.index import Found, Where


async def search(
    query: str,
    *,
    limit: Annotated[int, Parameter(validator=Number(gte=1))] = 8,
    only: Sequence[str] = (),
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
    """
    where = Where(select=Selection.parse(only)) if only else None
    async with opened(config) as board:
        answer = await board.search(query, limit, where)
        if json:
            document(shapes.found(answer, board.aliases))
        else:
            _show(answer)
    return Exit.OK


def _show(answer: Found) -> None:
    rows = [(hit.name, f"{hit.confidence:.0%}", hit.spec.title or hit.spec.description) for hit in answer.hits]
    table(("tool", "fits", "what it does"), rows)
    if not answer.hits:
        say("Nothing fits. Try other words, or see everything with: pegboard list")
    if answer.unknown_terms:
        say(f"No tool knows: {', '.join(answer.unknown_terms)}.")
    if answer.did_you_mean:
        say(f"Did you mean: {', '.join(answer.did_you_mean)}?")
