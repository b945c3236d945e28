"""Values are generalised to an expression that matches each of them as a whole."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.insight.pattern import Pattern


def pattern_of(values):
    pattern = Pattern()
    for value in values:
        pattern.add(value)
    return pattern


@pytest.mark.parametrize(
    ("values", "expression"),
    [
        (["#W123", "#W987"], r"\#[0-9A-Z]{4}"),
        (["4OG6T3", "XEWRD9"], "[0-9A-Z]{6}"),
        (["card_12", "card_345"], r"card_[0-9a-z]{2,3}"),
        (["two words", "more words"], None),
        (["x" * 60, "y" * 60], None),
        ([], None),
    ],
)
def test_ids_have_an_expression_and_prose_has_none(values, expression):
    assert pattern_of(values).expression == expression


def test_one_value_alone_is_not_told():
    assert "secret" not in (pattern_of(["my-secret-key9"]).expression or "")


@given(values=st.lists(st.from_regex(r"[A-Za-z0-9_#.-]{1,12}", fullmatch=True), min_size=1, max_size=6), data=st.data())
def test_every_value_matches_whatever_the_order_of_merging(values, data):
    cut = data.draw(st.integers(0, len(values)))
    one, other = pattern_of(values[:cut]), pattern_of(values[cut:])
    other.merge(one)
    assert other.expression == pattern_of(values).expression
    if other.expression is not None:
        assert all(re.fullmatch(other.expression, value) for value in values)
