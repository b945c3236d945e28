"""Composed tools from config tables."""

from pathlib import Path
from typing import Any

import pytest
from small_board import SmallBoard, tool

from pegboard.compose.tables import read_composites
from pegboard.config import InvalidConfigError, parse
from pegboard.core import Effects, ToolName

STRING = {"type": "string"}


async def get_user(user_id: str) -> Any:
    return {"id": user_id}


async def drop_user(user_id: str) -> Any:
    return True


TOOLS = [
    tool("crm.get_user", get_user, properties={"user_id": STRING}),
    tool("crm.drop_user", drop_user, properties={"user_id": STRING}, effects=Effects.ADDITIVE),
]


def board(**tables: Any) -> SmallBoard:
    config = parse(tables, folder=Path())
    composites, notes = read_composites({name: config.tables[name] for name in ("batch", "bundle", "scatter")})
    assert notes == []
    return SmallBoard(TOOLS, composites)


def test_each_kind_of_table_makes_a_tool() -> None:
    made = board(
        batch={
            "crm.get_users": {"tool": "crm.get_user", "over": "user_id", "limit": 3},
            "drop_all": {
                "tool": "crm.drop_user",
                "over": ["user_id"],
                "on_error": "all_or_nothing",
                "undo": {"tool": "crm.get_user", "args": {"user_id": "${item.user_id}"}},
            },
        },
        bundle={
            "show": {
                "description": "Show a user.",
                "input": {"name": "string", "note?": {"type": "string"}},
                "steps": [{"id": "one", "tool": "crm.get_user", "args": {"user_id": "${input.name}"}}],
                "output": {"who": "${one.id}"},
            }
        },
        scatter={"both": {"sources": {"a": "crm.get_user", "b": {"tool": "crm.get_user"}}, "merge": "key", "by": "id"}},
    )
    assert made.bound.notes == ()
    assert made.call("crm.get_users", user_id=["a", "b"]).value["counts"] == {"ok": 2}
    assert made.call("show", name="x").value == {"who": "x"}
    assert made.call("both", user_id="u").value["records"] == [{"id": "u", "_sources": ["a", "b"]}]
    spec = made.catalog.get(ToolName("", "show")).spec  # type: ignore[union-attr]
    assert spec.input["required"] == ["name"]


@pytest.mark.parametrize(
    ("kind", "table", "says"),
    [
        ("bundle", {"description": "x", "steps": [{"tool": "a", "args": {"x": "${y}"}}]}, "no step before it"),
        ("bundle", {"description": "x", "steps": [{"tool": "a"}], "input": {"n": 5}}, "neither a type nor a schema"),
        ("batch", {"tool": "a", "undo": {"args": {}}}, "'tool' is missing"),
        ("batch", {"tool": "a", "upstream": {"tool": "b"}}, "'over' is missing"),
        ("scatter", {"sources": {}}, "at least one source"),
        ("scatter", {"sources": {"a": {"args": {}}}}, "'tool' is missing"),
        ("scatter", {"sources": {"a": "t"}, "merge": "key"}, "at least one field"),
        ("scatter", {"sources": {"a": {"tool": "t", "fields": {"x": "1 +"}}}}, "cannot be read"),
    ],
)
def test_a_table_that_cannot_work_is_set_aside_alone(kind: str, table: Any, says: str) -> None:
    good = {"description": "Good.", "steps": [{"tool": "a"}]}
    config = parse(
        {
            kind: {"bad": table},
            **({"bundle": {"good": good, "bad": table}} if kind == "bundle" else {"bundle": {"good": good}}),
        },
        folder=Path(),
    )
    composites, notes = read_composites({name: config.tables[name] for name in ("batch", "bundle", "scatter")})
    assert [composite.name.name for composite in composites] == ["good"]
    assert says in notes[0].message
    assert notes[0].where == f"{kind}.bad"


@pytest.mark.parametrize(
    ("tables", "key"),
    [
        ({"batch": {"x": {}}}, "batch.x.tool"),
        ({"batch": {"x": {"tool": "a", "limit": 0}}}, "batch.x.limit"),
        ({"batch": {"x": {"tool": "a", "ovr": "b"}}}, "batch.x.ovr"),
        ({"bundle": {"x": {"description": "d", "steps": ["a"]}}}, "bundle.x.steps[0]"),
        ({"scatter": {"x": {"sources": {"a": "b"}, "merge": "best"}}}, "scatter.x.merge"),
    ],
)
def test_a_mistake_in_a_table_names_its_key(tables: Any, key: str) -> None:
    with pytest.raises(InvalidConfigError) as caught:
        parse(tables, folder=Path())
    assert caught.value.problems[0].key == key
