"""Serving one client over standard input and output."""

import os
import stat
import sys
from collections.abc import AsyncIterator, Generator
from contextlib import contextmanager
from typing import cast

import anyio
from mcp.server.runner import serve_dual_era_loop
from mcp.server.stdio import stdio_server

from pegboard.wire.server.gateway import GatewayServer

_CHUNK = 1 << 16


async def serve(server: GatewayServer) -> None:
    """Serve until standard input ends or the task is cancelled.

    Standard output carries the protocol alone: whatever tools print goes to standard error.
    """
    server.shared = False
    with _standard_input() as fd:
        # The SDK asks for a file and iterates over its lines, nothing else.
        lines = None if fd is None else cast("anyio.AsyncFile[str]", _lines(fd))
        async with stdio_server(stdin=lines) as (read, write):
            async with server.lifespan(server) as state:
                await serve_dual_era_loop(server, read, write, lifespan_state=state)


@contextmanager
def _standard_input() -> Generator[int | None]:
    """Standard input under a number of its own, while tools and child processes read from nothing.

    None where the loop cannot wait for it: a thread of the SDK reads it then, and shutdown waits for a line.
    """
    if sys.platform == "win32" or not _can_wait(0):
        yield None
        return
    private = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    try:
        os.dup2(nothing, 0)
        yield private
    finally:
        os.dup2(private, 0)
        os.close(nothing)
        os.close(private)


def _can_wait(fd: int) -> bool:
    mode = os.fstat(fd).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(fd)


async def _lines(fd: int) -> AsyncIterator[str]:
    """The lines as they come. A thread that blocks in a read could not be cancelled, and SIGTERM would hang."""
    buffer = bytearray()
    while True:
        end = buffer.find(b"\n")
        while end == -1:
            await anyio.wait_readable(fd)
            chunk = os.read(fd, _CHUNK)
            if not chunk:
                return
            searched = len(buffer)
            buffer += chunk
            end = buffer.find(b"\n", searched)
        line = bytes(buffer[:end])
        del buffer[: end + 1]
        yield line.decode("utf-8", "replace")
