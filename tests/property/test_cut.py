"""Cutting, for any value and any limit: it fits, it is JSON, it is told, and no character is split."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pegboard.core import Result
from pegboard.invoke.size import cut, shorter
from pegboard.schema.cut import byte_size, cut_text, cut_value, json_text, surely_fits

pytestmark = pytest.mark.slow

texts = st.text(max_size=200) | st.text('"\\\n\x00é😀', max_size=200)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=8) | st.dictionaries(texts, inner, max_size=8),
    max_leaves=30,
)


def alike(cut: Any, whole: Any) -> bool:
    """Whether a cut value has the same kinds in the same places, or null where nothing fitted."""
    if isinstance(whole, dict):
        return isinstance(cut, dict) and all(alike(inner, whole[key]) for key, inner in cut.items())
    if isinstance(whole, list):
        return isinstance(cut, list) and all(map(alike, cut, whole))
    return cut is None or isinstance(cut, type(whole))


@settings(max_examples=400)
@given(values, st.integers(4, 600))
def test_a_cut_value_fits_and_has_the_shape_of_the_whole(value: Any, limit: int) -> None:
    kept, cuts = cut_value(value, limit)
    assert byte_size(json_text(kept)) <= limit
    assert json.loads(json_text(kept)) == kept
    if byte_size(json_text(value)) <= limit:
        assert (kept, cuts) == (value, ())
    else:
        assert cuts
        assert kept is None or alike(kept, value)


@given(values, st.integers(0, 2000))
def test_what_surely_fits_fits(value: Any, limit: int) -> None:
    if surely_fits(value, limit):
        assert byte_size(json_text(value)) <= limit


@given(texts, st.integers(0, 300))
def test_a_cut_text_is_a_start_of_whole_characters(text: str, limit: int) -> None:
    kept = cut_text(text, limit)
    assert byte_size(kept) <= limit
    assert text.startswith(kept)
    assert byte_size(text) <= limit or byte_size(kept) > limit - 4


@given(values, st.integers(100, 400))
def test_a_text_that_is_json_stays_json(value: Any, limit: int) -> None:
    text = json.dumps(value, indent=1)
    kept = shorter(text, limit)
    assert byte_size(kept) <= limit
    if isinstance(value, (dict, list)):
        json.loads(kept)


blocks = st.one_of(
    texts.map(lambda text: {"type": "text", "text": text}),
    texts.map(lambda text: {"type": "resource", "resource": {"uri": "a:b", "text": text}}),
    texts.map(lambda text: {"type": "image", "data": text, "mimeType": "image/png"}),
    texts.map(lambda text: {"type": "odd", "said": text}),
)


@settings(max_examples=300)
@given(st.none() | values, st.lists(blocks, max_size=4), st.integers(200, 800))
def test_no_answer_is_over_the_limit_with_its_mark(value: Any, content: list[Any], limit: int) -> None:
    result = cut(Result(value=value, content=tuple(content)), limit, None)
    shown = sum(
        byte_size(str(block.get("text") or block.get("resource", {}).get("text") or "")) for block in result.content
    )
    assert shown <= limit
    assert byte_size(json_text(result.value)) <= max(limit, 4)
