"""Everyday phrases, read as what they ask for."""

import pytest

from pegboard.index.ask import read
from pegboard.index.idioms import idioms
from pegboard.index.kinds import conversion, named_kinds
from pegboard.index.protocol import names_of
from pegboard.index.text import words

from .conftest import tool


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("where did I put the keys", "search find the keys"),
        ("did I forget to commit anything", "status check commit anything"),
        ("don't forget that Ann is allergic", "remember store memory remember memory that ann is allergic"),
        ("12 times 8", "calculate"),
        ("throw the old files away", "delete remove the old files"),
        ("what files do I have in Downloads", "list files in downloads"),
        ("which folders may you touch", "allowed access folders"),
        ("what can I use to open a sheet", "what can i use to open a sheet"),
        ("add a file to the list", "add a file to the list"),
        ("", ""),
    ],
)
def test_a_phrase_is_read_as_what_it_asks_for(said: str, meant: str) -> None:
    assert idioms().replaced(words(said)) == meant.split()


def test_a_question_about_state_is_one_only_where_it_comes_first() -> None:
    assert "status" in idioms().replaced(words("is the build ready"))
    assert "status" not in idioms().replaced(words("send the report that is ready"))


def test_what_a_phrase_stands_for_counts_less_than_what_is_said_and_is_missed_nowhere(index_of) -> None:
    weights = {term.word: term.weight for term in read("where did I put the invoice").terms}
    assert weights["search"] < weights["invoice"]
    engine = index_of(tool("bills.find_invoice", "Find an invoice"))
    assert not engine.search("where did I put the invoice").unknown_terms


def test_a_tool_that_is_called_like_a_phrase_comes_before_one_that_does_what_it_asks_for(index_of) -> None:
    engine = index_of(
        tool("hub.create_issue", "Create an issue"),
        tool("tracker.report_bug", "Report a bug to the maintainers"),
        tool("hub.list_issues", "List issues"),
    )
    found = engine.search("report a bug")
    assert names_of(found.hits)[:2] == ["tracker.report_bug", "hub.create_issue"]
    assert found.hits[0].matched["name"] == ("report", "bug")
    assert not found.hits[0].unmatched
    assert found.hits[1].unmatched == ("report", "bug")


def test_what_one_does_not_want_is_not_looked_for(index_of) -> None:
    words = [term.word for term in read("don't forget the milk").terms]
    assert "forget" not in words
    assert "milk" in words


def test_a_phrase_with_figures_is_known() -> None:
    assert idioms().replaced(words("987123 times 456789")) == ["calculate"]


def test_a_sum_in_words_is_english() -> None:
    assert "calculate" in read("4 plus 9").words


def test_a_phrase_of_another_language_is_left_as_it_is() -> None:
    assert "status" not in read("was ist mit dem Bericht").words


def test_separated_words_of_a_phrase_are_found_around_others(index_of) -> None:
    engine = index_of(
        tool("home.toggle_lights", "Toggle the lights"),
        tool("home.list_lights", "List the lights"),
        tool("home.buy_lights", "Order big lights"),
    )
    assert names_of(engine.search("turn the big lights off").hits)[0] == "home.toggle_lights"


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("what is 15% of 240", ["percent", "calculate"]),
        ("3+4", ["calculate"]),
        ("call me at 4pm or 17:30", ["time"]),
        ("what is due on 2026-03-14?", ["date"]),
        ("what did 4f2a9c1 do", ["commit"]),
        ("version 2.1.3 of 2024", []),
    ],
)
def test_figures_are_known_by_their_form(text: str, kinds: list[str]) -> None:
    assert named_kinds(text.split()) == kinds


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("how many miles is 5 km", ["convert", "unit"]),
        ("50 dollars in euros", ["convert", "currency"]),
        ("I weigh 80 kilos", []),
        ("two inches and one inch", []),
    ],
)
def test_two_units_are_to_be_converted(text: str, wanted: list[str]) -> None:
    assert conversion(words(text)) == wanted
