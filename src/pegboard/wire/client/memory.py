"""A server object in this very process: no process, no socket; in the modern family no frames either."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import anyio
from mcp.server.lowlevel import Server
from mcp.server.runner import modern_on_request
from mcp.shared.direct_dispatcher import create_direct_dispatcher_pair
from mcp.shared.dispatcher import Dispatcher
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp.shared.memory import create_client_server_memory_streams

from pegboard.wire.client.endpoint import MemoryEndpoint
from pegboard.wire.client.wire import Quiet


class MemoryWire(Quiet):
    """The transport to a server object.

    Parameters:
        endpoint: the server.
        framed: whether JSON-RPC frames are exchanged (the handshake family) or handlers called directly.
    """

    headers = encoded = False

    def __init__(self, endpoint: MemoryEndpoint, *, framed: bool) -> None:
        super().__init__()
        server = endpoint.server
        self._server: Server[Any] = server if isinstance(server, Server) else server._lowlevel_server
        self._with_frames = framed

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[Dispatcher[Any]]:
        """Run the server beside this task."""
        connect = self._framed if self._with_frames else self._direct
        async with connect() as dispatcher:
            yield dispatcher

    @asynccontextmanager
    async def _direct(self) -> AsyncGenerator[Dispatcher[Any]]:
        async with self._server.lifespan(self._server) as state, anyio.create_task_group() as tasks:
            client, server = create_direct_dispatcher_pair(raise_handler_exceptions=False)
            await tasks.start(server.run, modern_on_request(self._server, state), _ignore)
            try:
                yield client
            finally:
                server.close()

    @asynccontextmanager
    async def _framed(self) -> AsyncGenerator[Dispatcher[Any]]:
        async with create_client_server_memory_streams() as (client, server), anyio.create_task_group() as tasks:
            options = self._server.create_initialization_options()
            tasks.start_soon(self._server.run, *server, options)
            try:
                yield JSONRPCDispatcher(*client)
            finally:
                tasks.cancel_scope.cancel()


async def _ignore(_context: Any, _method: str, _params: Mapping[str, Any] | None) -> None:
    """No client-to-server notifications exist in 2026-07-28."""
