"""What a source has beside its tools: resources, templates of resources, and prompts (MCP, server primitives)."""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol, runtime_checkable

from pegboard.core.call import Progress
from pegboard.errors import PegboardError
from pegboard.schema.types import JsonObject


class Primitive(StrEnum):
    """A kind of thing that a server lists beside its tools; the value is the member of the answer that holds it."""

    RESOURCES = "resources"
    TEMPLATES = "resourceTemplates"
    PROMPTS = "prompts"

    @property
    def method(self) -> str:
        """The MCP method that lists it."""
        return "resources/templates/list" if self is Primitive.TEMPLATES else f"{self.value}/list"

    @property
    def key(self) -> str:
        """The field of a row that tells it from the others of its source."""
        return _KEYS[self]

    @property
    def capability(self) -> str:
        """The capability that a server declares for it."""
        return "prompts" if self is Primitive.PROMPTS else "resources"


_KEYS = {Primitive.RESOURCES: "uri", Primitive.TEMPLATES: "uriTemplate", Primitive.PROMPTS: "name"}


@dataclass(frozen=True, slots=True)
class Rows:
    """What a source lists of one kind now.

    Parameters:
        rows: the rows, raw, each with its key, in the source's order.
        notes: what was mended, set aside or odd.
        ttl: for how long they may be kept (ms), where the source says so; 0: not at all.
        public: whether the source says that they are the same for everybody.
        watched: whether the source tells when they change.
    """

    rows: tuple[JsonObject, ...] = ()
    notes: tuple[str, ...] = ()
    ttl: int = 0
    public: bool = False
    watched: bool = False


@dataclass(frozen=True, slots=True)
class Notice:
    """What a source says unasked of its resources and prompts.

    Parameters:
        changed: the list that may have changed, if it is about one.
        uri: the resource that was updated, in the source's own spelling, if it is about one.
    """

    changed: Primitive | None = None
    uri: str | None = None


class AskError(PegboardError):
    """A source did not answer a request, or answered with an error.

    Parameters:
        message: what is wrong, without secrets.
        code: the JSON-RPC error code; None where no answer came at all.
        data: what the source sent along.
        next_step: what to do.
    """

    def __init__(self, message: str, *, code: int | None = None, data: Any = None, next_step: str | None = None):
        super().__init__(message, next_step=next_step)
        self.code, self.data = code, data


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """One request to a source about its resources or prompts.

    Parameters:
        method: `resources/read`, `prompts/get` or `completion/complete`.
        params: its params, raw, in the source's own spelling.
        meta: `_meta` of the request, handed on.
        progress: where progress goes, or None.
        owner: the client that asks, where it may have a connection of its own to the source; empty for none.
    """

    method: str
    params: JsonObject = field(default_factory=dict[str, Any])
    meta: JsonObject = field(default_factory=dict[str, Any])
    progress: Progress | None = None
    owner: str = ""


@runtime_checkable
class Supplying(Protocol):
    """What supplies a source's resources and prompts. All of it only inside the source's session."""

    @property
    def namespace(self) -> str:
        """The namespace of the names of its prompts."""
        ...

    async def rows(self, kind: Primitive) -> Rows:
        """What it lists of a kind now; nothing where it has none. Raises `AskError`."""
        ...

    async def ask(self, asking: Asking) -> JsonObject:
        """Its raw answer to a request. Raises `AskError`."""
        ...

    async def subscribe(self, uri: str) -> None:
        """Have it tell when a resource is updated; counted, so that each needs its own `unsubscribe`.

        Raises `AskError`."""
        ...

    async def unsubscribe(self, uri: str) -> None:
        """Take one `subscribe` back."""
        ...

    def heed(self, listener: Callable[[Notice], None]) -> Callable[[], None]:
        """Hear its notices; the listener must not block. Returns what ends it."""
        ...


def supplying(source: Any) -> Supplying | None:
    """What supplies the resources and prompts of a source, or of the one that it wraps; None where there is none now.

    Parameters:
        source: a source; what supplies stands in its attribute `primitives`, a wrapped one in `inner`.
    """
    while source is not None:
        found = getattr(source, "primitives", None)
        if isinstance(found, Supplying):
            return found
        source = getattr(source, "inner", None)
    return None
