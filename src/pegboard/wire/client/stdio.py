"""A server as a child process: frames on stdin and stdout, stderr kept, the whole tree stopped at the end."""

import os
import shutil
import subprocess
import sys
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import ByteReceiveStream, Process
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client.stdio import get_default_environment
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp.shared.message import SessionMessage
from mcp_types import CONNECTION_CLOSED, ErrorData, JSONRPCError, JSONRPCRequest

from pegboard.wire.client.endpoint import StdioEndpoint, scrub
from pegboard.wire.client.fault import CannotStart, Fault
from pegboard.wire.client.frames import Junk, read_frame, read_lines

_GRACE = 2.0
"""Seconds that a server gets to exit after its stdin closed, and again after SIGTERM (MCP 2025-11-25, lifecycle)."""

_STDERR_BYTES = 8 * 1024
_QUEUE = 1024

_Incoming = MemoryObjectSendStream[SessionMessage | Exception]
_Outgoing = MemoryObjectReceiveStream[SessionMessage]


def find_program(name: str) -> str | None:
    """The program `name`, beside the running Python first, then on PATH; None where it is nowhere."""
    if os.path.dirname(name):
        return shutil.which(name)
    beside = str(Path(sys.executable).parent)
    return shutil.which(name, path=beside) or shutil.which(name)


class StdioWire:
    """The transport of one process, from its spawn to its end."""

    headers = False
    encoded = True

    def __init__(self, endpoint: StdioEndpoint) -> None:
        self.endpoint = endpoint
        self.faults: dict[str | int, Fault] = {}
        self.junk: deque[str] = deque(maxlen=3)
        self.junk_lines = 0
        self._stderr = bytearray()
        self._exit: int | None = None
        self._ended = False
        self._stopping = False
        self._process: Process | None = None

    @property
    def alive(self) -> bool:
        """Whether the process runs; asked of the system, so that no request is written for one that has just died."""
        return not self._ended and (self._process is None or not _has_ended(self._process))

    @property
    def stderr(self) -> str:
        """The end of what the process wrote to stderr, without secrets."""
        return scrub(self._stderr.decode("utf-8", "replace"), self.endpoint.secrets).strip()

    def obituary(self) -> str:
        """How the process ended, in words; empty while it lives."""
        if not self._ended:
            return ""
        how = "closed its stdout" if self._exit is None else f"exited with code {self._exit}"
        tail = self.stderr.splitlines()[-3:]
        return f"the process {how}" + (f"; it last wrote: {' | '.join(tail)}" if tail else "")

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[JSONRPCDispatcher[Any]]:
        """Start the process, and stop its whole tree on the way out.

        Raises:
            CannotStart: there is no such program, or it may not be run.
        """
        process = self._process = await self._spawn()
        to_session, from_process = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        to_process, from_session = anyio.create_memory_object_stream[SessionMessage](_QUEUE)
        async with anyio.create_task_group() as tasks, from_process, to_process:
            tasks.start_soon(self._read, process, to_session)
            tasks.start_soon(self._write, process, from_session, to_session)
            tasks.start_soon(self._keep_stderr, process)
            try:
                yield JSONRPCDispatcher(from_process, to_process)
            finally:
                self._stopping = True
                from_process.close()
                to_process.close()
                with anyio.CancelScope(shield=True):
                    await _stop(process)
                tasks.cancel_scope.cancel()

    async def _spawn(self) -> Process:
        name, *args = self.endpoint.argv
        program = find_program(name)
        if program is None:
            raise CannotStart(
                f"the program {Path(name).name!r} was not found beside Python or on PATH.",
                next_step="Install it, or give its full path as the first item of `mcp`.",
            )
        env = get_default_environment() | dict(self.endpoint.env)
        try:
            return await _start(program, args, env, self.endpoint.cwd)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else type(error).__name__
            raise CannotStart(
                f"the program {Path(name).name!r} could not be started: {reason}.",
                next_step="Check that it is executable, and that `cwd` exists.",
            ) from None

    async def _read(self, process: Process, incoming: _Incoming) -> None:
        assert process.stdout is not None
        async with incoming:
            with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError, ConnectionError):
                async for line in read_lines(process.stdout):
                    frame = line if isinstance(line, Junk) else read_frame(line)
                    if isinstance(frame, Junk):
                        self._note_junk(frame)
                        continue
                    for message in frame:
                        await incoming.send(message)
            await self._see_end(process)
        await _drain(process.stdout)

    async def _see_end(self, process: Process) -> None:
        """Note that the process ended by itself, and with which code."""
        if self._stopping:
            return
        await _exits(process, 0.5)
        self._exit, self._ended = process.returncode, True

    def _note_junk(self, line: Junk) -> None:
        self.junk_lines += 1
        if len(self.junk) < 3:
            self.junk.append(scrub(line, self.endpoint.secrets))

    async def _write(self, process: Process, outgoing: _Outgoing, incoming: _Incoming) -> None:
        assert process.stdin is not None
        async with outgoing:
            async for item in outgoing:
                frame = item.message.model_dump_json(by_alias=True, exclude_unset=True)
                try:
                    await process.stdin.send(frame.encode() + b"\n")
                except (anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
                    await self._refuse(process, item, incoming)

    async def _refuse(self, process: Process, item: SessionMessage, incoming: _Incoming) -> None:
        """Answer for a server that can no longer read: a frame that it did not get whole was not run."""
        await self._see_end(process)
        if not isinstance(item.message, JSONRPCRequest):
            return
        self.faults[item.message.id] = Fault("the process no longer reads its stdin", sent=False)
        error = ErrorData(code=CONNECTION_CLOSED, message="not sent")
        with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
            await incoming.send(SessionMessage(JSONRPCError(jsonrpc="2.0", id=item.message.id, error=error)))

    async def _keep_stderr(self, process: Process) -> None:
        stream: ByteReceiveStream | None = getattr(process, "stderr", None)
        if stream is None:
            return
        with suppress(anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
            async for chunk in stream:
                self._stderr += chunk
                del self._stderr[:-_STDERR_BYTES]


async def _start(program: str, args: list[str], env: dict[str, str], cwd: str | None) -> Process:
    if sys.platform == "win32":
        from mcp.os.win32.utilities import create_windows_process

        pipe: Any = subprocess.PIPE
        found: Any = await create_windows_process(program, args, env, pipe, cwd)
        return found
    return await anyio.open_process([program, *args], env=env, stderr=subprocess.PIPE, cwd=cwd, start_new_session=True)


def _has_ended(process: Process) -> bool:
    """Whether the process has ended, even if the event loop has not been told yet."""
    if process.returncode is not None or sys.platform == "win32" or not hasattr(os, "waitid"):
        return process.returncode is not None
    try:
        return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return True


async def _stop(process: Process) -> None:
    """Close stdin, wait, then end the whole process tree; every wait is bounded."""
    assert process.stdin is not None and process.stdout is not None
    with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        await process.stdin.aclose()
    await _exits(process)
    await _terminate(process)
    await _exits(process)
    for stream in (process.stdout, getattr(process, "stderr", None)):
        if stream is not None:
            with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
                await stream.aclose()
    transport = getattr(getattr(process, "_process", None), "_transport", None)
    if transport is not None:
        with suppress(PermissionError):
            transport.close()


async def _exits(process: Process, seconds: float = _GRACE) -> None:
    """Wait for the process to end. By polling: `wait` also waits for pipes that a grandchild may hold open."""
    with anyio.move_on_after(seconds):
        while process.returncode is None:  # noqa: ASYNC110
            await anyio.sleep(0.01)


async def _terminate(process: Process) -> None:
    if sys.platform == "win32":
        from mcp.os.win32.utilities import terminate_windows_process_tree

        await terminate_windows_process_tree(process)
        return
    from mcp.os.posix.utilities import terminate_posix_process_tree

    await terminate_posix_process_tree(process, _GRACE)


async def _drain(stdout: ByteReceiveStream) -> None:
    """Let a server that still writes finish, so that a full pipe does not keep it from exiting."""
    with (
        anyio.CancelScope(shield=True),
        suppress(anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError, OSError),
    ):
        while True:
            await stdout.receive()
