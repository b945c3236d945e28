"""Which kinds of value a schema admits at a place, followed through references and alternatives.

Nothing is guessed: where it cannot be told (an unknown reference, a conditional), every kind counts as admitted.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from pegboard.schema.types import Json, Schema
from pegboard.schema.walk import ref_target

KINDS = frozenset({"null", "boolean", "number", "string", "array", "object"})
_MAX_DEPTH = 64


def kind_of(value: Json) -> str:
    """The JSON kind of a value; integers are numbers."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case str():
            return "string"
        case Mapping():
            return "object"
        case _:
            return "array"


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a value, seen through the schema.

    Parameters:
        root: the whole schema, for its references.
        ways: the alternative readings of the place (branches of `anyOf` and `oneOf`), each a list of nodes that
            all apply.
    """

    root: Schema
    ways: tuple[tuple[Any, ...], ...]

    @classmethod
    def at_root(cls, schema: Schema) -> "Place":
        """The place of the whole value."""
        return cls(schema, tuple(_ways(schema, schema, 0)))

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds of value that any reading admits here."""
        return frozenset(kind for way in self.ways for kind in _kinds(way))

    def child(self, parent: Json, key: str | int) -> "Place":
        """The place of one member of a container, in the readings that fit the container's kind and constants."""
        kind = kind_of(parent)
        ways = [way for way in self.ways if kind in _kinds(way) and not _contradicts(way, parent)]
        nodes = [_members(way, key) for way in ways or self.ways]
        return Place(self.root, tuple(inner for way in nodes for inner in _product(way, self.root)))


def _ways(node: Any, root: Schema, depth: int) -> Iterator[tuple[Any, ...]]:
    """Each combination of branches through which a node can be satisfied."""
    if not isinstance(node, Mapping) or depth > _MAX_DEPTH:
        yield (True,) if node is not False else (False,)
        return
    schema = cast("Schema", node)
    parts: list[list[tuple[Any, ...]]] = [[(schema,)]]
    if isinstance(schema.get("$ref"), str):
        target = ref_target(cast("dict[str, Any]", root), schema["$ref"])
        parts.append(list(_ways(True if target is None else target, root, depth + 1)))
    for inner in _list(schema.get("allOf")):
        parts.append(list(_ways(inner, root, depth + 1)))
    for keyword in ("anyOf", "oneOf"):
        branches = _list(schema.get(keyword))
        if branches:
            parts.append([way for branch in branches for way in _ways(branch, root, depth + 1)])
    yield from _combine(parts)


def _product(nodes: Sequence[Any], root: Schema) -> Iterator[tuple[Any, ...]]:
    yield from _combine([list(_ways(node, root, 0)) for node in nodes])


_MAX_WAYS = 256


def _combine(parts: Sequence[Sequence[tuple[Any, ...]]]) -> list[tuple[Any, ...]]:
    """One way for each choice of one entry from every part; past the cap the place counts as open."""
    found: list[tuple[Any, ...]] = [()]
    for part in parts:
        found = [(*left, *right) for left in found for right in part]
        if len(found) > _MAX_WAYS:
            return [(True,)]
    return found


def _kinds(way: Sequence[Any]) -> frozenset[str]:
    kinds = KINDS
    for node in way:
        kinds = kinds & _node_kinds(node)
    return kinds


def _node_kinds(node: Any) -> frozenset[str]:
    if node is False:
        return frozenset()
    if not isinstance(node, Mapping):
        return KINDS
    schema = cast("Schema", node)
    kinds = KINDS
    if "type" in schema:
        named = _list(schema["type"]) or [schema["type"]]
        known = {"number" if name == "integer" else str(name) for name in named}
        kinds = frozenset(known) & KINDS if known & KINDS else KINDS
    if "const" in schema:
        kinds = kinds & {kind_of(schema["const"])}
    if isinstance(schema.get("enum"), list):
        kinds = kinds & {kind_of(option) for option in schema["enum"]}
    return kinds


def _contradicts(way: Sequence[Any], value: Json) -> bool:
    """Whether a member of an object breaks a constant that this reading demands (a discriminator)."""
    if not isinstance(value, Mapping):
        return False
    members = cast("Mapping[str, Any]", value)
    demanded = [entry for node in way if isinstance(node, Mapping) for entry in _constants(cast("Schema", node))]
    return any(key in members and members[key] != constant for key, constant in demanded)


def _constants(schema: Schema) -> list[tuple[str, Json]]:
    found = _properties(schema).items()
    return [
        (key, cast("Schema", node)["const"]) for key, node in found if isinstance(node, Mapping) and "const" in node
    ]


def _members(way: Sequence[Any], key: str | int) -> list[Any]:
    """The nodes that apply to one member, of all nodes that apply to its container."""
    find = _property if isinstance(key, str) else _item
    return [found for node in way if isinstance(node, Mapping) for found in find(cast("Schema", node), key)]  # type: ignore[arg-type]


def _property(schema: Schema, key: str) -> list[Any]:
    if key in _properties(schema):
        return [_properties(schema)[key]]
    if schema.get("patternProperties"):
        return [True]
    return [schema["additionalProperties"]] if "additionalProperties" in schema else []


def _properties(schema: Schema) -> Mapping[str, Any]:
    found = schema.get("properties")
    return cast("Mapping[str, Any]", found) if isinstance(found, Mapping) else {}


def _item(schema: Schema, index: int) -> list[Any]:
    heads = _list(schema.get("prefixItems")) or _list(schema.get("items"))
    if index < len(heads):
        return [heads[index]]
    rest = schema.get("additionalItems") if isinstance(schema.get("items"), list) else schema.get("items")
    return [] if rest is None else [rest]


def _list(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []
