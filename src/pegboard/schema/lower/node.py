"""The tree that lowering works on: schema nodes that know where they come from, and how to undo their rewriting."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol, cast

from pegboard.schema.lower.vocabulary import ANNOTATIONS
from pegboard.schema.types import Json, pointer
from pegboard.schema.walk import MANY, NAMED, ONE


class Undo(Protocol):
    """One rewriting of a node's values, both ways. A value that does not fit it is left as it is."""

    def lowered(self, value: Json) -> Json:
        """The value in the lowered shape, from the author's."""
        ...

    def raised(self, value: Json) -> Json:
        """The value in the author's shape, from the lowered."""
        ...


class Node(dict[str, Any]):
    """A schema node under work.

    Parameters:
        at: the JSON pointer of the author's node that it comes from.
        undo: the rewritings of its values, in the order in which they were made.
        words: what its description is to say at the end, in the place of keywords that had to go.
        maybe: properties that only some of its conditions declare.
        text: whether its value is to be written as JSON text.
    """

    __slots__ = ("at", "maybe", "text", "undo", "words")

    def __init__(self, keywords: Mapping[str, Any] = {}, at: str = "") -> None:  # noqa: B006 - never changed
        super().__init__(keywords)
        self.at = at
        self.undo: list[Undo] = []
        self.words: list[str] = []
        self.maybe: dict[str, list[Node]] = {}
        self.text = False

    def say(self, words: str) -> None:
        """Note words for the description, each once."""
        if words and words not in self.words:
            self.words.append(words)

    def take(self, other: "Node") -> None:
        """Become what another node is, in place."""
        self.clear()
        self.update(other)
        self.at = other.at
        self.undo, self.words, self.maybe, self.text = other.undo, other.words, other.maybe, other.text

    def like(self, keywords: Mapping[str, Any]) -> "Node":
        """A new node with these keywords that comes from the same place."""
        return Node(keywords, self.at)


def plant(schema: Mapping[str, Any], at: str = "") -> Node:
    """A tree of nodes from a repaired schema; the schema is not changed."""
    return _map(schema, lambda child, place: plant(child, at + place), Node(at=at))


def clone(node: Node) -> Node:
    """A deep copy that shares nothing."""
    copy = _map(node, lambda child, _: clone(cast("Node", child)), Node(at=node.at))
    copy.undo, copy.words, copy.text = list(node.undo), list(node.words), node.text
    copy.maybe = {name: [clone(child) for child in found] for name, found in node.maybe.items()}
    return copy


def plain(node: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of a tree, as plain data."""
    return _map(node, lambda child, _: plain(child), dict[str, Any]())


def _map(node: Mapping[str, Any], change: Callable[[Any, str], Any], into: Any) -> Any:
    for keyword, value in node.items():
        if isinstance(value, dict) and keyword in NAMED:
            table = cast("dict[str, Any]", value)
            into[keyword] = {name: change(child, pointer(keyword, name)) for name, child in table.items()}
        elif isinstance(value, dict) and keyword in ONE:
            into[keyword] = change(value, "/" + keyword)
        elif isinstance(value, list) and keyword in MANY:
            into[keyword] = [change(child, f"/{keyword}/{i}") for i, child in enumerate(cast("list[Any]", value))]
        else:
            into[keyword] = value
    return into


def below(node: Node) -> list[Node]:
    """The nodes directly below, in order."""
    found: list[Node] = []
    for keyword, value in node.items():
        if keyword in ONE and isinstance(value, Node):
            found.append(value)
        elif keyword in MANY:
            found.extend(value)
        elif keyword in NAMED:
            found.extend(cast("dict[str, Node]", value).values())
    for children in node.maybe.values():
        found.extend(children)
    return found


def every(node: Node) -> list[Node]:
    """The node and all below it, parents first."""
    found, stack = list[Node](), [node]
    while stack:
        top = stack.pop()
        found.append(top)
        stack.extend(reversed(below(top)))
    return found


def bottom_up(root: Node, change: Callable[[Node], None]) -> None:
    """Change every node in place, children before parents."""
    for node in reversed(every(root)):
        change(node)


def types(node: Mapping[str, Any]) -> tuple[str, ...]:
    """The types that a node names; none where it has no `type`."""
    found = node.get("type", ())
    return (found,) if isinstance(found, str) else tuple(found)


def set_types(node: Node, names: tuple[str, ...]) -> None:
    """Let a node have these types, where its `type` stands or at its front."""
    value = names[0] if len(names) == 1 else list(names)
    if "type" in node:
        node["type"] = value
    else:
        items = list(node.items())
        node.clear()
        node["type"] = value
        node.update(items)


def never(at: str) -> Node:
    """A node that admits nothing at all."""
    return Node({"not": Node(at=at)}, at)


def is_never(node: Mapping[str, Any]) -> bool:
    """Whether a node admits nothing at all."""
    return node.get("not") == {} or node.get("not") is True


def is_any(node: Node) -> bool:
    """Whether a node admits every value."""
    return not node.text and all(key in ANNOTATIONS or key.startswith("x-") or key == "$defs" for key in node)
