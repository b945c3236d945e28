"""Asking clients of the stateless family (MCP 2026-07-28): in rounds of `input_required`.

A call that asks goes on in a task of its own, which outlives the request: its answer to the client is the question, and
the retry with the reply finds the call where it stood. Nothing that ran before the question runs twice. A retry that
finds no such call is refused, but for one kind: where the board itself had asked for a yes before anything ran, it runs
as a new call, and its reply is still heard (the server may have been started anew).
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any, TypeAlias

import anyio
from anyio.abc import TaskGroup

from pegboard.core import Progress
from pegboard.core.call import Ask, Log, Reply, wanted_level
from pegboard.core.client import ELICIT, WITHDRAWN, Client, ClientError
from pegboard.schema.types import Json, JsonObject, as_object, canonical
from pegboard.wire.server.asking import question, reply_of, shows_forms
from pegboard.wire.server.front import Refusal
from pegboard.wire.server.spelling import STATELESS
from pegboard.wire.server.state import Seal

MOST = 512
"""Calls that may stand waiting at once; the oldest is given up for a newer one."""
_GATHER = 0.01
"""Seconds after a first question for others of the same call: a client answers the questions of a round together."""
_BOARDS_OWN = "b."
"""How a state begins that stands for nothing but a question of the board, before anything ran."""


@dataclass(frozen=True)
class Way:
    """What stands between a call and its client.

    Parameters:
        features: what the client declared of elicitation, sampling and roots, raw.
        alone: whose the call is where only one client can come; empty where many can.
        progress: where progress goes.
        log: where log messages go.
        ask: puts a question of the board to the person.
        client: the client, for whoever serves the call.
    """

    features: JsonObject
    alone: str = ""
    progress: Progress | None = None
    log: Log | None = None
    ask: Ask | None = None
    client: Client | None = None


Step: TypeAlias = Callable[[Way], Awaitable[JsonObject]]
"""Runs a call over this way to its client; its body, once it has ended."""


@dataclass
class _Question:
    method: str
    params: JsonObject
    replied: anyio.Event = field(default_factory=anyio.Event)
    reply: JsonObject | None = None


@dataclass
class _Call:
    """One call, from its first request to its last."""

    print: str
    owner: str
    early: Mapping[str, Any]
    way: Way
    seal: Seal
    token: str = ""
    body: JsonObject | None = None
    error: BaseException | None = None
    over: bool = False
    open: dict[str, _Question] = field(default_factory=dict[str, _Question])
    reached: bool = False
    until: float = 0.0
    news: anyio.Event = field(default_factory=anyio.Event)
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    numbers: "count[int]" = field(default_factory=count)

    async def run(self, step: Step) -> None:
        """Run the call to its end, whoever listens meanwhile."""
        first, features = self.way, self.way.features
        way = Way(
            features,
            first.alone,
            progress=None if first.progress is None else self._tell,
            log=None if first.log is None else _Notes(self, wanted_level(first.log)),
            ask=self.ask if shows_forms(features) else None,
            client=Client(capabilities=features, request=self.request, alone=first.alone) if features else None,
        )
        try:
            with self.scope:
                self.body = await step(way)
        except Exception as problem:
            self.error = problem
        finally:
            self.over = True
            for asked in self.open.values():
                asked.replied.set()
            self.news.set()

    async def ask(self, message: str, schema: JsonObject, meta: JsonObject) -> Reply | None:
        """Put a question of the board, and wait for a retry that brings the reply."""
        named = as_object(meta.get("pegboard/approval")).get("id")
        if named and str(named) in self.early:
            return reply_of(self.early[str(named)])
        key = str(named) if named and str(named) not in self.open else f"question-{next(self.numbers)}"
        reply = await self._put(key, ELICIT, question(message, schema, meta, STATELESS))
        return None if reply is None else reply_of(reply)

    async def request(self, method: str, params: JsonObject) -> JsonObject:
        """Ask the client for whoever serves the call, and wait for a retry that brings the answer."""
        self.reached = True
        reply = await self._put(f"request-{next(self.numbers)}", method, params)
        if reply is None:
            raise ClientError(WITHDRAWN, "The call ended before its client answered.")
        return reply

    async def _put(self, key: str, method: str, params: JsonObject) -> JsonObject | None:
        asked = self.open[key] = _Question(method, params)
        self.news.set()
        try:
            await asked.replied.wait()
        finally:
            self.open.pop(key, None)
            self.news.set()
        return asked.reply

    def hear(self, replies: Mapping[str, Any]) -> None:
        """Take the replies that a retry brings; one without a question, or a second one, changes nothing."""
        for key, raw in replies.items():
            asked = self.open.pop(key, None)
            if asked is not None:
                asked.reply = as_object(raw)
                asked.replied.set()

    async def next(self) -> JsonObject:
        """The body of the call, or the questions that stand."""
        while not self.over and not self.open:
            self.news = anyio.Event()
            await self.news.wait()
            if self.open and not self.over:
                await anyio.sleep(_GATHER)
        if self.error is not None:
            raise self.error
        if self.body is not None:
            return self.body
        if self.over:
            raise Refusal("The call was given up. Make it again.")
        self.token = ("" if self.reached else _BOARDS_OWN) + self.seal.make()
        requests = {key: {"method": asked.method, "params": dict(asked.params)} for key, asked in self.open.items()}
        return {"resultType": "input_required", "inputRequests": requests, "requestState": self.token}

    async def _tell(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        if self.way.progress is not None:
            await self.way.progress(progress, total, message)


@dataclass(frozen=True)
class _Notes:
    """Sends log messages of a call to whichever of its requests is under way."""

    call: _Call
    wanted: str

    async def __call__(self, level: str, data: Json, logger: str | None = None) -> None:
        if self.call.way.log is not None:
            await self.call.way.log(level, data, logger)


class Rounds:
    """The calls of a server that stand waiting for a reply.

    Parameters:
        tasks: where they go on.
        seal: makes their states.
    """

    def __init__(self, tasks: TaskGroup, seal: Seal | None = None) -> None:
        self._tasks = tasks
        self._seal = seal or Seal()
        self._waiting: dict[str, _Call] = {}
        self._sweeping = False

    async def answer(self, params: JsonObject, owner: str, step: Step, way: Way) -> JsonObject:
        """Answer a request: run its call, or go on with the one that it retries, until that ends or asks.

        Parameters:
            params: the request's params, `requestState` and `inputResponses` among them.
            owner: whose request it is; nobody else's call goes on with it.
            step: runs the call.
            way: where this request's progress and log messages go, and what its client can do.

        Raises:
            Refusal: the state belongs to another call, is too old, or is none of this server's.
        """
        replies = as_object(params.get("inputResponses"))
        found = self._find(params, owner)
        if found is None:
            found = _Call(_print(params), owner, replies, way, self._seal)
            self._tasks.start_soon(found.run, step)
        else:
            found.way = way
            found.hear(replies)
        return await self._followed(found)

    def _find(self, params: JsonObject, owner: str) -> _Call | None:
        state = params.get("requestState")
        if state is None:
            return None
        if not isinstance(state, str):
            raise _refusal("This requestState is no text.", "invalid_request_state")
        found = self._waiting.get(state)
        if found is not None:
            if found.print != _print(params) or found.owner != owner:
                raise _refusal("This requestState belongs to another call.", "invalid_request_state")
            return self._waiting.pop(state)
        if state.startswith(_BOARDS_OWN):
            return None
        if self._seal.fate(state) == "foreign":
            raise _refusal(
                "No call waits under this requestState: the server was started anew, or the state was changed on its "
                "way. What the call did before it asked is not known.",
                "invalid_request_state",
            )
        raise _refusal(
            "The call of this requestState is over: it was answered already, given up, or took too long.",
            "expired_request_state",
        )

    async def _followed(self, call: _Call) -> JsonObject:
        """Wait for what comes next; who cancels the request cancels the call."""
        try:
            body = await call.next()
        except anyio.get_cancelled_exc_class():
            call.scope.cancel()
            raise
        finally:
            call.way = Way(call.way.features)
        if not call.over:
            self._keep(call)
        return body

    def _keep(self, call: _Call) -> None:
        self._waiting = {token: one for token, one in self._waiting.items() if not one.over} | {call.token: call}
        while len(self._waiting) > MOST:
            oldest = self._waiting.pop(next(iter(self._waiting)))
            oldest.scope.cancel()
        call.until = anyio.current_time() + self._seal.seconds
        if not self._sweeping:
            self._sweeping = True
            self._tasks.start_soon(self._sweep)

    async def _sweep(self) -> None:
        """Give the calls up that nobody came back for; the oldest stands first."""
        while self._waiting:
            oldest = next(iter(self._waiting.values()))
            if oldest.until > anyio.current_time():
                await anyio.sleep_until(oldest.until)
            elif self._waiting.pop(oldest.token, None):
                oldest.scope.cancel()
        self._sweeping = False


def _refusal(message: str, reason: str) -> Refusal:
    return Refusal(
        f"{message} Make the call again without it.",
        data={"reason": reason, "next_step": "Make the call again without requestState and inputResponses."},
    )


def _print(params: JsonObject) -> str:
    return canonical([params.get("name"), params.get("arguments") or {}])
