"""Field maps: how a record of one system becomes a record of another, and back.

A map has one entry per field of ours. An entry is a path in the backend's record (`"USR.ID"`), a template over it
(`"${FIRST} ${LAST}"`), or a table with `path` or `value` and what to do on the way: `values`, `date`, `scale` and
`offset`, `unit`, `type`, `default`, `fields` (a map for what lies there, or for each item of a list), `back` (templates
over our record for what a template cannot undo).
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from pegboard.errors import DefinitionError, nearest
from pegboard.schema.conversion import Conversion, date, scale, typed, unit, words
from pegboard.schema.embed import Embedding, at_path
from pegboard.schema.expression import ExpressionError
from pegboard.schema.path import Path, read_path
from pegboard.schema.shorthand import table_of, text_of
from pegboard.schema.template import Template
from pegboard.schema.types import Json, JsonObject, Schema, as_list, as_object

_KEYS = ("path", "value", "values", "other", "date", "scale", "offset", "unit", "type", "default", "fields", "back",
         "description")  # fmt: skip
_CONVERTERS = ("values", "date", "scale", "unit", "type")


class FieldError(ValueError):
    """A field has no counterpart on the other side.

    Parameters:
        name: the field, in our words.
        message: what is wrong, without the backend's words.
    """

    def __init__(self, name: str, message: str) -> None:
        super().__init__(f"{name}: {message}")
        self.name, self.message = name, message


@dataclass(frozen=True)
class Field:
    """One field. `FieldMap.parse` makes it.

    Parameters:
        name: what it is called with us.
        path: where it lies in the backend's record; None for a template.
        template: what it is made of, where it has no path.
        conversion: how its value is converted.
        fields: the map of what lies there, if it has one.
        default: what stands where the backend has nothing.
        back: by path, the templates over our record that undo a template.
        description: what it is, for the schema.
    """

    name: str
    path: Path | None = None
    template: Template | None = None
    conversion: Conversion | None = None
    fields: "FieldMap | None" = None
    default: Json = None
    back: tuple[tuple[Path, Template], ...] = ()
    description: str | None = None

    def forward(self, record: Json) -> tuple[bool, Json]:
        """Whether the backend's record has it, and our value. Raises `FieldError`."""
        if self.path is not None:
            found, value = self.path.get(record)
        else:
            found, value = self._made(record)
        if not found or value is None:
            return (True, self.default) if self.default is not None else (found, None)
        if self.fields is not None:
            return True, self.fields.each(value)
        return True, self._converted(value, self.conversion.forward if self.conversion else None)

    def backward(self, value: Json) -> Json:
        """The backend's value. Raises `FieldError`."""
        if value is None:
            return None
        if self.fields is not None:
            if isinstance(value, list):
                return [self.fields.backward(one) for one in cast("list[Json]", value)]
            return self.fields.backward(value)
        return self._converted(value, self.conversion.backward if self.conversion else None)

    def _made(self, record: Json) -> tuple[bool, Json]:
        assert self.template is not None
        scope = cast("dict[str, Json]", record) if isinstance(record, dict) else {}
        try:
            return True, self.template.render({**scope, "record": record})
        except ExpressionError:
            return False, None

    def _converted(self, value: Json, convert: Any) -> Json:
        if convert is None:
            return value
        if isinstance(value, list):
            return [self._converted(one, convert) for one in cast("list[Json]", value)]
        try:
            return None if value is None else convert(value)
        except KeyError:
            raise FieldError(self.name, "the value has no counterpart") from None
        except (ValueError, TypeError, OverflowError, OSError, ArithmeticError) as problem:
            text = str(problem) if convert is (self.conversion and self.conversion.backward) else ""
            raise FieldError(self.name, text or "the value cannot be converted") from None


@dataclass(frozen=True)
class FieldMap:
    """A map of records, both ways. Make it with `FieldMap.parse`.

    Parameters:
        fields: the fields, in our order.
    """

    fields: tuple[Field, ...]
    where: str = field(default="", compare=False)

    @classmethod
    def parse(cls, table: Mapping[str, Json], where: str = "") -> "FieldMap":
        """Read a map as it is written.

        Parameters:
            table: the entries by our names.
            where: the place, for errors.

        Raises:
            DefinitionError: an entry cannot be meant.
        """
        if not table:
            raise DefinitionError("The map has no field.", where=where, next_step='Write for example id = "USR_ID".')
        return cls(tuple(_field(name, entry, f"{where}.{name}") for name, entry in table.items()), where)

    def forward(self, record: Json) -> dict[str, Json]:
        """Our record of a backend's. A field that the backend's record does not have is left out.

        Raises:
            FieldError: a value has no counterpart.
        """
        made: dict[str, Json] = {}
        for one in self.fields:
            found, value = one.forward(record)
            if found:
                made[one.name] = value
        return made

    def each(self, value: Json) -> Json:
        """Our record, or our records of a list."""
        if isinstance(value, list):
            return [self.forward(one) for one in cast("list[Json]", value)]
        return self.forward(value)

    def backward(self, record: Json, schema: Schema | None = None) -> dict[str, Json]:
        """The backend's record of ours; fields that ours does not have are left out.

        Parameters:
            record: our record.
            schema: the backend's form, which says whether a code is a number.

        Raises:
            FieldError: a value has no counterpart, or a field cannot be turned back.
        """
        given = as_object(record)
        made: dict[str, Json] = {}
        for one in self.fields:
            for path, template in one.back:
                try:
                    path.put(made, template.render({**given, "record": given}))
                except ExpressionError:
                    continue  # what it is made of was not given
            if one.name not in given or one.back:
                continue
            if one.path is None:
                raise FieldError(one.name, "it is made of other values, and cannot be set")
            value = one.backward(given[one.name])
            one.path.put(made, value if schema is None else _fitted(value, at_path(schema, one.path.keys)))
        return made

    @property
    def names(self) -> tuple[str, ...]:
        """Our names of the fields."""
        return tuple(one.name for one in self.fields)

    @property
    def settable(self) -> tuple[str, ...]:
        """The fields that can be turned back."""
        return tuple(one.name for one in self.fields if one.path is not None or one.back)

    def schema(self, inner: Schema, embedding: Embedding | None = None, root: Schema | None = None) -> dict[str, Json]:
        """The schema of our records, as far as the backend's says.

        Parameters:
            inner: the schema of the backend's record.
            embedding: where definitions go; by default into the schema itself.
            root: the schema that references of `inner` lead into; by default `inner`.
        """
        held = embedding or Embedding()
        properties: dict[str, Json] = {}
        required: list[str] = []
        for one in self.fields:
            properties[one.name] = _schema_of(one, inner, held, root or inner)
            if one.default is not None or (one.path is not None and one.path.is_required(inner, root or inner)):
                required.append(one.name)
        made: dict[str, Json] = {"type": "object", "properties": properties}
        if required:
            made["required"] = required
        return {**made, "$defs": held.defs} if embedding is None and held.defs else made


def _schema_of(one: Field, inner: Schema, held: Embedding, root: Schema) -> dict[str, Json]:
    found = None if one.path is None else at_path({**root, **inner} if root is not inner else inner, one.path.keys)
    described: dict[str, Json] = {"description": one.description} if one.description else {}
    if one.fields is not None:
        node = as_object(found)
        items = as_object(node.get("items"))
        if items:
            return {"type": "array", "items": one.fields.schema(items, held, root), **described}
        return {**(one.fields.schema(node, held, root) if node.get("type") == "object" else {}), **described}
    if one.conversion is not None:
        schema = dict(one.conversion.schema)
        if found is not None and found.get("type") == "array":
            schema = {"type": "array", "items": schema}
        return {**(_nullable(schema) if _may_be_null(found) and one.default is None else schema), **described}
    taken = as_object(held.take(dict(found), root, "record")) if found is not None else {}
    return {**taken, **described}


def _may_be_null(node: Schema | None) -> bool:
    if node is None:
        return True
    kinds = node.get("type")
    return "null" in (as_list(kinds) or [kinds]) or any(
        as_object(one).get("type") == "null" for one in (*as_list(node.get("anyOf")), *as_list(node.get("oneOf")))
    )


def _nullable(schema: dict[str, Json]) -> dict[str, Json]:
    listed: dict[str, Json] = {"enum": [*schema["enum"], None]} if "enum" in schema else {}
    return {**schema, "type": [schema["type"], "null"], **listed}


def _fitted(value: Json, node: Schema | None) -> Json:
    """A value as the backend's schema asks for it: a number or boolean of a text, a text of a number."""
    if node is None:
        return value
    kinds: list[Json] = as_list(node.get("type")) or [node.get("type")]
    if isinstance(value, int | float) and not isinstance(value, bool):
        return json.dumps(value) if set(kinds) <= {"string", "null"} and "string" in kinds else value
    if not isinstance(value, str):
        return value
    if "string" in kinds or not {"integer", "number", "boolean"} & {str(kind) for kind in kinds}:
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value


def _field(name: str, entry: Json, where: str) -> Field:
    if isinstance(entry, str):
        return Field(name, **_origin(entry, where))
    if not isinstance(entry, Mapping):
        raise DefinitionError(
            "A field is a path, a template, or a table.", where=where, next_step=f'Write for example {name} = "USR.ID".'
        )
    table = cast("JsonObject", entry)
    for key in table:
        if key not in _KEYS:
            near = nearest(key, _KEYS, limit=1)
            step = f"Did you mean {near[0]}?" if near else f"Known are {', '.join(_KEYS)}."
            raise DefinitionError(f"A field has no {key!r}.", where=where, next_step=step)
    origin: Any = table.get("path", table.get("value"))
    if not isinstance(origin, str) or ("path" in table) == ("value" in table):
        raise DefinitionError(
            "A field has a `path` or a `value`.", where=where, next_step='Write for example path = "USR.ID".'
        )
    inner = table.get("fields")
    return Field(
        name,
        **_origin(origin, where),
        conversion=_conversion(table, where),
        fields=None if inner is None else FieldMap.parse(table_of(inner, f"{where}.fields"), f"{where}.fields"),
        default=table.get("default"),
        back=tuple(
            (read_path(path, f"{where}.back"), Template.parse(text))
            for path, text in (table_of(table["back"], f"{where}.back") if "back" in table else {}).items()
        ),
        description=text_of(table["description"], f"{where}.description") if "description" in table else None,
    )


def _origin(text: str, where: str) -> dict[str, Any]:
    return {"template": Template.parse(text)} if "${" in text else {"path": read_path(text, where)}


def _conversion(table: JsonObject, where: str) -> Conversion | None:
    named = [key for key in _CONVERTERS if key in table]
    if len(named) > 1:
        raise DefinitionError(
            f"A field has one of {' and '.join(named)}.", where=where, next_step="Keep one, or write a template."
        )
    try:
        return _CONVERSIONS[named[0]](table) if named else None
    except DefinitionError as problem:
        raise DefinitionError(problem.message, where=where, next_step=problem.next_step) from None


_CONVERSIONS: Mapping[str, Callable[[JsonObject], Conversion]] = {
    "values": lambda table: words(table_of(table["values"], "values"), table.get("other")),
    "date": lambda table: date(str(table["date"])),
    "scale": lambda table: scale(table["scale"], table.get("offset", 0)),
    "unit": lambda table: unit(str(table["unit"])),
    "type": lambda table: typed(str(table["type"])),
}


def read_fields(keep: Sequence[str], where: str) -> dict[str, Json]:
    """The map that keeps these paths under their last names.

    Raises:
        DefinitionError: two of them have the same last name.
    """
    table: dict[str, Json] = {}
    for text in keep:
        name = read_path(text_of(text, where), where).last
        if name in table:
            raise DefinitionError(
                f"Two fields are called {name!r}.", where=where, next_step=f'Write {name}_2 = "{text}" in a table.'
            )
        table[name] = text
    return table
