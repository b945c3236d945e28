"""From the schema objects of a description to JSON Schema 2020-12 with `$defs`, for requests and for responses.

Swagger 2.0 and OpenAPI 3.0 have a dialect of their own (`nullable`, boolean `exclusiveMinimum`, `file`); 3.1 and 3.2
are JSON Schema. References stay references, so recursion stays recursion.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast
from urllib.parse import urljoin

from pegboard.schema.types import Json, Schema, as_list, as_object, pointer
from pegboard.schema.walk import map_children
from pegboard.sources.openapi.documents import Documents, Place
from pegboard.sources.openapi.polymorphism import Families, Family

_DROPPED = frozenset(
    ("xml", "externalDocs", "discriminator", "nullable", "example", "collectionFormat", "readOnly", "writeOnly")
)
_BESIDE_REF = frozenset(("description", "default", "title", "deprecated"))


@dataclass
class Schemas:
    """Converts schemas of one direction and keeps each definition once.

    Parameters:
        documents: the description.
        old: whether it is Swagger 2.0 or OpenAPI 3.0.
        request: whether the schemas are of requests: then read-only properties are left out, else write-only ones.
        families: which schemas have subtypes.
    """

    documents: Documents
    old: bool
    request: bool
    families: Families
    defs: dict[str, Schema] = field(default_factory=dict[str, Any])
    dangling: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    _names: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    _needs: dict[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])

    def convert(self, place: Place) -> Schema:
        """The JSON Schema of the schema object at a place; its references are to `#/$defs/...`."""
        if place.value is False:
            return {"not": {}}
        node = place.object
        if isinstance(node.get("$ref"), str):
            return self._reference(place, node)
        return self._plain(place, node)

    def whole(self, schema: Schema, *, most: int | None = None) -> tuple[Schema, int]:
        """A schema with the definitions that it needs, and how many of them were left open.

        Parameters:
            schema: a converted schema.
            most: how many definitions it may bring; those farther away accept anything.
        """
        names = self.needed(schema)
        kept = names if most is None else names[:most]
        defs: dict[str, Json] = {name: self.defs[name] for name in kept}
        left = [name for name in names[len(kept) :]]
        defs |= {name: {"description": f"A {name}; its parts are not listed here."} for name in left}
        if not defs:
            return schema, 0
        return {**schema, "$defs": {name: defs[name] for name in sorted(defs)}}, len(left)

    def needed(self, schema: Schema) -> list[str]:
        """The definitions that a schema needs, nearest first."""
        found: dict[str, None] = {}
        level = sorted(_references(schema))
        while level:
            new = [name for name in level if name not in found and name in self.defs]
            found.update(dict.fromkeys(new))
            level = sorted({needed for name in new for needed in self._needs_of(name)})
        return list(found)

    def _needs_of(self, name: str) -> frozenset[str]:
        if name not in self._needs:
            self._needs[name] = frozenset(_references(self.defs[name]))
        return self._needs[name]

    def _reference(self, place: Place, node: Mapping[str, Json]) -> Schema:
        reference = cast("str", node["$ref"])
        target = self._end(place)
        if target is None:
            where = reference if reference.startswith("#") else urljoin(place.document, reference)
            self.dangling.setdefault(where, []).append(place.at)
            return self._beside({}, place, node)
        if not target.object:
            return self.convert(target)
        return self._beside({"$ref": f"#{pointer('$defs', self._define(target))}"}, place, node)

    def _end(self, place: Place) -> Place | None:
        target = self.documents.target(place, cast("str", place.object["$ref"]))
        # A definition that is nothing but a reference is that reference.
        if target is not None and set(target.object) == {"$ref"}:
            return self.documents.follow(target)
        return target

    def _beside(self, schema: Schema, place: Place, node: Mapping[str, Json]) -> Schema:
        kept = _BESIDE_REF if self.old else node.keys() - {"$ref"}
        more = {key: value for key, value in node.items() if key in kept and key != "$ref"}
        if not more:
            return self._nullable(schema, node)
        return self._nullable({**schema, **self._plain(place, more)}, node)

    def _nullable(self, schema: Schema, node: Mapping[str, Json]) -> Schema:
        if self.old and node.get("nullable") is True and schema:
            return {"anyOf": [schema, {"type": "null"}]}
        return schema

    def _define(self, place: Place) -> str:
        key = (place.document, place.at)
        if key not in self._names:
            name = _free(_name_of(place), self.defs)
            self._names[key] = name
            self.defs[name] = {}  # claimed first: a cycle ends here
            family = self.families.of(place)
            self.defs[name] = self._plain(place, place.object) if family is None else self._family(place, family, name)
        return self._names[key]

    def _family(self, place: Place, family: Family, name: str) -> Schema:
        """A type that others extend: each subtype with its value of the discriminator, and the type itself."""
        base = _free(f"{name}_base", self.defs)
        self._names[(place.document, f"{place.at}#base")] = base
        self.defs[base] = {}
        self.defs[base] = self._plain(place, place.object)
        branches = [
            {"$ref": f"#{pointer('$defs', self._define(member.place))}", **_fixed(family.property, member.values)}
            for member in family.members
        ]
        return {"anyOf": [*branches, {"$ref": f"#{pointer('$defs', base)}"}]}

    def _plain(self, place: Place, node: Mapping[str, Json]) -> Schema:
        kept = {key: value for key, value in node.items() if key not in _DROPPED and not key.startswith("x-")}
        kept = self._visible(place, kept)
        schema = map_children(kept, lambda _, path: self._child(place, path))
        for keyword in ("allOf", "anyOf", "oneOf"):
            if keyword in schema and not isinstance(schema[keyword], list):
                del schema[keyword]
        if "discriminator" in node:
            self._discriminate(place, schema)
        if "example" in node and "examples" not in schema:
            schema["examples"] = [node["example"]]
        elif isinstance(schema.get("examples"), dict):
            del schema["examples"]
        return self._modern(schema, node) if self.old else _with_binary(schema)

    def _child(self, place: Place, path: tuple[str | int, ...]) -> Schema:
        child = place
        for part in path:
            child = child / part
        if path[0] == "allOf" and "$ref" in child.object:
            parent = self._parent(child)
            if parent is not None:
                return parent
        return self.convert(child)

    def _parent(self, child: Place) -> Schema | None:
        """Inside `allOf`, a reference to a type with subtypes means the type's own part alone."""
        target = self._end(child)
        if target is None or self.families.of(target) is None:
            return None
        self._define(target)
        return {"$ref": f"#{pointer('$defs', self._names[(target.document, f'{target.at}#base')])}"}

    def _visible(self, place: Place, node: dict[str, Json]) -> dict[str, Json]:
        """Without the properties that this direction does not carry."""
        hidden_by = "readOnly" if self.request else "writeOnly"
        properties = as_object(node.get("properties"))
        hidden = {name for name in properties if (place / "properties" / name).object.get(hidden_by) is True}
        if not isinstance(node.get("required"), list):
            node = {key: value for key, value in node.items() if key != "required"}
        if not hidden:
            return node
        required = [name for name in as_list(node.get("required")) if name not in hidden]
        kept = {name: value for name, value in properties.items() if name not in hidden}
        return {**node, "properties": kept, **({"required": required} if "required" in node else {})}

    def _discriminate(self, place: Place, schema: dict[str, Any]) -> None:
        """Say in each branch of a union which value of the discriminator it has (OpenAPI 3.1, Discriminator Object)."""
        discriminator = as_object(place.object.get("discriminator"))
        name = discriminator.get("propertyName")
        for keyword in ("oneOf", "anyOf"):
            if isinstance(name, str) and keyword in schema:
                branches = cast("list[dict[str, Any]]", schema[keyword])
                places = list((place / keyword).items())
                schema[keyword] = [
                    {**branch, **_fixed(name, self.families.values(place, source))} if "$ref" in branch else branch
                    for branch, source in zip(branches, places, strict=True)
                ]

    def _modern(self, schema: dict[str, Any], node: Mapping[str, Json]) -> Schema:
        for bound in ("Minimum", "Maximum"):
            exclusive, plain = f"exclusive{bound}", bound.lower()
            if isinstance(schema.get(exclusive), bool) and schema.pop(exclusive) and plain in schema:
                schema[exclusive] = schema.pop(plain)
        if schema.get("type") == "file":
            schema |= {"type": "string", "format": "binary"}
        if node.get("nullable") is True:
            schema = _with_null(schema)
        return _with_binary(schema)


def _with_null(schema: dict[str, Any]) -> dict[str, Any]:
    if "enum" in schema and isinstance(schema["enum"], list) and None not in schema["enum"]:
        schema["enum"] = [*schema["enum"], None]
    kind = schema.get("type")
    if isinstance(kind, str):
        return {**schema, "type": [kind, "null"]} if kind != "null" else schema
    if any(key in schema for key in ("allOf", "anyOf", "oneOf", "enum")) and kind is None and "enum" not in schema:
        texts = {key: schema.pop(key) for key in ("title", "description", "default") if key in schema}
        return {**texts, "anyOf": [schema, {"type": "null"}]}
    return schema


def _with_binary(schema: dict[str, Any]) -> dict[str, Any]:
    """Say in JSON Schema's words that a text holds encoded bytes: `format: binary`, or the media type of a file.

    OpenAPI 3.1 writes a file as a text with `contentMediaType` and no encoding, or without a type at all.
    """
    if schema.get("type", "string") not in ("string", ["string", "null"]):
        return schema
    binary = schema.get("format") in ("binary", "byte") and "type" in schema
    if binary or is_file(schema.get("contentMediaType")):
        schema.setdefault("type", "string")
        schema.setdefault("contentEncoding", "base64")
        if binary:
            schema.pop("format")
    return schema


def is_file(media_type: Json) -> bool:
    """Whether a media type is of bytes, not of a text, so that base64 has to carry it."""
    if not isinstance(media_type, str) or not media_type:
        return False
    main, _, kind = media_type.partition(";")[0].partition(",")[0].strip().lower().partition("/")
    texts = ("json", "xml", "yaml", "javascript", "x-www-form-urlencoded", "graphql", "sql", "html")
    return main not in ("text", "message", "multipart") and not kind.endswith(texts)


def _fixed(name: str, values: Iterable[str]) -> dict[str, Json]:
    listed = list(values)
    if not listed:
        return {}
    only: dict[str, Json] = {"const": listed[0]} if len(listed) == 1 else {"enum": listed}
    return {"properties": {name: only}, "required": [name]}


def _name_of(place: Place) -> str:
    last = place.at.rpartition("/")[2].replace("~1", "/").replace("~0", "~")
    if last in ("schema", "items", ""):
        stem = re.split(r"[/#]", place.document.rstrip("/"))[-1].partition(".")[0]
        last = "_".join(part for part in (stem if not place.at else "", *place.at.split("/")[-3:]) if part)
    return re.sub(r"[^A-Za-z0-9_.-]+", "_", last).strip("_") or "schema"


def _free(name: str, taken: Mapping[str, object]) -> str:
    if name not in taken:
        return name
    number = 2
    while f"{name}_{number}" in taken:
        number += 1
    return f"{name}_{number}"


def _references(schema: Json) -> set[str]:
    found: set[str] = set()
    stack: list[Any] = [schema]
    while stack:
        node = stack.pop()
        table = as_object(node)
        reference = table.get("$ref")
        if isinstance(reference, str) and reference.startswith("#/$defs/"):
            found.add(reference[8:].replace("~1", "/").replace("~0", "~"))
        stack.extend([*table.values(), *as_list(node)])
    return found
