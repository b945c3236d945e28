"""What `serve` says of a board: how its sources came up, how large it is, what a model sees of it, how to connect."""

import json
from collections.abc import Iterable, Iterator

from pegboard.board import Board
from pegboard.cli.output import one_line
from pegboard.config import Config
from pegboard.core import SourceState, SourceStatus
from pegboard.surface import mcp

BYTES_PER_TOKEN = 4
_MARK = {SourceState.READY: "+", SourceState.IDLE: "=", SourceState.STARTING: "~", SourceState.DISABLED: "-"}


def source_line(status: SourceStatus, config: Config) -> str:
    """One source, on one line."""
    told = config.sources.get(status.name)
    parts = [f"  {_MARK.get(status.state, '!')} {status.name:<12} {status.state:<11} {status.tools:>4} tools"]
    if status.start_seconds is not None:
        parts.append(f"{status.start_seconds:5.1f} s")
    parts.append(one_line(status.error) if status.error else _target(told.target if told else status.kind))
    return "  ".join(parts)


def size_line(board: Board) -> str:
    """How large the full list is, and what a model is shown of it."""
    view = board.view()
    full = sum(_tokens([mcp.tool(spec, view.wire_name(spec.name))]) for spec in board.catalog.specs)
    shown = sum(_tokens([row]) for row in mcp.tools(view))
    share = f" ({shown / full:.0%})" if full else ""
    held = f"Board version {board.version}: " if board.version else ""
    return (
        f"{held}{len(board.catalog)} tools. The full list takes about {full:,} tokens; a model is shown"
        f" {len(view.listed)} entries in {shown:,}{share}"
        + (" and finds the rest by search." if view.deferred else ".")
    )


def connect_lines(address: str, token: str | None) -> Iterator[str]:
    """How to connect a client over HTTP."""
    server: dict[str, object] = {"type": "http", "url": address}
    if token:
        server["headers"] = {"Authorization": "Bearer ..."}
    yield f"Serving at {address}"
    yield "In a client's MCP settings: " + json.dumps({"mcpServers": {"pegboard": server}})


def _tokens(rows: Iterable[object]) -> int:
    return (
        len(json.dumps(list(rows), ensure_ascii=False, separators=(",", ":"), default=str).encode()) // BYTES_PER_TOKEN
    )


def _target(target: object) -> str:
    if not isinstance(target, tuple):
        return one_line(target)
    words = [str(word) for word in target]  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    return one_line(" ".join(words))
