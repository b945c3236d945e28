"""`pegboard list`: what is there."""

from collections.abc import Sequence
from typing import Annotated

from cyclopts import Parameter

from pegboard.board import Board
from pegboard.cli import shapes
from pegboard.cli.exit import Exit
from pegboard.cli.open import opened, unwell
from pegboard.cli.options import DEFAULT_CONFIG, AsJson, ConfigFile
from pegboard.cli.output import counted, document, say, table
from pegboard.core import SourceStatus, ToolSpec, select


async def list_tools(
    *selectors: str,
    ladder: Annotated[bool, Parameter(negative="")] = False,
    config: ConfigFile = DEFAULT_CONFIG,
    json: AsJson = False,
) -> int:
    """List the tools of the board, and how its sources are.

    Parameters
    ----------
    selectors
        Only tools that these pick, such as "git.*" or "effects:destructive".
    ladder
        Show what the tools are about, on which rung each stands, and where a rung is missing.
    """
    async with opened(config) as board:
        specs = select(selectors, board.catalog.specs) if selectors else board.catalog.specs
        if ladder:
            return _ladder(specs, as_json=json)
        statuses = await board.statuses()
        if json:
            tools = [shapes.tool(spec, board.aliases) for spec in specs]
            sources = [{**shapes.source(status), "origin": _origin(board, status)} for status in statuses]
            document({"tools": tools, "sources": sources})
        else:
            table(("tool", "effects", "what it does"), [(s.name, s.effects, s.title or s.description) for s in specs])
            say(_summary(len(specs), statuses))
            if board.version:
                say(f"The board is held to its version {board.version}.")
    return Exit.OK


def _origin(board: Board, status: SourceStatus) -> str | None:
    """The discoverable that a source was installed from."""
    source = board.config.sources.get(status.name) if board.config is not None else None
    return source.origin if source is not None else None


def _ladder(specs: Sequence[ToolSpec], *, as_json: bool) -> int:
    from pegboard.compose.ladder import ladder
    from pegboard.core import Rung

    found = ladder(specs)
    if as_json:
        rows = [
            {
                "namespace": each.namespace,
                "subject": each.subject,
                **{rung.value: list(each.rungs.get(rung, ())) for rung in Rung},
                "gap": each.gap,
            }
            for each in found
        ]
        document({"capabilities": rows})
        return Exit.OK
    shown = [
        (
            f"{each.namespace}.{each.subject}" if each.namespace else each.subject,
            *(", ".join(name.rpartition(".")[2] for name in each.rungs.get(rung, ())) for rung in Rung),
            each.gap or "",
        )
        for each in found
    ]
    table(("about", *(rung.value for rung in Rung), "gap"), shown)
    say(f"{counted(len(found), 'subject')}; {counted(sum(1 for each in found if each.gap), 'gap')}.")
    return Exit.OK


def _summary(tools: int, statuses: Sequence[SourceStatus]) -> str:
    return "\n".join([f"{counted(tools, 'tool')}; {counted(len(statuses), 'source')}.", *unwell(statuses)])
