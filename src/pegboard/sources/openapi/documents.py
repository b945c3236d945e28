"""A description that may lie in several documents, and the references between its parts."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias
from urllib.parse import unquote, urldefrag, urljoin

from pegboard.errors import PegboardError
from pegboard.schema.types import Json, JsonObject, as_list, as_object, pointer
from pegboard.schema.walk import look_up

Load: TypeAlias = Callable[[str], Awaitable[Json]]
"""Reads one more document by its address; raises `PegboardError` where it may not or cannot."""

_MOST = 200
_LONGEST_CHAIN = 30


@dataclass(frozen=True, slots=True)
class Place:
    """A value inside the description.

    Parameters:
        document: the address of the document that holds it.
        at: the JSON pointer inside it.
        value: the value.
    """

    document: str
    at: str
    value: Json = field(repr=False)

    def __truediv__(self, key: str | int) -> "Place":
        """What stands under a key, or null."""
        value: Json = None
        if isinstance(key, str):
            value = self.object.get(key)
        elif key < len(self.list):
            value = self.list[key]
        return Place(self.document, self.at + pointer(key), value)

    @property
    def object(self) -> JsonObject:
        """The value if it is an object, else an empty one."""
        return as_object(self.value)

    @property
    def list(self) -> Sequence[Json]:
        """The value if it is a list, else an empty one."""
        return as_list(self.value)

    def members(self) -> Iterator[tuple[str, "Place"]]:
        """Every member of an object."""
        for key in self.object:
            yield key, self / key

    def items(self) -> Iterator["Place"]:
        """Every item of a list."""
        for index in range(len(self.list)):
            yield self / index

    def text(self, key: str) -> str:
        """A text under a key; empty where there is none."""
        value = self.object.get(key)
        return value if isinstance(value, str) else ""


@dataclass
class Documents:
    """The documents of one description by address.

    Parameters:
        root: the address of the first one.
        held: the documents.
        missing: the reference that could not be followed, and why.
    """

    root: str
    held: dict[str, Json] = field(repr=False)
    missing: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def top(self) -> Place:
        """The first document."""
        return Place(self.root, "", self.held[self.root])

    async def gather(self, load: Load) -> None:
        """Read every document that is referred to, and those that they refer to."""
        waiting = [self.root]
        while waiting:
            here = waiting.pop()
            for reference in _outside(self.held[here]):
                address = urldefrag(urljoin(here, reference))[0]
                if address in self.held or address in self.missing:
                    continue
                if len(self.held) >= _MOST:
                    self.missing[address] = f"more than {_MOST} documents are referred to"
                    continue
                try:
                    self.held[address] = await load(address)
                    waiting.append(address)
                except PegboardError as error:
                    self.missing[address] = error.message

    def follow(self, place: Place) -> Place | None:
        """Where a value's `$ref` leads in the end; the place itself without one; None where it leads nowhere."""
        for _ in range(_LONGEST_CHAIN):
            reference = place.object.get("$ref")
            if not isinstance(reference, str):
                return place
            target = self.target(place, reference)
            if target is None:
                return None
            place = target
        return None

    def target(self, place: Place, reference: str) -> Place | None:
        """The place that one reference names."""
        address, fragment = urldefrag(
            urljoin(place.document, reference) if not reference.startswith("#") else reference
        )
        document = address or place.document
        if document not in self.held:
            return None
        at = unquote(fragment)
        if at and not at.startswith("/"):
            return self._anchor(document, at)
        found, value = look_up(self.held[document], at)
        return Place(document, at, value) if found else None

    def _anchor(self, document: str, name: str) -> Place | None:
        """A schema's plain-name `$anchor` (JSON Schema 2020-12)."""
        stack = [Place(document, "", self.held[document])]
        while stack:
            place = stack.pop()
            if place.object.get("$anchor") == name:
                return place
            stack.extend(part for _, part in place.members())
            stack.extend(place.items())
        return None


def _outside(value: Json) -> Iterator[str]:
    stack: list[Any] = [value]
    seen: set[int] = set()
    while stack:
        node = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        table = as_object(node)
        reference = table.get("$ref")
        if isinstance(reference, str) and not reference.startswith("#"):
            yield reference
        stack.extend([*table.values(), *as_list(node)])
