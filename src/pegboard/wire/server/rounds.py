"""Putting questions to clients of the stateless family (MCP 2026-07-28): in rounds of `input_required`.

A call that asks goes on in a task of its own, which outlives the request: its answer to the client is the question, and
the retry with the reply finds the call where it stood. Nothing that ran before the question runs twice. A retry that
finds no such call (the server was started anew) runs as a new call, and its replies are still heard.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from itertools import count
from secrets import token_urlsafe
from typing import Any, TypeAlias

import anyio
from anyio.abc import TaskGroup

from pegboard.core import Progress
from pegboard.core.call import Ask, Log, Reply
from pegboard.schema.types import Json, JsonObject, as_object, canonical
from pegboard.wire.server.asking import METHOD, question, reply_of
from pegboard.wire.server.front import Refusal

MOST = 512
"""Calls that may stand waiting at once; the oldest is given up for a newer one."""
_MODERN = "2026-07-28"

Step: TypeAlias = Callable[[Ask, Progress | None, Log | None], Awaitable[JsonObject]]
"""Runs a call with ways to ask, to tell progress and to log; its body, once it has ended."""


@dataclass
class _Question:
    params: JsonObject
    replied: anyio.Event = field(default_factory=anyio.Event)
    reply: Reply | None = None


@dataclass
class _Call:
    """One call, from its first request to its last."""

    print: str
    principal: str
    early: Mapping[str, Any]
    progress: Progress | None = None
    log: Log | None = None
    token: str = field(default_factory=lambda: token_urlsafe(24))
    body: JsonObject | None = None
    error: BaseException | None = None
    over: bool = False
    open: dict[str, _Question] = field(default_factory=dict[str, _Question])
    news: anyio.Event = field(default_factory=anyio.Event)
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    numbers: "count[int]" = field(default_factory=count)

    async def run(self, step: Step, *, tells: bool, logs: bool) -> None:
        """Run the call to its end, whoever listens meanwhile."""
        try:
            with self.scope:
                self.body = await step(self.ask, self._tell if tells else None, self._note if logs else None)
        except Exception as problem:
            self.error = problem
        finally:
            self.over = True
            self.news.set()

    async def ask(self, message: str, schema: JsonObject, meta: JsonObject) -> Reply | None:
        """Put a question, and wait for a retry that brings the reply."""
        named = as_object(meta.get("pegboard/approval")).get("id")
        key = str(named) if named and str(named) not in self.open else f"question-{next(self.numbers)}"
        if key in self.early:
            return reply_of(self.early[key])
        asked = self.open[key] = _Question(question(message, schema, meta, _MODERN))
        self.news.set()
        try:
            await asked.replied.wait()
        finally:
            self.open.pop(key, None)
        return asked.reply

    def hear(self, replies: Mapping[str, Any]) -> None:
        """Take the replies that a retry brings."""
        for key, raw in replies.items():
            asked = self.open.pop(key, None)
            if asked is not None:
                asked.reply = reply_of(raw)
                asked.replied.set()

    async def next(self) -> JsonObject:
        """The body of the call, or the questions that stand."""
        while not self.over and not self.open:
            self.news = anyio.Event()
            await self.news.wait()
        if self.error is not None:
            raise self.error
        if self.body is not None:
            return self.body
        if self.over:
            raise Refusal("The call was given up. Make it again.")
        requests = {key: {"method": METHOD, "params": dict(asked.params)} for key, asked in self.open.items()}
        return {"resultType": "input_required", "inputRequests": requests, "requestState": self.token}

    async def _tell(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        if self.progress is not None:
            await self.progress(progress, total, message)

    async def _note(self, level: str, data: Json, logger: str | None = None) -> None:
        if self.log is not None:
            await self.log(level, data, logger)


class Rounds:
    """The calls of a server that stand waiting for a reply.

    Parameters:
        tasks: where they go on.
    """

    def __init__(self, tasks: TaskGroup) -> None:
        self._tasks = tasks
        self._waiting: dict[str, _Call] = {}

    async def answer(
        self, params: JsonObject, principal: str, step: Step, progress: Progress | None, log: Log | None
    ) -> JsonObject:
        """Answer a request: run its call, or go on with the one that it retries, until that ends or asks.

        Parameters:
            params: the request's params, `requestState` and `inputResponses` among them.
            principal: whose request it is; nobody else's call goes on with it.
            step: runs the call.
            progress: where progress of this request goes.
            log: where its log messages go.

        Raises:
            Refusal: the state belongs to another call.
        """
        replies = as_object(params.get("inputResponses"))
        found = self._find(params, principal)
        if found is None:
            print = _print(params)
            found = _Call(print, principal, replies, progress, log)
            self._tasks.start_soon(lambda: found.run(step, tells=progress is not None, logs=log is not None))
        else:
            found.progress, found.log = progress, log
            found.hear(replies)
        return await self._followed(found)

    def _find(self, params: JsonObject, principal: str) -> _Call | None:
        state = params.get("requestState")
        found = self._waiting.get(state) if isinstance(state, str) else None
        if found is None:
            return None
        if found.print != _print(params) or found.principal != principal:
            raise Refusal("This requestState belongs to another call. Make the call again without it.")
        return self._waiting.pop(found.token)

    async def _followed(self, call: _Call) -> JsonObject:
        """Wait for what comes next; who cancels the request cancels the call."""
        try:
            body = await call.next()
        except anyio.get_cancelled_exc_class():
            call.scope.cancel()
            raise
        finally:
            call.progress = call.log = None
        if not call.over:
            self._keep(call)
        return body

    def _keep(self, call: _Call) -> None:
        self._waiting = {token: one for token, one in self._waiting.items() if not one.over} | {call.token: call}
        while len(self._waiting) > MOST:
            oldest = self._waiting.pop(next(iter(self._waiting)))
            oldest.scope.cancel()


def _print(params: JsonObject) -> str:
    return canonical([params.get("name"), params.get("arguments") or {}])
