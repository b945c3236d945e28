"""`pegboard list`: what is there."""

from collections.abc import Sequence

from pegboard.cli import shapes
from pegboard.cli.exit import Exit
from pegboard.cli.open import opened
from pegboard.cli.options import DEFAULT_CONFIG, AsJson, ConfigFile
from pegboard.cli.output import counted, document, one_line, say, table
from pegboard.core import SourceState, SourceStatus, select


async def list_tools(*selectors: str, config: ConfigFile = DEFAULT_CONFIG, json: AsJson = False) -> int:
    """List the tools of the board, and how its sources are.

    Parameters
    ----------
    selectors
        Only tools that these pick, such as "git.*" or "effects:destructive".
    """
    async with opened(config) as board:
        specs = select(selectors, board.catalog.specs) if selectors else board.catalog.specs
        statuses = await board.statuses()
        if json:
            tools = [shapes.tool(spec, board.aliases) for spec in specs]
            document({"tools": tools, "sources": [shapes.source(status) for status in statuses]})
        else:
            table(("tool", "effects", "what it does"), [(s.name, s.effects, s.title or s.description) for s in specs])
            say(_summary(len(specs), statuses))
    return Exit.OK


def _summary(tools: int, statuses: Sequence[SourceStatus]) -> str:
    unwell = [status for status in statuses if status.state in (SourceState.UNAVAILABLE, SourceState.DEGRADED)]
    lines = [f"{counted(tools, 'tool')}; {counted(len(statuses), 'source')}."]
    lines += [f"{status.name} is {status.state}: {one_line(status.error or '')}" for status in unwell]
    return "\n".join(lines)
