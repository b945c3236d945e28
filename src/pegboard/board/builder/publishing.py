"""Tools that publish agents and chains as versions: shown first, kept only where that is allowed."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import anyio.to_thread

from pegboard.board.issued import AGENT, CHAIN, Issue, agent_content, chain_content, drafted, issue
from pegboard.config import Config
from pegboard.core import Effects, FailureCode, Tool
from pegboard.define import ToolError, tool
from pegboard.errors import PegboardError
from pegboard.schema.types import JsonObject

if TYPE_CHECKING:
    from pegboard.board.board import Board


def publishing(board: "Board", write: bool) -> list[Tool]:
    """The tools that publish.

    Parameters:
        board: the board.
        write: whether versions may be kept.
    """
    return [publish_agent_version(board, write), publish_flow_version(board, write)]


def publish_agent_version(board: "Board", write: bool) -> Tool:
    """`publish_agent_version`: an agent of the config, frozen as a version."""

    def content(name: str) -> JsonObject:
        return agent_content(name, _config(board).tables["agent"], board.catalog)

    @tool(effects=Effects.ADDITIVE, category="building")
    async def publish_agent_version(agent: str, note: str = "", version: str | None = None) -> dict[str, Any]:
        """Freeze an agent of this board as a version that never changes and can be run; a preview shows it.

        Args:
            agent: the agent's name.
            note: what is new in it.
            version: what the version is called; the next number if left out.
        """
        return await _publish(board, write, AGENT, agent, content, version, note)

    @publish_agent_version.preview
    async def preview(agent: str, note: str = "", version: str | None = None) -> dict[str, Any]:  # pyright: ignore[reportUnusedFunction]
        return await _show(board, AGENT, agent, content, version, note)

    return publish_agent_version.tool


def publish_flow_version(board: "Board", write: bool) -> Tool:
    """`publish_flow_version`: a chain of the board, frozen as a version."""

    def content(name: str) -> JsonObject:
        return chain_content(name, board.catalog)

    @tool(effects=Effects.ADDITIVE, category="building")
    async def publish_flow_version(chain: str, note: str = "", version: str | None = None) -> dict[str, Any]:
        """Freeze a chain of this board as a version that never changes and can be run; a preview shows it.

        Args:
            chain: the chain's name.
            note: what is new in it, and what its callers have to change.
            version: what the version is called; the next number if left out.
        """
        return await _publish(board, write, CHAIN, chain, content, version, note)

    @publish_flow_version.preview
    async def preview(chain: str, note: str = "", version: str | None = None) -> dict[str, Any]:  # pyright: ignore[reportUnusedFunction]
        return await _show(board, CHAIN, chain, content, version, note)

    return publish_flow_version.tool


async def _publish(
    board: "Board",
    write: bool,
    kind: str,
    name: str,
    content: Callable[[str], JsonObject],
    version: str | None,
    note: str,
) -> dict[str, Any]:
    if not write:
        raise ToolError(
            "This board does not let agents publish.",
            next_step=f"Its operator can: pegboard publish {kind} {name}, or set write = true in [builder].",
            code=FailureCode.BLOCKED,
        )
    return await _kept(board, kind, name, content, version, note, keep=True)


async def _show(
    board: "Board", kind: str, name: str, content: Callable[[str], JsonObject], version: str | None, note: str
) -> dict[str, Any]:
    return await _kept(board, kind, name, content, version, note, keep=False)


async def _kept(
    board: "Board",
    kind: str,
    name: str,
    content: Callable[[str], JsonObject],
    version: str | None,
    note: str,
    *,
    keep: bool,
) -> dict[str, Any]:
    location = _config(board).board.store

    def step() -> Issue:
        from pegboard.store import Store

        with Store.open(location) as store:
            act = issue if keep else drafted
            return act(store, kind, name, content(name), version=version, note=note)

    try:
        issued = await anyio.to_thread.run_sync(step)
    except PegboardError as problem:
        raise ToolError(problem.message, next_step=problem.next_step) from problem
    return _told(issued, kept=keep)


def _told(issued: Issue, *, kept: bool) -> dict[str, Any]:
    return {
        "version": issued.kept.label,
        "digest": issued.kept.digest,
        "published": kept and issued.fresh,
        "new": issued.fresh,
        "changes": [{"where": where, "before": old, "after": new} for where, old, new in issued.changes],
        "migration": [
            f"{place.weight.value}: {place.pointer or '/'}: {place.message}"
            for one in issued.migration
            for place in one.differences
        ],
    }


def _config(board: "Board") -> Config:
    if board.config is None:
        raise ToolError("This board was made without a config, so nothing can be published.")
    return board.config
