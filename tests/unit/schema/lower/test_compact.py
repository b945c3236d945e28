"""Compaction: just below the budget, descriptions shortened before parts go, no required argument emptied."""

import json
from typing import Any

import pytest

from pegboard.schema.lower import lower
from pegboard.schema.raise_ import raise_arguments

BUDGET = 5000


def text(words: int) -> str:
    return ("The page that the block is added to, given as its identifier. " * words)[: 58 * words]


def block(kind: str) -> dict[str, Any]:
    rich = {
        "type": "array",
        "description": text(3),
        "items": {
            "type": "object",
            "properties": {
                "content": {"type": "string", "description": text(2)},
                "link": {"type": "object", "properties": {"url": {"type": "string", "description": text(2)}}},
                "color": {"type": "string", "enum": [f"color {number}" for number in range(30)]},
            },
            "required": ["content"],
        },
    }
    return {
        "type": "object",
        "properties": {"type": {"const": kind}, kind: {"type": "object", "properties": {"rich_text": rich}}},
        "required": ["type", kind],
    }


def oversized() -> dict[str, Any]:
    """A page with blocks of eight kinds, some 14,000 bytes."""
    kinds = ["paragraph", "heading", "quote", "code", "callout", "list_item", "toggle", "divider"]
    return {
        "type": "object",
        "properties": {
            "parent": {
                "type": "object",
                "description": text(4),
                "properties": {name: {"type": "string", "description": text(3)} for name in ("page_id", "database_id")},
            },
            "title": {"type": "string", "description": text(4)},
            "children": {"type": "array", "description": text(3), "items": {"anyOf": [block(kind) for kind in kinds]}},
            "icon": {"type": "object", "properties": {"emoji": {"type": "string", "description": text(3)}}},
        },
        "required": ["parent", "children"],
    }


def size(value: Any) -> int:
    return len(json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode())


def words(schema: Any) -> int:
    if isinstance(schema, list):
        return sum(map(words, schema))
    if not isinstance(schema, dict):
        return 0
    own = schema.get("description", "")
    return len(own) if isinstance(own, str) and "type" in schema or "anyOf" in schema else 0


def all_words(schema: Any) -> int:
    if isinstance(schema, dict):
        return words(schema) + sum(all_words(child) for child in schema.values())
    return sum(map(all_words, schema)) if isinstance(schema, list) else 0


@pytest.mark.parametrize("dialect", ["openai-responses", "openai-responses-strict", "anthropic", "gemini", "mcp"])
def test_an_oversized_schema_fills_its_budget_and_keeps_half_of_its_words(dialect: str) -> None:
    found = lower(oversized(), dialect, budget=BUDGET)
    assert 0.85 * BUDGET <= size(found.schema) <= BUDGET
    assert all_words(found.schema) >= 0.5 * all_words(oversized())
    assert found.strict is lower(oversized(), dialect).strict


def test_the_baseline_keeps_no_word_where_ours_keeps_half() -> None:
    assert all_words(lower(oversized(), "codex").schema) == 0


def test_a_required_argument_is_never_emptied() -> None:
    for budget in (2000, 900, 500):
        found = lower(oversized(), "openai-chat", budget=budget)
        assert found.schema is not None
        assert found.schema["properties"]["parent"]["properties"].keys() == {"page_id", "database_id"}
        assert found.schema["properties"]["children"]["items"]["type"] == "object"
        assert "paragraph" in json.dumps(found.schema)


def test_what_went_is_reported_and_arguments_of_the_whole_shape_still_pass() -> None:
    found = lower(oversized(), "openai-chat", budget=1500)
    assert {loss.went for loss in found.losses} <= {"description", "dropped"}
    assert any(loss.pointer.startswith("/properties/children") for loss in found.losses)
    deep = {"type": "code", "code": {"rich_text": [{"content": "x", "link": {"url": "u"}}]}}
    arguments = {"parent": {"page_id": "p"}, "children": [deep]}
    assert raise_arguments(found, arguments).value == arguments


def test_a_schema_within_its_budget_is_left_alone() -> None:
    whole = lower(oversized(), "anthropic")
    assert lower(oversized(), "anthropic", budget=size(whole.schema)).schema == whole.schema


def test_descriptions_are_shortened_before_anything_else() -> None:
    schema = {
        "type": "object",
        "properties": {f"p{number}": {"type": "string", "description": text(2)} for number in range(9)},
    }
    whole = lower(schema, "anthropic")
    found = lower(schema, "anthropic", budget=size(whole.schema) - 200)
    assert found.schema is not None
    assert found.schema["properties"].keys() == schema["properties"].keys()
    assert found.losses == ()
