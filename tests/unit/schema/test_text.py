"""Cutting text: within the limit, never inside a character or a cluster, at a sentence or word where one is near."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.schema.text import is_boundary, prefix, shorten, size

CUTS = [
    ("é" * 40, 31, "bytes", "é" * 14 + "…"),
    ("🇩🇪🇫🇷🇮🇹", 12, "bytes", "🇩🇪…"),
    ("One sentence. Two words more", 16, "characters", "One sentence."),
    ("A text that goes on without an end", 15, "characters", "A text that…"),
    ("한국어 문장", 10, "bytes", "한국…"),
    ("fits", 4, "bytes", "fits"),
]


@pytest.mark.parametrize(("text", "limit", "unit", "expected"), CUTS)
def test_a_text_is_shortened_where_it_hurts_least(text: str, limit: int, unit: str, expected: str) -> None:
    assert shorten(text, limit, unit) == expected


def test_a_family_is_not_taken_apart() -> None:
    family = "👨‍👩‍👧"
    assert prefix(family * 2, len(family.encode()) + 3) == family
    assert not any(is_boundary(family, index) for index in range(1, len(family)))


@given(st.text(), st.integers(0, 60), st.sampled_from(["bytes", "characters"]))
def test_a_cut_is_within_its_limit_and_between_clusters(text: str, limit: int, unit: str) -> None:
    short = prefix(text, limit, unit)
    assert size(short, unit) <= limit
    assert text.startswith(short)
    assert is_boundary(text, len(short))
    assert size(shorten(text, limit, unit), unit) <= limit
