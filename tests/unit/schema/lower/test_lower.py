"""Lowering: what each rule makes of a schema, dialect by dialect; what is lost is reported, what is not is raised."""

from typing import Any

import pytest
from tests.checkers.dialects import accepts, faults

from pegboard.errors import DefinitionError
from pegboard.schema.lower import DIALECTS as ALL
from pegboard.schema.lower import Lowered, lower
from pegboard.schema.raise_ import lower_value, raise_arguments, raise_value

DIALECTS = [name for name in ALL if name != "codex"]  # the baseline has its own cases
S: dict[str, Any] = {"type": "string"}


def of(properties: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, **more}


def lowered(schema: dict[str, Any], dialect: str) -> Lowered:
    found = lower(schema, dialect)
    assert faults(dialect, found.schema, strict=found.strict) == []
    again = lower(found.schema, dialect) if found.schema else found
    assert again.schema == found.schema
    return found


def prop(found: Lowered, name: str = "p") -> Any:
    assert found.schema is not None
    return found.schema["properties"][name]


NODES: list[tuple[str, str, Any, Any]] = [
    ("properties of objects", "openai-chat", {"type": "object"}, {"type": "object", "properties": {}}),
    ("one kind of oneOf", "openai-chat", {"oneOf": [S, {"type": "integer"}]}, {"anyOf": [S, {"type": "integer"}]}),
    ("a constant", "openai-chat", {"const": "a"}, {"type": "string", "enum": ["a"]}),
    ("an untyped enum", "gemini", {"enum": ["a", "b"]}, {"type": "STRING", "enum": ["a", "b"]}),
    ("an enum of numbers", "gemini", {"enum": [1, 2]}, {"type": "STRING", "enum": ["1", "2"]}),
    ("an enum with an empty text", "gemini", {"enum": ["", "a"]}, {"type": "STRING", "enum": ['""', "a"]}),
    ("a fitting keyword", "gemini", {"type": "string", "properties": {"a": S}, "required": ["a"]}, {"type": "STRING"}),
    ("null in a type list", "gemini", {"type": ["null", "string"]}, {"type": "STRING", "nullable": True}),
    ("null in a union", "gemini", {"anyOf": [S, {"type": "null"}]}, {"type": "STRING", "nullable": True}),
    (
        "exclusive bounds of whole numbers",
        "gemini",
        {"type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": 9},
        {"type": "INTEGER", "minimum": 1, "maximum": 8},
    ),
    (
        "an open object",
        "gemini",
        {"type": "object"},
        {"type": "STRING", "description": "An object, as JSON text"},
    ),
    (
        "a typed map",
        "gemini",
        {"type": "object", "additionalProperties": S},
        {
            "type": "ARRAY",
            "items": {
                "type": "OBJECT",
                "properties": {"key": {"type": "STRING"}, "value": {"type": "STRING"}},
                "required": ["key", "value"],
            },
        },
    ),
    (
        "several types",
        "gemini",
        {"type": ["string", "integer"], "description": "one of both"},
        {
            "anyOf": [
                {"type": "STRING", "description": "one of both"},
                {"type": "INTEGER", "description": "one of both"},
            ]
        },
    ),
    (
        "a tuple of one kind",
        "openai-chat",
        {"prefixItems": [S, S], "items": False},
        {"maxItems": 2, "type": "array", "items": S},
    ),
    (
        "a pattern that looks ahead",
        "openai-chat",
        {**S, "pattern": "(?=a)"},
        {**S, "description": "Matches the pattern (?=a)"},
    ),
    ("a title that says no more than its key", "openai-chat", {**S, "title": "P"}, S),
    ("a title that says more", "openai-chat", {**S, "title": "Who it is"}, {**S, "description": "Who it is"}),
    (
        "what stands beside a union",
        "openai-chat",
        of({"a": S, "b": S}, anyOf=[{"required": ["a"]}, {"required": ["b"]}]),
        {"anyOf": [of({"a": S, "b": S}, required=["a"]), of({"a": S, "b": S}, required=["b"])]},
    ),
]


@pytest.mark.parametrize(("dialect", "node", "expected"), [row[1:] for row in NODES], ids=[row[0] for row in NODES])
@pytest.mark.requirement("D3.3", "D3.6", "D12.1")
def test_a_node_is_lowered_as_its_provider_takes_it(dialect: str, node: Any, expected: Any) -> None:
    assert prop(lowered(of({"p": node}, required=["p"]), dialect)) == expected


STRICT: list[tuple[str, Any, Any]] = [
    ("an optional key may be null", S, {"type": ["string", "null"]}),
    ("an optional enum holds null", {**S, "enum": ["a"]}, {"type": ["string", "null"], "enum": ["a", None]}),
    ("a default is said in words", {**S, "default": "a"}, {"type": ["string", "null"], "description": 'Default: "a"'}),
    (
        "a length is said in words",
        {**S, "minLength": 3},
        {"type": ["string", "null"], "description": "At least 3 characters"},
    ),
    ("bounds of numbers stay", {"type": "number", "maximum": 3}, {"type": ["number", "null"], "maximum": 3}),
    (
        "a typed map is a list of entries",
        {"type": "object", "additionalProperties": S},
        {
            "type": ["array", "null"],
            "items": {
                "type": "object",
                "properties": {"key": S, "value": S},
                "required": ["key", "value"],
                "additionalProperties": False,
            },
        },
    ),
]


@pytest.mark.parametrize(("node", "expected"), [row[1:] for row in STRICT], ids=[row[0] for row in STRICT])
@pytest.mark.requirement("D3.5")
def test_strict_requires_every_key_and_closes_every_object(node: Any, expected: Any) -> None:
    found = lowered(of({"p": node}), "openai-responses-strict")
    assert found.strict
    assert found.schema == {**of({"p": expected}), "additionalProperties": False, "required": ["p"]}


@pytest.mark.parametrize(
    ("node", "reason"),
    [
        ({"type": "object"}, "an object open to any key at /properties/p"),
        ({"type": "object", "properties": {"a": S}, "additionalProperties": True}, "an object open to any key"),
        ({}, "a value of any kind"),
        ({"enum": [f"value {n}" for n in range(1001)]}, "more than 1000 enum values"),
    ],
)
def test_a_tool_that_cannot_be_strict_goes_out_non_strict_with_the_reason(node: Any, reason: str) -> None:
    found = lowered(of({"p": node}), "openai-chat-strict")
    assert not found.strict
    assert found.schema == lower(of({"p": node}), "openai-chat").schema
    assert any(reason in obstacle for obstacle in found.obstacles)


@pytest.mark.requirement("D3.4")
def test_recursion_is_kept_by_openai_cut_by_gemini_and_not_strict_for_anthropic() -> None:
    tree = of(
        {"p": {"$ref": "#/$defs/T"}},
        **{"$defs": {"T": of({"kids": {"type": "array", "items": {"$ref": "#/$defs/T"}}})}},
    )
    assert lowered(tree, "openai-responses-strict").strict
    assert lowered(tree, "anthropic-strict").obstacles == ("a schema that leads back to itself at the root",)
    found = lowered(tree, "gemini")
    deep = {"p": {"kids": [{"kids": [{"kids": []}]}]}}
    assert raise_value(found, lower_value(found, deep)) == deep
    assert accepts("gemini", found.schema, lower_value(found, deep))


def test_a_root_union_becomes_one_object_with_its_rule_in_words() -> None:
    union = {"anyOf": [of({"kind": {"const": k}, k: S}, required=["kind", k]) for k in ("text", "url")]}
    for dialect in sorted(set(DIALECTS) - {"mcp"}):
        found = lowered(union, dialect)
        assert found.schema is not None
        description = found.schema["description"]
        assert 'exactly one of: (1) kind "text": text; (2) kind "url": url' in description[0].lower() + description[1:]
        assert [(loss.keyword, loss.went) for loss in found.losses] == [("anyOf", "description")]


def test_keys_that_only_a_condition_declares_are_shown() -> None:
    schema = of(
        {"kind": S},
        **{
            "if": {"properties": {"kind": {"const": "x"}}},
            "then": of({"size": {"type": "integer"}}, required=["size"]),
        },
    )
    found = lowered(schema, "openai-chat")
    assert prop(found, "size") == {"type": "integer"}
    assert [loss.keyword for loss in found.losses] == ["if"]


@pytest.mark.requirement("D3.7")
def test_losses_name_the_authors_place_the_keyword_and_what_it_said() -> None:
    found = lowered(
        of({"p": {"$ref": "#/$defs/D"}}, **{"$defs": {"D": {**S, "format": "uri"}}}), "openai-responses-strict"
    )
    (loss,) = found.losses
    assert (loss.pointer, loss.keyword, loss.said, loss.went) == ("/$defs/D", "format", "uri", "description")


def test_what_can_be_no_tools_arguments_is_refused_with_the_reason() -> None:
    for dialect in DIALECTS:
        found = lower({"type": "string"}, dialect)
        assert found.schema is None
        assert "must be of type object" in (found.refused or "")


def test_an_unknown_dialect_is_named_with_its_neighbours() -> None:
    with pytest.raises(DefinitionError, match="openai-chat"):
        lower({}, "openai-chatt")


NO_ARGUMENTS = {"openai-chat": {"type": "object", "properties": {}}, "gemini": None, "gemini-json": None}


@pytest.mark.parametrize(("dialect", "expected"), NO_ARGUMENTS.items())
def test_a_tool_without_arguments_is_spelled_as_its_provider_wants(dialect: str, expected: Any) -> None:
    assert lowered({"type": "object"}, dialect).schema == expected


RAISED: list[tuple[str, str, Any, Any, Any]] = [
    (
        "null stands for absence",
        "openai-chat-strict",
        {"admin": {"type": "boolean", "default": False}},
        {"admin": None},
        {},
    ),
    (
        "a null of its own is spelled out",
        "openai-chat-strict",
        {"p": {"type": ["string", "null"]}},
        {"p": {"explicit": None}},
        {"p": None},
    ),
    (
        "entries become a map",
        "openai-chat-strict",
        {"m": {"type": "object", "additionalProperties": {"type": "integer"}}},
        {"m": [{"key": "a", "value": 1}]},
        {"m": {"a": 1}},
    ),
    ("names become numbers", "gemini", {"depth": {"enum": [0, 4]}}, {"depth": "4"}, {"depth": 4}),
    (
        "a number is taken where its name was asked for",
        "gemini",
        {"depth": {"enum": [0, 4]}},
        {"depth": 4},
        {"depth": 4},
    ),
    ("JSON text becomes a value", "gemini", {"o": {"type": "object"}}, {"o": '{"k": [1]}'}, {"o": {"k": [1]}}),
    (
        "a plain text is taken where JSON text was asked for",
        "gemini",
        {"v": {}},
        {"v": "plain words"},
        {"v": "plain words"},
    ),
    ("a renamed key gets its name back", "anthropic", {"a b": S}, {"a_b": "x"}, {"a b": "x"}),
]


@pytest.mark.parametrize(
    ("dialect", "properties", "sent", "meant"), [row[1:] for row in RAISED], ids=[row[0] for row in RAISED]
)
def test_arguments_are_raised_back(dialect: str, properties: Any, sent: Any, meant: Any) -> None:
    raised = raise_arguments(lower(of(properties), dialect), sent)
    assert raised.value == meant
    assert raised.violations == ()


def test_arguments_that_break_the_authors_rule_are_refused_after_raising() -> None:
    found = lower(of({"depth": {"enum": [0, 4]}}), "gemini")
    (violation,) = raise_arguments(found, {"depth": "5"}).violations
    assert violation.pointer == "/depth"


def test_arguments_in_the_authors_own_shape_are_taken_too() -> None:
    found = lower(of({"m": {"type": "object", "additionalProperties": S}}), "gemini")
    assert raise_arguments(found, {"m": {"a": "b"}}).value == {"m": {"a": "b"}}


@pytest.mark.requirement("D3.2")
@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("date", {"type": "string", "format": "date"}),
        ("uri", {"type": "string", "description": "A URI"}),
        ("int", {"type": "integer"}),
        ("str[]", {"type": "array", "items": S}),
    ],
)
def test_a_type_outside_the_seven_is_a_type_with_a_format_or_words_and_is_listed(word: str, expected: Any) -> None:
    found = lowered(of({"p": {"type": word}}, required=["p"]), "openai-responses-strict")
    assert prop(found) == expected
    assert any(word in change.message for change in found.changes)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    ("schema", "values"),
    [
        ({"enum": [{"a": 1}, {"a": 2, "b": "x"}, "text"]}, [{"a": 1}, {"a": 2, "b": "x"}]),
        ({"const": {"go": True, "to": None, "via": [1, {"x": 2}]}}, [{"go": True, "to": None, "via": [1, {"x": 2}]}]),
        (of({"a": {"type": "integer"}}, enum=[{"a": 1}, {"a": 3}]), [{"a": 1}, {"a": 3}]),
        ({"anyOf": [{"const": {"k": "a"}}, {"const": {"k": "b", "n": 1}}]}, [{"k": "a"}, {"k": "b", "n": 1}]),
    ],
    ids=["enum", "const", "declared", "union"],
)
def test_arguments_of_fixed_values_can_still_be_sent(dialect: str, schema: Any, values: list[Any]) -> None:
    found = lowered(schema, dialect)
    for value in values:
        sent = lower_value(found, value)
        assert accepts(dialect, found.schema, sent)
        assert raise_arguments(found, sent).value == value


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_pattern_that_checkers_cannot_read_is_told_in_words(dialect: str) -> None:
    found = lowered(
        of({"p": {"type": "string", "pattern": "["}, "q": {"type": "string", "pattern": "\\p{L}+"}}), dialect
    )
    assert sorted(loss.pointer for loss in found.losses if loss.went == "description") == [
        "/properties/p",
        "/properties/q",
    ]


@pytest.mark.parametrize("dialect", ["openai-responses-strict", "anthropic-strict", "gemini"])
def test_keys_that_match_no_pattern_are_reported_as_closed(dialect: str) -> None:
    schema = of({"p": {"type": "object", "patternProperties": {"^x-": S}}})
    assert any("by patterns" in change.message for change in lowered(schema, dialect).changes)
    closed = of({"p": {"type": "object", "patternProperties": {"^x-": S}, "additionalProperties": False}})
    assert not any("by patterns" in change.message for change in lowered(closed, dialect).changes)


@pytest.mark.parametrize("name", ["a b/c", "ü", "Foo[Bar]", "日本", "a%20b", 'q"'])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_definition_is_found_by_whatever_name(name: str, dialect: str) -> None:
    place = name.replace("~", "~0").replace("/", "~1").replace("%", "%25")
    schema = of(
        {"p": {"$ref": f"#/$defs/{place}"}}, **{"$defs": {name: of({"q": {"type": "integer"}, "r": {"$ref": "#"}})}}
    )
    found = lowered(schema, dialect)
    assert raise_arguments(found, lower_value(found, {"p": {"q": 1}})).value == {"p": {"q": 1}}


@pytest.mark.parametrize("dialect", ["anthropic", "bedrock"])
def test_conditions_speak_of_renamed_keys_by_their_new_names(dialect: str) -> None:
    schema = of(
        {"é": S, "v": S, "w": S},
        **{
            "not": {"required": ["é", "v"]},
            "dependentRequired": {"é": ["w"], "w": ["é"]},
            "dependentSchemas": {"é": {"required": ["w"]}},
            "if": {"properties": {"v": {"const": "x"}}, "required": ["v"]},
            "then": {"required": ["é"]},
            "else": {"not": {"anyOf": [{"properties": {"é": {"const": "no"}}, "required": ["é"]}]}},
        },
    )
    found = lowered(schema, dialect)
    for value, fine in (
        ({"é": "a", "w": "b"}, True),
        ({"é": "a"}, False),
        ({"w": "b"}, False),
        ({"é": "no", "w": "b"}, False),
        ({"é": "a", "v": "x", "w": "b"}, False),
        ({"v": "y"}, True),
    ):
        sent = lower_value(found, value)
        assert accepts(dialect, found.schema, sent) is fine
        assert (raise_arguments(found, sent).violations == ()) is fine
