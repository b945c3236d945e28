"""What the code of one run can call. The host decides here; what the guest claims counts for nothing."""

import json
import re
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeAlias, cast

import anyio

from pegboard.codemode.journal import Journal
from pegboard.codemode.limits import Limits
from pegboard.codemode.outcome import Made, ToolError
from pegboard.codemode.stubs import Language, stub
from pegboard.core import Effects, Failure, FailureCode, Mode, Result, ToolName, ToolSpec, default_mode, take_mode
from pegboard.errors import nearest
from pegboard.schema.types import Json, JsonObject

Dial: TypeAlias = Callable[[ToolSpec, JsonObject, str], Awaitable[Result]]
"""Calls a tool through the board's pipeline: the tool, its arguments, what names the call among its siblings."""
Find: TypeAlias = Callable[[str, int], Awaitable[Sequence[ToolName]]]
"""The names of the tools that meet a request best."""
Read: TypeAlias = Callable[[Result], Json]
"""What a result says, as data."""

SEARCH, DESCRIBE = "search", "describe"
"""What the code calls to find tools and to see one's declaration, unless a tool has that name."""
FLOOD = 1000
"""So many refused calls more, and the run is ended."""
_SHOWN = 8


class Toolbox:
    """The tools that one run may call, under every spelling of their names.

    Parameters:
        specs: the pool.
        dial: calls a tool.
        limits: what the run may take.
        read: what a result says, as data.
        find: searches the board; without it names alone are searched.
        language: what declarations are written in.
        journal: what the run's calls came to; without it nothing is kept.
    """

    def __init__(
        self,
        specs: Sequence[ToolSpec],
        dial: Dial,
        limits: Limits,
        read: Read,
        *,
        find: Find | None = None,
        language: Language = Language.JAVASCRIPT,
        journal: Journal | None = None,
    ) -> None:
        self.journal = journal or Journal()
        self.limits, self.language = limits, language
        self._dial, self._read, self._find = dial, read, find
        self.names = spellings(specs)
        self._specs = {spec.name: spec for spec in specs}
        self._room = anyio.CapacityLimiter(limits.at_once)
        self.begun = 0
        self.touched = False
        self.refused = 0
        self.made: list[Made] = []

    @property
    def flooded(self) -> bool:
        """Whether the code goes on calling although nothing runs any more."""
        return self.refused > FLOOD

    async def call(self, name: str, given: Json) -> str:
        """The answer of one call of the code, as JSON.

        Parameters:
            name: what the code called.
            given: its arguments.

        Raises:
            ToolError: it failed; the code can catch that.
        """
        spec = self.names.get(name)
        if spec is None and name in (SEARCH, DESCRIBE):
            return await self._journaled(name, None, given, lambda: self._about(name, given))
        if self.begun >= self.limits.max_calls:
            self.refused += 1
            raise ToolError(self._spent())
        self.begun += 1
        key, started = str(self.begun), time.monotonic()
        told = str(spec.name) if spec else name[:100]
        self.touched = self.touched or (spec is not None and spec.effects is not Effects.READ_ONLY)
        try:
            answer = await self._journaled(name, spec, given, lambda: self._run(name, spec, given, key))
        except ToolError as problem:
            self._note(told, started, problem.failure.code)
            raise
        self._note(told, started)
        return answer

    async def _journaled(
        self, name: str, spec: ToolSpec | None, given: Json, run: Callable[[], Awaitable[Json]]
    ) -> str:
        async def once() -> str:
            return reply_text(await run(), self.limits.max_reply)

        tool = str(spec.name) if spec is not None else ""
        return await self.journal.answered(name, given, tool=tool, harmless=_harmless(spec, given), once=once)

    def _note(self, tool: str, started: float, code: FailureCode | None = None) -> None:
        if len(self.made) < self.limits.max_calls:
            ms = (time.monotonic() - started) * 1000
            self.made.append(Made(tool, code is None, ms, code.value if code else None))

    async def _run(self, name: str, spec: ToolSpec | None, given: Json, key: str) -> Json:
        if spec is None:
            raise ToolError(self._unknown(name))
        if not isinstance(given, Mapping | None):
            raise ToolError(self._signed(_NOT_NAMED, spec))
        arguments = cast("JsonObject", given or {})
        async with self._room:
            result = await self._dial(spec, arguments, key)
        if result.failure is not None:
            wrong = result.failure.code is FailureCode.INVALID_ARGUMENTS
            raise ToolError(self._signed(result.failure, spec) if wrong else result.failure)
        return self._read(result)

    def _spent(self) -> Failure:
        most = self.limits.max_calls
        return Failure(
            FailureCode.BUDGET,
            f"One run of code may make {most} calls, and that is used up.",
            next_step="Return what there is; whoever runs the board can raise max_calls in [codemode].",
        )

    def _unknown(self, name: str) -> Failure:
        near = nearest(name, list(self.names), limit=3)
        step = f"Did you mean {', '.join(near)}?" if near else f"Find tools with {self._search_call}."
        return Failure(
            FailureCode.UNKNOWN_TOOL, f"There is no tool {name[:100]!r} that code may call here.", next_step=step
        )

    @property
    def _search_call(self) -> str:
        return 'tools.search("...")' if self.language is Language.JAVASCRIPT else 'search("...")'

    def _signed(self, failure: Failure, spec: ToolSpec) -> Failure:
        """A failure of wrong arguments, with what right ones look like."""
        told = f"{failure.message} It is declared as:\n{stub(spec, self.language)}"
        return Failure(failure.code, told, failure.where, failure.next_step, failure.retryable, failure.details)

    # Finding

    async def _about(self, what: str, given: Json) -> Json:
        asked = _asked(given)
        if what == DESCRIBE:
            spec = self.names.get(asked[0])
            if spec is None:
                raise ToolError(self._unknown(asked[0]))
            return stub(spec, self.language)
        return [{"name": str(spec.name), "stub": stub(spec, self.language)} for spec in await self._found(*asked)]

    async def _found(self, query: str, limit: int) -> list[ToolSpec]:
        if self._find is None:
            words = [word for word in re.split(r"\W+", query.lower()) if word]
            ranked = [(sum(w in f"{s.name} {s.description}".lower() for w in words), s) for s in self._specs.values()]
            hits = sorted((pair for pair in ranked if pair[0]), key=lambda pair: -pair[0])
            return [spec for _, spec in hits][:limit]
        found = await self._find(query, 4 * limit)
        return [self._specs[name] for name in found if name in self._specs][:limit]


def _harmless(spec: ToolSpec | None, given: Json) -> bool:
    """Whether making a call twice does no more than making it once."""
    if spec is None or spec.effects.repeatable or not isinstance(given, Mapping | None):
        return True
    mode, _ = take_mode(spec, cast("JsonObject", given or {}))
    return (mode or default_mode(spec)) is not Mode.EXECUTE


_NOT_NAMED = Failure(
    FailureCode.INVALID_ARGUMENTS,
    "A tool takes its arguments by name.",
    next_step="Give one object whose keys are the tool's parameters.",
)


def _asked(given: Json) -> tuple[str, int]:
    fields: Mapping[str, Json] = cast("Mapping[str, Json]", given) if isinstance(given, Mapping) else {"query": given}
    limit = fields.get("limit")
    asked = str(fields.get("query") or fields.get("name") or "")
    return asked, max(1, min(limit, 50)) if isinstance(limit, int) else _SHOWN


_PLAIN = re.compile(r"\W")


def identifier(name: ToolName, *, joint: str = "__") -> str:
    """A tool's name as an identifier: `ns__tool`, every other sign an underscore."""
    text = f"{name.namespace}{joint}{name.name}" if name.namespace else name.name
    return _PLAIN.sub("_", text)


def spellings(specs: Sequence[ToolSpec]) -> Mapping[str, ToolSpec]:
    """Every name under which code can call a tool: full, with underscores, and bare where only one has it."""
    found: dict[str, ToolSpec] = {}
    bare: dict[str, list[ToolSpec]] = {}
    for spec in specs:
        name = spec.name
        found[name.qualified] = spec
        for text in (name.name, _PLAIN.sub("_", name.name)):
            bare.setdefault(text, []).append(spec)
    for spec in specs:
        name = spec.name
        dotted = f"{_PLAIN.sub('_', name.namespace)}.{_PLAIN.sub('_', name.name)}" if name.namespace else ""
        for text in (identifier(name), dotted):
            if text:
                found.setdefault(text, spec)
    for text, sharing in bare.items():
        if len({spec.name for spec in sharing}) == 1:
            found.setdefault(text, sharing[0])
    return found


def reply_text(value: Json, limit: int) -> str:
    """The answer of a call as JSON.

    Raises:
        ToolError: it is larger than the limit, or cannot be JSON.
    """
    try:
        text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    except (ValueError, TypeError, RecursionError) as problem:
        raise ToolError(
            Failure(FailureCode.UPSTREAM, f"The tool's answer cannot be handed to code: {problem}.")
        ) from problem
    if len(text) > limit:
        told = f"The tool's answer has {len(text)} bytes, and code can take {limit}."
        raise ToolError(Failure(FailureCode.TOO_LARGE, told, next_step="Ask the tool for less: a page, a filter."))
    return text
