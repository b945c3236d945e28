"""Wire names are legal, short, unique and stable, and lead back to their own tool."""

import re

from hypothesis import given
from hypothesis import strategies as st

from pegboard.catalog import AliasTable
from pegboard.core import ToolName

ODD = [
    ToolName("", "user-profile/update"),
    ToolName("", "user-profile.update"),
    ToolName("数据库", "query"),
    ToolName("café", "query"),
    ToolName("cafè", "query"),
    ToolName("catalog", "query"),
    ToolName("", "catalog_query"),
    ToolName("", "catalog__query"),
    ToolName("", "Create CIFS Share"),
    ToolName("", "a" * 64 + "_first"),
    ToolName("", "a" * 64 + "_second"),
    ToolName("team-calendar-production", "list_events_of_all_members_for_range_v2"),
    ToolName("", "send_email", "v2"),
]


def assert_sound(table: AliasTable, names: list[ToolName]) -> None:
    aliases = [table[name] for name in names]
    assert len(set(aliases)) == len(set(names))
    assert all(re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}", alias) for alias in aliases if alias[0] not in "_-")
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", alias) for alias in aliases)
    assert all(table.full[table[name]] == name for name in names)


def test_names_that_sanitise_alike_stay_apart() -> None:
    assert_sound(AliasTable().extend(ODD), ODD)


def test_a_legal_name_is_kept_as_it_reads() -> None:
    assert AliasTable().extend([ToolName("git", "git_status")])[ToolName("git", "git_status")] == "git__git_status"


def test_a_newcomer_never_renames_a_tool() -> None:
    first = AliasTable().extend([ToolName("catalog_", "query")])
    second = first.extend([ToolName("catalog", "_query"), ToolName("a", "b")])
    assert second[ToolName("catalog_", "query")] == first[ToolName("catalog_", "query")]
    assert_sound(second, [ToolName("catalog_", "query"), ToolName("catalog", "_query"), ToolName("a", "b")])


def test_a_reserved_name_is_not_given_away() -> None:
    assert (
        AliasTable()
        .extend([ToolName("", "tool_search")], reserved=["tool_search"])[ToolName("", "tool_search")]
        .startswith("tool_search_")
    )


NAMES = st.lists(st.builds(ToolName, st.text(max_size=40), st.text(min_size=1, max_size=80)), max_size=12)


@given(NAMES, NAMES)
def test_any_names_get_sound_stable_aliases(older: list[ToolName], newer: list[ToolName]) -> None:
    first = AliasTable().extend(older)
    second = first.extend(newer)
    assert_sound(second, older + newer)
    assert all(second[name] == first[name] for name in older)
