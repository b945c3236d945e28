"""What is compiled and what is in numpy give the same numbers, to the last bit, and neither reads what is not there."""

import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from pegboard.index import kernel, plain
from pegboard.index.candidates import OF_MEANING, OF_WORDS, Meaning, Signals
from pegboard.index.matches import Matches
from pegboard.index.plain.nearest import FEW
from pegboard.index.postings import Posting, Row
from pegboard.index.spelling import _letters, _letters_of, slip

HERE = Path(__file__).parent
SIZES = [1, 7, 8, 64, 65, 130, 1024, 1025, FEW + 700]


@pytest.fixture
def compiled() -> ModuleType:
    """The compiled half; where there is a compiler, an install has made it."""
    try:
        from pegboard.index import _kernel
    except ImportError:
        assert shutil.which("cc") is None, "there is a compiler, and the kernel was not compiled: `make .venv/.dev`"
        pytest.skip("no compiler")
    assert kernel.fresh(_kernel), "the kernel is older than its sources: `make .venv/.dev`"
    return _kernel


def rows_of(rng: np.random.Generator, size: int, count: int) -> list[Row]:
    """What so many terms are matched by, among so many tools."""
    found: list[Row] = []
    for _ in range(count):
        slots = np.flatnonzero(rng.random(size) < rng.random()).astype(np.int32)
        impacts = rng.random(len(slots)).astype(np.float32)
        fields = rng.integers(1, 256, len(slots)).astype(np.uint8)
        held = Posting(slots, impacts, fields)
        start, stop = sorted(rng.integers(0, len(slots) + 1, 2).tolist())
        found += [Row(float(rng.random() * 7), held, 0, len(slots)), Row(float(rng.random() * 7), held, start, stop)]
    return found[:count]


def scores_of(rng: np.random.Generator, rows: int, size: int, levels: int) -> Any:
    """Scores with ties, most of the first row zero."""
    found = (rng.integers(-levels // 3, levels, (rows, size)) / levels).astype(np.float32)
    found[0] *= rng.random(size) < 0.1
    return np.maximum(found, [[0], *[[-1]] * (rows - 1)], dtype=np.float32)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("needs", [0, 2, 5])
def test_words_score_the_same(compiled: ModuleType, size: int, needs: int) -> None:
    rng = np.random.default_rng(size + needs)
    rows = rows_of(rng, size, 9)
    of_need = rng.integers(0, max(needs, 1), 9).tolist()
    found = []
    for engine in (compiled, plain):
        scores, names = np.full((needs + 1, size), 7, np.float32), np.full(size, 7, np.uint8)
        total = engine.matched(rows, of_need, needs, size, scores, names)
        held = [engine.held(rows, slot) for slot in range(0, size, 3)]
        found.append((total, scores.tobytes(), names.tobytes(), held))
    assert found[0] == found[1]


def test_what_all_candidates_hold_is_what_each_of_them_holds() -> None:
    rows = rows_of(np.random.default_rng(7), 90, 9)
    matches, slots = Matches(rows, [0] * 9, 90), np.array([3, 20, 21, 88])
    found = [[(row, int(bits)) for row, bits in enumerate(column) if bits] for column in matches.held(slots).T]
    assert found == [matches.of(int(slot)) for slot in slots]


@pytest.mark.parametrize("size", [0, *SIZES])
def test_words_are_close_to_the_same(compiled: ModuleType, size: int) -> None:
    """One typing error is what a search for errors says it is (`slip`), whatever letters the words are of."""
    rng = np.random.default_rng(size)
    words = ["".join(rng.choice(list("aeé\u4e00\U0001f600"), rng.integers(1, 7)).tolist()) for _ in range(size)]
    letters = _letters(words) if words else np.zeros(0, np.uint64)
    for word in ["ae", "aeé", "aaaa", "eaea\u4e00", *words[:20]]:
        asked = _letters_of(word)
        assert asked == int(_letters([word])[0])
        wanted = [n for n, known in enumerate(words) if slip(word, known)]
        for engine in (compiled, plain):
            assert engine.close(words, letters, word, asked) == wanted


@pytest.mark.parametrize("count", [1, 2, 3, 4, 7])
@pytest.mark.parametrize("size", SIZES)
def test_meaning_is_the_same(compiled: ModuleType, size: int, count: int) -> None:
    rng = np.random.default_rng(size + count)
    table, scales = rng.integers(-127, 128, (50, 64)).astype(np.int8), rng.random(50).astype(np.float32)
    tools = rng.integers(-127, 128, (size, 64)).astype(np.int8)
    columns, lengths = plain.meaning.abreast(size + 5, 21), rng.random(size).astype(np.float32)
    plain.meaning.laid(tools[:, :21].astype(np.float32), columns, 0)
    words = [[tuple(rng.integers(0, 50, n % 4).tolist()) for n in range(rng.integers(0, 20))] for _ in range(count)]
    slots = np.flatnonzero(rng.random(size) < 0.5)
    found = []
    for engine in (compiled, plain):
        asked, parts = np.full((count, 64), 7, np.float32), np.empty(count, np.float32)
        engine.summed(table, scales, words, asked)
        told = engine.whole(asked, count, 127, parts)
        near, exactly = np.empty((count, size), np.float32), np.empty((count, len(slots)), np.float32)
        engine.compared(asked, count, 21, columns, lengths, size, near)
        engine.exact(tools, lengths, slots, asked, count, parts, exactly)
        found.append([part.tobytes() for part in (asked, parts, near, exactly)] + [told, engine.spread(near[0])])
    assert found[0] == found[1]


@pytest.mark.parametrize("levels", [3, 40, 10**6])
@pytest.mark.parametrize("size", [*SIZES, 23, 24, 47, 48, 49])
def test_the_nearest_are_those_of_a_plain_sort(compiled: ModuleType, size: int, levels: int) -> None:
    """Whatever ties there are, and whether or not so many scores reach the least."""
    scores = scores_of(np.random.default_rng(size + levels), 4, size, levels)
    counts, least = (48, 24, 48, 24), np.array((1e-9, 1e-9, 0.15, 0.15), np.float32)
    wanted = {size // 2}
    for row, count, limit in zip(scores, counts, least, strict=True):
        reaching = sorted((score for score in row if score >= limit), reverse=True)
        if reaching:
            wanted |= set(np.flatnonzero(row >= reaching[min(count, len(reaching)) - 1]).tolist())
    for engine in (compiled, plain):
        found = np.empty(size, np.intp)
        kept = engine.nearest(scores, size, counts, least, [size // 2], found)
        assert found[:kept].tolist() == sorted(wanted)


@pytest.mark.parametrize("levels", [3, 10**6])
@pytest.mark.parametrize("layers", [0, 1, 2])
@pytest.mark.parametrize("needs", [0, 3])
@pytest.mark.parametrize("count", [1, 4, 5, 90, 700])
def test_candidates_are_weighed_the_same(
    compiled: ModuleType, count: int, needs: int, layers: int, levels: int
) -> None:
    size = count * 2
    rng = np.random.default_rng(size + needs + layers)
    slots = np.sort(rng.permutation(size)[:count])
    scores, names = scores_of(rng, needs + 1, size, levels), rng.integers(0, 5, size).astype(np.uint8)
    sizes, groups = rng.integers(1, 6, size).astype(np.float32), rng.integers(0, 9, size).astype(np.int32)
    meanings = [scores_of(rng, needs + 1, count, levels) for _ in range(layers)]
    doing, weights = rng.integers(-1, 2, size).astype(np.int8), [1.0, 0.25, 0.15, 0.2][: 4 + layers]
    evidence, means = rng.normal(0, 4, 20).tolist(), rng.normal(0, 1, 21).astype(np.float32)
    found = []
    for engine in (compiled, plain):
        table = np.full((4 + 2 * layers + (layers > 1) + 1 + 2 * layers, count), 7, np.float32)
        values = np.empty(count, np.float32)
        told = engine.weighed(slots, count, scores, size, needs, names, sizes, groups, meanings, table)
        engine.fused(table, count, weights, slots, doing, -1, 0.2, values)
        ordered = [
            engine.ordered(values, slots, rows, limit, 8)
            for rows in ([], [(table[0], 0.3), (table[2], 0.4)], [(table[0], 99.0)])
            for limit in (0, 1, 5, count)
        ]
        best, of_best = ordered[0][4:]
        compared = [(table[0], 0.37), *[(meaning[0], 1.0) for meaning in meanings]]
        near = [(meaning[0], most, 0.7) for meaning, (_, most) in zip(meanings, told[1], strict=True)]
        rows = rows_of(np.random.default_rng(count), size, 5)
        signals = engine.told(rows, int(slots[0]), table, count, len(table) - 1 - 2 * layers, best[0], near, ASKED)
        seen = engine.evidence(signals, (0, 3, 12), (1, 7), compared, best, of_best, count)
        chances = engine.chances(0.4, of_best[0], of_best, (1.1, 0.7, -0.3, 0.2))
        sure = engine.odds(evidence, means[1:], means[:-1], means, 4.0)
        found.append((told, table.tobytes(), values.tobytes(), ordered, signals, seen, chances, sure))
    assert found[0] == found[1]


def test_a_candidate_has_as_many_signals_as_are_named() -> None:
    matches, table = Matches([], [], 1), np.zeros((9, 1), np.float32)
    meaning = Meaning(table[0], table[0], 0.5, 0.0, 1.0)
    told = Signals(np.zeros(1, np.intp), matches, 0, table[6], 1.0, [meaning], 1.0, 1, table, 6).told(0)
    assert len(told) == len(OF_WORDS) + len(OF_MEANING)


def test_the_best_other_tool_of_a_namespace_is_never_the_tool_itself(compiled: ModuleType) -> None:
    cosines = np.array([[0.5, 0.9, 0.9, 0.2, -0.3, -0.1]], np.float32)
    groups, slots = np.array([1, 1, 1, 2, 3, 3], np.int32), np.arange(6)
    ones, zeros = np.ones(6, np.float32), np.zeros((1, 6), np.float32)
    for engine in (compiled, plain):
        table = np.empty((9, 6), np.float32)
        engine.weighed(slots, 6, zeros, 6, 0, np.zeros(6, np.uint8), ones, groups, [cosines], table)
        assert table[8].tolist() == np.array([0.9, 0.9, 0.9, 0, 0, 0], np.float32).tolist()


ASKED = (2.5, 1.2, 0.5)
HELD = Posting(np.array([9], np.int32), np.ones(1, np.float32), np.ones(1, np.uint8))
BAD: dict[str, tuple[Any, ...]] = {
    "matched": ([Row(1.0, HELD, 0, 1)], [0], 0, 4),
    "close": (["a"], np.zeros(2, np.uint64), "b", 1),
    "held": ([Row(1.0, HELD, 0, 2)], 0),
    "summed": (np.zeros((3, 4), np.int8), np.ones(3, np.float32), [[(0, 3)]], np.zeros((1, 4), np.float32)),
    "exact": (
        np.zeros((3, 4), np.int8), np.ones(3, np.float32), np.array([3]), np.ones((1, 4), np.float32), 1,
        np.ones(1, np.float32), np.zeros((1, 1), np.float32),
    ),
    "compared": (
        np.ones((1, 4), np.float32), 1, 4, np.zeros((0, 2, 16, 2), np.int16), np.ones(5, np.float32), 5,
        np.zeros((1, 5), np.float32),
    ),
    "nearest": (np.zeros((1, 4), np.float32), 4, (2,), np.zeros(1, np.float32), [4], np.empty(4, np.intp)),
    "evidence": ([1.0] * 13, (0,), (), [(np.zeros(3, np.float32), 1.0)], [3], [1.0], 3),
    "told": ([], 0, np.zeros((5, 2), np.float32), 2, 4, 2, [], ASKED),
    "chances": (0.5, 1.0, 1.0, (1.0, 1.0, 1.0, 1.0)),
    "odds": ([1.0, 2.0], np.zeros(1, np.float32), np.zeros(2, np.float32), np.zeros(3, np.float32), 4.0),
    "fused": ("no array", 1, [1.0], np.zeros(1, np.intp), np.zeros(1, np.int8), 0, 0.2, np.zeros(1, np.float32)),
    "ordered": (np.zeros(3, np.float32), np.arange(3), [(np.zeros(2, np.float32), 1.0)], 2, 2),
    "whole": (np.zeros((2, 4), np.float32), 2, 127, np.zeros(1, np.float32)),
    "spread": (np.zeros(3, np.float64),),
    "weighed": (np.array([5]), 1, np.zeros((1, 3), np.float32), 3, 0, np.zeros(3, np.uint8), np.ones(3, np.float32)),
}  # fmt: skip
REST: dict[str, tuple[Any, ...]] = {
    "matched": (np.zeros((1, 4), np.float32), np.zeros(4, np.uint8)),
    "weighed": (np.zeros(3, np.int32), [], np.zeros((5, 1), np.float32)),
}


@pytest.mark.parametrize("name", BAD)
def test_what_points_beyond_an_array_is_refused(compiled: ModuleType, name: str) -> None:
    """A stored file may be damaged: that must never read or write what is not there."""
    with pytest.raises((ValueError, TypeError)):
        getattr(compiled, name)(*BAD[name], *REST.get(name, ()))


def test_search_without_a_compiler_finds_the_same(compiled: ModuleType) -> None:
    script = f"""
import sys
sys.path.insert(0, {str(HERE)!r})
sys.modules.update(dict.fromkeys(sys.argv[1:]))
from test_large import QUERIES, catalog, engine_of
from pegboard.index import kernel
print(kernel.matched.__module__)
found = [engine_of(catalog(700)).search(query) for query in QUERIES]
print([(answer, [(hit.score, hit.confidence, hit.matched) for hit in answer.hits]) for answer in found])
"""
    told = [
        subprocess.run([sys.executable, "-c", script, *without], capture_output=True, text=True, check=True).stdout
        for without in ((), ("pegboard.index._kernel",))
    ]
    (first, answers), (second, same) = (text.split("\n", 1) for text in told)
    assert (first, second) == ("pegboard.index._kernel", "pegboard.index.plain.words")
    assert answers == same


def test_a_kernel_of_other_sources_is_not_used() -> None:
    other = ModuleType("other")
    vars(other)["SOURCES"] = 1
    assert not kernel.fresh(other)
    assert not kernel.fresh(None)


def test_who_searches_slowly_is_told_why_and_what_to_do(compiled: ModuleType) -> None:
    other = ModuleType("other")
    vars(other)["SOURCES"] = 1
    assert kernel.slower(compiled) is None
    assert "there is a C compiler" in str(kernel.slower(None))
    assert "from other sources" in str(kernel.slower(other))


def test_all_that_search_needs_is_there_in_both(compiled: ModuleType) -> None:
    names = [name for name, found in vars(kernel.chosen).items() if callable(found) and hasattr(kernel, name)]
    assert len(names) > 10
    for name in names:
        assert getattr(kernel, name) is getattr(compiled, name)
        assert callable(getattr(plain, name))
