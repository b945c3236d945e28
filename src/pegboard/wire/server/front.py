"""What a server needs of a board, and what it tells the board of its clients; no word of the SDK."""

from collections.abc import Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol

from pegboard.core import Progress
from pegboard.core.call import Ask, Log
from pegboard.core.client import Client
from pegboard.schema.types import Json, JsonObject, as_object

INVALID_PARAMS = -32602
SESSION_KEY = "pegboard/session"
"""Where a client of the stateless family may name its session, in the `_meta` of a request."""


class Refusal(Exception):
    """A request that is answered with a protocol error.

    Parameters:
        message: what is wrong, and what to do.
        code: the JSON-RPC error code.
        data: more, as data.
    """

    def __init__(self, message: str, *, code: int = INVALID_PARAMS, data: Json = None) -> None:
        super().__init__(message)
        self.message, self.code, self.data = message, code, data


@dataclass(eq=False)
class Peer:
    """One client, for as long as its connection lasts (stateless family: for one request).

    Parameters:
        id: the connection; in the stateless family the same for all requests of one server.
        stateless: whether it speaks the stateless family, where lists may not differ per connection.
        agent: the client's own name, if it told one.
        shared: whether other clients come under the same id: those of the stateless family over HTTP.
        level: the lowest log level that it has asked for; None for all that there are.
        shown: identifies the list that it knows, or was told has changed.
        features: what it declared of elicitation, sampling and roots, raw.
    """

    id: str
    stateless: bool
    agent: str | None = None
    shared: bool = False
    level: str | None = None
    shown: object = field(default=None, repr=False)
    features: JsonObject = field(default_factory=dict[str, Any], repr=False)


def shows_pages(peer: Peer) -> bool:
    """Whether a client of the handshake family has declared that it shows addresses to a person."""
    return not peer.stateless and "url" in as_object(peer.features.get("elicitation"))


class Relay(Protocol):
    """What a server shows beside tools: resources and prompts. Everything raises `Refusal`."""

    async def list(self, peer: Peer, method: str, cursor: str | None) -> JsonObject:
        """The body of the answer to a `.../list` method."""
        ...

    async def answer(self, peer: Peer, method: str, params: JsonObject, progress: Progress | None) -> JsonObject:
        """The body of the answer to `resources/read`, `prompts/get` or `completion/complete`."""
        ...

    async def subscribe(self, peer: Peer, uri: str) -> None:
        """Tell the peer of updates of a resource from now on."""
        ...

    async def unsubscribe(self, peer: Peer, uri: str) -> None:
        """Tell it no more."""
        ...

    def subscribed(self, peer: Peer, uris: Iterable[str]) -> AbstractAsyncContextManager[None]:
        """Tell of updates of these resources meanwhile (stateless family)."""
        ...

    def forget(self, peer: Peer) -> None:
        """The peer's connection has closed."""
        ...


class Front(Protocol):
    """What a server shows: everything that it needs of a board."""

    @property
    def name(self) -> str:
        """The server's name."""
        ...

    @property
    def version(self) -> str:
        """The server's version."""
        ...

    @property
    def relay(self) -> Relay | None:
        """What there is beside tools; None for a server of tools alone."""
        ...

    def instructions(self) -> str:
        """What the server says of itself, now."""
        ...

    async def list_tools(self, peer: Peer, cursor: str | None) -> JsonObject:
        """The body of a `tools/list` answer. Raises `Refusal` for a cursor that it did not give out."""
        ...

    async def call_tool(
        self,
        peer: Peer,
        params: JsonObject,
        request_id: str | None,
        progress: Progress | None,
        log: Log | None,
        ask: Ask | None = None,
        client: Client | None = None,
    ) -> JsonObject:
        """The body of a `tools/call` answer. Raises `Refusal` for a name that means no tool."""
        ...

    def fingerprint(self, peer: Peer) -> object:
        """Identifies the list that the peer would get now; fast."""
        ...

    def input_schema(self, name: str) -> Mapping[str, Any] | None:
        """The input schema behind a wire name, for the check of parameter headers; fast."""
        ...

    def forget(self, peer: Peer) -> None:
        """The peer's connection has closed."""
        ...
