"""`pegboard hints`: what to call before which tool, as schemas and names suggest it; to be accepted or refused."""

from typing import Any

from pegboard.cli.exit import Exit
from pegboard.cli.open import opened
from pegboard.cli.options import DEFAULT_CONFIG, AsJson, ConfigFile
from pegboard.cli.output import counted, data, document, say, table
from pegboard.config.template import to_toml
from pegboard.core import select
from pegboard.index import Prerequisite


async def hints(
    *selectors: str,
    toml: bool = False,
    config: ConfigFile = DEFAULT_CONFIG,
    json: AsJson = False,
) -> int:
    """List the hints that follow from what tools give and need, and that nobody has written down.

    Models see them in the answers of find_tool_by_intent and tool_describe, with their confidence. Written into
    [hint."TOOL"] as `first` they also stand in the description; in `refuse` they are told no more.

    Parameters
    ----------
    selectors
        Only for tools that these pick, such as "crm.*".
    toml
        Print the tables that accept them all, to copy from.
    """
    async with opened(config) as board:
        specs = select(selectors, board.catalog.specs) if selectors else board.catalog.specs
        found: list[Prerequisite] = []
        for spec in specs:
            found += [one for one in await board.before(spec.name) if one.derived and one.before == spec.name]
    if json:
        document({"hints": [_row(one) for one in found]})
    elif toml:
        data("\n".join(_accepting(found)))
    else:
        rows = [(one.before, one.parameter, one.name, f"{one.confidence:.0%}") for one in found]
        table(("tool", "needs", "which comes from", "sure"), rows)
        say(f"{counted(len(found), 'derived hint')}.")
    return Exit.OK


def _row(one: Prerequisite) -> dict[str, Any]:
    return {
        "tool": str(one.before),
        "parameter": one.parameter,
        "first": str(one.name),
        "confidence": one.confidence,
    }


def _accepting(found: list[Prerequisite]) -> list[str]:
    """The tables that accept hints."""
    by_tool: dict[str, list[Prerequisite]] = {}
    for one in found:
        by_tool.setdefault(str(one.before), []).append(one)
    lines: list[str] = []
    for tool, hints in by_tool.items():
        rows = ", ".join(
            f"{{ tool = {to_toml(str(one.name))}, parameter = {to_toml(one.parameter)} }}" for one in hints
        )
        lines += [f"[hint.{to_toml(tool)}]", f"first = [{rows}]", ""]
    return lines
