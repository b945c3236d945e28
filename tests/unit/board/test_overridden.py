"""What the operator says of a tool stands over what its source says."""

from dataclasses import replace

from tool_rows import row, specs

from pegboard.board.overridden import overridden, with_override
from pegboard.catalog import Catalog
from pegboard.core import Effects, Rung, Tool
from pegboard.surface.mcp import tool as mcp_tool


def catalog(*rows: dict[str, object]) -> Catalog:
    return Catalog.of(Tool(spec, None) for spec in specs(*rows))  # type: ignore[arg-type]


def test_each_key_stands_over_the_source() -> None:
    table = {
        "description": "Better.", "title": "T", "category": "c", "auth": "none",
        "effects": "read_only", "rung": "low", "aliases": ("a", "a"),
    }  # fmt: skip
    spec = specs(row(annotations={"destructiveHint": True, "title": "Kept"}))[0]
    told = with_override(spec, table)
    assert (told.description, told.title, told.category, told.auth) == ("Better.", "T", "c", "none")
    assert (told.effects, told.rung, told.aliases) == (Effects.READ_ONLY, Rung.LOW, ("a",))
    assert told.annotations == {"title": "Kept", "readOnlyHint": True}
    assert mcp_tool(told, "t")["annotations"] == {"title": "Kept", "readOnlyHint": True}
    assert with_override(spec, {"description": None, "aliases": ()}) == spec
    assert replace(told, input=spec.input).input == spec.input


def test_a_table_without_a_tool_is_told_with_the_nearest_name() -> None:
    found, warnings = overridden(catalog(row("get_user"), row("list_users")), {"shop.get_usr": {"description": "x"}})
    assert [spec.description for spec in found.specs] == [row()["description"]] * 2
    assert len(warnings) == 1 and "nobody reads it" in warnings[0] and "get_user" in warnings[0]


def test_a_bare_name_that_one_tool_has_is_enough() -> None:
    found, warnings = overridden(catalog(row("get_user"), row("list_users")), {"get_user": {"category": "people"}})
    assert warnings == () and [spec.category for spec in found.specs] == ["people", None]
