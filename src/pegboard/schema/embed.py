"""Moving a piece of one schema into another one, with the definitions that it refers to."""

from collections.abc import Mapping
from typing import cast

from pegboard.schema.types import Json, Schema, as_list, as_object, pointer
from pegboard.schema.walk import look_up, map_children, ref_pointer, ref_target, ref_to, tokens


class Embedding:
    """Collects pieces of several schemas and the `$defs` that they need under one root.

    A definition keeps its name where no other piece has claimed it for something else; then it gets the owner's
    name in front. References to anything but a definition (`#`, `#/properties/x`) bring the whole schema along.
    """

    def __init__(self) -> None:
        self.defs: dict[str, Json] = {}
        self._names: dict[tuple[int, str], str] = {}
        self._roots: list[Schema] = []

    def take(self, piece: Json, root: Schema, owner: str) -> Json:
        """A piece of `root`, fit to stand under the new root.

        Parameters:
            piece: the subschema to move.
            root: the schema that it is part of.
            owner: the name to tell definitions of the same name apart by.
        """
        if not isinstance(piece, dict):
            return piece
        moved = map_children(cast("dict[str, Json]", piece), lambda child, _: self.take(child, root, owner))
        for keyword in ("$ref", "$dynamicRef"):
            if isinstance(moved.get(keyword), str) and moved[keyword].startswith("#"):
                moved[keyword] = self._reference(moved[keyword], root, owner)
        return moved

    def _reference(self, reference: str, root: Schema, owner: str) -> str:
        parts = tokens(ref_pointer(reference) or "")
        found, definition = look_up(dict(root), pointer(*parts[:2]))
        if len(parts) >= 2 and parts[0] in ("$defs", "definitions") and found:
            moved = self._define(pointer(*parts[:2]), parts[1], definition, root, owner)
            return ref_to(pointer("$defs", moved, *parts[2:]))
        moved = self._define("", owner, {key: value for key, value in root.items() if key != "$id"}, root, owner)
        return ref_to(pointer("$defs", moved, *parts))

    def _define(self, place: str, key: str, definition: Json, root: Schema, owner: str) -> str:
        token = (self._root(root), place)
        if token in self._names:
            return self._names[token]
        candidates = [key, f"{owner}_{key}", *(f"{owner}_{key}_{n}" for n in range(2, len(self.defs) + 3))]
        for name in candidates:
            if name not in self.defs:
                self._names[token] = name
                self.defs[name] = {}  # claimed before its own references are followed: cycles end here
                self.defs[name] = self.take(definition, root, owner)
                return name
        raise AssertionError("more candidates than definitions")

    def _root(self, root: Schema) -> int:
        for at, known in enumerate(self._roots):
            if known is root or known == root:
                return at
        self._roots.append(root)
        return len(self._roots) - 1


def at_path(schema: Schema, path: tuple[str | int, ...]) -> Schema | None:
    """The subschema that describes what a path of keys leads to in a value, or None where the schema does not say."""
    node: Json = schema
    for key in path:
        node = _step(_resolved(node, schema), key)
        if node is None:
            return None
    found = _resolved(node, schema)
    return cast("Schema", node) if isinstance(found, Mapping) else None


def _step(node: Json, key: str | int) -> Json:
    if isinstance(key, str):
        return as_object(as_object(node).get("properties")).get(key)
    prefix = as_list(as_object(node).get("prefixItems"))
    return prefix[key] if 0 <= key < len(prefix) else as_object(node).get("items")


def _resolved(node: Json, root: Schema) -> Json:
    for _ in range(20):
        reference = as_object(node).get("$ref")
        if not isinstance(reference, str):
            return node
        node = ref_target(dict(root), reference)
    return None
