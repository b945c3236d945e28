"""A request is cut into its words and its clauses."""

import pytest

from pegboard.index.clauses import clauses


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("list files", [["list", "files"]]),
        ("list files, then read one", [["list", "files"], ["read", "one"]]),
        ("list files and then read one. Delete it", [["list", "files"], ["read", "one"], ["delete", "it"]]),
        ("read-and-write v1.2 of config.json", [["read", "and", "write", "v1", "2", "of", "config", "json"]]),
        ("搜索文件，删除它", [["搜", "索", "文", "件", "搜索", "索文", "文件"], ["删", "除", "它", "删除", "除它"]]),
    ],
)
def test_a_text_is_cut_at_stops_and_at_words_that_join_clauses(text: str, expected: list[list[str]]) -> None:
    found = clauses(text)[1]
    assert [part for part in found if part] == [part for part in expected if part]


def test_the_words_between_clauses_are_words_of_the_text() -> None:
    assert clauses("list files and read one")[0] == ["list", "files", "and", "read", "one"]
