"""Versions of a tool side by side, in its name or in its metadata."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.catalog import AliasTable, Catalog, Unknown, resolve
from pegboard.catalog.alias import LIMIT
from pegboard.catalog.versions import version_key
from pegboard.core import Call, Result, Tool, ToolName, ToolSpec


async def nothing(call: Call) -> Result:
    return Result()


def catalog(*names: tuple[str, str | None], deprecated: str | None = None) -> Catalog:
    specs = (
        ToolSpec(name=ToolName("mail", name, version), deprecated="Old." if version == deprecated else None)
        for name, version in names
    )
    return Catalog.of(Tool(spec, nothing) for spec in specs)


def means(text: str, held: Catalog) -> str | None:
    found = resolve(text, held, AliasTable().extend(held.tools))
    return None if isinstance(found, Unknown) else str(found)


SIDE_BY_SIDE = catalog(("send", "1"), ("send", "2"), ("send", "10"), deprecated="10")


@pytest.mark.requirement("C15.1", "C15.2")
@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("mail.send@1", "mail.send@1"),
        ("mail__send@10", "mail.send@10"),
        ("send@2", "mail.send@2"),
        ("mail.send", "mail.send@2"),
        ("send", "mail.send@2"),
        ("mail.send@3", None),
    ],
)
def test_a_name_means_its_version_else_the_newest_that_is_not_deprecated(text: str, name: str | None) -> None:
    assert means(text, SIDE_BY_SIDE) == name


def test_the_tool_without_a_version_is_the_one_that_a_plain_name_means() -> None:
    held = catalog(("send", "2"), ("send", None))
    assert means("mail.send", held) == means("send", held) == "mail.send"


def test_versions_in_two_namespaces_stay_ambiguous_by_their_bare_name() -> None:
    other = Tool(ToolSpec(name=ToolName("post", "send", "9")), nothing)
    assert means("send", Catalog.of([*SIDE_BY_SIDE, other])) is None


@pytest.mark.requirement("C15.1")
@given(st.text(min_size=1, max_size=90), st.text(min_size=1, max_size=40))
def test_a_versioned_wire_name_fits_and_is_found_again(name: str, version: str) -> None:
    held = catalog((name, version), (name, None), (f"{name}_{version}", None))
    wire = AliasTable().extend(held.tools)
    assert all(len(alias) <= LIMIT for alias in wire.wire.values())
    assert {wire.full[alias] for alias in wire.wire.values()} == set(held.tools)


@pytest.mark.parametrize(
    "ordered", [[None, "1", "2", "10"], ["1.9", "1.10", "2"], ["v1", "v2-beta", "v2"], ["2026-05-01", "2026-11-30"]]
)
def test_versions_sort_as_people_read_them(ordered: list[str | None]) -> None:
    assert sorted(reversed(ordered), key=version_key) == ordered


@given(st.lists(st.text(max_size=12)))
def test_any_text_may_be_a_version(versions: list[str]) -> None:
    assert len(sorted(versions, key=version_key)) == len(versions)
