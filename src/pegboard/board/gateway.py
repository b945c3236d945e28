"""The board as an MCP server: what it lists, what it answers, and who is told of changes."""

import re
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from importlib.metadata import version
from typing import Any

import anyio

from pegboard.approval.reason import INSTRUCTION
from pegboard.board.board import Board
from pegboard.board.relay import Relay
from pegboard.catalog import Unknown
from pegboard.catalog.links import Links
from pegboard.core import FailureCode, Progress, Session, ToolName, ToolSpec
from pegboard.core.call import Ask, Log
from pegboard.core.client import Client
from pegboard.discovery import pages
from pegboard.discovery.announce import announcement
from pegboard.errors import PegboardError
from pegboard.invoke.size import is_cut
from pegboard.schema.types import JsonObject
from pegboard.surface import mcp
from pegboard.surface.mcp import Family
from pegboard.wire.server.front import SESSION_KEY, Peer, Refusal, shows_pages

PAGE = 1000
"""Tools of one page of a list: many clients read the first page only, and thousands at once stall the others."""
_SESSION_ID = re.compile(r"[!-~]{1,128}")
TOO_MANY = -32000
"""The JSON-RPC code (of the range for servers' own) where there are more tools than may be listed."""
_PAGES_FIRST = -32042
"""The JSON-RPC code by which a server says that pages must be opened first (MCP 2025-11-25, elicitation by address)."""
RESULT_READ = pages.SPEC.name
"""Joins a session's list when one of its answers is kept in pages."""


class Gateway:
    """What a server of the `mcp` package shows of a board (it is a `wire.server.Front`).

    Parameters:
        board: the board.
    """

    def __init__(self, board: Board) -> None:
        self.board = board
        self.name = board.name
        self.version = version("pegboard")
        self.relay: Relay | None = None
        self._connections = set[str]()
        self._rows: dict[tuple[ToolName, Family], tuple[Any, JsonObject]] = {}

    def instructions(self) -> str:
        """What there is, one line a namespace; how to find the rest, where there is more than the list shows."""
        told = announcement(self.board.view())
        return f"{told}\n{INSTRUCTION}" if self.board.asks else told

    def fingerprint(self, peer: Peer) -> object:
        """Changes when the peer's list changes."""
        return self.board.list_version, self.board.view(self._of(peer)).loaded

    async def list_tools(self, peer: Peer, cursor: str | None) -> JsonObject:
        """One page of the peer's list."""
        family = Family.STATELESS if peer.stateless else Family.HANDSHAKE
        await self.board.openings.catch_up()
        await self.board.openings.meet(peer.features)
        view = self.board.view(self._of(peer))
        try:
            specs = view.listed
        except PegboardError as problem:
            raise Refusal(str(problem), code=TOO_MANY) from None
        start = self._start(cursor, [view.wire_name(spec.name) for spec in specs])
        page = specs[start : start + PAGE]
        body: dict[str, Any] = {"tools": [self._row(spec, view.wire_name(spec.name), family) for spec in page]}
        if start + PAGE < len(specs):
            body["nextCursor"] = view.wire_name(page[-1].name)
        self.board.refresh_soon()
        return body

    def _start(self, cursor: str | None, names: list[str]) -> int:
        if cursor is None:
            return 0
        if cursor not in names:
            raise Refusal("This cursor is not valid (any more). Start the list again without one.")
        return names.index(cursor) + 1

    def _row(self, spec: Any, name: str, family: Family) -> JsonObject:
        key = (spec.name, family)
        known = self._rows.get(key)
        if known is None or known[0] is not spec:
            known = self._rows[key] = (spec, _linked(spec, mcp.tool(spec, name, family)))
        return known[1]

    async def call_tool(
        self,
        peer: Peer,
        params: JsonObject,
        request_id: str | None,
        progress: Progress | None,
        log: Log | None,
        ask: Ask | None = None,
        client: Client | None = None,
    ) -> JsonObject:
        """Run the call that a request asks for."""
        found = self.board.resolve(params["name"])
        if isinstance(found, Unknown) and peer.features:  # it may be offered to such clients alone
            await self.board.openings.meet(peer.features)
            found = self.board.resolve(params["name"])
        target = ToolName.parse(found.text) if isinstance(found, Unknown) else found
        session = self._session(peer, params.get("_meta") or {})
        call = mcp.call(
            params, target, session=session, id=request_id, progress=progress, log=log, ask=ask, client=client
        )
        result = await self.board.run(call)
        failure = result.failure
        if failure is not None and failure.details.get("code") == _PAGES_FIRST and shows_pages(peer):
            raise Refusal(failure.message, code=_PAGES_FIRST, data=failure.details.get("data"))
        if failure is not None and failure.code is FailureCode.UNKNOWN_TOOL and isinstance(found, Unknown):
            raise Refusal(f"Unknown tool: {failure.message} {failure.next_step}", data=failure.to_json())
        if is_cut(result):
            self.board.load(session, [RESULT_READ])
        self.board.refresh_soon()
        tool = self.board.tool(target)
        family = Family.STATELESS if peer.stateless else Family.HANDSHAKE
        return mcp.output(result, tool.spec if tool else None, family)

    def input_schema(self, name: str) -> Mapping[str, Any] | None:
        """The input schema behind a wire name."""
        target = self.board.resolve(name)
        tool = None if isinstance(target, Unknown) else self.board.tool(target)
        return tool.spec.input if tool else None

    def forget(self, peer: Peer) -> None:
        """The peer has left."""
        self.board.forget(self._session(peer, {}))
        self._connections.discard(peer.id)

    def seen_by(self, peer: Peer) -> Session | None:
        """Whose resources and prompts a client sees; None for what all see."""
        return self._of(peer)

    def _of(self, peer: Peer) -> Session | None:
        """Whose list it is: in the stateless family lists may not differ per connection."""
        return None if peer.stateless else self._session(peer, {})

    def _session(self, peer: Peer, meta: JsonObject) -> Session:
        """By connection in the handshake family; in the stateless one by what the client names, else by connection.

        Where many clients share a server, a request of the stateless family that names no session belongs to none.
        """
        if not peer.stateless:
            self._connections.add(peer.id)
            return Session(peer.id, agent=peer.agent)
        named = meta.get(SESSION_KEY)
        if named is None:
            return Session("" if peer.shared else peer.id, agent=peer.agent, run=peer.id)
        if not isinstance(named, str) or not _SESSION_ID.fullmatch(named):
            raise Refusal(f"{SESSION_KEY} must be a text of 1 to 128 visible characters.")
        if named in self._connections:
            raise Refusal("This session belongs to somebody else. Use an id of your own that nobody can guess.")
        return Session(named, agent=peer.agent)


def _linked(spec: ToolSpec, row: JsonObject) -> JsonObject:
    """The row, with the page that shows the tool's result (MCP Apps) readable from the board."""
    meta = row.get("_meta")
    if spec.source.kind != "mcp" or not meta:
        return row
    return {**row, "_meta": Links(spec.source.name).tool_meta(meta)}


@asynccontextmanager
async def served(board: Board) -> AsyncGenerator[Any]:
    """A server of the `mcp` package that shows the board, and tells its clients of changes."""
    from pegboard.wire.server.gateway import GatewayServer
    from pegboard.wire.server.rounds import Rounds

    gateway = Gateway(board)
    async with AsyncExitStack() as stack:
        tasks = anyio.create_task_group()
        await tasks.__aenter__()
        # Left without the body's exception, which a task group would wrap into a group.
        stack.push_async_callback(tasks.__aexit__, None, None, None)
        stack.callback(tasks.cancel_scope.cancel)
        relay = gateway.relay = Relay(board.primitives, gateway.seen_by, tasks)
        stack.callback(board.heeding.listen(lambda source, notice: relay.news.put((source, notice))))
        server = GatewayServer(gateway)
        server.rounds = Rounds(tasks)
        tasks.start_soon(relay.announce, server)
        tasks.start_soon(_announce, gateway, server)
        tasks.start_soon(board.warm)
        tasks.start_soon(board.adopting)
        yield server


async def _announce(gateway: Gateway, server: Any) -> None:
    told = gateway.board.list_version
    async with gateway.board.changes() as changes:
        async for _ in changes:
            now = gateway.board.list_version
            await server.announce(everyone=now != told)
            told = now


async def serve_stdio(board: Board) -> None:
    """Serve one client over standard input and output, until it leaves."""
    from pegboard.wire.server import stdio

    async with served(board) as server:
        await stdio.serve(server)


async def serve_http(
    board: Board,
    host: str = "127.0.0.1",
    port: int = 8321,
    token: str | None = None,
    ready: Callable[[str], Any] | None = None,
) -> None:
    """Serve clients over streamable HTTP at `/mcp`, until the task is cancelled.

    Parameters:
        board: what to serve.
        host: the address to listen on.
        port: the port; 0 for a free one.
        token: the bearer token that every request must carry; required where other machines can reach the address.
        ready: called with the gateway's address once it accepts connections.

    Raises:
        ConfigError: there is no token where one is required, or the address cannot be listened on.
    """
    from pegboard.board.ingest import posts
    from pegboard.wire.server import http

    async with served(board) as server:
        await http.serve(
            server, host=host, port=port, token=token, ready=ready, posts=posts(board.config, board.redactor)
        )
