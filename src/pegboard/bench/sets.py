"""Sets of requests with their right tools, and how well a search meets them."""

import gzip
import json
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median
from typing import Any

from pegboard.bench.peers import Build
from pegboard.errors import ConfigError

SEED = 7340


@dataclass(frozen=True, slots=True)
class TestSet:
    """A catalog and requests to it.

    Parameters:
        name: the folder's name.
        tools: `{"id", "name", "namespace", "description", "parameters"}` each.
        queries: `{"query", "gold", "gold_groups"?}` each.
    """

    __test__ = False

    name: str
    tools: Sequence[Mapping[str, Any]]
    queries: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Score:
    """How well one engine meets one set: means over its requests, from 0 to 1, and times in milliseconds and seconds.

    Parameters:
        recall: the share of needs with a right tool in the first 1, 5 and 8.
        all_at_8: the share of requests with every need in the first 8.
        milliseconds: the median time of a request.
        build_seconds: to index the catalog.
    """

    engine: str
    set: str
    tools: int
    queries: int
    recall: Mapping[int, float]
    all_at_8: float
    milliseconds: float
    build_seconds: float

    @property
    def figures(self) -> dict[str, float]:
        """By the names that tables show."""
        recall = {f"R@{k}": value for k, value in self.recall.items()}
        return {**recall, "All@8": self.all_at_8, "ms": self.milliseconds, "build s": self.build_seconds}


def read_sets(folder: Path) -> Iterator[TestSet]:
    """The sets of a folder, each a folder with `tools.jsonl[.gz]` and `queries.jsonl[.gz]`; it may be one itself.

    Raises:
        ConfigError: there is none.
    """
    found = False
    for place in (folder, *sorted(path for path in folder.iterdir() if path.is_dir())) if folder.is_dir() else ():
        tools, queries = _rows(place / "tools.jsonl"), _rows(place / "queries.jsonl")
        if tools and queries:
            found = True
            yield TestSet(place.resolve().name, tools, queries)
    if not found:
        raise ConfigError(
            "There is no set of requests here.",
            where=str(folder),
            next_step="Give a folder with tools.jsonl and queries.jsonl (or .gz), or a folder of such folders.",
        )


def _rows(base: Path) -> list[dict[str, Any]]:
    packed = base.with_name(base.name + ".gz")
    if packed.is_file():
        with gzip.open(packed, "rt", encoding="utf8") as lines:
            return [json.loads(line) for line in lines if line.strip()]
    if base.is_file():
        return [json.loads(line) for line in base.read_text(encoding="utf8").splitlines() if line.strip()]
    return []


def opaque(given: TestSet, seed: int = SEED) -> TestSet:
    """The same set shuffled and with ids that tell nothing, so that neither order nor id helps an engine."""
    tools = list(given.tools)
    random.Random(seed).shuffle(tools)
    new = {tool["id"]: f"t{n:06d}" for n, tool in enumerate(tools)}
    queries = [{**query, "gold_groups": [[new[i] for i in group] for group in needs(query)]} for query in given.queries]
    return TestSet(given.name, [{**tool, "id": new[tool["id"]]} for tool in tools], queries)


def needs(query: Mapping[str, Any]) -> list[list[str]]:
    """The needs of a request, each with the tools that meet it."""
    return query.get("gold_groups") or [[gold] for gold in query["gold"]]


def score(engine: str, build: Build, given: TestSet) -> Score:
    """Run one engine over one set."""
    given = opaque(given)
    started = time.perf_counter()
    search = build(given.tools)
    built = time.perf_counter() - started
    hits: list[list[int]] = []
    times: list[float] = []
    for query in given.queries:
        started = time.perf_counter()
        ranked = search(query["query"], 8)
        times.append(time.perf_counter() - started)
        hits.append([_rank(ranked, group) for group in query["gold_groups"]])
    return Score(
        engine=engine,
        set=given.name,
        tools=len(given.tools),
        queries=len(hits),
        recall={k: fmean(fmean(rank <= k for rank in ranks) for ranks in hits) for k in (1, 5, 8)},
        all_at_8=fmean(max(ranks) <= 8 for ranks in hits),
        milliseconds=median(times) * 1000,
        build_seconds=built,
    )


def _rank(ranked: Sequence[str], group: Sequence[str]) -> int:
    return next((n for n, found in enumerate(ranked, 1) if found in group), 10**6)
