"""Typing errors: what was meant is found, and what is meant as it stands is left alone."""

import pytest

from pegboard.index.protocol import names_of
from pegboard.index.spelling import Speller, slip

from .conftest import tool

CATALOG = [
    tool("github.create_repository", "Create a new repository"),
    tool("calendar.schedule_meeting", "Schedule a meeting with attendees"),
    tool("sky.get_forecast", "Get the weather forecast"),
    tool("mail.send", "Send an email"),
]


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("craete a repositroy", "github.create_repository"),
        ("shedule a meetng", "calendar.schedule_meeting"),
        ("weathre forcast", "sky.get_forecast"),
        ("sned an emial", "mail.send"),
    ],
)
def test_a_misspelt_request_finds_its_tool(index_of, query, name):
    assert names_of(index_of(*CATALOG).search(query).hits)[0] == name


def test_what_was_meant_is_told(index_of):
    found = index_of(*CATALOG).search("zzzqqq forcast")
    assert "forecast" in found.did_you_mean
    assert "zzzqqq" in found.unknown_terms


@pytest.mark.parametrize(
    ("wrong", "right"),
    [("serach", "search"), ("serch", "search"), ("seearch", "search"), ("seatch", "search"), ("xearch", "search")],
)
def test_one_typing_error_is_one_step(wrong, right):
    assert slip(wrong, right) > 0


@pytest.mark.parametrize(("wrong", "right"), [("search", "research"), ("abcd", "badc"), ("lion", "line"), ("a", "abc")])
def test_two_are_too_many(wrong, right):
    assert slip(wrong, right) == 0


def test_the_likeliest_word_comes_first_and_the_order_is_fixed():
    speller = Speller()
    speller.add(["search", "starch", "serbia", "seance"])
    assert [word for word, _ in speller.near("serach")] == ["search"]
