"""Any tool row, in whichever spelling it comes, as a `ToolSpec`; what was odd about it is told, nothing is lost.

    MCP         name, title, description, inputSchema, outputSchema, annotations, icons, _meta
    Anthropic   name, description, input_schema, input_examples, defer_loading
    OpenAI      name, description, parameters, defer_loading; the same inside `function`; `custom` tools with `format`,
                also inside `custom`

Fields that no spelling above knows stay in `spec.meta` as they came, `_meta` among them under its own name.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from pegboard.core import Effects, Freeform, Note, NoteKind, SourceRef, ToolName, ToolSpec
from pegboard.core.spec import EMPTY_INPUT
from pegboard.schema.repair import repair
from pegboard.schema.types import Json, JsonObject, Schema, pointer

_INPUT = ("inputSchema", "input_schema", "parameters")
_OUTPUT = ("outputSchema", "output_schema")
_EXAMPLES = ("input_examples", "inputExamples")
_KNOWN = frozenset(
    {"name", "title", "description", "annotations", "icons", "namespace", "defer_loading", "function", "type", "format"}
).union(_INPUT, _OUTPUT, _EXAMPLES)

FREEFORM_INPUT: Schema = {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]}


@dataclass(frozen=True, slots=True)
class Normalised:
    """What became of one row.

    Parameters:
        spec: the tool; None where the row was set aside.
        notes: what was repaired, or why it was set aside.
    """

    spec: ToolSpec | None
    notes: tuple[Note, ...] = ()


def normalise(raw: Json, *, namespace: str, source: SourceRef, trusted: bool) -> Normalised:
    """Read one row.

    Parameters:
        raw: the row as it came: a JSON object, or anything else that stood in its place.
        namespace: the namespace of the tool, unless the row names its own.
        source: where it comes from.
        trusted: whether its annotations are believed; if not, they may tighten a policy, never loosen it.
    """
    row = _row(raw)
    name = row.get("name")
    if not isinstance(name, str) or not name.strip():
        return Normalised(None, (_set_aside(raw, name),))
    notes: list[Note] = []
    annotations = _object(row.get("annotations"))
    _say_left_out(name, row, notes)
    own = row.get("namespace")
    schema, original = _input(name, row, notes)
    spec = ToolSpec(
        name=ToolName(own if isinstance(own, str) and own else namespace, name),
        description=_text(name, row, "description", notes),
        title=_text(name, row, "title", notes) or _own_text(annotations.get("title")) or None,
        input=schema,
        output=_output(name, row, notes),
        freeform=_freeform(row),
        effects=effects_of(annotations, trusted=trusted),
        defer=row["defer_loading"] if isinstance(row.get("defer_loading"), bool) else None,
        examples=_objects(next((row[key] for key in _EXAMPLES if key in row), ())),
        annotations=annotations,
        icons=_objects(row.get("icons")),
        meta=_rest(row),
        source=source,
        original_input=original,
    )
    return Normalised(spec, tuple(notes))


def normalise_all(
    rows: Iterable[Json], *, namespace: str, source: SourceRef, trusted: bool
) -> tuple[list[ToolSpec], list[Note]]:
    """Read many rows, each on its own; of two tools with one name the first stays and the other is set aside.

    Parameters are those of `normalise`.
    """
    specs: dict[ToolName, ToolSpec] = {}
    notes: list[Note] = []
    for row in rows:
        found = normalise(row, namespace=namespace, source=source, trusted=trusted)
        if found.spec is not None and found.spec.name in specs:
            message = "Another tool of the same name came before it; this one was set aside."
            notes.append(Note(NoteKind.SET_ASIDE, found.spec.name.name, "/name", message))
            continue
        notes += found.notes
        if found.spec is not None:
            specs[found.spec.name] = found.spec
    return list(specs.values()), notes


def effects_of(annotations: JsonObject, *, trusted: bool) -> Effects:
    """What MCP's hints say that a call does (MCP 2026-07-28, ToolAnnotations).

    An untrusted source is believed only where it warns. A trusted one that gives no hint at all stays unknown: the
    protocol's default (destructive) is a guess, not a statement.
    """
    read_only, destructive = annotations.get("readOnlyHint") is True, annotations.get("destructiveHint")
    if not trusted:
        return Effects.DESTRUCTIVE if destructive is True else Effects.UNKNOWN
    if read_only:
        return Effects.READ_ONLY
    if destructive is True:
        return Effects.DESTRUCTIVE
    if annotations.get("idempotentHint") is True:
        return Effects.IDEMPOTENT
    return Effects.ADDITIVE if destructive is False else Effects.UNKNOWN


def _row(raw: Json) -> dict[str, Any]:
    """The row, with what OpenAI Chat nests in `function` or `custom` lifted."""
    row = _object(raw)
    for nest in ("function", "custom"):
        inner = row.get(nest)
        if isinstance(inner, Mapping) and row.get("type", nest) == nest:
            outer = {key: value for key, value in row.items() if key != nest}
            row = {**outer, **_object(cast("Any", inner))}
    return row


def _set_aside(raw: Json, name: Json) -> Note:
    if not isinstance(raw, Mapping):
        return Note(NoteKind.SET_ASIDE, None, "", f"A tool is not an object but {_kind(raw)}; it was set aside.")
    found = "has no name" if name is None else f"has a name that is no text ({_kind(name)})"
    found = "has an empty name" if isinstance(name, str) else found
    return Note(NoteKind.SET_ASIDE, None, "/name", f"A tool {found}; it was set aside.")


def _input(name: str, row: JsonObject, notes: list[Note]) -> tuple[Schema, Json]:
    """The repaired schema, and the author's where they differ."""
    if _freeform(row) is not None:
        return FREEFORM_INPUT, None
    key = next((key for key in _INPUT if row.get(key) is not None), None)
    if key is None:
        notes.append(
            Note(NoteKind.REPAIRED, name, "", "It declares no input schema and is taken to need no arguments.")
        )
        return EMPTY_INPUT, None
    found = _repaired(name, _unpacked(name, row, key, notes), key, notes, arguments=True)
    return found, row[key] if found != row[key] else None


def _output(name: str, row: JsonObject, notes: list[Note]) -> Schema | None:
    key = next((key for key in _OUTPUT if row.get(key) is not None), None)
    if key is None:
        return None
    found = _unpacked(name, row, key, notes)
    if not isinstance(found, Mapping):
        notes.append(
            Note(NoteKind.REPAIRED, name, pointer(key), f"Its output schema is {_kind(found)}; it was left out.")
        )
        return None
    return _repaired(name, found, key, notes, arguments=False)


def _repaired(name: str, raw: Json, key: str, notes: list[Note], *, arguments: bool) -> Schema:
    found = repair(raw, arguments=arguments)
    notes += [Note(NoteKind.REPAIRED, name, pointer(key) + change.pointer, change.message) for change in found.changes]
    return found.schema


def _freeform(row: JsonObject) -> Freeform | None:
    if row.get("type") != "custom" or any(key in row for key in _INPUT):
        return None
    form = _object(row.get("format"))
    form |= _object(form.get("grammar"))  # OpenAI Chat keeps it one level deeper
    kind = str(form.get("syntax") or form.get("type") or "text")
    definition = form.get("definition")
    return Freeform(kind, definition if isinstance(definition, str) else None)


def _text(name: str, row: JsonObject, key: str, notes: list[Note]) -> str:
    found = row.get(key)
    if found is not None and not isinstance(found, str):
        notes.append(Note(NoteKind.REPAIRED, name, pointer(key), f"Its {key} is {_kind(found)}; it was left out."))
    return _own_text(found)


def _say_left_out(name: str, row: JsonObject, notes: list[Note]) -> None:
    """Note the fields of a kind that no spec can hold."""
    for key, kind in (("annotations", Mapping), ("icons", list)):
        found = row.get(key)
        if found is not None and not isinstance(found, kind):
            notes.append(Note(NoteKind.REPAIRED, name, pointer(key), f"Its {key} is {_kind(found)}; it was left out."))


def _unpacked(name: str, row: JsonObject, key: str, notes: list[Note]) -> Json:
    """The schema, read from a text where one spells it."""
    found = row[key]
    if not isinstance(found, str):
        return found
    try:
        spelled = json.loads(found)
    except (ValueError, RecursionError):
        return found
    if not isinstance(spelled, dict):
        return found
    notes.append(
        Note(NoteKind.REPAIRED, name, pointer(key), "A text stood for the schema that it spells: it was read.")
    )
    return cast("Json", spelled)


def _rest(row: JsonObject) -> dict[str, Any]:
    """What no field of a spec holds; `type` only where it says more than `function`."""
    rest = {key: value for key, value in row.items() if key not in _KNOWN}
    if row.get("type") not in (None, "function", "custom"):
        rest["type"] = row["type"]
    return rest


def _own_text(value: Json) -> str:
    return value if isinstance(value, str) else ""


def _object(value: Json) -> dict[str, Any]:
    return dict(cast("Mapping[str, Any]", value)) if isinstance(value, Mapping) else {}


def _objects(value: Json) -> tuple[JsonObject, ...]:
    rows = cast("list[Any]", value) if isinstance(value, list) else []
    return tuple(_object(row) for row in rows if isinstance(row, Mapping))


def _kind(value: Json) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case str():
            return "a text"
        case int() | float():
            return "a number"
        case list():
            return "a list"
        case _:
            return "an object"
