"""A request is cut into its words and its clauses."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.index.clauses import _BREAKS, clauses
from pegboard.index.text import words


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
    found = clauses(text).each
    assert [part for part in found if part] == [part for part in expected if part]


def test_the_words_between_clauses_are_words_of_the_text() -> None:
    assert clauses("list files and read one").words == ["list", "files", "and", "read", "one"]


JOINING = ["and", "then", "also", "after", "that", "as", "well", "plus", "AND"]
SAID = ["list", "a_file.txt,", "it.", ",", "x;", "(y).", *JOINING]


@given(st.lists(st.tuples(st.sampled_from(SAID), st.sampled_from([" ", "  ", "\t"])), max_size=9))
def test_a_line_is_cut_by_its_pieces_as_the_pattern_cuts_many_lines(said: list[tuple[str, str]]) -> None:
    text = "".join(word + space for word, space in said).strip()
    found = clauses(text)
    assert found.words == words(text)
    assert [part for part in found.each if part] == [part for piece in _BREAKS.split(text) if (part := words(piece))]
