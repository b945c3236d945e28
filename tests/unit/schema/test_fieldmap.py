"""Field maps turn records into ours and back without loss, and say what cannot be turned."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.errors import DefinitionError
from pegboard.schema.conversion import date, scale, typed, unit, words
from pegboard.schema.fieldmap import FieldError, FieldMap
from pegboard.schema.path import read_path


@pytest.mark.requirement("C14.2")
@pytest.mark.parametrize(
    ("entry", "record", "ours"),
    [
        ("A.B", {"A": {"B": 1}}, 1),
        ("A[1].B", {"A": [None, {"B": 1}]}, 1),
        ('"a.b".c', {"a.b": {"c": 1}}, 1),
        ({"path": "S", "values": {"on": 1, "off": 0}}, {"S": 0}, "off"),
        ({"path": "S", "values": {"yes": True, "no": False}}, {"S": True}, "yes"),
        ({"path": "D", "date": "%d.%m.%Y"}, {"D": "03.02.2024"}, "2024-02-03"),
        ({"path": "D", "date": "%Y-%m-%d %H:%M:%S"}, {"D": "2024-02-03 04:05:06"}, "2024-02-03T04:05:06Z"),
        ({"path": "D", "date": "unix"}, {"D": 1_700_000_000}, "2023-11-14T22:13:20Z"),
        ({"path": "D", "date": "unix_ms"}, {"D": 1_700_000_000_123}, "2023-11-14T22:13:20.123000Z"),
        ({"path": "C", "scale": 0.01}, {"C": 1999}, 19.99),
        ({"path": "C", "unit": "cents -> units"}, {"C": 1999}, 19.99),
        ({"path": "T", "unit": "F -> C"}, {"T": 212}, 100),
        ({"path": "T", "unit": "C -> K"}, {"T": 20}, 293.15),
        ({"path": "N", "type": "integer"}, {"N": "42"}, 42),
        ({"path": "N", "type": "boolean"}, {"N": "true"}, True),
        ({"path": "L", "fields": {"x": "X.Y"}}, {"L": [{"X": {"Y": 1}}, {"X": {"Y": 2}}]}, [{"x": 1}, {"x": 2}]),
        ({"path": "T", "values": {"a": 1, "b": 2}}, {"T": [2, 1]}, ["b", "a"]),
        ({"path": "O", "fields": {"x": "X"}}, {"O": {"X": None}}, {"x": None}),
    ],
)
def test_a_record_becomes_ours_and_ours_becomes_the_record(entry: Any, record: Any, ours: Any) -> None:
    fields = FieldMap.parse({"f": entry})
    assert fields.forward({**record, "MORE": 1}) == {"f": ours}
    assert fields.backward({"f": ours}) == record


def test_templates_go_one_way_unless_they_say_how_to_go_back() -> None:
    fields = FieldMap.parse(
        {
            "name": {"value": "${F} ${L}", "back": {"F": "${split(name)[0]}", "N.L": "${split(name)[1]}"}},
            "full": "${upper(record.F)}",
        }
    )
    assert fields.forward({"F": "Al", "L": "Bo"}) == {"name": "Al Bo", "full": "AL"}
    assert fields.backward({"name": "Al Bo"}) == {"F": "Al", "N": {"L": "Bo"}}
    assert fields.settable == ("name",)
    with pytest.raises(FieldError, match="full"):
        fields.backward({"full": "AL"})


def test_what_is_not_there_is_left_out_and_a_default_stands_for_it() -> None:
    fields = FieldMap.parse({"a": "A.B", "b": {"path": "B", "default": 0}, "c": "${C.D}", "d": "D"})
    assert fields.forward({"A": 1, "D": None}) == {"b": 0, "d": None}


@pytest.mark.parametrize(
    "entry",
    [
        {"path": "S", "values": {"on": 1}},
        {"path": "S", "date": "%Y"},
        {"path": "S", "scale": 2},
        {"path": "S", "type": "integer"},
    ],
)
@pytest.mark.parametrize("value", ["secret", True, ["secret"], {"x": 1}])
def test_a_value_without_a_counterpart_is_told_without_the_backends_words(entry: Any, value: Any) -> None:
    fields = FieldMap.parse({"ours": entry})
    try:
        made = fields.forward({"S": value})
    except FieldError as problem:
        assert problem.name == "ours"
        assert "secret" not in str(problem)
    else:
        assert entry.get("type") == "integer" or made == {"ours": made["ours"]}


def test_several_codes_may_mean_the_same_and_another_word_stands_for_the_rest() -> None:
    fields = FieldMap.parse({"s": {"path": "S", "values": {"open": ["O", "R"], "done": "D"}, "other": "unknown"}})
    assert [fields.forward({"S": code})["s"] for code in "ORD?"] == ["open", "open", "done", "unknown"]
    assert fields.backward({"s": "open"}) == {"S": "O"}
    with pytest.raises(FieldError, match="open, done"):
        fields.backward({"s": "opne"})


@given(
    st.integers(-(10**9), 10**9),
    st.sampled_from(["g -> kg", "kg -> lb", "F -> C", "min -> h", "B -> MiB", "cents -> units"]),
)
def test_units_go_there_and_back(value: int, text: str) -> None:
    conversion = unit(text)
    assert conversion.backward(conversion.forward(value)) == pytest.approx(value)


@given(st.decimals(-10_000, 10_000, places=2), st.sampled_from([0.01, 100, 0.1, -1]))
def test_scaling_adds_no_noise_of_its_own(value: Any, factor: float) -> None:
    conversion = scale(factor)
    assert conversion.backward(conversion.forward(float(value))) == pytest.approx(float(value), abs=1e-9)
    assert scale(0.01).forward(1999) == 19.99


@given(st.integers(0, 4_000_000_000))
def test_moments_go_there_and_back(seconds: int) -> None:
    moment = datetime.fromtimestamp(seconds, UTC)
    assert date("unix").backward(date("unix").forward(seconds)) == seconds
    form = "%Y/%m/%d %H.%M.%S"
    text = moment.strftime(form)
    assert date(form).backward(date(form).forward(text)) == text


JSON_KEYS = st.text(min_size=1, max_size=5)


@pytest.mark.requirement("C14.2")
@given(st.dictionaries(JSON_KEYS, st.integers() | st.text(max_size=5) | st.booleans(), min_size=1, max_size=6))
def test_there_and_back_is_the_identity_on_mapped_fields(record: dict[str, Any]) -> None:
    fields = FieldMap.parse({f"f{number}": json.dumps(key) for number, key in enumerate(record) if key})
    assert fields.backward(fields.forward(record)) == record


@pytest.mark.parametrize("text", ["", ".", "a..b", "a.", "[0]", "a[x]", "a[99999]", 'a."b', "a]b"])
def test_what_is_no_path_is_refused(text: str) -> None:
    with pytest.raises(DefinitionError, match="path"):
        read_path(text, "here")


@pytest.mark.parametrize(
    "make",
    [
        lambda: unit("kg"),
        lambda: unit("kg -> m"),
        lambda: scale(0),
        lambda: typed("list"),
        lambda: words({"a": 1, "b": [2, 1]}),
        lambda: date("%"),
        lambda: FieldMap.parse({}),
        lambda: FieldMap.parse({"a": 5}),
        lambda: FieldMap.parse({"a": {}}),
        lambda: FieldMap.parse({"a": {"path": "x", "value": "y"}}),
    ],
)
def test_a_map_that_cannot_be_meant_says_what_to_write(make: Any) -> None:
    with pytest.raises(DefinitionError) as told:
        make()
    assert told.value.next_step


def test_the_schema_follows() -> None:
    inner = {
        "type": "object",
        "required": ["A", "S"],
        "properties": {
            "A": {"$ref": "#/$defs/A"},
            "S": {"type": ["integer", "null"]},
            "L": {"type": "array", "items": {"$ref": "#/$defs/A"}},
        },
        "$defs": {"A": {"type": "object", "required": ["B"], "properties": {"B": {"type": "string", "maxLength": 5}}}},
    }
    fields = FieldMap.parse(
        {
            "b": {"path": "A.B", "description": "Mine."},
            "s": {"path": "S", "values": {"on": 1}},
            "l": {"path": "L", "fields": {"b": "B"}},
            "n": {"path": "NO", "default": 1},
        }
    )
    assert fields.schema(inner) == {
        "type": "object",
        "properties": {
            "b": {"type": "string", "maxLength": 5, "description": "Mine."},
            "s": {"type": ["string", "null"], "enum": ["on", None]},
            "l": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"b": {"type": "string", "maxLength": 5}},
                    "required": ["b"],
                },
            },
            "n": {},
        },
        "required": ["b", "s", "n"],
    }


@pytest.mark.parametrize(
    ("entry", "theirs", "ours"),
    [
        ({"path": "C", "unit": "cents -> units"}, "1250", 12.5),
        ({"path": "C", "scale": 2, "offset": 1}, "-1.5", -2),
        ({"path": "C", "date": "unix"}, "0", "1970-01-01T00:00:00Z"),
    ],
)
def test_a_number_that_the_backend_writes_as_a_text_is_a_number_here_and_a_text_again_there(
    entry: Any, theirs: str, ours: Any
) -> None:
    mapped = FieldMap.parse({"ours": entry})
    assert mapped.forward({"C": theirs}) == {"ours": ours}
    schema = {"type": "object", "properties": {"C": {"type": "string"}}}
    assert mapped.backward({"ours": ours}, schema) == {"C": theirs}


@pytest.mark.parametrize("text", ["", "12,5", "nan", "0x10", "12 g", "1_000", "١٢"])
def test_a_text_that_is_no_plain_number_is_not_guessed_at(text: str) -> None:
    with pytest.raises(FieldError):
        FieldMap.parse({"ours": {"path": "C", "scale": 2}}).forward({"C": text})
