"""What a reshaped tool answers, and how its answers are made of those of the tool behind it."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, cast

from pegboard.errors import DefinitionError
from pegboard.schema.canonical import Model
from pegboard.schema.embed import Embedding, at_path
from pegboard.schema.expression import ExpressionError
from pegboard.schema.fieldmap import FieldError, FieldMap, read_fields
from pegboard.schema.path import Path, read_path
from pegboard.schema.template import Template
from pegboard.schema.types import Json, JsonObject, Schema, as_list, as_object
from pegboard.schema.validate import validator
from pegboard.schema.walk import Node, map_children, ref_target
from pegboard.sources.shaped.shape import Shape, Shaping

_DEEPEST = 20
_MOST_TOLD = 5


class AnswerError(ValueError):
    """An answer cannot be brought into the shape; the message has none of the backend's words."""


@dataclass(frozen=True)
class OutputShape:
    """How answers change. Make it with `output_shape`.

    Parameters:
        schema: what the reshaped tool answers; None where nobody can say.
        select: the part of an answer that is given: a path, or a template over it.
        listed: whether what is selected is a list.
        may_lack: whether an answer may do without it, which then stands for none.
        drop: says of a name that it is taken out.
        model: the model that records are of.
        fields: the map that makes records.
        flatten: whether objects inside of records become fields of them.
        record: what each record must be valid by; None where nobody promises anything.
    """

    schema: Schema | None
    select: Path | Template | None = None
    listed: bool = False
    may_lack: bool = False
    drop: Callable[[str], bool] | None = None
    model: Model | None = None
    fields: FieldMap | None = None
    flatten: bool = False
    record: Schema | None = None

    def apply(self, value: Json) -> tuple[Json, tuple[str, ...]]:
        """The answer in the shape, and notes on what was left out of it.

        Raises:
            AnswerError: it cannot be brought into the shape.
        """
        value = self._selected(value)
        if self.drop is not None:
            value = _without(value, self.drop)
        if isinstance(value, list):
            return self._records(cast("list[Json]", value))
        if value is None and self.fields is not None:
            raise AnswerError("the answer holds no record")
        try:
            made = self._record(value)
        except FieldError as problem:
            raise AnswerError(str(problem)) from None
        self._judge(made)
        return made, ()

    def _records(self, values: list[Json]) -> tuple[Json, tuple[str, ...]]:
        """Each record on its own: one that cannot be brought into the shape costs no other."""
        made: list[Json] = []
        faults: list[str] = []
        for index, value in enumerate(values):
            try:
                made.append(self._checked_record(value))
            except (FieldError, AnswerError) as problem:
                faults.append(f"Record {index} was left out: {problem}.")
        if len(faults) > _MOST_TOLD:
            faults[_MOST_TOLD:] = [f"{len(faults) - _MOST_TOLD} more records were left out."]
        return made, tuple(faults)

    def _checked_record(self, value: Json) -> Json:
        made = self._record(value)
        self._judge(made)
        return made

    def _record(self, value: Json) -> Json:
        if self.fields is not None:
            if not isinstance(value, dict):
                raise FieldError("record", "it is no object")
            value = self.fields.forward(cast("JsonObject", value))
            value = value if self.model is None else self.model.fitted(value)
        return _flat(cast("JsonObject", value)) if self.flatten and isinstance(value, dict) else value

    def _judge(self, made: Json) -> None:
        if self.record is not None:
            _valid(self.record, made)

    def _selected(self, value: Json) -> Json:
        if self.select is None:
            return value
        if isinstance(self.select, Path):
            found, part = self.select.get(value)
        else:
            scope = cast("dict[str, Json]", value) if isinstance(value, dict) else {}
            try:
                found, part = True, self.select.render({**scope, "value": value})
            except ExpressionError:
                found, part = False, None
        if found and part is not None:
            return part
        if self.may_lack and isinstance(value, dict):
            return []
        raise AnswerError("the answer has nothing where its records should be")

    def words(self) -> Iterator[tuple[str, str | None]]:
        """The backend's words that the shape speaks of, each with ours; None for one that has none."""
        if isinstance(self.select, Path):
            yield from ((key, None) for key in self.select.keys if isinstance(key, str))
        if self.fields is not None:
            yield from _words(self.fields)


def _words(fields: FieldMap) -> Iterator[tuple[str, str | None]]:
    for one in fields.fields:
        if one.path is not None:
            names = [key for key in one.path.keys if isinstance(key, str)]
            yield from ((name, None) for name in names[:-1])
            yield names[-1], one.name
        elif one.template is not None:
            yield from ((str(key), None) for made in one.template.expressions for at in made.paths for key in _keys(at))
        if one.fields is not None:
            yield from _words(one.fields)


def _keys(path: tuple[str, tuple[str | int, ...]]) -> Iterator[str]:
    yield from (str(key) for key in (path[0], *path[1]) if isinstance(key, str) and key != "record")


def _valid(schema: Schema, made: Json) -> None:
    judge = validator(schema)
    if not judge.is_valid(made):
        raise AnswerError("; ".join(str(one) for one in judge.violations(made)[:3]))


def output_shape(inner: Schema | None, shape: Shape, shaping: Shaping, *, promised: bool) -> OutputShape:
    """How a tool's answers change.

    Parameters:
        inner: what the tool answers, as far as somebody says.
        shape: how it shall look.
        shaping: the source's maps and models.
        promised: whether the tool promises its output schema.

    Raises:
        DefinitionError: the shape cannot be meant.
    """
    select = _select(shape.records)
    node = _resolved(_part(inner, select), inner or {})
    items = node.get("items") if node is not None and isinstance(node.get("items"), Mapping) else None
    listed = shape.many if shape.many is not None else items is not None
    drop = _dropper(shape.drop)
    model, fields = _map(shape, shaping)
    record = as_object(items) if items is not None else dict(node or {})
    root = inner or {}
    if model is not None:
        schema: Schema | None = model.schema
    else:
        schema = _record_schema(record if node is not None else None, root, fields, drop)
    if schema is not None and shape.flatten:
        schema = _flat_schema(schema)
    unsure = node is None and shape.many is None
    may_lack = listed and not (isinstance(select, Path) and select.is_required(root, root))
    return OutputShape(
        schema=_outer(schema, listed=listed, unsure=unsure),
        select=select,
        listed=listed,
        may_lack=may_lack,
        drop=drop,
        model=model,
        fields=fields,
        flatten=shape.flatten,
        record=schema if model is not None or (promised and not unsure) else None,
    )


def _select(text: str | None) -> Path | Template | None:
    if text is None:
        return None
    return Template.parse(text) if "${" in text else read_path(text, "records")


def _part(inner: Schema | None, select: Path | Template | None) -> Schema | None:
    if inner is None or select is None:
        return inner
    if isinstance(select, Template):
        return None
    found = at_path(inner, select.keys)
    if found is None and as_object(inner.get("properties")):
        names = ", ".join(as_object(inner.get("properties")))
        raise DefinitionError(f"The answer has no {select.text!r}.", where="records", next_step=f"It has: {names}.")
    return found


def _resolved(node: Schema | None, root: Schema) -> Schema | None:
    for _ in range(_DEEPEST):
        reference = None if node is None else node.get("$ref")
        if not isinstance(reference, str):
            return node
        node = ref_target(dict(root), reference)
    return None


def _map(shape: Shape, shaping: Shaping) -> tuple[Model | None, FieldMap | None]:
    if shape.output is None:
        return None, None
    if isinstance(shape.output, str):
        return shaping.mapped(shape.output, "output")
    if isinstance(shape.output, Mapping):
        return None, FieldMap.parse(shape.output, "output")
    if not isinstance(cast("Json", shape.output), list | tuple):
        raise DefinitionError(
            "It is the name of a model, a list of paths, or a table of fields.",
            where="output",
            next_step='Write for example { id = "USR_ID" }.',
        )
    return None, FieldMap.parse(read_fields(shape.output, "output"), "output")


def _record_schema(
    record: Schema | None, root: Schema, fields: FieldMap | None, drop: Callable[[str], bool] | None
) -> Schema | None:
    if record is None and fields is None:
        return None
    embedding = Embedding()
    safe = dict(record or {})
    taken = as_object(embedding.take(safe, root, "record")) if fields is None else fields.schema(safe, embedding, root)
    whole = {**taken, "$defs": embedding.defs} if embedding.defs else taken
    return whole if drop is None else _schema_without(whole, drop)


def _outer(schema: Schema | None, *, listed: bool, unsure: bool) -> Schema | None:
    if schema is None:
        return None
    definitions = {key: schema[key] for key in ("$defs", "definitions") if key in schema}
    record = {key: value for key, value in schema.items() if key not in definitions}
    many: dict[str, Json] = {"type": "array", "items": record}
    if unsure:
        return {"anyOf": [record, many], **definitions}
    return {**(many if listed else record), **definitions}


def _dropper(patterns: Any) -> Callable[[str], bool] | None:
    names = (patterns,) if isinstance(patterns, str) else tuple(patterns)
    if not names:
        return None
    return lambda name: any(fnmatchcase(name, pattern) for pattern in names)


def _without(value: Json, drop: Callable[[str], bool]) -> Json:
    if isinstance(value, dict):
        members = cast("JsonObject", value).items()
        return {key: _without(part, drop) for key, part in members if not drop(key)}
    if isinstance(value, list):
        return [_without(part, drop) for part in cast("list[Json]", value)]
    return value


def _schema_without(node: Node, drop: Callable[[str], bool]) -> Node:
    made = map_children(node, lambda child, _: _schema_without(child, drop))
    if isinstance(made.get("properties"), dict):
        made["properties"] = {key: part for key, part in made["properties"].items() if not drop(key)}
    for key in ("required", "dependentRequired"):
        if isinstance(made.get(key), list):
            made[key] = [name for name in made[key] if not drop(str(name))]
    for key in ("dependentRequired", "examples", "default", "const", "example"):
        made.pop(key, None) if isinstance(made.get(key), dict | list) else None
    return made


def _flat(record: JsonObject, depth: int = 0) -> dict[str, Json]:
    """A record whose objects have become fields of it, joined by `_`; a name that is taken gets a number."""
    made: dict[str, Json] = {key: value for key, value in record.items() if not (isinstance(value, dict) and value)}
    for key, value in record.items():
        if key in made:
            continue
        inner = _flat(cast("JsonObject", value), depth + 1) if depth < _DEEPEST else cast("JsonObject", value)
        for name, part in inner.items():
            made[_free(f"{key}_{name}", made)] = part
    return made


def _flat_schema(schema: Schema) -> dict[str, Json]:
    root = dict(schema)
    made = _flat_node(root, root, 0)
    return {**made, "$defs": root["$defs"]} if '"#/$defs' in repr(made).replace("'", '"') else made


def _flat_node(node: Schema, root: dict[str, Json], depth: int) -> dict[str, Json]:
    plain: dict[str, Json] = {}
    inner: dict[str, dict[str, Json]] = {}
    for key, part in as_object(node.get("properties")).items():
        target = dict(_resolved(as_object(part), root) or {})
        if as_object(target.get("properties")) and depth < _DEEPEST // 4:
            inner[key] = _flat_node(target, root, depth + 1)
        else:
            plain[key] = part
    required = [name for name in as_list(node.get("required")) if name in plain]
    for key, part in inner.items():
        for name, below in as_object(part["properties"]).items():
            plain[_free(f"{key}_{name}", plain)] = below
            if key in as_list(node.get("required")) and name in as_list(part.get("required")):
                required.append(f"{key}_{name}")
    said = {key: node[key] for key in ("description", "title") if key in node}
    return {"type": "object", **said, "properties": plain, **({"required": required} if required else {})}


def _free(name: str, taken: Mapping[str, Json]) -> str:
    return next(one for one in (name, *(f"{name}_{n}" for n in range(2, len(taken) + 3))) if one not in taken)
