"""Temper how sure a search is, so that it holds on catalogs of any size and requests of any length.

    python training/temper.py --bench DIR --out src/pegboard/index/data [--catalogs 15]

Of each training set, whole and in parts of 25 tools and more, half the requests lose their right tools. A logistic
regression over what `confidence.temper` gives is fitted to which did; then it is flattened by `FLATTER`, since the word
table was fitted to these sets and looks surer here than elsewhere. `FLATTER` and `confidence.STEPS` were chosen by
comparison on both kinds of sets.
"""

import argparse
import random
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from prepare import TRAIN, rows
from rank import groups_of, quality

from pegboard import index
from pegboard.bench import Search
from pegboard.index import Index, rank
from pegboard.index.ask import read
from pegboard.index.candidates import OF_MEANING, OF_WORDS
from pegboard.index.confidence import TERMS, Seen, _learned, evidence, evidence_of_each, stepped, temper
from pegboard.index.engine import ToolIndex

SEED = 7340
FLATTER = 0.65
DECAY = 0.03
LEAST = 25
FEWEST = 8


def parts(name: str, tools: list[dict], queries: list[dict], count: int) -> Iterator[tuple[list[dict], list[dict]]]:
    """The whole set, then parts of it: neighbours of one tool, or the tools of some requests among others."""
    yield tools, random.Random(SEED).sample(queries, min(400, len(queries)))
    engine = index.default()
    assert isinstance(engine, ToolIndex)
    Search(engine, tools)
    rows = engine.tools.layers[0].vectors.rows[: len(tools)].astype(np.float32)
    rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1)
    for n in range(count):
        draw = random.Random(f"{name} {n}")
        size = int(np.exp(draw.uniform(np.log(LEAST), np.log(min(2000, len(tools))))))
        ratio, near = draw.choice((0.3, 0.6, 1, 2)), draw.random() < 0.6
        asked = list(queries)
        draw.shuffle(asked)
        most = max(8, min(400, int(size * ratio)))
        if near:
            nearest = np.argsort(-(rows @ rows[draw.randrange(len(tools))]), kind="stable")[:size]
            kept = {tools[n]["id"] for n in nearest.tolist()}
            asked = [query for query in asked if all(kept & set(group) for group in groups_of(query))][:most]
        else:
            asked = asked[:most]
            kept = {i for query in asked for group in groups_of(query) for i in group}
            others = [tool["id"] for tool in tools if tool["id"] not in kept]
            kept |= set(draw.sample(others, min(len(others), max(0, size - len(kept)))))
        if len(asked) >= 8:
            yield [tool for tool in tools if tool["id"] in kept], asked


class Told(NamedTuple):
    """One request: what is weighed, whether its tools are there, and the first hits, some of them right."""

    weighed: np.ndarray
    there: float
    odds: float
    values: np.ndarray
    right: np.ndarray
    aside: float = 0.0


def told(kind: str, tools: list[dict], queries: list[dict], engine: Index | None = None) -> Iterator[Told]:
    """Half the requests with their right tools there, the others with them gone; by an engine that is empty yet."""
    half = len(queries) // 2
    gone = {i for query in queries[half:] for group in groups_of(query) for i in group}
    if engine is None:
        engine = ToolIndex() if kind == "words" else index.default()
    assert isinstance(engine, ToolIndex)
    left = [tool for tool in tools if tool["id"] not in gone]
    if len(left) < FEWEST:
        return
    search = Search(engine, left)
    engine.wait()
    learned = _learned(kind)
    assert learned is not None
    for n, query in enumerate(queries):
        if n < half and not all(set(group) - gone for group in groups_of(query)):
            continue
        request = read(query["query"])
        found = engine.ranked(request, engine.tools.view(None))
        if found.kind == kind and len(found.slots):
            values = engine._fitting(request, found)
            aside = found.aside(values)
            if aside is not None:  # the odds are those of words and the table
                values = rank.fused(found.told.table, found.told.spans[:1], found.slots)
            seen = Seen.of(found.signals[:, : len(OF_WORDS) + len(OF_MEANING)], values)
            odds = learned.odds(evidence(seen))
            weighed = np.array(temper(odds, seen.signals[TERMS], found.background) if found.background else [0.0] * 4)
            order = np.argsort(-values, kind="stable")[:8]
            ids = [search.ids[engine.tools.spec(slot).name] for slot in found.slots[order]]
            gold = {i for group in groups_of(query) for i in group}
            right = np.array([i in gold for i in ids], float)
            yield Told(weighed, float(n < half), odds, values[order], right, aside or 0.0)


def fit_each(requests: list[Told], chances: np.ndarray) -> np.ndarray:
    """The weights by which what tells of one hit becomes the chance that it is right."""
    rows = [
        evidence_of_each(min(max(float(chance), 0.001), 0.99), request.values[0], request.values.tolist())
        for request, chance in zip(requests, chances, strict=True)
    ]
    x = np.concatenate(rows).astype(float)
    y = np.concatenate([request.right for request in requests])
    weights = fit(np.c_[x, np.ones(len(x))], y, np.ones(len(y)))
    print("each", weights.round(3).tolist(), flush=True)
    return weights.astype(np.float32)


def fit(x: np.ndarray, y: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Logistic regression by Newton's method."""
    weights, share = np.zeros(x.shape[1]), weight / weight.sum()
    decay = DECAY * np.diag([*x.std(0)[:-1] ** 2, 0])
    for _ in range(40):
        chance = 1 / (1 + np.exp(-x @ weights))
        slope = x.T @ (share * (chance - y)) + decay @ weights
        curve = (x * (share * chance * (1 - chance))[:, None]).T @ x + decay
        weights -= np.linalg.solve(curve, slope)
    return weights


def learn(options: argparse.Namespace, kind: str) -> None:
    """Fit one kind of engine, leave each set out in turn, and write the weights."""
    whole: dict[str, list[Told]] = {}
    some: dict[str, list[Told]] = {}
    for name in TRAIN:
        tools, queries = (rows(options.bench / name / f"{what}.jsonl.gz") for what in ("tools", "queries"))
        found = [list(told(kind, *part)) for part in parts(name, tools, queries, options.catalogs)]
        whole[name], some[name] = found[0], [request for part in found[1:] for request in part]
        print(kind, name, len(whole[name]), len(some[name]), flush=True)
    everything = [request for given in (whole, some) for found in given.values() for request in found]
    arrays: dict[str, np.ndarray] = {}
    chances = 1 / (1 + np.exp(-np.array([request.odds for request in everything])))
    if kind == "static":
        for name in TRAIN:
            weights = tempered([whole, some], without=name)
            given = np.array([request.weighed for request in whole[name]])
            chance = np.array([stepped(float(p)) for p in 1 / (1 + np.exp(-given @ weights))])
            there = np.array([request.there for request in whole[name]])
            print("without", name, *(round(value, 3) for value in quality(chance, there)), flush=True)
        weights = tempered([whole, some])
        print("weights", weights.round(4).tolist())
        arrays["tempered"] = weights.round(4)
        chances = 1 / (1 + np.exp(-np.array([request.weighed for request in everything]) @ weights))
    arrays["each"] = fit_each(everything, chances)
    path = options.out / f"{kind}-confidence.npz"
    with np.load(path) as stored:
        data = {key: stored[key] for key in stored.files}
    np.savez(path, **{**data, **arrays})


def hear(options: argparse.Namespace) -> None:
    """Fit what the sentence encoder says aside, on the whole training sets, and write the weights."""
    learned = _learned("static")
    assert learned is not None
    assert learned.tempered is not None
    found: dict[str, list[Told]] = {}
    for name in TRAIN:
        tools, queries = (rows(options.bench / name / f"{what}.jsonl.gz") for what in ("tools", "queries"))
        _, chosen = next(parts(name, tools, queries, 0))
        given = told("static", tools, chosen, index.with_encoder())
        found[name] = [
            one._replace(weighed=np.array([one.weighed @ learned.tempered, one.aside, 1.0])) for one in given
        ]
        print("encoder", name, len(found[name]), flush=True)
    for name in TRAIN:
        chance = 1 / (1 + np.exp(-np.array([one.weighed for one in found[name]]) @ heard(found, without=name)))
        there = np.array([one.there for one in found[name]])
        print(
            "without", name, *(round(value, 3) for value in quality(np.vectorize(stepped)(chance), there)), flush=True
        )
    weights = heard(found).round(4)
    print("weights", weights.tolist())
    path = options.out / "static-confidence.npz"
    with np.load(path) as stored:
        np.savez(path, **{**{key: stored[key] for key in stored.files}, "heard": weights})


def heard(found: dict[str, list[Told]], without: str | None = None) -> np.ndarray:
    """The weights of what the encoder says."""
    return tempered([found], without)


def tempered(given: list[dict[str, list[Told]]], without: str | None = None) -> np.ndarray:
    """The weights of `temper`, from all sets but one, each set counting the same."""
    kept = [found for sets in given for name, found in sets.items() if name != without and found]
    x = np.array([request.weighed for found in kept for request in found])
    y = np.array([request.there for found in kept for request in found])
    return FLATTER * fit(x, y, np.concatenate([np.full(len(found), 1 / len(found)) for found in kept]))


def main() -> None:
    """Learn for words alone and with the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bench", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--catalogs", type=int, default=15)
    parser.add_argument("--kinds", nargs="*", default=["static", "words", "encoder"])
    options = parser.parse_args()
    for kind in options.kinds:
        if kind == "encoder":
            hear(options)
        else:
            learn(options, kind)


if __name__ == "__main__":
    main()
