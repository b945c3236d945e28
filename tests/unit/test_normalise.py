"""Any tool row becomes a spec, or is set aside alone with a reason."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.core import Effects, Freeform, NoteKind, SourceRef, ToolName, ToolSpec
from pegboard.normalise import Normalised, effects_of, normalise
from pegboard.schema.types import Json

SCHEMA = {"type": "object", "properties": {"b": {"type": "string"}, "a": {"type": "integer"}}, "required": ["b"]}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)
FIELDS = ["name", "title", "description", "inputSchema", "input_schema", "parameters", "outputSchema", "annotations"]
FIELDS += ["icons", "_meta", "function", "type", "format", "namespace", "defer_loading", "input_examples", "other"]


def read(raw: Json, *, trusted: bool = False) -> Normalised:
    return normalise(raw, namespace="ns", source=SourceRef("src", "mcp"), trusted=trusted)


def spec_of(raw: Json, *, trusted: bool = False) -> ToolSpec:
    spec = read(raw, trusted=trusted).spec
    assert spec is not None
    return spec


@pytest.mark.parametrize(
    "row",
    [
        {"name": "t", "description": "d", "inputSchema": SCHEMA},
        {"name": "t", "description": "d", "input_schema": SCHEMA},
        {"name": "t", "description": "d", "parameters": SCHEMA},
        {"type": "function", "name": "t", "description": "d", "parameters": SCHEMA},
        {"type": "function", "function": {"name": "t", "description": "d", "parameters": SCHEMA}},
    ],
    ids=["mcp", "anthropic", "bare", "openai responses", "openai chat"],
)
def test_every_spelling_gives_the_same_spec(row: dict[str, Any]) -> None:
    spec = spec_of(row)
    assert (spec.name, spec.description, spec.input) == (ToolName("ns", "t"), "d", SCHEMA)
    assert list(spec.properties) == ["b", "a"]
    assert spec.meta == {} and read(row).notes == () and spec.original_input is None


@pytest.mark.parametrize("key", ["inputSchema", "outputSchema"])
def test_a_schema_sent_as_the_text_of_one_is_read_and_told(key: str) -> None:
    found = read({"name": "t", "inputSchema": SCHEMA, key: json.dumps(SCHEMA)})
    assert found.spec is not None
    assert (found.spec.input if key == "inputSchema" else found.spec.output) == SCHEMA
    assert [(note.kind, note.where) for note in found.notes] == [(NoteKind.REPAIRED, f"/{key}")]


@pytest.mark.parametrize(("key", "value"), [("annotations", "readonly"), ("annotations", [1]), ("icons", {"src": "x"})])
def test_a_field_of_a_kind_that_no_tool_can_hold_is_told(key: str, value: Json) -> None:
    found = read({"name": "t", "inputSchema": SCHEMA, key: value})
    assert [(note.kind, note.where) for note in found.notes] == [(NoteKind.REPAIRED, f"/{key}")]


def test_a_namespace_of_its_own_wins_over_the_source() -> None:
    assert spec_of({"name": "t", "namespace": "own"}).name == ToolName("own", "t")


@pytest.mark.parametrize(
    ("row", "title"),
    [
        ({"name": "t", "title": "A", "annotations": {"title": "B"}}, "A"),
        ({"name": "t", "annotations": {"title": "B"}}, "B"),
        ({"name": "t"}, None),
    ],
)
def test_the_title_comes_from_the_row_first_then_from_its_annotations(row: dict[str, Any], title: str | None) -> None:
    assert spec_of(row).title == title


def test_nm_03_a_name_is_kept_exactly_as_the_server_spells_it() -> None:
    """nm-02, nm-03, nm-12: slashes, dots, spaces and foreign letters stay; wire names are made elsewhere."""
    spelled = ["user-profile/update", "user-profile.update", "Create CIFS Share", "数据库", "catalog.query"]
    assert [spec_of({"name": name}).name.name for name in spelled] == spelled


def test_fields_that_nobody_knows_are_kept_as_they_came() -> None:
    row = {"name": "t", "inputSchema": SCHEMA, "_meta": {"a": 1}, "execution": {"taskSupport": "optional"}, "strict": 1}
    assert spec_of(row).meta == {"_meta": {"a": 1}, "execution": {"taskSupport": "optional"}, "strict": 1}


def test_wishes_and_examples_of_other_spellings_are_understood() -> None:
    spec = spec_of({"name": "t", "input_schema": SCHEMA, "defer_loading": True, "input_examples": [{"b": "x"}]})
    assert spec.defer is True and spec.examples == ({"b": "x"},)


def test_a_custom_tool_takes_one_text() -> None:
    form = {"type": "grammar", "syntax": "lark", "definition": "start: /a/"}
    spec = spec_of({"type": "custom", "name": "t", "format": form})
    assert spec.freeform == Freeform("lark", "start: /a/") and list(spec.properties) == ["input"]


def test_a_missing_schema_is_filled_and_told() -> None:
    found = read({"name": "t"})
    assert found.spec is not None and found.spec.input == {"type": "object", "properties": {}}
    assert [note.kind for note in found.notes] == [NoteKind.REPAIRED]


def test_a_repaired_schema_keeps_the_authors_beside_it() -> None:
    broken = {"type": "object", "properties": {"x": {"type": "strin"}}, "required": "x"}
    found = read({"name": "t", "inputSchema": broken})
    assert found.spec is not None and found.spec.original_input == broken and found.spec.input != broken
    assert all(note.where.startswith("/inputSchema") for note in found.notes) and found.notes


@pytest.mark.parametrize("raw", [None, "text", 3, [], {}, {"name": None}, {"name": ""}, {"name": " "}, {"name": 5}])
def test_what_is_no_tool_is_set_aside_with_a_reason(raw: Json) -> None:
    found = read(raw)
    assert found.spec is None
    assert [note.kind for note in found.notes] == [NoteKind.SET_ASIDE] and found.notes[0].message


@pytest.mark.parametrize(
    ("hints", "untrusted", "trusted"),
    [
        ({}, Effects.UNKNOWN, Effects.UNKNOWN),
        ({"readOnlyHint": True}, Effects.UNKNOWN, Effects.READ_ONLY),
        ({"readOnlyHint": True, "destructiveHint": False}, Effects.UNKNOWN, Effects.READ_ONLY),
        ({"readOnlyHint": True, "destructiveHint": True}, Effects.DESTRUCTIVE, Effects.READ_ONLY),
        ({"destructiveHint": True}, Effects.DESTRUCTIVE, Effects.DESTRUCTIVE),
        ({"destructiveHint": False}, Effects.UNKNOWN, Effects.ADDITIVE),
        ({"idempotentHint": True}, Effects.UNKNOWN, Effects.IDEMPOTENT),
        ({"idempotentHint": True, "destructiveHint": True}, Effects.DESTRUCTIVE, Effects.DESTRUCTIVE),
        ({"readOnlyHint": "true", "idempotentHint": 1}, Effects.UNKNOWN, Effects.UNKNOWN),
    ],
)
def test_hints_tighten_always_and_loosen_only_where_they_are_trusted(
    hints: dict[str, Any], untrusted: Effects, trusted: Effects
) -> None:
    assert effects_of(hints, trusted=False) is untrusted
    assert effects_of(hints, trusted=True) is trusted


@given(JSON | st.dictionaries(st.sampled_from(FIELDS), JSON | st.just("t")))
def test_no_row_breaks_the_reading(raw: Json) -> None:
    found = read(raw)
    assert found.spec is not None or found.notes
    if found.spec is not None:
        assert found.spec.name.name and isinstance(found.spec.input, dict)
        assert found.spec.digest == spec_of(raw).digest
