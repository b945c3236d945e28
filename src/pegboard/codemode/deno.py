"""JavaScript, in a deno process of its own for each run.

Only the end of a process stops every kind of code, so none is used twice; some wait, started, for the next run.
"""

import asyncio
import contextlib
import json
import os
import secrets
import signal
from collections import deque
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from subprocess import SubprocessError
from typing import Any, cast

import anyio
from anyio.abc import TaskGroup

from pegboard.codemode.clock import Clock
from pegboard.codemode.confine import BASE_MB, confinement, resident_mb
from pegboard.codemode.limits import Limits
from pegboard.codemode.outcome import Fault, Outcome, Stop, ToolError, read_json
from pegboard.codemode.toolbox import Toolbox
from pegboard.errors import PegboardError

GUEST = Path(__file__).with_name("guest.js")
MODULES = Path(__file__).with_name("modules.json")
"""An import map that puts a refusal in the place of each module of the platform."""
_LOOK = 0.02
"""Seconds between two looks at a run's time and memory."""
_DENIED = ("import", "read", "write", "net", "env", "run", "ffi", "sys")
_SLACK = 4096
_ENVIRONMENT = {"DENO_DIR": "/nonexistent/deno", "DENO_NO_UPDATE_CHECK": "1", "NO_COLOR": "1"}
"""All that a guest has of an environment: deno asks for a folder of its own, and gets none."""


class DenoEngine:
    """Runs JavaScript (it is an `engine.Engine`).

    Parameters:
        limits: what a run may take.
        warm: how many processes wait for the next runs, once there has been one.
    """

    def __init__(self, limits: Limits, *, warm: int = 2) -> None:
        self._limits, self._warm = limits, warm
        self._waiting: deque[asyncio.subprocess.Process] = deque()
        self._filling: asyncio.Task[None] | None = None
        self._confine = None
        self._ready = False

    async def run(self, code: str, box: Toolbox, clock: Clock) -> Outcome:
        """Run code as the body of an asynchronous function with one parameter, `tools`."""
        try:
            process = await self._take()
        except (OSError, SubprocessError, PegboardError) as problem:
            return Outcome(error=Fault(Stop.UNAVAILABLE, str(problem)))
        run = _Run(process, box, clock)
        try:
            return await run.outcome(code)
        finally:
            await _end(process)
            self._fill()

    async def close(self) -> None:
        """End the processes that wait."""
        self._warm = 0
        if self._filling is not None:
            self._filling.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._filling
        while self._waiting:
            await _end(self._waiting.popleft())

    async def _take(self) -> asyncio.subprocess.Process:
        while self._waiting:
            process = self._waiting.popleft()
            if process.returncode is None:
                return process
        return await self._start()

    async def _start(self) -> asyncio.subprocess.Process:
        program = deno_program()
        if not self._ready:
            seconds = int(self._limits.seconds) + 2
            self._confine = confinement([program, str(GUEST), str(MODULES)], cpu_seconds=seconds)
            self._ready = True
        return await asyncio.create_subprocess_exec(
            *command(program, self._limits),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            limit=self._limits.max_output + _SLACK,
            cwd=GUEST.anchor,
            env=_ENVIRONMENT,
            preexec_fn=self._confine,
            start_new_session=True,
        )

    def _fill(self) -> None:
        """Start what is missing, beside whatever else runs."""
        if len(self._waiting) < self._warm and (self._filling is None or self._filling.done()):
            self._filling = asyncio.get_running_loop().create_task(self._top_up())

    async def _top_up(self) -> None:
        while len(self._waiting) < self._warm:
            try:
                self._waiting.append(await self._start())
            except (OSError, SubprocessError):
                return


def command(program: str, limits: Limits) -> list[str]:
    """The command line of a guest: nothing is granted, nothing is fetched, no config is read."""
    return [
        program,
        "run",
        "--quiet",
        "--no-prompt",
        "--no-remote",
        "--no-npm",
        "--no-config",
        "--no-lock",
        "--no-code-cache",
        f"--import-map={MODULES}",
        *(f"--deny-{what}" for what in _DENIED),
        f"--v8-flags=--max-old-space-size={limits.max_memory_mb}",
        str(GUEST),
    ]


@lru_cache(maxsize=1)
def deno_program() -> str:
    """The deno of the package `deno`.

    Raises:
        PegboardError: it is not installed.
    """
    try:
        from deno import find_deno_bin
    except ImportError as problem:
        raise PegboardError(
            "JavaScript needs the package deno, which is not installed.",
            next_step="Install it with: pip install 'pegboard[codemode]'.",
        ) from problem
    return str(find_deno_bin())


async def _end(process: asyncio.subprocess.Process) -> None:
    with anyio.CancelScope(shield=True):
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGKILL)
        if process.stdin is not None:
            process.stdin.close()
        await process.wait()


class _Run:
    """One run: what its process says, and what it is told."""

    def __init__(self, process: asyncio.subprocess.Process, box: Toolbox, clock: Clock) -> None:
        assert process.stdin is not None and process.stdout is not None
        self._process, self._in, self._out = process, process.stdin, process.stdout
        self._box, self._clock, self._limits = box, clock, box.limits
        self._token = secrets.token_hex(16).encode()
        self._log: deque[str] = deque()
        self._logged = self._dropped = 0
        self._memory = 0.0
        self._stopped: Fault | None = None
        self._text: str | None = None

    async def outcome(self, code: str) -> Outcome:
        """Start the code, serve it, and say what it came to."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._watch)
            journal = self._box.journal
            start = {"token": self._token.decode(), "log": self._limits.max_log, "at": journal.at, "seed": journal.seed}
            await self._say({**start, "code": code})
            await self._serve(tasks)
            tasks.cancel_scope.cancel()
        if self._text is None and self._stopped is None:
            self._stopped = self._died()
        ok = self._stopped is None
        return Outcome(
            text=self._text if ok else None,
            error=self._stopped,
            logs="\n".join(self._log)[-self._limits.log_tail :],
            calls=tuple(self._box.made),
            touched=self._box.touched,
            usage={
                "ms": round(self._clock.spent * 1000),
                "calls": self._box.begun,
                "refused": self._box.refused,
                "memory_mb": round(self._memory),
                "log_dropped": self._dropped,
            },
        )

    async def _watch(self) -> None:
        """End the process when its time or its memory is over."""
        most = self._limits.max_memory_mb + BASE_MB
        while True:
            await anyio.sleep(max(0.001, min(_LOOK, self._clock.left)))
            self._memory = max(self._memory, resident_mb(self._process.pid) or 0)
            if self._box.journal.fault is not None:
                return self._stop(self._box.journal.fault)
            if self._clock.left <= 0:
                return self._stop(timed_out(self._limits))
            if self._memory > most:
                return self._stop(out_of_memory(self._limits))

    def _stop(self, fault: Fault) -> None:
        self._stopped = self._stopped or fault
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._process.pid, signal.SIGKILL)

    def _died(self) -> Fault:
        if self._memory > self._limits.max_memory_mb:  # V8 ends its process where the heap is full
            return out_of_memory(self._limits)
        return Fault(Stop.CRASHED, "The process of the code ended without an answer.")

    async def _serve(self, tasks: TaskGroup) -> None:
        """Read the frames of the guest until it is done or ended."""
        while self._stopped is None and self._text is None:
            try:
                line = await self._out.readline()
            except ValueError:
                return self._stop(_TOO_MUCH)
            if not line.endswith(b"\n"):
                return None
            token, _, frame = line[:-1].partition(b" ")
            if token != self._token:
                return self._stop(_FORGED)
            kind, _, text = frame.partition(b" ")
            self._take(kind, text, tasks)
        return None

    def _take(self, kind: bytes, text: bytes, tasks: TaskGroup) -> None:
        if kind == b"c":
            return self._begin(text, tasks)
        text = text.replace(_HERE, b"the code")  # stacks name the file that the code is run by
        match kind:
            case b"l":
                self._keep(str(_json(text)))
            case b"r":
                self._finish(text)
            case b"e":
                self._stopped = thrown(_json(text))
            case _:
                self._stop(_FORGED)
        return None

    def _finish(self, text: bytes) -> None:
        try:
            read_json(text.decode("utf-8", "replace"))
        except ValueError as problem:
            self._stopped = Fault(Stop.OUTPUT, f"The returned value cannot be read: {problem}")
        else:
            self._text = text.decode("utf-8", "replace")

    def _keep(self, line: str) -> None:
        room = self._limits.max_log - self._logged
        self._dropped += max(len(line) - room, 0)
        self._logged += len(line) + 1
        if room > 0:
            self._log.append(line[:room])

    def _begin(self, text: bytes, tasks: TaskGroup) -> None:
        number, _, rest = text.partition(b" ")
        asked = _json(rest)
        if not number.isdigit() or not isinstance(asked, list) or len(cast("list[Any]", asked)) != 2:
            return self._stop(_FORGED)
        if self._box.flooded:
            return self._stop(_FLOODED)
        name, given = cast("list[Any]", asked)
        tasks.start_soon(self._call, int(number), str(name), given)
        return None

    async def _call(self, id: int, name: str, given: Any) -> None:
        try:
            value = await self._box.call(name, given)
            answer = f'{{"id":{id},"at":{self._box.journal.at},"ok":true,"value":{value}}}'
        except ToolError as problem:
            failure = problem.failure
            error = {"message": str(problem), "code": failure.code.value, "next_step": failure.next_step}
            answer = json.dumps({"id": id, "at": self._box.journal.at, "ok": False, "error": error})
        await self._write(answer)

    async def _say(self, message: Mapping[str, Any]) -> None:
        await self._write(json.dumps(message))

    async def _write(self, text: str) -> None:
        with contextlib.suppress(ConnectionError, RuntimeError):  # the process is gone; reading says so
            self._in.write(text.encode() + b"\n")
            await self._in.drain()


def _json(text: bytes) -> Any:
    try:
        return read_json(text.decode("utf-8", "replace"))
    except ValueError:
        return None


_HERE = GUEST.as_uri().encode()
_TOO_MUCH = Fault(Stop.OUTPUT, "The code sent more at once than it may: return less, or give a tool less.")
_FORGED = Fault(Stop.OUTPUT, "The code wrote to the channel that its calls go over.")
_FLOODED = Fault(Stop.CALLS, "The code went on calling tools long after its calls were used up.")


def timed_out(limits: Limits) -> Fault:
    """The fault of a run whose time is over."""
    return Fault(Stop.TIMEOUT, f"The code took longer than its {limits.timeout_ms} ms and was stopped.")


def out_of_memory(limits: Limits) -> Fault:
    """The fault of a run that took too much memory."""
    return Fault(Stop.MEMORY, f"The code took more memory than its {limits.max_memory_mb} MB and was stopped.")


def thrown(told: Any) -> Fault:
    """The fault of code that threw, as the guest tells it."""
    fields: Mapping[str, Any] = cast("Mapping[str, Any]", told) if isinstance(told, Mapping) else {}
    line = str(fields.get("line") or "")
    name = str(fields.get("name") or "Error")[:100]
    message = str(fields.get("message") or "The code threw something that cannot be shown.")[:4000]
    message = message.replace(str(GUEST), "the code")
    return Fault(Stop.ERROR, message, name, int(line) if line.isdigit() else None)
