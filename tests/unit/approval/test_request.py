"""A request shows exactly what a yes covers, and nothing in it steers who reads it."""

import json
from unicodedata import category

import pytest
from approval_kit import ANNA, item, request
from hypothesis import given
from hypothesis import strategies as st

from pegboard.approval import Kind, Request
from pegboard.approval.foreign import plain, shown
from pegboard.core import Session


def test_a_fingerprint_is_of_tool_definition_and_arguments_whatever_the_order_of_keys() -> None:
    one, other = item(a=1, b=[{"x": 1, "y": 2}]), item(b=[{"y": 2, "x": 1}], a=1)
    assert one.fingerprint == other.fingerprint
    different = [
        item(a=1),
        item(a=2, b=[]),
        item("bank.get", a=1),
        item(definition="d2", a=1),
        item(a=True),
        item(a="1"),
    ]
    assert len({each.fingerprint for each in different}) == len(different)


def test_the_fingerprint_of_a_composite_covers_each_part_in_order() -> None:
    whole, a, b = item("bank.pay_all"), item(amount=1), item(amount=2)
    prints = {request(*items).fingerprint for items in [(whole,), (whole, a), (whole, a, b), (whole, b, a), (a,)]}
    assert len(prints) == 5


@pytest.mark.requirement("D9.7")
def test_a_suggestion_is_tagged_and_a_call_is_not() -> None:
    suggestion = request(kind=Kind.TOOL_SUGGESTION).to_json()
    assert (suggestion["kind"], suggestion["codex_approval_kind"]) == ("tool_suggestion", "tool_suggestion")
    call = request().to_json()
    assert call["kind"] == "tool_call"
    assert "codex_approval_kind" not in call


def test_it_comes_back_from_its_plain_form() -> None:
    one = request(item(), item(amount=3), reason="to pay", details={"tool_id": "x"})
    assert Request.from_json(json.loads(json.dumps(one.to_json()))) == one


def test_only_one_call_with_a_known_input_can_be_edited() -> None:
    assert request().editable
    assert not request(schema=None).editable
    assert not request(item(), item(amount=2)).editable


def test_the_models_words_are_cleaned_and_capped() -> None:
    one = request(reason="pay \x1b[2J\u202eevil\u2028\U000e0041 now" + "x" * 1000, session=Session("s", agent="a\x07b"))
    assert one.reason.startswith("pay [2J evil now")
    assert "characters more" in one.reason
    assert len(one.reason) < 540
    assert one.agent == "a b"
    assert request(reason={"not": "text"}).reason == ""
    assert request(session=ANNA).reason == ""


@given(st.text())
def test_what_is_shown_holds_no_hidden_character(text: str) -> None:
    for found in (plain(text), shown({text: text})):
        assert not {category(char) for char in found} & {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
