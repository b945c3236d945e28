"""What a reshaped tool takes, and how its arguments become those of the tool behind it."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any, cast

from pegboard.errors import DefinitionError, nearest
from pegboard.schema.conversion import Conversion, words
from pegboard.schema.embed import Embedding
from pegboard.schema.fieldmap import FieldError, FieldMap
from pegboard.schema.shorthand import table_of, text_of
from pegboard.schema.types import Json, JsonObject, Schema, as_list, as_object, pointer
from pegboard.schema.validate import validator
from pegboard.schema.walk import ref_target
from pegboard.sources.shaped.narrow import KEYWORDS, narrowed
from pegboard.sources.shaped.shape import Shaping

_OWN = ("hide", "fix", "rename", "values", "model", "fields", "default", "required")
_TELLING = 4
_KEPT = ("description", "title", "additionalProperties", "$schema")


class ArgumentError(ValueError):
    """An argument cannot be turned into what the tool behind takes.

    Parameters:
        where: its place, as the caller wrote it.
        message: what is wrong.
    """

    def __init__(self, where: str, message: str) -> None:
        super().__init__(message)
        self.where, self.message = where, message


@dataclass(frozen=True)
class Slot:
    """One parameter that is shown.

    Parameters:
        inner: what the tool calls it.
        convert: from our value to the tool's; None where it is the same.
        below: the shape of the object that it holds, where that changes.
        many: whether it holds a list of such objects.
    """

    inner: str
    convert: Callable[[Json], Json] | None = None
    below: "InputShape | None" = None
    many: bool = False

    @property
    def is_plain(self) -> bool:
        """Whether its values stay as they are."""
        return self.convert is None and self.below is None

    def value(self, value: Json, where: str) -> Json:
        """The tool's value for ours."""
        if self.below is not None:
            if self.many and isinstance(value, list):
                items = enumerate(cast("list[Json]", value))
                return [self.below.arguments(as_object(one), f"{where}/{index}") for index, one in items]
            return self.below.arguments(as_object(value), where)
        try:
            return self.convert(value) if self.convert is not None and value is not None else value
        except FieldError as problem:
            raise ArgumentError(where + pointer(problem.name), problem.message) from None
        except (ValueError, TypeError, KeyError) as problem:
            raise ArgumentError(where, str(problem)) from None


@dataclass(frozen=True)
class InputShape:
    """How arguments change. Make it with `input_shape`.

    Parameters:
        schema: what the reshaped tool takes.
        slots: what is shown, by our names.
        fixed: what is always sent, by the tool's names.
        defaults: what is sent where the caller gives nothing, by our names.
        hidden: the tool's names that nobody sees.
        whole: turns a whole record of a model into arguments; None where parameters stand for themselves.
    """

    schema: Schema
    slots: Mapping[str, Slot]
    fixed: Mapping[str, Json] = field(default_factory=dict[str, Json])
    defaults: Mapping[str, Json] = field(default_factory=dict[str, Json])
    hidden: frozenset[str] = frozenset()
    whole: Callable[[Json], dict[str, Json]] | None = None

    def arguments(self, given: JsonObject, where: str = "") -> dict[str, Json]:
        """The tool's arguments for ours.

        Raises:
            ArgumentError: one of them has no counterpart.
        """
        if self.whole is not None:
            try:
                return {**self.whole(given), **self.fixed}
            except FieldError as problem:
                raise ArgumentError(where + pointer(problem.name), problem.message) from None
        made: dict[str, Json] = {}
        for name, value in ({**self.defaults, **given} if self.defaults else given).items():
            slot = self.slots.get(name)
            if slot is not None:
                made[slot.inner] = value if slot.is_plain else slot.value(value, where + pointer(name))
            elif name in self.hidden or name in self.inner_names:
                raise ArgumentError(where + pointer(name), f"There is no parameter {name!r}")
            else:
                made[name] = value
        for name, below in self._always:
            if name not in given:
                made.setdefault(self.slots[name].inner, below.arguments({}, where + pointer(name)))
        return {**made, **self.fixed} if self.fixed else made

    @cached_property
    def _always(self) -> list[tuple[str, "InputShape"]]:
        """The objects in which something is sent even where the caller gives none of them."""
        found = ((name, slot.below) for name, slot in self.slots.items() if slot.below is not None and not slot.many)
        return [(name, below) for name, below in found if below.fixed or below.defaults]

    @cached_property
    def inner_names(self) -> frozenset[str]:
        """What the tool calls what is shown under another name."""
        return frozenset(slot.inner for name, slot in self.slots.items() if slot.inner != name) - self.slots.keys()

    def renamed(self) -> Iterator[tuple[str, str]]:
        """Every renaming, the tool's word first."""
        for name, slot in self.slots.items():
            yield slot.inner, name
            if slot.below is not None:
                yield from slot.below.renamed()

    def all_hidden(self) -> Iterator[str]:
        """Every hidden word, at any depth."""
        yield from self.hidden
        for slot in self.slots.values():
            if slot.below is not None:
                yield from slot.below.all_hidden()

    def all_fixed(self) -> Iterator[str]:
        """Every text that is always sent, and long enough to be told from other words."""
        yield from (value for value in self.fixed.values() if isinstance(value, str) and len(value) >= _TELLING)
        for slot in self.slots.values():
            if slot.below is not None:
                yield from slot.below.all_fixed()

    def place(self, keys: tuple[str, ...]) -> tuple[str, ...]:
        """A place in the tool's arguments, as the caller knows it; cut where he knows nothing."""
        if not keys:
            return ()
        for name, slot in self.slots.items():
            if slot.inner == keys[0]:
                rest = keys[1:]
                if slot.below is None:
                    return (name, *rest) if slot.convert is None else (name,)
                digits = rest[:1] if slot.many and rest and rest[0].isdecimal() else ()
                return (name, *digits, *slot.below.place(rest[len(digits) :]))
        return () if keys[0] in self.hidden else keys


def input_shape(
    schema: Schema,
    patches: Mapping[str, Json],
    shaping: Shaping,
    *,
    owner: str,
    takes: str | None = None,
    lenient: bool = False,
) -> InputShape:
    """How a tool's arguments change.

    Parameters:
        schema: what the tool takes.
        patches: as in `Shape.input`.
        shaping: the source's maps and models.
        owner: the tool's name, for definitions.
        takes: the model of which the arguments together are a record; patches then only hide and fix.
        lenient: whether patches of parameters that the tool does not have are left out.

    Raises:
        DefinitionError: a patch cannot be meant, or what it makes could never be called.
    """
    embedding = Embedding()
    builder = _Builder(schema, shaping, embedding, owner, lenient)
    found = builder.shape(schema, dict(patches), "input")
    if takes is not None:
        return _of_model(takes, schema, shaping, found)
    if embedding.defs:
        found = InputShape(
            {**found.schema, "$defs": embedding.defs}, found.slots, found.fixed, found.defaults, found.hidden
        )
    return found


def _of_model(name: str, schema: Schema, shaping: Shaping, plain: InputShape) -> InputShape:
    model, fields = shaping.mapped(name, "takes")
    settable = {key: node for key, node in model.fields.items() if key in fields.settable}
    made = fields.backward
    needed = as_list(model.schema.get("required"))
    stuck = [key for key in needed if key not in settable]
    if stuck:
        raise DefinitionError(
            f"{name} cannot be turned back: {' and '.join(stuck)} is made of other values.",
            where=fields.where,
            next_step=f"Give {stuck[0]} a path, or say in `back` what it is made of.",
        )
    outer = {**model.schema, "properties": settable, "required": needed, "additionalProperties": False}
    hidden = frozenset(as_object(schema.get("properties")))
    return InputShape(outer, {}, plain.fixed, hidden=hidden, whole=lambda record: made(record, schema))


@dataclass
class _Builder:
    """Makes the shape of one tool's input, object by object."""

    root: Schema
    shaping: Shaping
    embedding: Embedding
    owner: str
    lenient: bool

    def shape(self, node: Schema, patches: dict[str, Json], where: str) -> InputShape:
        properties = as_object(node.get("properties"))
        required = [str(name) for name in as_list(node.get("required"))]
        own, inside = self._sorted(properties, patches, where)
        outer: dict[str, Json] = {}
        needed: list[str] = []
        slots: dict[str, Slot] = {}
        fixed: dict[str, Json] = {}
        defaults: dict[str, Json] = {}
        hidden: list[str] = []
        for inner, piece in properties.items():
            patch, at = own.get(inner, {}), f"{where}.{inner}"
            if patch.get("hide") or "fix" in patch:
                hidden.append(inner)
                self._fix(inner, patch, piece, required, fixed, at)
                continue
            name = text_of(patch["rename"], f"{at}.rename") if "rename" in patch else inner
            if name in outer:
                raise DefinitionError(
                    f"Two parameters are called {name!r}.", where=at, next_step="Give one of them another name."
                )
            outer[name], slots[name] = self._shown(inner, as_object(piece), patch, inside.get(inner, {}), at)
            if "default" in patch:
                defaults[name] = patch["default"]
                self._check(outer[name], patch["default"], f"{at}.default")
            if patch.get("required", inner in required) and name not in defaults:
                needed.append(name)
        kept = {key: node[key] for key in _KEPT if key in node}
        made: dict[str, Json] = {"type": "object", **kept, "properties": outer}
        if needed:
            made["required"] = needed
        if properties and not _is_open(node):
            made["additionalProperties"] = False  # a name that is hidden would else pass as an additional one
        return InputShape(made, slots, fixed, defaults, frozenset(hidden))

    def _sorted(
        self, properties: Mapping[str, Json], patches: dict[str, Json], where: str
    ) -> tuple[dict[str, dict[str, Any]], dict[str, dict[str, Json]]]:
        """The patches of the object's own properties, and those of what lies inside them; exact names beat globs."""
        own: dict[str, dict[str, Any]] = {}
        inside: dict[str, dict[str, Json]] = {}
        globs = [key for key in patches if any(char in key for char in "*?[") and key not in properties]
        for key in (*globs, *(key for key in patches if key not in globs)):
            first, _, rest = key.partition(".")
            if key in properties or key in globs:
                names = [name for name in properties if name == key or (key in globs and fnmatchcase(name, key))]
                own.update(dict.fromkeys(names, _patch(patches[key], f"{where}.{key}")))
            elif rest and first in properties:
                inside.setdefault(first, {})[rest] = patches[key]
            elif not self.lenient:
                near = nearest(key, properties) or list(properties)
                raise DefinitionError(
                    f"{self.owner} has no parameter {key!r}.",
                    where=where,
                    next_step=f"It has: {', '.join(near)}." if near else "It takes no arguments.",
                )
        return own, inside

    def _fix(
        self,
        inner: str,
        patch: JsonObject,
        piece: Json,
        required: list[str],
        fixed: dict[str, Json],
        where: str,
    ) -> None:
        if "fix" in patch:
            fixed[inner] = patch["fix"]
            self._check(piece, patch["fix"], f"{where}.fix")
        elif inner in required:
            if "default" not in as_object(piece):
                raise DefinitionError(
                    "The tool needs it, so it cannot just be hidden.",
                    where=where,
                    next_step=f'Say what is sent: {inner} = {{ fix = "..." }}.',
                )
            fixed[inner] = as_object(piece)["default"]

    def _check(self, piece: Json, value: Json, where: str) -> None:
        """See that a value which will be sent is one that is taken."""
        judge = validator({**_root_only(self.root), "$defs": {**self._defs, **self.embedding.defs}, **as_object(piece)})
        if not judge.is_valid(value):
            said = "; ".join(str(one) for one in judge.violations(value)[:2])
            raise DefinitionError(f"It is not taken: {said}.", where=where, next_step="Give a value that is.")

    @property
    def _defs(self) -> dict[str, Json]:
        return as_object(self.root.get("$defs"))

    def _shown(
        self, inner: str, piece: Schema, patch: JsonObject, inside: dict[str, Json], where: str
    ) -> tuple[dict[str, Json], Slot]:
        narrow = {key: value for key, value in patch.items() if key in KEYWORDS}
        said: dict[str, Json] = {"default": patch["default"]} if "default" in patch else {}
        if inside:
            return self._below(inner, piece, inside, narrow, where)
        made, convert = self._converted(piece, patch, narrow, where)
        return {**made, **said}, Slot(inner, convert)

    def _converted(
        self, piece: Schema, patch: JsonObject, narrow: dict[str, Json], where: str
    ) -> tuple[dict[str, Json], Callable[[Json], Json] | None]:
        if "values" in patch:
            target = self._resolved(piece)
            item = _item(target)
            conversion = self._words(table_of(patch["values"], f"{where}.values"), item, where)
            said = {key: piece[key] for key in ("description", "title") if key in piece}
            made = dict(conversion.schema) if item is target else {"type": "array", "items": conversion.schema}
            return {**said, **made, **narrow}, _each(conversion.backward)
        if "model" in patch:
            model, fields = self.shaping.mapped(str(patch["model"]), where)
            target = self._resolved(piece)
            backward = _each(lambda one: fields.backward(one, {**_root_only(self.root), **_item(target)}))
            taken = as_object(self.embedding.take(dict(model.schema), model.schema, model.name))
            return {**({"type": "array", "items": taken} if _item(target) is not target else taken), **narrow}, backward
        if "fields" in patch:
            fields = FieldMap.parse(table_of(patch["fields"], f"{where}.fields"), f"{where}.fields")
            target = self._resolved(piece)
            backward = _each(lambda one: fields.backward(one, {**_root_only(self.root), **_item(target)}))
            taken = fields.schema(_item(target), self.embedding, self.root)
            return {**({"type": "array", "items": taken} if _item(target) is not target else taken), **narrow}, backward
        taken = as_object(self.embedding.take(narrowed(piece, narrow, self.root, where), self.root, self.owner))
        return taken, None

    def _words(self, values: JsonObject, piece: Schema, where: str) -> Conversion:
        for word, code in values.items():
            narrowed(piece, {"enum": code if isinstance(code, list) else [code]}, self.root, f"{where}.values.{word}")
        try:
            return words(values)
        except DefinitionError as problem:
            raise DefinitionError(problem.message, where=where, next_step=problem.next_step) from None

    def _below(
        self, inner: str, piece: Schema, inside: dict[str, Json], narrow: dict[str, Json], where: str
    ) -> tuple[dict[str, Json], Slot]:
        target = self._resolved(piece)
        item = _item(target)
        shape = self.shape(self._resolved(item), inside, where)
        said = {key: target[key] for key in ("description", "title") if key in target}
        many = item is not target
        made: dict[str, Json] = {"type": "array", "items": shape.schema} if many else dict(shape.schema)
        return {**made, **said, **narrow}, Slot(inner, below=shape, many=many)

    def _resolved(self, node: Schema) -> Schema:
        for _ in range(20):
            reference = node.get("$ref")
            if not isinstance(reference, str):
                return node
            node = ref_target(dict(self.root), reference) or {}
        return {}


def _patch(entry: Json, where: str) -> dict[str, Any]:
    if entry is False:
        return {"hide": True}
    if isinstance(entry, str):
        return {"rename": entry}
    if not isinstance(entry, Mapping):
        raise DefinitionError(
            "A parameter is hidden (false), renamed (a text), or changed (a table).",
            where=where,
            next_step='Write for example { rename = "user_id" } or { fix = 1 }.',
        )
    table = dict(cast("Mapping[str, Any]", entry))
    for key in table:
        if key not in _OWN and key not in KEYWORDS:
            near = nearest(key, (*_OWN, *KEYWORDS), limit=1)
            step = f"Did you mean {near[0]}?" if near else f"Known are {', '.join((*_OWN, *KEYWORDS))}."
            raise DefinitionError(f"A parameter has no {key!r}.", where=where, next_step=step)
    return table


def _each(convert: Callable[[Json], Json]) -> Callable[[Json], Json]:
    def backward(value: Json) -> Json:
        return [convert(one) for one in cast("list[Json]", value)] if isinstance(value, list) else convert(value)

    return backward


def _item(node: Schema) -> Schema:
    items = node.get("items")
    return cast("Schema", items) if isinstance(items, Mapping) else node


def _is_open(node: Schema) -> bool:
    return node.get("additionalProperties") not in (None, False)


def _root_only(root: Schema) -> dict[str, Json]:
    return {key: root[key] for key in ("$defs", "definitions") if key in root}
