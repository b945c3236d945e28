"""Ids are found in whatever a tool answered, by patterns that cannot run away."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.schema.find import find, find_all


@pytest.mark.parametrize(
    ("value", "pattern", "found"),
    [
        ("a_12 and b_34", "[a-z]_[0-9]{2}", ["a_12", "b_34"]),
        (["see a_12", "b_34"], "[a-z]_[0-9]{2}", ["b_34", "a_12"]),
        ({"card_77": {"n": "x"}}, "card_[0-9]{2}", ["card_77"]),
        ("xa_12", "a_[0-9]{2}", []),
        ("a_123", "a_[0-9]{2}", []),
        ('{"orders": ["#W1", "#W2', "#W[0-9]{1}", ["#W1", "#W2"]),
        (None, "[0-9]{1,3}", []),
        ([True, 12], "[0-9]{2}", ["12"]),
    ],
)
def test_whole_words_are_found_in_texts_lists_and_objects(value, pattern, found):
    assert find_all(value, pattern) == found


def test_one_value_is_rather_an_id_than_a_word():
    assert find("customer found: mia_4516", "[0-9a-z_]{5,8}") == "mia_4516"
    assert find("nothing at all", "[0-9]{4}") is None


@pytest.mark.parametrize("pattern", ["(a+)+", "a*", "[a-z]{1,3}[b]{1,3}", ".", "", "a|b", "[^a]", r"\d", "a" * 300])
def test_a_pattern_of_another_language_is_refused(pattern):
    with pytest.raises(ValueError):
        find_all("a", pattern)


@given(st.text(max_size=60), st.sampled_from(["#W[0-9]{7}", "[0-9a-z_]{2,23}", r"u\-[0-9A-F]{1,4}"]))
def test_everything_found_stands_in_the_text(text, pattern):
    assert all(found in text for found in find_all(text, pattern))
