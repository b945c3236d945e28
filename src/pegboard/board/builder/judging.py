"""Tools that judge the board: by the rules of `pegboard check`, and by how findable each tool is."""

from typing import TYPE_CHECKING, Any

import anyio.to_thread

from pegboard.catalog import Unknown
from pegboard.core import Effects, Tool, ToolSpec
from pegboard.define import ToolError, then, tool
from pegboard.errors import PegboardError

if TYPE_CHECKING:
    from pegboard.board.board import Board

WITHIN = 3
"""A tool counts as found at this rank or above."""


def judging(board: "Board") -> list[Tool]:
    """The tools that judge."""
    return [check_tools(board), probe_tool(board)]


def check_tools(board: "Board") -> Tool:
    """`check_tools`: what a model would choose or call worse than it could."""

    @tool(
        effects=Effects.READ_ONLY,
        category="building",
        hints=[then("probe_tool", when="a name or description is unclear")],
    )
    async def check_tools(rules: str = "", tool_name: str = "", limit: int = 50) -> dict[str, Any]:
        """Check the tools of this board by the rules: names, schemas, descriptions, safety, composition.

        Args:
            rules: only rules whose codes begin so, such as "PB5" (composition) or "PB401".
            tool_name: only findings about this tool.
            limit: how many findings to show.
        """
        from pegboard.check import Toolset, check

        specs = _specs(board)
        searched = bool(board.view().meta)

        def judged() -> list[dict[str, Any]]:
            among = Toolset(specs, board=True, search=searched)
            try:
                return [finding.to_json() for finding in check(among, select=(rules,) if rules else ())]
            except PegboardError as problem:
                raise ToolError(problem.message, next_step=problem.next_step, where="/rules") from problem

        rows = [row for row in await anyio.to_thread.run_sync(judged) if not tool_name or row["tool"] == tool_name]
        return {"findings": rows[: max(1, limit)], "total": len(rows), "tools": len(specs)}

    return check_tools.tool


def probe_tool(board: "Board") -> Tool:
    """`probe_tool`: how findable one tool is among the others."""

    @tool(effects=Effects.READ_ONLY, category="building")
    async def probe_tool(name: str) -> dict[str, Any]:
        """Ask this board's search for one tool, in its own examples and words and in paraphrases of them.

        Says how often it is found within the first three, and which tools stand before it by which words.

        Args:
            name: the tool's name.
        """
        from pegboard.check.probe import probe
        from pegboard.index import default

        target = board.resolve(name)
        if isinstance(target, Unknown):
            failure = board.absent(target)
            raise ToolError(failure.message, code=failure.code, next_step=failure.next_step)
        specs = _specs(board)
        probed = await anyio.to_thread.run_sync(lambda: probe(specs, default()))
        found = next((each for each in probed if each.tool == str(target)), None)
        if found is None:
            raise ToolError(f"{target} is a tool of the board itself; it is always in the list.")
        return found.to_json(WITHIN)

    return probe_tool.tool


def _specs(board: "Board") -> tuple[ToolSpec, ...]:
    """The tools that are judged: not those of this namespace."""
    return tuple(spec for spec in board.catalog.specs if spec.source.kind not in ("builder", "builtin"))
