"""A tool that waits: some time, or until an HTTP request answers what it should. (Runtype calls it wait-until.)"""

import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import anyio

from pegboard.core import (
    Call,
    Effects,
    Failure,
    FailureCode,
    Health,
    Listing,
    Mode,
    Result,
    SourceRef,
    SourceState,
    Tool,
    ToolName,
    ToolSpec,
)
from pegboard.core.mode import with_own_modes
from pegboard.errors import DefinitionError, nearest
from pegboard.schema.expression import Expression, ExpressionError
from pegboard.schema.types import Json, JsonObject, as_object
from pegboard.sources.http.address import Allowance
from pegboard.sources.http.client import Answer, SafeClient
from pegboard.sources.http.exchange import BadArgument, Exchange
from pegboard.sources.templated.request import RequestTemplate

KIND = "wait"
_KEYS = ("delay_ms", "request", "until", "interval_ms", "max_attempts", "go_on", "name", "description")
LONGEST_MS = 24 * 3_600_000
MOST_ATTEMPTS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """What is waited for.

    Parameters:
        delay_ms: milliseconds to wait first.
        request: what is asked again and again; None: the time alone.
        until: the condition over `status`, `headers` and `body` of the answer; None: any answer that is no error.
        interval_ms: milliseconds between two requests.
        max_attempts: how many requests there are at most.
        go_on: whether what never came is a value (`ready` false) and no failure.
        name: what the tool is called; empty for the source's name.
        description: what models read of it.
    """

    delay_ms: int = 0
    request: RequestTemplate | None = None
    until: Expression | None = None
    interval_ms: int = 1000
    max_attempts: int = 30
    go_on: bool = False
    name: str = ""
    description: str = ""

    @classmethod
    def read(cls, table: JsonObject, where: str) -> "Wait":
        """What a table describes.

        Raises:
            DefinitionError: it cannot work as it stands.
        """
        for key in table:
            if key not in _KEYS:
                near = nearest(key, _KEYS) or list(_KEYS)
                raise DefinitionError(f"A wait has no {key!r}.", where=where, next_step=f"Use {' or '.join(near)}.")
        request = as_object(table.get("request"))
        if not request and "delay_ms" not in table:
            raise DefinitionError("It waits for nothing.", where=where, next_step="Give delay_ms, or a request.")
        until = table.get("until")
        found = RequestTemplate.read(request, f"{where}.request") if request else None
        if found is not None and found.method not in ("GET", "HEAD"):
            raise DefinitionError(
                f"A wait asks with GET, not {found.method}: it is asked again and again.", where=f"{where}.request"
            )
        return cls(
            delay_ms=_whole(table, "delay_ms", 0, LONGEST_MS, where, 0),
            request=found,
            until=None if until is None else Expression.parse(str(until)),
            interval_ms=_whole(table, "interval_ms", 10, LONGEST_MS, where, 1000),
            max_attempts=_whole(table, "max_attempts", 1, MOST_ATTEMPTS, where, 30),
            go_on=bool(table.get("go_on", False)),
            name=str(table.get("name") or ""),
            description=str(table.get("description") or ""),
        )


class WaitSource:
    """The source of one tool that waits.

    Parameters:
        name: the source's name, and the tool's.
        wait: what is waited for.
        prefix: the namespace; the source's name by default.
        allow_private: whether private addresses may be asked that do not stand in the config.
        public: whether the address in the config must be public as well.
        seconds: how long one request may take.
    """

    kind = KIND

    def __init__(
        self,
        name: str,
        wait: Wait,
        *,
        prefix: str | None = None,
        allow_private: bool = False,
        public: bool = False,
        seconds: float = 30.0,
    ) -> None:
        self.name, self._wait = name, wait
        self._namespace = name if prefix is None else prefix
        self._private, self._public, self._seconds = allow_private, public, seconds
        self._client: SafeClient | None = None
        self._ended = anyio.Event()

    @asynccontextmanager
    async def session(self) -> AsyncGenerator[None]:
        """Hold connections open, where something is asked."""
        self._ended = anyio.Event()
        request = self._wait.request
        urls = [] if request is None or self._public else [request.url.partition("{{")[0]]
        async with SafeClient(Allowance.of(urls, private=self._private), timeout=self._seconds) as client:
            self._client = client
            try:
                yield
            finally:
                self._client = None
                self._ended.set()

    async def listing(self) -> Listing:
        """The one tool."""
        request = self._wait.request
        names: list[str] = [] if request is None else request.names
        properties: dict[str, Json] = {name: {} for name in names}
        spec = ToolSpec(
            name=ToolName(self._namespace, self._wait.name or self.name),
            description=self._wait.description or _words(self._wait),
            input={"type": "object", "properties": properties, "required": list(names)},
            effects=Effects.READ_ONLY,
            source=SourceRef(self.name, KIND),
        )
        return Listing((Tool(with_own_modes(spec, [Mode.DRY_RUN]), self._run),))

    async def health(self) -> Health:
        """Ready while it is open."""
        return Health(SourceState.IDLE if self._client is None else SourceState.READY)

    async def changes(self) -> AsyncIterator[None]:
        """None; ends with the session."""
        await self._ended.wait()
        for never in ():
            yield never

    async def _run(self, call: Call) -> Result:
        wait = self._wait
        if call.mode is Mode.DRY_RUN:
            return Result(value={"waited": False}, mode=Mode.DRY_RUN)
        await anyio.sleep(wait.delay_ms / 1000)
        if wait.request is None:
            return Result(value={"ready": True, "waited_ms": wait.delay_ms})
        last: Json = None
        for attempt in range(1, wait.max_attempts + 1):
            last, ready, failure = await self._ask(call)
            if failure is not None:
                return Result(failure=failure)
            if ready:
                return Result(value={"ready": True, "attempts": attempt, **as_object(last)})
            if attempt < wait.max_attempts:
                await anyio.sleep(wait.interval_ms / 1000)
        value = {"ready": False, "attempts": wait.max_attempts, **as_object(last)}
        if wait.go_on:
            return Result(value=value)
        return Result(
            failure=Failure(
                FailureCode.TIMEOUT,
                f"It was not so after {wait.max_attempts} requests.",
                next_step="Call again later, or see why it does not come.",
                details={"last": value},
            )
        )

    async def _ask(self, call: Call) -> tuple[Json, bool, Failure | None]:
        """One request: what came, whether it is what is waited for, and what makes going on pointless."""
        assert self._client is not None and self._wait.request is not None
        try:
            request = self._wait.request.request(call.arguments)
        except BadArgument as problem:
            return None, False, problem.failure
        answer = await Exchange(self._client, (), Effects.READ_ONLY).send(request)
        if isinstance(answer, Failure):
            gone = answer.code in (FailureCode.BLOCKED, FailureCode.INVALID_ARGUMENTS)
            return {"error": answer.message}, False, answer if gone else None
        seen: dict[str, Json] = {"status": answer.status, "body": _body(answer)}
        if self._wait.until is None:
            return seen, 200 <= answer.status < 300, None
        try:
            return seen, bool(self._wait.until.evaluate(seen)), None
        except ExpressionError:
            return seen, False, None


def _body(answer: Answer) -> Json:
    try:
        return json.loads(answer.text)
    except ValueError:
        return answer.text


def _words(wait: Wait) -> str:
    if wait.request is None:
        return f"Wait {wait.delay_ms / 1000:g} seconds."
    return f"Wait until {wait.request.url} answers what it should."


def _whole(table: JsonObject, key: str, least: int, most: int, where: str, default: int) -> int:
    given: Any = table.get(key, default)
    if isinstance(given, bool) or not isinstance(given, int) or not least <= given <= most:
        raise DefinitionError(
            f"{key} cannot be {given!r}.", where=f"{where}.{key}", next_step=f"Use {least} to {most}."
        )
    return given
