"""Moving a piece of one schema into another one, with the definitions that it refers to."""

from collections.abc import Mapping
from typing import cast

from pegboard.schema.types import Json, Schema, canonical, pointer

_ONE_SCHEMA = frozenset(
    (
        *("additionalProperties", "contains", "contentSchema", "else", "if", "items", "not", "propertyNames", "then"),
        *("unevaluatedItems", "unevaluatedProperties"),
    )
)
_SCHEMA_LISTS = frozenset(("allOf", "anyOf", "oneOf", "prefixItems", "items"))
_SCHEMA_MAPS = frozenset(("$defs", "definitions", "dependentSchemas", "patternProperties", "properties"))


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
        if root.get("$id") and "$ref" in canonical(piece):
            return self._whole(piece, root, owner)
        return self._moved(piece, root, owner)

    def _whole(self, piece: Json, root: Schema, owner: str) -> Json:
        return self._moved(piece, {key: value for key, value in root.items() if key != "$id"}, owner)

    def _moved(self, value: Json, root: Schema, owner: str) -> Json:
        if not isinstance(value, Mapping):
            return value
        moved: dict[str, Json] = {}
        for key, part in cast("Mapping[str, Json]", value).items():
            if key in ("$ref", "$dynamicRef") and isinstance(part, str) and part.startswith("#"):
                moved[key] = self._reference(part, root, owner)
            elif key in _SCHEMA_MAPS and isinstance(part, Mapping):
                parts = cast("Mapping[str, Json]", part)
                moved[key] = {name: self._moved(sub, root, owner) for name, sub in parts.items()}
            elif key in _SCHEMA_LISTS and isinstance(part, list):
                moved[key] = [self._moved(sub, root, owner) for sub in cast("list[Json]", part)]
            elif key in _ONE_SCHEMA:
                moved[key] = self._moved(part, root, owner)
            else:
                moved[key] = part
        return moved

    def _reference(self, reference: str, root: Schema, owner: str) -> str:
        for keyword in ("$defs", "definitions"):
            prefix = f"#/{keyword}/"
            if reference.startswith(prefix):
                name, _, rest = reference.removeprefix(prefix).partition("/")
                key = name.replace("~1", "/").replace("~0", "~").replace("%20", " ")
                found = cast("Mapping[str, Json]", root.get(keyword, {}))
                if key in found:
                    moved = self._define(f"{keyword}/{key}", key, found[key], root, owner)
                    return f"#{pointer('$defs', moved)}" + (f"/{rest}" if rest else "")
        moved = self._define("", owner, root, root, owner)
        return f"#{pointer('$defs', moved)}{reference.removeprefix('#')}"

    def _define(self, place: str, key: str, definition: Json, root: Schema, owner: str) -> str:
        token = (self._root(root), place)
        if token in self._names:
            return self._names[token]
        candidates = [key, f"{owner}_{key}", *(f"{owner}_{key}_{n}" for n in range(2, len(self.defs) + 3))]
        for name in candidates:
            if name not in self.defs:
                self._names[token] = name
                self.defs[name] = {}  # claimed before its own references are followed: cycles end here
                self.defs[name] = self._moved(definition, root, owner)
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
    if not isinstance(node, Mapping):
        return None
    mapping = cast("Mapping[str, Json]", node)
    if isinstance(key, str):
        return cast("Mapping[str, Json]", mapping.get("properties", {})).get(key)
    prefix = cast("list[Json]", mapping.get("prefixItems", []))
    return prefix[key] if 0 <= key < len(prefix) else mapping.get("items")


def _resolved(node: Json, root: Schema) -> Json:
    for _ in range(20):
        if not isinstance(node, Mapping) or not isinstance(cast("Schema", node).get("$ref"), str):
            return cast("Json", node)
        node = find(root, cast("str", cast("Schema", node)["$ref"]).removeprefix("#"))
    return None


def find(value: Json, at: str) -> Json:
    """What a JSON Pointer (RFC 6901) leads to, or None."""
    for part in at.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, Mapping):
            value = cast("Mapping[str, Json]", value).get(key)
        elif isinstance(value, list) and key.isdigit() and int(key) < len(cast("list[Json]", value)):
            value = cast("list[Json]", value)[int(key)]
        else:
            return None
    return value
