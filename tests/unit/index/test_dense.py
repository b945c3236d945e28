"""Vectors are compared along few directions first, and the nearest exactly."""

import numpy as np
import pytest

from pegboard.index.dense import Question, Vectors, quantised

DIM, ALONG, MANY = 96, 16, 3000


@pytest.fixture(scope="module")
def drawn():
    """Vectors most of whose length lies along a few directions, those directions, and questions of the same kind."""
    draw = np.random.default_rng(7340)
    turned = np.linalg.qr(draw.normal(size=(DIM, DIM)))[0]
    weights = np.where(np.arange(DIM) < ALONG, 1.0, 0.15)
    rows = quantised(((draw.normal(size=(MANY, DIM)) * weights) @ turned.T).astype(np.float32))
    asked = Question.of(((draw.normal(size=(3, DIM)) * weights) @ turned.T).astype(np.float32))
    axes = np.rint(turned[:, :ALONG] * (127 / np.abs(turned).max())).astype(np.int8)
    return rows, axes, asked


def compared(vectors, asked, shown=None):
    found = np.empty((len(asked.rows), len(vectors)), np.float32)
    vectors.compare(asked, found)
    found *= 1 if shown is None else shown
    vectors.refine(asked, found)
    return found


def both(rows, axes):
    made = Vectors(DIM, ordered=False, axes=axes), Vectors(DIM, ordered=False)
    for vectors in made:
        vectors.append(rows)
    return made


def test_the_nearest_are_those_of_all_dimensions_with_the_same_cosines(drawn):
    rows, axes, asked = drawn
    along, exactly = (compared(vectors, asked) for vectors in both(rows, axes))
    for few, all_of_them in zip(along, exactly, strict=True):
        nearest = np.argsort(-all_of_them, kind="stable")[:48]
        assert np.array_equal(np.argsort(-few, kind="stable")[:48], nearest)
        assert np.array_equal(few[nearest], all_of_them[nearest])


def test_hidden_tools_take_no_place_among_the_nearest(drawn):
    rows, axes, asked = drawn
    along, exactly = both(rows, axes)
    best = np.argsort(-compared(exactly, asked)[0])
    shown = np.ones(MANY, np.bool_)
    shown[best[:100]] = False
    found = compared(along, asked, shown)[0]
    assert np.array_equal(np.argsort(-found, kind="stable")[:8], best[100:108])
    assert not found[~shown].any()


def test_rows_that_come_and_go_one_by_one_compare_as_those_that_came_at_once(drawn):
    rows, axes, asked = drawn
    at_once, _ = both(rows, axes)
    one_by_one = Vectors(DIM, ordered=False, axes=axes)
    one_by_one.append(np.zeros_like(rows[:100]))
    for slot in range(100):
        one_by_one.put(slot, rows[slot])
    for start in range(100, MANY, 700):
        one_by_one.append(rows[start : start + 700])
    one_by_one.append(rows[:9])
    one_by_one.keep(np.arange(MANY))
    assert np.array_equal(compared(one_by_one, asked), compared(at_once, asked))


def test_few_and_none_are_compared_too(drawn):
    rows, axes, asked = drawn
    for count in (0, 1, 30):
        few, all_of_them = (compared(vectors, asked) for vectors in both(rows[:count], axes))
        near = all_of_them > 0.15
        assert np.array_equal(few[near], all_of_them[near])
