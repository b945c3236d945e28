"""Definitions: each provider's shape, names of their own, limits of one request, one broken tool alone."""

import json
from typing import Any

import pytest

from pegboard.core import Freeform, ToolName, ToolSpec
from pegboard.surface.definition import define, define_all
from pegboard.surface.describing import Cap

S = {"type": "string"}


def spec(name: str, properties: dict[str, Any] | None = None, **more: Any) -> ToolSpec:
    schema: dict[str, Any] = {"type": "object", "properties": properties or {}}
    return ToolSpec(name=ToolName("", name), description="Do it.", **{"input": schema, **more})


SHAPES: dict[str, Any] = {
    "openai-responses": {
        "type": "function",
        "name": "t",
        "description": "Do it.",
        "parameters": {"type": "object", "properties": {"a": S}},
        "strict": False,
    },
    "openai-chat": {
        "type": "function",
        "function": {
            "name": "t",
            "description": "Do it.",
            "parameters": {"type": "object", "properties": {"a": S}},
            "strict": False,
        },
    },
    "anthropic": {"name": "t", "description": "Do it.", "input_schema": {"type": "object", "properties": {"a": S}}},
    "gemini": {
        "name": "t",
        "description": "Do it.",
        "parameters": {"type": "OBJECT", "properties": {"a": {"type": "STRING"}}},
    },
    "gemini-json": {
        "name": "t",
        "description": "Do it.",
        "parametersJsonSchema": {"type": "object", "properties": {"a": S}},
    },
    "mcp": {"name": "t", "description": "Do it.", "inputSchema": {"type": "object", "properties": {"a": S}}},
}


@pytest.mark.requirement("D2.1")
@pytest.mark.parametrize("target", SHAPES)
def test_each_provider_gets_its_own_shape(target: str) -> None:
    assert define(spec("t", {"a": S}), "t", target).tool == SHAPES[target]


def test_gemini_gets_no_parameters_where_there_are_none() -> None:
    assert define(spec("t"), "t", "gemini").tool == {"name": "t", "description": "Do it."}


@pytest.mark.requirement("D2.2")
def test_a_tool_that_takes_one_text_is_custom_where_there_is_such_and_has_one_string_elsewhere() -> None:
    free = spec("t", {"input": S}, freeform=Freeform("lark", "start: WORD"))
    responses = define(free, "t", "openai-responses").tool
    chat = define(free, "t", "openai-chat").tool
    grammar = {"syntax": "lark", "definition": "start: WORD"}
    assert responses == {
        "type": "custom",
        "name": "t",
        "description": "Do it.",
        "format": {"type": "grammar", **grammar},
    }
    assert chat is not None
    assert chat["custom"]["format"] == {"type": "grammar", "grammar": grammar}
    assert define(free, "t", "anthropic").tool == {
        "name": "t",
        "description": "Do it.",
        "input_schema": {"type": "object", "properties": {"input": S}},
    }


def test_names_that_fold_alike_stay_apart_and_each_is_legal() -> None:
    names = [
        "user-profile/update",
        "user-profile.update",
        "数据库",
        "café",
        "cafè",
        "a" * 66 + "_first",
        "a" * 66 + "_second",
    ]
    found = define_all([spec(name) for name in names], "gemini")
    wired = [one.tool["name"] for one in found if one.tool]
    assert len(set(wired)) == len(names)
    assert all(len(name) <= 64 and name.isascii() for name in wired)
    assert [one.spec.name.name for one in found if one.spec] == names


def test_one_tool_that_cannot_be_shaped_is_refused_alone() -> None:
    bad = spec("bad", input={"type": "string"})
    found = define_all([spec("good"), bad], "openai-chat")
    assert [one.refused is None for one in found] == [True, False]
    assert found[1].tool is None


def test_the_widest_tool_gives_up_strictness_for_the_others() -> None:
    specs = [spec("wide", {f"p{number}": S for number in range(18)})]
    specs += [spec(f"t{number}", {"a": S}) for number in range(8)] + [spec(f"u{number}") for number in range(6)]
    found = define_all(specs, "anthropic-strict")
    assert [one.spec.name.name for one in found if one.spec and not one.strict] == ["wide"]
    assert any("24 optional parameters" in change.message for change in found[0].changes)


def test_a_request_holds_no_more_tools_than_its_provider_takes() -> None:
    found = define_all([spec(f"t{number}") for number in range(130)], "bedrock")
    assert [one.refused for one in found[126:]] == [None, None, *["bedrock takes at most 128 tools in one request"] * 2]


def size(value: Any) -> int:
    return len(json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode())


def test_a_definition_fits_its_budget_and_a_set_its_total() -> None:
    text = "Something that is said at some length about this parameter. " * 4
    large = spec("large", {f"p{number}": {**S, "description": text} for number in range(20)})
    one = define(large, "large", "openai-responses", budget=2000)
    assert 0.85 * 2000 <= size(one.tool) <= 2000
    found = define_all([large, spec("small", {"a": S})], "openai-responses", total=3000)
    assert size([one.tool for one in found]) <= 3000
    assert found[1].changes == ()


def test_a_description_that_alone_exceeds_the_budget_leaves_room_for_the_arguments() -> None:
    long = spec(
        "t",
        {"a": {**S, "description": "What it is."}},
    )
    found = define(
        ToolSpec(name=long.name, description="word " * 2000, input=long.input), "t", "anthropic", budget=1000
    )
    assert size(found.tool) <= 1000
    assert found.tool is not None
    assert "a" in found.tool["input_schema"]["properties"]


def test_a_rule_of_the_arguments_is_said_in_the_tools_description() -> None:
    union = {"type": "object", "properties": {"a": S, "b": S}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}
    found = define(spec("t", input=union), "t", "openai-chat")
    assert found.tool is not None
    assert found.tool["function"]["description"] == "Do it.\nAt least one of: (1) a; (2) b"


def test_losses_carry_the_tools_name_and_a_hint_over_the_cap_stands_at_its_parameter() -> None:
    from pegboard.core import Hint, Relation

    hint = Hint(Relation.FIRST, "search", when="you have no id", parameter="a")
    found = define(spec("t", {"a": {**S, "format": "uri"}}, hints=(hint,)), "t", "gemini", cap=Cap(10))
    assert [loss.tool for loss in found.losses] == ["t"]
    assert found.tool is not None
    assert found.tool["parameters"]["properties"]["a"]["description"] == "A URI\nCall search first if you have no id."
