"""Python, in a worker of pydantic-monty: an interpreter of its own that knows no files, no network, no imports."""

import io
import json
import math
import re
import tokenize
from collections import deque
from collections.abc import Mapping
from contextlib import AsyncExitStack
from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING, Any

import anyio
from anyio.abc import TaskGroup

from pegboard.codemode.clock import Clock
from pegboard.codemode.deno import out_of_memory, timed_out
from pegboard.codemode.limits import Limits
from pegboard.codemode.outcome import Fault, Outcome, Stop, ToolError, read_json
from pegboard.codemode.toolbox import DESCRIBE, SEARCH, Toolbox
from pegboard.codemode.turns import Turns
from pegboard.errors import nearest

if TYPE_CHECKING:
    from pydantic_monty import AsyncMonty

_LOOK = 0.02
_NAMELESS = re.compile(r"name '(.+?)' is not defined")
_UNAWAITED = "<coroutine external_future("
"""How monty writes a call that nothing has waited for."""
_DEEPEST = 200
_MOST_BITS = 13_000
"""Python itself writes no number of more than 4300 digits."""


class MontyEngine:
    """Runs Python (it is an `engine.Engine`).

    Code with an `await` in it awaits its calls, and may run several at once; in other code a call gives its value at
    once. The value of the last expression is what the code returns.

    Parameters:
        limits: what a run may take.
        most: how many runs there are at once.
    """

    def __init__(self, limits: Limits, *, most: int = 8) -> None:
        self._limits, self._most = limits, most
        self._stack = AsyncExitStack()
        self._pool: AsyncMonty | None = None
        self._opening = anyio.Lock()

    async def run(self, code: str, box: Toolbox, clock: Clock) -> Outcome:
        """Run code; its last expression is its value."""
        try:
            pool = await self._opened()
        except ImportError:
            return Outcome(error=_MISSING)
        return await _Run(pool, box, clock).outcome(code)

    async def close(self) -> None:
        """End the workers."""
        await self._stack.aclose()
        self._pool = None

    async def _opened(self) -> "AsyncMonty":
        async with self._opening:
            if self._pool is None:
                from pydantic_monty import AsyncMonty

                made = AsyncMonty(max_processes=self._most, max_checkouts_per_worker=1, feed_duration_limit_grace=0.5)
                self._pool = await self._stack.enter_async_context(made)
            return self._pool


_MISSING = Fault(
    Stop.UNAVAILABLE,
    "Python needs the package pydantic-monty, which is not installed: pip install 'pegboard[codemode]'.",
)


class _Run:
    """One run."""

    def __init__(self, pool: "AsyncMonty", box: Toolbox, clock: Clock) -> None:
        self._pool, self._box, self._clock, self._limits = pool, box, clock, box.limits
        self._log: deque[str] = deque()
        self._logged = self._dropped = 0
        self._fault: Fault | None = None
        self._text: str | None = None

    async def outcome(self, code: str) -> Outcome:
        """Run the code, and say what it came to."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._watch, tasks.cancel_scope)
            await self._guarded(code, tasks)
            tasks.cancel_scope.cancel()
        ok = self._fault is None
        return Outcome(
            text=self._text if ok else None,
            error=self._fault,
            logs="".join(self._log)[-self._limits.log_tail :].rstrip("\n"),
            calls=tuple(self._box.made),
            touched=self._box.touched,
            usage={
                "ms": round(self._clock.spent * 1000),
                "calls": self._box.begun,
                "refused": self._box.refused,
                "log_dropped": self._dropped,
            },
        )

    async def _watch(self, scope: anyio.CancelScope) -> None:
        while self._ended() is None:  # noqa: ASYNC110 (time passes by itself)
            await anyio.sleep(max(0.001, min(_LOOK, self._clock.left)))
        self._fault = self._ended()
        scope.cancel()

    def _ended(self) -> Fault | None:
        if self._box.flooded:
            return _FLOODED
        return self._box.journal.fault or (timed_out(self._limits) if self._clock.left <= 0 else None)

    async def _guarded(self, code: str, tasks: TaskGroup) -> None:
        from pydantic_monty import MontyCrashedError, MontyError

        try:
            self._text = _text(await self._fed(code, tasks), self._limits)
        except MontyCrashedError as problem:
            late = self._clock.left <= 0 or problem.timed_out
            crashed = Fault(Stop.CRASHED, "The worker of the code ended without an answer.")
            self._fault = timed_out(self._limits) if late else crashed
        except MontyError as problem:
            self._fault = self._raised(problem)
        except _Unfit as problem:
            self._fault = Fault(Stop.OUTPUT, str(problem))

    async def _fed(self, code: str, tasks: TaskGroup) -> Any:
        limits = self._limits
        async with self._pool.checkout(
            limits={
                "max_feed_duration_secs": limits.seconds,
                "max_memory": limits.max_memory_mb * (1 << 20) // 2,
                "max_suspensions": 4 * (limits.max_calls + 1000),
            },
            os_policy={
                "datetime": "call_host",
                "random_start": {"seed": self._box.journal.seed},
                "sleep": "call_host",
            },
        ) as session:
            names = self._names()
            turns = Turns(self._answer, lambda step: _ours(step, names), tasks, at_once=not waits(code))
            return await turns.output(
                await session.feed_start(code, external_lookup=names, print_callback=self._printed, os=self._told_time)
            )

    def _told_time(self, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any], **_: Any) -> Any:
        """What a clock says: the time of the last answer, so that a replay sees the same."""
        from pydantic_monty import NOT_HANDLED

        seconds = self._box.journal.at / 1000
        if name.startswith("time."):
            return seconds
        zone = next((each for each in (*args, *kwargs.values()) if isinstance(each, tzinfo)), None)
        match name:
            case "datetime.now":
                return datetime.fromtimestamp(seconds, zone or UTC).replace(tzinfo=zone)
            case "date.today":
                return datetime.fromtimestamp(seconds, UTC).date()
            case _:
                return NOT_HANDLED

    async def _answer(self, step: Any) -> dict[str, Any]:
        try:
            if not step.is_os_function:
                return {"return_value": await self._call(str(step.function_name), step.args, step.kwargs)}
        except RuntimeError as problem:
            return {"exception": problem}
        seconds = min(step.args[0], 2 * self._limits.seconds)  # its time is over before
        await self._box.journal.slept(str(step.function_name), seconds)
        return {"return_value": None}

    async def _call(self, name: str, given: tuple[Any, ...], named: dict[str, Any]) -> Any:
        try:
            return json.loads(await self._box.call(name, self._arguments(name, given, named)))
        except (ToolError, _Unfit) as problem:
            raise RuntimeError(str(problem)) from None

    def _arguments(self, name: str, given: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """The arguments by name: those that stand without one get the tool's own, in its order."""
        room = self._limits.max_output
        if not given:
            return _plain(named, room)
        if len(given) == 1 and not named and isinstance(given[0], Mapping):
            return _plain(given[0], room)
        spec = self._box.names.get(name)
        order = list(spec.properties) if spec is not None else ["query", "limit"]
        return _plain({**dict(zip(order, given, strict=False)), **named}, room)

    def _names(self) -> dict[str, Any]:
        found = [name for name in self._box.names if name.isidentifier()]
        return {name: self._function(name) for name in (*found, *(n for n in (SEARCH, DESCRIBE) if n not in found))}

    def _function(self, name: str) -> Any:
        async def call(*given: Any, **named: Any) -> Any:
            return await self._call(name, given, named)

        return call

    def _printed(self, _: str, text: str) -> None:
        room = self._limits.max_log - self._logged
        self._dropped += max(len(text) - max(room, 0), 0)
        self._logged += len(text)
        if room > 0:
            self._log.append(text[:room])

    def _raised(self, problem: Any) -> Fault:
        inner = problem.exception()
        name, message = type(inner).__name__, str(inner)[:4000]
        if isinstance(inner, TimeoutError):
            return timed_out(self._limits)
        if isinstance(inner, MemoryError):
            return out_of_memory(self._limits)
        frames: list[Any] = problem.traceback() if hasattr(problem, "traceback") else []
        hint = _AWAIT if "coroutine" in message else self._meant(message)
        return Fault(Stop.ERROR, message + hint, name, frames[-1].line if frames else None)

    def _meant(self, message: str) -> str:
        """What an unknown name in the code may have been meant to be."""
        found = _NAMELESS.search(message)
        if found is None:
            return ""
        name = found[1]
        if name == "tools" or any(spec.name.namespace == name for spec in self._box.names.values()):
            return " Call a tool as namespace__tool(name=value)."
        near = nearest(name, [each for each in self._box.names if each.isidentifier()], limit=3)
        return f" Did you mean {', '.join(near)}?" if near else ""


def waits(code: str) -> bool:
    """Whether Python code awaits anything; comments and texts that speak of it do not count."""
    try:
        return any(
            token.type == tokenize.NAME and token.string == "await"
            for token in tokenize.generate_tokens(io.StringIO(code).readline)
        )
    except (tokenize.TokenError, SyntaxError):
        return False


def _ours(step: Any, names: Mapping[str, Any]) -> bool:
    """Whether a call goes to the board, or is a sleep, which has its place in the journal."""
    if step.is_os_function:
        return step.function_name in ("asyncio.sleep", "time.sleep")
    return step.function_name in names


_AWAIT = " Write await before every call."


class _Unfit(Exception):
    """A value that cannot be handed on."""


_FLOODED = Fault(Stop.CALLS, "The code went on calling tools long after its calls were used up.")


def _text(value: Any, limits: Limits) -> str:
    try:
        text = json.dumps(_plain(value, limits.max_output), ensure_ascii=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as problem:
        raise _Unfit(f"The value cannot be JSON: {problem}.") from problem
    if len(text) > limits.max_output:
        raise _Unfit(f"The value has {len(text)} characters as JSON, and {limits.max_output} may be returned.")
    read_json(text)
    return text


def _plain(value: Any, room: int) -> Any:
    """A value of the sandbox as JSON data.

    Parameters:
        value: the value; what is shared in it is copied as often as JSON would hold it.
        room: about how many characters it may take.

    Raises:
        _Unfit: it has no such form, or takes more.
    """
    return _Copy(room).of(value)


class _Copy:
    """Makes JSON data of a value, and gives up where that becomes too large."""

    def __init__(self, room: int) -> None:
        self._room, self._left = room, room
        self._made: dict[int, tuple[Any, int]] = {}  # what is shared is copied once, and counted as often as it stands

    def of(self, value: Any, depth: int = 0) -> Any:
        if depth > _DEEPEST:
            raise _Unfit("The value is nested too deeply.")
        if isinstance(value, str):
            return self._of_text(value)
        self._take(3)
        if value is None or isinstance(value, bool | int | float):
            return self._of_number(value)
        if isinstance(value, Mapping | list | tuple | set | frozenset):
            return self._of_many(value, depth + 1)  # pyright: ignore[reportUnknownArgumentType]
        if type(value).__module__ == "datetime":
            return value.isoformat() if hasattr(value, "isoformat") else str(value)
        raise _Unfit(f"A {type(value).__name__} cannot be JSON.")

    def _of_many(self, value: Any, depth: int) -> Any:
        key = id(value)
        known = self._made.get(key)
        if known is not None:
            self._take(known[1])
            return known[0]
        before = self._left
        if isinstance(value, Mapping):
            made: Any = {self._of_text(str(key)): self.of(inner, depth) for key, inner in value.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        else:
            made = [self.of(inner, depth) for inner in value]
        self._made[key] = made, before - self._left
        return made

    def _take(self, size: int) -> None:
        self._left -= size
        if self._left < 0:
            raise _Unfit(f"The value has more than {self._room} characters as JSON.")

    def _of_text(self, value: str) -> str:
        self._take(len(value) + 2)
        if value.startswith(_UNAWAITED):
            raise _Unfit(f"A call was never waited for.{_AWAIT}")
        return value.encode("utf-8", "replace").decode() if not value.isascii() else value

    def _of_number(self, value: float | None) -> float | None:
        if isinstance(value, float):
            return value if math.isfinite(value) else None
        if isinstance(value, int) and value.bit_length() > _MOST_BITS:
            raise _Unfit("A number has more than 4000 digits.")
        return value
