"""Support: how many tasks stand behind something, exactly for few and closely for many, however it is gathered."""

import random

import pytest

from pegboard.insight.support import EXAMPLES, MOST_TASKS, RunRef, Support, stable_hash


def refs(count):
    return [RunRef(stable_hash(f"task {n}"), stable_hash(f"run {n}"), f"run {n}") for n in range(count)]


def added(rows):
    support = Support()
    for ref in rows:
        support.add(ref)
    return support


def told(support):
    return support.runs, support.tasks, support.example_runs


@pytest.mark.parametrize("count", [1, MOST_TASKS - 1])
def test_few_tasks_are_counted_exactly(count):
    assert added(refs(count) * 2).tasks == count


@pytest.mark.parametrize("count", [MOST_TASKS, MOST_TASKS + 1, 5 * MOST_TASKS])
def test_many_tasks_are_estimated_the_same_in_any_order_and_parts(count):
    rows = refs(count)
    whole = told(added(rows))
    assert whole[1] == pytest.approx(count, rel=0.1)
    assert whole[2] == [ref.id for ref in sorted(rows, key=lambda ref: (ref.order, ref.id))[:EXAMPLES]]
    for seed in range(3):
        chance = random.Random(seed)
        chance.shuffle(rows)
        cut = chance.randrange(count)
        first, second = added(rows[:cut]), added(rows[cut:])
        assert told(first) == told(added(rows[:cut]))
        second.merge(first)
        assert told(second) == whole == told(added(rows))


def test_a_sketch_keeps_no_more_tasks_than_it_may_and_some():
    assert len(added(refs(20 * MOST_TASKS)).hashes) < 2 * MOST_TASKS
