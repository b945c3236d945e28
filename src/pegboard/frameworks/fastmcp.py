"""A board inside a FastMCP server, and a FastMCP server as a source of a board in one process (extra `fastmcp`)."""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from pegboard.board import Board
from pegboard.core import Call, Health, Listing, Session, Tool, ToolName, ToolSpec
from pegboard.errors import MissingExtraError
from pegboard.schema.types import JsonObject
from pegboard.sources.mcp import McpSource
from pegboard.surface import mcp
from pegboard.wire.server.typed import call_tool_result

try:
    from fastmcp import FastMCP
    from fastmcp.server.dependencies import get_context
    from fastmcp.server.providers import Provider
    from fastmcp.tools.base import Tool as FastTool
    from fastmcp.tools.base import ToolResult
    from fastmcp.utilities.versions import VersionSpec
    from pydantic import ConfigDict
except ImportError as error:
    raise MissingExtraError("fastmcp", feature="A board inside a FastMCP server") from error


class BoardProvider(Provider):
    """Shows an open board in somebody's FastMCP server, beside the server's own tools.

    Parameters:
        board: the board.
        session: who calls; by default each connection is a session of its own.
    """

    def __init__(self, board: Board, *, session: Session | None = None) -> None:
        super().__init__()
        self.board, self.session = board, session

    async def _list_tools(self) -> Sequence[FastTool]:
        view = self.board.view(self._whose())
        return [self._tool(spec, view.wire_name(spec.name)) for spec in view.listed]

    async def _get_tool(self, name: str, version: VersionSpec | None = None) -> FastTool | None:
        found = self.board.resolve(name)
        tool = self.board.tool(found) if isinstance(found, ToolName) else None
        return self._tool(tool.spec, name) if tool is not None else None

    def _tool(self, spec: ToolSpec, name: str) -> "BoardTool":
        row = mcp.tool(spec, name, mcp.Family.HANDSHAKE)
        shared = {"title": "title", "annotations": "annotations", "icons": "icons", "output_schema": "outputSchema"}
        fields: dict[str, Any] = {field: row[key] for field, key in shared.items() if key in row}
        return BoardTool(
            name=name,
            description=row.get("description"),
            parameters=dict(row["inputSchema"]),
            meta=dict(row["_meta"]) if "_meta" in row else None,
            provider=self,
            spec=spec,
            **fields,
        )

    def _whose(self) -> Session:
        """The session of the request under way."""
        if self.session is not None:
            return self.session
        try:
            return Session(get_context().session_id)
        except RuntimeError:
            return Session()

    async def run(self, spec: ToolSpec, arguments: JsonObject) -> JsonObject:
        """Call a tool through the board's pipeline.

        Parameters:
            spec: the tool.
            arguments: as the client sent them.
        """
        result = await self.board.run(Call(tool=spec.name, arguments=arguments, session=self._whose()))
        return mcp.output(result, spec, mcp.Family.HANDSHAKE)


class BoardTool(FastTool):
    """One tool of a board, as FastMCP runs it.

    Parameters:
        provider: what it belongs to.
        spec: what it is on the board.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    provider: Any
    spec: Any

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        """Call it; the answer is the board's own, failures included."""
        return ToolResult.from_mcp_result(call_tool_result(await self.provider.run(self.spec, arguments)))


class FastMcpSource:
    """A FastMCP server of this very process as a source: no program, no socket.

    Parameters:
        name: the source's name, and the namespace of its tools.
        server: the server.
        options: the options of `McpSource`.
    """

    kind = "mcp"

    def __init__(self, name: str, server: "FastMCP[Any]", **options: Any) -> None:
        self.name, self.server = name, server
        self._inner = McpSource(name, server._mcp_server, **options)  # pyright: ignore[reportPrivateUsage]

    @property
    def inner(self) -> McpSource:
        """What speaks with the server."""
        return self._inner

    @asynccontextmanager
    async def session(self) -> AsyncGenerator[None]:
        """Hold the server's own lifespan and the connection to it open."""
        # FastMCP counts who holds it, so that a server which also serves elsewhere starts once.
        async with self.server._lifespan_manager(), self._inner.session():  # pyright: ignore[reportPrivateUsage]
            yield

    async def listing(self) -> Listing:
        """Every tool that the server offers now."""
        return await self._inner.listing()

    async def health(self) -> Health:
        """How the server is."""
        return await self._inner.health()

    async def changes(self) -> AsyncIterator[None]:
        """The server's changes."""
        async for change in self._inner.changes():
            yield change

    def tool(self, spec: ToolSpec) -> Tool:
        """A tool from its spec alone, such as one from the store."""
        return self._inner.tool(spec)
