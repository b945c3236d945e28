"""Tools that run one tool alone, find improvements and apply them: shown first, written only where that is allowed."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import anyio.to_thread

from pegboard.board.findings import Draft, Findings
from pegboard.board.passage import traces_of
from pegboard.catalog import Unknown
from pegboard.config import Config
from pegboard.core import Call, Effects, FailureCode, Mode, Result, Tool
from pegboard.define import ToolError, first, then, tool
from pegboard.errors import PegboardError
from pegboard.insight.mine import mine_runs
from pegboard.insight.offer import Offer
from pegboard.insight.summary import summarise
from pegboard.insight.trial import TRIAL

if TYPE_CHECKING:
    from pegboard.board.board import Board


def acting(board: "Board", write: bool) -> list[Tool]:
    """The tools that act.

    Parameters:
        board: the board.
        write: whether improvements may be written into the config.
    """
    return [execute_tool(board), find_improvements(board), apply_improvement(board, write)]


def execute_tool(board: "Board") -> Tool:
    """`execute_tool`: one tool alone, through the same gates as any call."""

    @tool(effects=Effects.UNKNOWN, category="building", hints=[first("list_tools", when="you do not know its name")])
    async def execute_tool(call: Call, name: str, arguments: dict[str, Any], mode: str = "dry_run") -> Result:
        """Run one tool of this board by itself, to see what it does before an agent gets it.

        The tool's own rules hold: approval, limits, budget.

        Args:
            name: the tool's name.
            arguments: its arguments.
            mode: dry_run checks only; preview shows what would change, where the tool can; execute does it.
        """
        target = board.resolve(name)
        if isinstance(target, Unknown):
            return Result(failure=board.absent(target))
        if target.namespace == "builder":
            return Result.failed(
                FailureCode.BLOCKED, "The tools of this namespace are called themselves.", where="name"
            )
        if mode not in set(Mode):
            return Result.failed(
                FailureCode.INVALID_ARGUMENTS, f"There is no mode {mode!r}.", where="/mode", next_step="Use dry_run."
            )
        inner = Call(
            tool=target,
            arguments=arguments,
            mode=Mode(mode),
            session=call.session,
            id=f"{call.id}/tool",
            parent=call.id,
            group=call.id,
        )
        return await board.run(inner)

    return execute_tool.tool


def find_improvements(board: "Board") -> Tool:
    """`find_improvements`: what the board's traces teach."""

    @tool(
        effects=Effects.READ_ONLY,
        category="building",
        hints=[then("apply_improvement", when="a finding convinces you")],
    )
    async def find_improvements(kind: str | None = None, limit: int = 20) -> dict[str, Any]:
        """Find what to bundle, batch, merge, hint or retire, from the traces of this board; each finding has an id.

        Args:
            kind: only this kind: bundle, batch, fan_out, merge, ladder_gap, missing_hint, hot_spot, context,
                search_miss, budget_pressure, unproven, no_traffic or dead.
            limit: how many to show.
        """
        config = _config(board)
        rows = await anyio.to_thread.run_sync(lambda: _found(config, Offer(board.catalog.specs)))
        chosen = [row for row in rows if kind is None or row["kind"] == kind]
        return {"findings": [_brief(row) for row in chosen[: max(1, limit)]], "total": len(chosen)}

    return find_improvements.tool


def apply_improvement(board: "Board", write: bool) -> Tool:
    """`apply_improvement`: what a finding would add to the board, and where that is allowed, adding it."""

    @tool(
        effects=Effects.DESTRUCTIVE,
        category="building",
        hints=[first("find_improvements", when="you have no finding id")],
    )
    async def apply_improvement(finding: str, name: str | None = None) -> dict[str, Any]:
        """Add the tool or hint that a finding proposes to this board's config; by default only show it.

        Args:
            finding: the finding's id, as find_improvements shows it.
            name: the new tool's name: say the task, not the steps.
        """
        if not write:
            raise ToolError(
                "This board does not let agents change its config.",
                next_step="Its operator can apply it: pegboard insight apply " + finding + " --write, or set write = "
                "true in [builder].",
                code=FailureCode.BLOCKED,
            )
        return await anyio.to_thread.run_sync(lambda: _apply(board, finding, name, write=True))

    @apply_improvement.preview
    async def preview(finding: str, name: str | None = None) -> dict[str, Any]:  # pyright: ignore[reportUnusedFunction]
        return await anyio.to_thread.run_sync(lambda: _apply(board, finding, name, write=False))

    return apply_improvement.tool


def _apply(board: "Board", id: str, name: str | None, *, write: bool) -> dict[str, Any]:
    findings = Findings(_config(board))
    try:
        found = findings.find(id)
        draft = findings.draft(found, Offer(board.catalog.specs), name=name)
        written = findings.apply(found, draft) if write and not draft.proposal.refused else []
    except PegboardError as problem:
        raise ToolError(problem.message, next_step=problem.next_step) from problem
    return _shown(draft, written)


def _shown(draft: Draft, written: list[str]) -> dict[str, Any]:
    proposal = draft.proposal
    return {
        "finding": proposal.finding,
        "tool": proposal.tool,
        "config": draft.config,
        "cases": len(draft.cases),
        "notes": list(proposal.notes),
        "refused": proposal.refused,
        "written": written,
    }


def _found(config: Config, offer: Offer) -> list[dict[str, Any]]:
    own = traces_of(config)
    if own is None:
        raise ToolError("This board keeps no traces.", next_step="Its operator can give it a store.")
    told = mine_runs(run for run in own.scan() if run.agent != TRIAL)
    rows = [finding.to_json() for finding in summarise(told, offer).findings]
    Findings(config).keep(rows)
    return rows


def _brief(row: Mapping[str, Any]) -> dict[str, Any]:
    wanted = ("id", "kind", "tools", "reason", "support_runs", "support_tasks", "confidence", "saving")
    return {key: row[key] for key in wanted}


def _config(board: "Board") -> Config:
    if board.config is None:
        raise ToolError("This board was made without a config, so nothing can be kept or written.")
    return board.config
