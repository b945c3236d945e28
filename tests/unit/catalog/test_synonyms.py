"""Fields that mean the same under two names are found; those that mean two things are left alone."""

from typing import Any

import pytest

from pegboard.catalog.synonyms import synonyms
from pegboard.core import ToolName, ToolSpec


def tool(name: str, output: bool = False, **fields: Any) -> ToolSpec:
    properties = {key: {"type": value} if isinstance(value, str) else value for key, value in fields.items()}
    schema = {"type": "object", "properties": properties}
    named = ToolName.parse(name)
    return ToolSpec(name=named, output=schema) if output else ToolSpec(name=named, input=schema)


def found(*specs: ToolSpec, **more: Any) -> list[tuple[tuple[str, ...], str]]:
    return [(one.names, one.reason) for one in synonyms(specs, **more)]


STATES = {"type": "string", "enum": ["open", "closed", "merged"]}
MORE_STATES = {"type": "string", "enum": ["open", "closed", "merged", "draft"]}


@pytest.mark.requirement("C14.1")
@pytest.mark.parametrize(
    ("one", "other", "names", "reason"),
    [
        ({"userId": "string"}, {"user_id": "string"}, ("userId", "user_id"), "spelling"),
        ({"mail": "string"}, {"email": "string"}, ("email", "mail"), "meaning"),
        ({"emailAddress": "string"}, {"email": "string"}, ("email", "emailAddress"), "meaning"),
        ({"createdAt": "string"}, {"creation_date": "string"}, ("createdAt", "creation_date"), "meaning"),
        ({"USR_ID": "integer"}, {"user_id": "number"}, ("USR_ID", "user_id"), "meaning"),
        ({"qty": "integer"}, {"quantity": "integer"}, ("qty", "quantity"), "meaning"),
        (
            {"phase": STATES},
            {"condition": {**STATES, "enum": ["open", "closed", "merged", "draft"]}},
            ("condition", "phase"),
            "values",
        ),
    ],
)
def test_two_names_for_the_same_are_found(one: Any, other: Any, names: tuple[str, ...], reason: str) -> None:
    assert found(tool("a.x", **one), tool("b.y", **other)) == [(names, reason)]
    assert found(tool("a.x", True, **one), tool("b.y", **other)) == [(names, reason)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"user_id": "string"}, {"user_id": "string"}),
        ({"mail": "string"}, {"email": "boolean"}),
        ({"mail": "string", "email": "string"}, {"email": "string"}),
        ({"from": "string"}, {"to": "string"}),
        ({"on": "boolean"}, {"off": "boolean"}),
        ({"state": {"enum": ["a", "b"], "type": "string"}}, {"status": {"enum": ["x", "y"], "type": "string"}}),
        ({"due": {"type": "string", "format": "date"}}, {"due_at": {"type": "string", "format": "date-time"}}),
        ({"a": {"enum": ["asc", "desc"]}}, {"b": {"enum": ["asc", "desc"]}}),
    ],
)
def test_what_may_mean_two_things_is_left_alone(one: Any, other: Any) -> None:
    assert found(tool("a.x", **one), tool("b.y", **other)) == []


def test_names_inside_of_records_and_lists_count_and_their_places_are_told() -> None:
    rows = {"type": "array", "items": {"$ref": "#/$defs/R"}}
    deep = ToolSpec(
        name=ToolName("a", "x"),
        output={
            "type": "object",
            "properties": {"rows": rows},
            "$defs": {"R": {"properties": {"tel": {"type": "string"}}}},
        },
    )
    [synonym] = synonyms([deep, tool("b.y", phone="string")])
    assert synonym.names == ("phone", "tel")
    assert synonym.tools == ("a.x", "b.y")
    assert [field.place for field in synonym.fields] == [
        "/outputSchema/properties/rows/items/properties/tel",
        "/inputSchema/properties/phone",
    ]


def test_the_id_of_a_tool_about_users_is_a_user_id() -> None:
    assert found(tool("a.get_user", id="string"), tool("b.ban", user_id="string")) == [(("id", "user_id"), "owner")]
    assert found(tool("a.get_task", id="string"), tool("b.ban", user_id="string")) == []


def test_values_that_were_seen_tell_what_names_do_not() -> None:
    specs = (tool("a.x", owner="string"), tool("b.y", assignee="string"), tool("c.z", colour="string"))
    values = {
        ("a.x", "owner"): ["u1", "u2", "u3"],
        ("b.y", "assignee"): ["u2", "u3", "u1"],
        ("c.z", "colour"): ["red", "u9", "x"],
    }
    assert found(*specs) == []
    assert found(*specs, values=values) == [(("assignee", "owner"), "values")]


def test_the_order_of_tools_changes_nothing_but_the_order_of_places() -> None:
    specs = [tool("a.x", mail="string"), tool("b.y", email="string"), tool("c.z", e_mail="string")]
    assert found(*specs) == found(*reversed(specs)) == [(("email", "e_mail", "mail"), "meaning")]
