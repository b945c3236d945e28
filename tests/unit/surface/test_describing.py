"""Descriptions: never empty, within their cap, and what has no room goes where it is read."""

import pytest

from pegboard.core import Hint, Relation, ToolName, ToolSpec
from pegboard.surface.describing import CAPS, Cap, describe, describe_namespace, humanised

NAME = ToolName("crm", "get_user")
INPUT = {"type": "object", "properties": {"user_id": {"type": "string"}}}
FIRST = Hint(Relation.FIRST, "search_users", when="you only have an email", parameter="user_id")


def spec(**more: object) -> ToolSpec:
    return ToolSpec(**{"name": NAME, "description": "Get a user.", "input": INPUT, **more})  # type: ignore[arg-type]


def test_hints_replacements_and_deprecations_follow_the_authors_text() -> None:
    found = describe(spec(hints=(FIRST,), replaces=("find_user",), deprecated="use get_person"))
    assert found.text.splitlines() == [
        "Deprecated: use get_person",
        "Get a user.",
        "Replaces find_user.",
        "user_id: call search_users first if you only have an email.",
    ]
    assert found.moves == ()


@pytest.mark.requirement("R9.2")
def test_what_is_over_the_cap_moves_to_its_parameter_or_to_the_full_description() -> None:
    found = describe(spec(hints=(FIRST,), replaces=("find_user",)), cap=Cap(20))
    assert found.text == "Get a user."
    assert [(move.what, move.to) for move in found.moves] == [
        ("replaces", "tool_describe"),
        ("hint", "parameter:user_id"),
    ]
    assert [name for name, _ in found.parameters] == ["user_id"]


@pytest.mark.requirement("D7.1", "D7.2")
def test_a_long_description_is_cut_to_its_cap_and_the_cut_is_told() -> None:
    long = "é" * 2780
    for cap, size in ((CAPS["agent-plugin"], lambda text: len(text.encode())), (CAPS["openai-legacy"], len)):
        found = describe(spec(description=long), cap=cap)
        assert cap.limit - 4 <= size(found.text) <= cap.limit
        assert [move.to for move in found.moves] == ["shortened"]
    assert describe(spec(description="é" * 500), cap=CAPS["agent-plugin"]).text == "é" * 500


@pytest.mark.parametrize(
    ("more", "text", "origin"),
    [
        ({"title": "Place search"}, "Place search.", "the title"),
        ({"input": {"type": "object", "description": "Search for places."}}, "Search for places.", "the schema"),
        ({}, "Get user.", "the name"),
    ],
)
@pytest.mark.requirement("D10.2")
def test_an_empty_description_is_filled_and_marked(more: dict[str, object], text: str, origin: str) -> None:
    found = describe(spec(description=" ", **more))
    assert found.text == text
    assert [move.to for move in found.moves] == [f"filled from {origin}"]


def test_a_name_that_no_wire_carries_is_told() -> None:
    assert describe(spec(name=ToolName("", "Create CIFS Share"))).text == "Create CIFS Share: Get a user."


@pytest.mark.requirement("D10.1")
def test_a_namespace_is_described_by_its_server_or_by_a_marked_default() -> None:
    assert describe_namespace("git", instructions="Work with one repository.").text == "Work with one repository."
    filled = describe_namespace("my_files")
    assert filled.text == "Tools of my files."
    assert [move.to for move in filled.moves] == ["filled from the name"]


def test_names_are_read_as_words() -> None:
    assert humanised("listOpen_issues") == "List open issues"
