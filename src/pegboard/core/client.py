"""The program at the caller's end, as far as it does something for servers: MCP's client features."""

from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from pegboard.schema.types import Json, JsonObject

ELICIT, SAMPLE, ROOTS = "elicitation/create", "sampling/createMessage", "roots/list"
FEATURE_OF = {ELICIT: "elicitation", SAMPLE: "sampling", ROOTS: "roots"}
"""Which capability a client declares for each request that a server may make of it."""

METHOD_NOT_FOUND, INVALID_PARAMS = -32601, -32602
WITHDRAWN = -32000
"""The JSON-RPC code where nobody can answer any more: the call has ended, or the client has left."""


class ClientError(Exception):
    """A client answered a request with an error, or cannot answer any more.

    Parameters:
        code: the JSON-RPC code.
        message: the client's own words.
        data: what it sent along.
    """

    def __init__(self, code: int, message: str, data: Json = None) -> None:
        super().__init__(message)
        self.code, self.message, self.data = code, message, data


Request: TypeAlias = Callable[[str, JsonObject], Awaitable[JsonObject]]
"""Asks a client for something, from method and params to the raw result. Raises `ClientError`."""

Notify: TypeAlias = Callable[[str, JsonObject], Coroutine[Any, Any, None]]
"""Tells a client something, if it still listens."""


@dataclass(eq=False)
class ClientConnection:
    """A client's connection, where it has one (the handshake family).

    Parameters:
        id: names it.
        request: asks the client outside of any call.
        notify: tells the client something outside of any call.
        closed: whether it has ended.
        on_close: called once, when it ends.
        on_roots: called when the client says that its roots have changed.
    """

    id: str
    request: Request
    notify: Notify
    closed: bool = False
    on_close: list[Callable[[], None]] = field(default_factory=list[Callable[[], None]])
    on_roots: list[Callable[[], None]] = field(default_factory=list[Callable[[], None]])

    def close(self) -> None:
        """It has ended."""
        self.closed = True
        heard, self.on_close = self.on_close, []
        for hear in heard:
            hear()


@dataclass(frozen=True, kw_only=True, eq=False)
class Client:
    """A client, as one of its calls sees it.

    Parameters:
        capabilities: what it declared of `elicitation`, `sampling` and `roots`, raw.
        request: asks it, on the way of the call.
        connection: its connection; None in the stateless family.
        alone: whose it is where there is no connection: its session, or the one client that can come; empty where many
            can.
    """

    capabilities: JsonObject
    request: Request
    connection: ClientConnection | None = None
    alone: str = ""

    def of(self, features: frozenset[str]) -> dict[str, Any]:
        """Its capabilities, as far as they are among these."""
        return {name: value for name, value in self.capabilities.items() if name in features}
