"""Which tools a model sees from the start."""

from typing import Any

import pytest

from pegboard.catalog import Catalog
from pegboard.core import Call, Result, Tool, ToolName, ToolSpec
from pegboard.discovery import Residency, expose


async def nothing(_: Call) -> Result:
    return Result()


def catalog(count: int, **more: Any) -> Catalog:
    names = [ToolName("a" if n % 2 else "b", f"t{n}") for n in range(count)]
    return Catalog.of(Tool(ToolSpec(name=name, **more), nothing) for name in names)


@pytest.mark.requirement("C9.1")
@pytest.mark.parametrize(
    ("search", "count", "direct", "meta"),
    [
        ("auto", 19, 19, False),
        ("auto", 20, 0, True),
        ("auto", 21, 0, True),
        ("on", 3, 3, True),
        ("on", 20, 0, True),
        ("off", 300, 300, False),
        ("auto", 0, 0, False),
    ],
)
def test_the_threshold_decides_unless_search_is_set(search: Any, count: int, direct: int, meta: bool) -> None:
    exposed = expose(catalog(count), Residency(search=search))
    assert (len(exposed.direct), exposed.meta) == (direct, meta)
    assert len(exposed.direct) + len(exposed.deferred) == count


@pytest.mark.requirement("C9.6")
def test_the_hot_set_is_direct_in_the_catalogs_order() -> None:
    exposed = expose(catalog(30), Residency(always=("a.*", "t2")))
    assert [spec.name.name for spec in exposed.direct] == [f"t{n}" for n in range(30) if n % 2 or n == 2]


def test_an_author_may_wish_a_tool_to_be_loaded() -> None:
    assert len(expose(catalog(25, defer=False), Residency()).direct) == 25


def test_of_too_large_a_hot_set_the_rest_is_deferred_and_that_is_said() -> None:
    exposed = expose(catalog(30), Residency(always=("*",), max_direct=10))
    assert (len(exposed.direct), len(exposed.deferred)) == (10, 20)
    assert "20 of them are deferred" in exposed.notes[0]


def test_a_long_list_without_search_is_warned_of_with_the_counts() -> None:
    [note] = expose(catalog(300), Residency(search="off", max_direct=50)).notes
    assert "a 150" in note
    assert "b 150" in note
