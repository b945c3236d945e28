"""Catalogs of thousands: what is added at once, one by one, taken from a file or filtered is found alike."""

from pathlib import Path

import numpy as np
import pytest

from pegboard import index
from pegboard.core import ToolName, ToolSpec
from pegboard.index import Where
from pegboard.index.dense import LEADING, Question, Vectors
from pegboard.index.engine import ToolIndex
from pegboard.index.names import Names
from pegboard.index.plain.nearest import FEW

VERBS = ("create", "delete", "list", "update", "search", "export", "archive", "share", "merge", "count")
NOUNS = ("issue", "file", "user", "invoice", "meeting", "email", "forecast", "branch", "ticket", "contract", "photo")
PLACES = ("office", "desk", "cloud", "garden", "harbour", "museum", "station", "theatre", "library", "hospital")
QUERIES = (
    "delete an invoice of the harbour",
    "list meetings and export photos of the museum",
    "serach contrakts",
    "create_issue",
    "please count how many branches there are, then archive the tickets",
    "zebra",
)


def catalog(size: int) -> list[ToolSpec]:
    """So many tools, all different."""
    made: list[ToolSpec] = []
    for n in range(size):
        verb, noun = VERBS[n % len(VERBS)], NOUNS[n // len(VERBS) % len(NOUNS)]
        place = PLACES[n // 110 % len(PLACES)]
        about = f"{verb.title()} {noun}s of the {place}, kept in box {n}"
        made.append(ToolSpec(name=ToolName(f"{place}{n % 40}", f"{verb}_{noun}_{n}"), description=about))
    return made


def engine_of(specs: list[ToolSpec]) -> ToolIndex:
    engine = index.default()
    assert isinstance(engine, ToolIndex)
    engine.update(put=specs)
    return engine


def test_tools_that_come_one_by_one_are_found_as_those_that_come_at_once() -> None:
    specs = catalog(FEW + 100)
    whole, single = engine_of(specs), engine_of(specs[:600])
    for start in range(600, len(specs), 50):
        single.update(put=specs[start : start + 50])
    for query in QUERIES:
        assert single.search(query) == whole.search(query)


def test_a_file_gives_back_what_was_written_and_only_that(tmp_path: Path) -> None:
    specs = catalog(700)
    whole, again = engine_of(specs), index.default()
    whole.save(tmp_path / "index.bin")
    assert isinstance(again, ToolIndex)
    assert again.load(tmp_path / "index.bin", specs[10:]) == len(specs) - 10
    rest = engine_of(specs[10:])
    for query in QUERIES:
        assert again.search(query) == rest.search(query)


def test_a_filter_that_was_used_before_shows_what_came_and_hides_what_went() -> None:
    specs = catalog(300)
    engine, where = engine_of(specs), Where(namespace="harbour3")
    engine.search("launch a zeppelin", where=where)
    new = ToolSpec(name=ToolName("harbour3", "launch_zeppelin"), description="Launch a zeppelin")
    engine.update(put=[new])
    assert engine.search("launch a zeppelin", where=where).hits[0].name == new.name
    engine.update(remove=[new.name])
    assert new.name not in [hit.name for hit in engine.search("launch a zeppelin", where=where).hits]
    engine.update(put=[new], remove=[spec.name for spec in specs[:250]])
    assert engine.search("launch a zeppelin", where=where).hits[0].name == new.name


def test_beginnings_of_names_follow_what_comes_and_goes() -> None:
    names = Names()
    first, second = ToolSpec(name=ToolName("a", "zip_file")), ToolSpec(name=ToolName("b", "zip_file"))
    names.add(first)
    assert names.named("zipf") == [[first.name]]
    names.add(second)
    names.remove(first)
    assert names.named("zipf") == [[second.name]]
    names.remove(second)
    assert names.named("zipf") == []
    names.add(first)
    assert names.named("zip") == [[first.name]]


@pytest.mark.parametrize("size", [10, min(LEADING) + 1])
def test_vectors_are_compared_by_their_leading_dimensions_and_exactly(size: int) -> None:
    rng = np.random.default_rng(1)
    rows = rng.integers(-127, 128, (size, 256)).astype(np.int8)
    vectors = Vectors(256, ordered=True)
    vectors.append(rows[: size // 2])
    vectors.append(rows[size // 2 :])
    asked = Question.of(rows[[3, 5]].astype(np.float32))
    found = np.empty((2, size), np.float32)
    vectors.compare(asked, found)
    assert found.argmax(axis=1).tolist() == [3, 5]
    exact = vectors.cosines(asked, np.array([3, 5]))
    assert np.allclose(exact, np.corrcoef(rows[[3, 5]].astype(float)), atol=0.05)
    assert np.allclose(np.diag(exact), 1)
