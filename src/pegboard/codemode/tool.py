"""`run_code`: the tool by which a model runs code over the tools of the board."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import anyio

from pegboard.codemode.clock import Clock
from pegboard.codemode.deno import DenoEngine
from pegboard.codemode.engine import Engine
from pegboard.codemode.fault import CodeError
from pegboard.codemode.hold import Hold
from pegboard.codemode.journal import Journal
from pegboard.codemode.limits import Limits
from pegboard.codemode.monty import MontyEngine
from pegboard.codemode.outcome import Fault, Outcome, Stop
from pegboard.codemode.runs import CodeRuns
from pegboard.codemode.stubs import Language
from pegboard.codemode.toolbox import Toolbox
from pegboard.core import Asset, AssetScheme, Call, Effects, Failure, FailureCode, Result, SourceRef, ToolName, ToolSpec
from pegboard.core.asset import Shelf
from pegboard.errors import StoreError
from pegboard.schema.cut import byte_size, cut_text, cut_value, json_text
from pegboard.schema.types import Json

NAME = ToolName("", "run_code")
SOURCE = SourceRef("codemode", "codemode")
LONGEST = 1024
"""Characters that the description takes at most, but where whoever runs the board has written more."""
_FEWEST = 80
"""Characters for the names of the pool at least."""
_MOST_CODE = 200_000

EXAMPLES: Mapping[Language, str] = {
    Language.JAVASCRIPT: 'const found = await tools.search("list open issues", 3);\n'
    "console.log(found.length);\n"
    "return found.map((one) => one.name);",
    Language.PYTHON: "found = search(\"list open issues\", 3)\nprint(len(found))\n[one['name'] for one in found]",
}
"""Examples that the description shows; a test runs them in the sandbox."""

_ABOUT: Mapping[Language, str] = {
    Language.JAVASCRIPT: "JavaScript: the body of an async function; call `await tools.ns.tool({...})` (without a"
    " namespace `tools.tool({...})`) and `return` what you want to see.",
    Language.PYTHON: "Python: call `ns__tool(name=value)`, or put `await` before every call to run several at once"
    " (asyncio.gather); the last line's value is what you see.",
}

Boxes: TypeAlias = Callable[[Call, Language, Journal], Toolbox]
"""The tools that the code of one call may call, and the journal of its calls."""


def run_code_spec(pool: Sequence[ToolSpec], languages: Sequence[Language], description: str = "") -> ToolSpec:
    """The definition of `run_code`.

    Parameters:
        pool: the tools that code may call; their names are shown as far as there is room.
        languages: the languages that code may be in.
        description: what stands in front, in the words of whoever runs the board.
    """
    return ToolSpec(
        name=NAME,
        description=_description(pool, languages, description),
        input={
            "type": "object",
            "properties": {
                "code": {"type": "string", "description": "The code.", "maxLength": _MOST_CODE},
                "language": {
                    "type": "string",
                    "enum": [language.value for language in languages],
                    "default": languages[0].value,
                },
            },
            "required": ["code"],
        },
        effects=Effects.READ_ONLY if all(spec.effects is Effects.READ_ONLY for spec in pool) else Effects.UNKNOWN,
        defer=False,
        source=SOURCE,
    )


def _description(pool: Sequence[ToolSpec], languages: Sequence[Language], own: str) -> str:
    say = own or (
        "Run code that calls tools: loop, filter, join and count without the results passing through your context. You"
        " see what the code returns and the end of its log."
    )
    parts = [say, *(_ABOUT[language] for language in languages)]
    parts.append(
        "`search(request, limit)` (JavaScript: `tools.search`) gives names and declarations. Failed calls throw; catch"
        " them where the rest shall go on. No files, network or imports."
    )
    parts += [f"Example ({language.value}):\n{EXAMPLES[language]}" for language in languages]
    text = "\n\n".join(parts)
    return f"{text}\n\n{_names(pool, max(LONGEST - len(text) - _AROUND, _FEWEST))}"


_AROUND = len("\n\nTools: , and 1000000 more (search for them).")


def _names(pool: Sequence[ToolSpec], room: int) -> str:
    """The names of the pool, as many as there is room for."""
    names = list[str]()
    for spec in pool:
        name = spec.name.qualified
        room -= len(name) + 2
        if room < 0:
            break
        names.append(name)
    more = f", and {len(pool) - len(names)} more (search for them)" if len(names) < len(pool) else ""
    if not names:
        return f"{len(pool)} tools (search for them)." if pool else "There are no tools to call yet."
    return f"Tools: {', '.join(names)}{more}."


class Runner:
    """Runs the code of calls of `run_code`.

    Parameters:
        limits: what a run may take.
        boxes: the tools that the code of a call may call.
        shelf: keeps returned values that are too large to be shown.
        shown: bytes of the returned value that are shown.
        most: how many runs there are at once; others wait.
        warm: how many JavaScript processes wait for the next runs.
        runs: keeps runs, so that they can wait for a yes and go on; without it none is kept.
    """

    def __init__(
        self,
        limits: Limits,
        boxes: Boxes,
        *,
        shelf: Shelf | None = None,
        shown: int = 20_000,
        most: int = 8,
        warm: int = 2,
        runs: CodeRuns | None = None,
    ) -> None:
        self._runs = runs
        self._limits, self._boxes, self._shelf, self._shown = limits, boxes, shelf, shown
        self._engines: Mapping[Language, Engine] = {
            Language.JAVASCRIPT: DenoEngine(limits, warm=warm),
            Language.PYTHON: MontyEngine(limits, most=most),
        }
        self._most = most
        self._room: anyio.CapacityLimiter | None = None

    async def __call__(self, call: Call) -> Result:
        """Run the code of a call of `run_code`."""
        language = Language(str(call.arguments.get("language") or Language.JAVASCRIPT))
        outcome = await self.run(str(call.arguments["code"]), language, call)
        return await self._result(outcome, call)

    async def run(self, code: str, language: Language, call: Call) -> Outcome:
        """Run code; where a run of the same code waits for a yes that is there now, or was cut off, go on with it.

        Parameters:
            code: the code.
            language: what it is written in.
            call: the call that it belongs to; its own calls are children of that.
        """
        try:
            hold = await self._runs.begun(code, language.value, call.session) if self._runs is not None else None
        except (CodeError, StoreError) as problem:
            return Outcome(error=Fault(Stop.UNAVAILABLE, problem.message, next_step=problem.next_step))
        return await self.go(code, language, call, hold)

    async def go(self, code: str, language: Language, call: Call, hold: Hold | None) -> Outcome:
        """Run code under a hold: from its start, answered from the journal as far as that reaches."""
        if self._room is None:
            self._room = anyio.CapacityLimiter(self._most)
        clock = Clock(self._limits.seconds)
        journal = Journal(hold, clock)
        outcome: Outcome | None = None
        try:
            async with self._room, anyio.create_task_group() as tasks:
                tasks.start_soon(journal.pulse)
                clock.start()
                outcome = await self._engines[language].run(code, self._boxes(call, language, journal), clock)
                tasks.cancel_scope.cancel()
        finally:
            ended = await journal.closed(outcome)
        assert ended is not None
        return ended

    async def close(self) -> None:
        """End what waits."""
        for engine in self._engines.values():
            await engine.close()

    async def _result(self, outcome: Outcome, call: Call) -> Result:
        told: dict[str, Json] = {
            "ok": outcome.ok,
            "value": None,
            "error": outcome.error.to_json() if outcome.error else None,
            "logs": outcome.logs,
            "usage": dict(outcome.usage),
        }
        if outcome.error is not None:
            return Result(failure=_failure(outcome), value=told)
        text = outcome.text or "null"
        if byte_size(text) <= self._shown:
            value = outcome.value
            return Result(value={**told, "value": value}, content=_blocks(json_text(value), outcome.logs))
        asset = await self._kept(text, call)
        value, _ = cut_value(outcome.value, self._shown)
        told |= {
            "value": value,
            "cut": {"bytes": byte_size(text), "shown": self._shown, **_handle(asset, self._scheme)},
        }
        where = asset.said(self._scheme) if asset else "The rest was not kept; return less."
        mark = f"[Cut: the value has {byte_size(text)} bytes. {where}]"
        handles = (asset.handle(self._scheme),) if asset else ()
        return Result(value=told, content=_blocks(f"{json_text(value)}\n{mark}", outcome.logs), assets=handles)

    @property
    def _scheme(self) -> AssetScheme:
        return self._shelf.scheme if self._shelf is not None else AssetScheme.PEGBOARD

    async def _kept(self, text: str, call: Call) -> Asset | None:
        if self._shelf is None:
            return None
        try:
            return await self._shelf.put(text.encode(), "application/json", call.session.principal)
        except StoreError:
            return None


def _handle(asset: Asset | None, scheme: AssetScheme) -> dict[str, Any]:
    return {"asset": asset.handle(scheme)} if asset is not None else {}


def _blocks(text: str, logs: str) -> tuple[dict[str, Json], ...]:
    blocks = [text, *([f"log:\n{logs}"] if logs else [])]
    return tuple({"type": "text", "text": block} for block in blocks)


_NEXT: Mapping[Stop, str] = {
    Stop.ERROR: "Correct the code. What its calls have done stays done.",
    Stop.TIMEOUT: "Do less in one run, or run calls at once; what was called before stays done.",
    Stop.MEMORY: "Hold less at once: page through results and keep only what you need.",
    Stop.OUTPUT: "Return less: a summary, counts, the first rows.",
    Stop.CALLS: "Call less; a batch form takes many items in one call.",
    Stop.CRASHED: "Try simpler code.",
    Stop.UNAVAILABLE: "Call the tools one by one; whoever runs the board sees more with `pegboard doctor`.",
    Stop.CANCELLED: "What was called before stays done.",
}
_CODES: Mapping[Stop, FailureCode] = {
    Stop.TIMEOUT: FailureCode.TIMEOUT,
    Stop.OUTPUT: FailureCode.TOO_LARGE,
    Stop.CALLS: FailureCode.BUDGET,
    Stop.UNAVAILABLE: FailureCode.UNAVAILABLE,
    Stop.WAITING: FailureCode.APPROVAL_NEEDED,
    Stop.OUTCOME_UNKNOWN: FailureCode.OUTCOME_UNKNOWN,
    Stop.CANCELLED: FailureCode.CANCELLED,
}


def _code(outcome: Outcome, stop: Stop) -> FailureCode:
    """A run that was stopped in mid-call may have had an effect of which nobody heard."""
    if stop in (Stop.TIMEOUT, Stop.MEMORY, Stop.CRASHED) and outcome.touched:
        return FailureCode.OUTCOME_UNKNOWN
    return _CODES.get(stop, FailureCode.FAILED)


def _failure(outcome: Outcome) -> Failure:
    fault = outcome.error
    assert fault is not None
    made = [one.tool for one in outcome.calls if one.ok]
    place = f"line {fault.line}" if fault.line else None
    message = f"{fault.name}: {fault.message}" if fault.name else fault.message
    done = f" Calls that succeeded before: {len(made)}." if made else ""
    logs = f"\nlog:\n{cut_text(outcome.logs, 2000)}" if outcome.logs else ""
    return Failure(
        _code(outcome, fault.stop),
        f"{message}{done}{logs}",
        where=place,
        next_step=fault.next_step or _NEXT.get(fault.stop),
        retryable=fault.stop is Stop.WAITING,
        details={**fault.details, "error": fault.to_json(), "logs": outcome.logs, "usage": dict(outcome.usage)},
    )
