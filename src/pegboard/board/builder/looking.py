"""Tools that look at the board, at servers that could join it, and at what agents did."""

import shlex
from typing import TYPE_CHECKING, Any

import anyio.to_thread

from pegboard.board.passage import traces_of
from pegboard.core import Effects, Tool, select
from pegboard.define import ToolError, first, then, tool
from pegboard.errors import PegboardError, nearest
from pegboard.insight.offer import Offer
from pegboard.trace.store import RunFilter, TraceStore
from pegboard.trace.tree import call_tree, span_of

if TYPE_CHECKING:
    from pegboard.board.board import Board

MOST_RUNS = 100


def looking(board: "Board", servers: bool) -> list[Tool]:
    """The tools that only look.

    Parameters:
        board: the board.
        servers: whether servers that are not on it may be started and reached.
    """
    found = [list_tools(board), list_runs(board), trace_execution(board)]
    return [*found, discover_mcp_server_tools()] if servers else found


def list_tools(board: "Board") -> Tool:
    """`list_tools`: every tool with its type."""

    @tool(
        effects=Effects.READ_ONLY, category="building", hints=[then("find_improvements", when="you know what is there")]
    )
    async def list_tools(select_only: str = "", offset: int = 0, limit: int = 50) -> dict[str, Any]:
        """List the tools of this board: name, what it does, effects, rung, modes, source, and what it is made of.

        Args:
            select_only: only tools that this selector picks, such as "github.*" or "effects:destructive".
            offset: how many to leave out from the start.
            limit: how many to show.
        """
        specs = select([select_only], board.catalog.specs) if select_only else board.catalog.specs
        rows = [
            {
                "name": str(spec.name),
                "description": spec.description.split("\n", 1)[0][:200],
                "effects": spec.effects.value,
                "rung": spec.rung.value if spec.rung else None,
                "modes": list(spec.modes),
                "source": spec.source.name,
                "kind": Offer.composite(spec) or spec.source.kind,
                "uses": list(Offer.uses(spec)),
                "exposure": board.exposure(spec.name)[0].value,
            }
            for spec in list(specs)[max(0, offset) :][: max(1, limit)]
        ]
        return {"tools": rows, "total": len(specs)}

    return list_tools.tool


def list_runs(board: "Board") -> Tool:
    """`list_runs`: what agents did, run by run."""

    @tool(effects=Effects.READ_ONLY, category="building", hints=[then("trace_execution", when="a run looks odd")])
    async def list_runs(
        agent: str | None = None, tool_name: str | None = None, failed: bool | None = None, limit: int = 20
    ) -> dict[str, Any]:
        """List the runs of this board, the latest first: agent, calls, failures, tools.

        Args:
            agent: only runs of this agent; * stands for anything.
            tool_name: only runs that called this tool; * stands for anything.
            failed: only runs with a failed call, or only runs without one.
            limit: how many to show, 100 at most.
        """
        where = RunFilter(agent=agent, tool=tool_name, failed=failed)
        count = max(1, min(limit, MOST_RUNS))
        runs = await anyio.to_thread.run_sync(lambda: _traces(board).runs(where, limit=count))
        rows = [
            {
                "run": run.id,
                "agent": run.agent,
                "calls": run.calls,
                "failed": run.failed,
                "tools": list(run.tools),
                "started": run.started,
                "ended": run.ended,
            }
            for run in runs
        ]
        return {"runs": rows}

    return list_runs.tool


def trace_execution(board: "Board") -> Tool:
    """`trace_execution`: the calls of one run as a tree."""

    @tool(effects=Effects.READ_ONLY, category="building", hints=[first("list_runs", when="you have no run id")])
    async def trace_execution(run: str) -> dict[str, Any]:
        """Show one run: its calls in order as a tree, each with arguments, result, failure and time.

        Args:
            run: the run's id, as list_runs shows it.
        """
        found = await anyio.to_thread.run_sync(lambda: _traces(board).run(run))
        if found is None:
            known = await anyio.to_thread.run_sync(lambda: [each.id for each in _traces(board).runs(limit=1000)])
            near = nearest(run, known, limit=1)
            raise ToolError(
                f"There is no run {run!r}.", next_step=f"Did you mean {near[0]}?" if near else "Call list_runs."
            )
        return {"run": found.id, "agent": found.agent, **span_of(found), "calls": call_tree(found)}

    return trace_execution.tool


def discover_mcp_server_tools() -> Tool:
    """`discover_mcp_server_tools`: what a server offers that is not on the board."""

    @tool(effects=Effects.ADDITIVE, costly=True, category="building")
    async def discover_mcp_server_tools(server: str, limit: int = 100) -> dict[str, Any]:
        """Start an MCP server, or reach one, and list its tools without adding it to the board.

        Args:
            server: the command line that starts it, or its http(s) address.
            limit: how many tools to show.
        """
        from pegboard.sources.mcp import McpSource

        target = server if server.startswith(("http://", "https://")) else shlex.split(server)
        source = McpSource("server", target, prefix="")
        try:
            async with source.session():
                listing = await source.listing()
        except PegboardError as problem:
            raise ToolError(
                problem.message, next_step=problem.next_step or "Check the command or the address."
            ) from problem
        rows = [
            {"name": each.name.name, "description": each.spec.description[:300], "effects": each.spec.effects.value}
            for each in listing.tools[: max(1, limit)]
        ]
        return {"tools": rows, "total": len(listing.tools), "notes": [note.message for note in listing.notes]}

    return discover_mcp_server_tools.tool


def _traces(board: "Board") -> TraceStore:
    found = traces_of(board.config) if board.config is not None else None
    if found is None:
        raise ToolError("This board keeps no traces.", next_step="Its operator can give it a store.")
    return found
