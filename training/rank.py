"""Learn how the signals of a candidate make its score, and how sure a search is.

    python training/rank.py dump --bench DIR --tables A.npz=set,set B.npz=set,set --out FILE
    python training/rank.py train --signals FILE --out DIR --name static

Only the training sets are read. Each set's signals come from a table that was not fitted to it (`static.py train
--leave-out`), so that the meaning's worth is not overrated.
"""

import argparse
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from prepare import TRAIN, rows

from pegboard.bench import Search
from pegboard.index.ask import read
from pegboard.index.candidates import OF_MEANING, OF_WORDS, WEIGHED
from pegboard.index.confidence import Seen, evidence, evidence_of_each
from pegboard.index.encoder import OnnxEmbedder
from pegboard.index.engine import ToolIndex
from pegboard.index.rank import fused
from pegboard.index.static import read_table

SEED = 7340
POOL = "pool"


def sets(bench: Path, limit: int, names: list[str], pool: int):
    """Name, tools and queries of each training set, alone and within the pool of all sets."""
    for name in names:
        yield name, name, rows(bench / name / "tools.jsonl.gz"), sample(rows(bench / name / "queries.jsonl.gz"), limit)
    tools, queries = rows(bench / POOL / "tools.jsonl.gz"), rows(bench / POOL / "queries.jsonl.gz")
    for name in names if pool else ():
        yield f"{POOL}:{name}", name, tools, sample([query for query in queries if query["set"] == name], pool)


def sample(queries: list[dict], limit: int) -> list[dict]:
    """At most `limit` of them."""
    return random.Random(SEED).sample(queries, min(limit, len(queries)))


def dump(options: argparse.Namespace) -> None:
    """Write the signals of every candidate of every request, with what is right and what was there to find."""
    table_of = {}
    for pair in options.tables or ():
        path, _, names = pair.partition("=")
        table_of |= dict.fromkeys(names.split(","), read_table(Path(path)))
    out: dict[str, list] = {"signals": [], "right": [], "query": [], "set": [], "groups": [], "gone": []}
    number = 0
    built = {}
    for label, name, tools, queries in sets(options.bench, options.limit, options.sets, options.pool):
        table = table_of.get(name)
        key = (len(tools), id(table))
        if key not in built:
            built.clear()
            layers = [table] if table else []
            if options.encoder:
                layers.append(OnnxEmbedder(options.encoder))
            engine = ToolIndex(*layers)
            built[key] = (engine, Search(engine, tools))
            engine.wait()
        engine, search = built[key]
        for query in queries:
            add(out, engine, search, query, number, label)
            number += 1
        for query in gone(engine, search, queries):
            add(out, engine, search, query, number, label)
            number += 1
        print(label, number, flush=True)
    np.savez_compressed(
        options.out,
        **{key: np.concatenate(value) if key == "signals" else np.array(value) for key, value in out.items()},
    )


def gone(engine: ToolIndex, search: Search, queries: list[dict]):
    """Half the requests again, with their right tools taken out of the catalog."""
    half = queries[: len(queries) // 2]
    names = {i for query in half for group in groups_of(query) for i in group}
    specs = search.without(names)
    yield from ({**query, "gone": True} for query in half)
    search.restore(specs)


def groups_of(query: dict) -> list[list[str]]:
    """The needs of a request, each with the tools that meet it."""
    return query.get("gold_groups") or [[gold] for gold in query["gold"]]


def add(out, engine, search, query, number, label) -> None:
    """One request's candidates."""
    found = engine.ranked(read(query["query"]), engine.tools.view(None))
    width = len(OF_WORDS) + len(OF_MEANING) * len(engine.tools.layers)
    if not len(found.slots) or found.signals.shape[1] != width:  # a layer had no say in it
        return
    ids = [search.ids[engine.tools.spec(slot).name] for slot in found.slots]
    groups = groups_of(query)
    of = {i: n for n, group in enumerate(groups) for i in group}
    out["signals"].append(found.signals.astype(np.float16))
    out["right"] += [-1 if query.get("gone") else of.get(i, -1) for i in ids]
    out["query"] += [number] * len(ids)
    out["groups"].append(len(groups))
    out["set"].append(label)
    out["gone"].append(bool(query.get("gone")))


class Net(torch.nn.Module):
    """The shape of `pegboard.index.rank.Ranker`."""

    def __init__(self, signals: int, hidden: int = 24) -> None:
        super().__init__()
        self.hidden = torch.nn.Linear(signals, hidden)
        self.out = torch.nn.Linear(hidden, 1, bias=False)
        self.direct = torch.nn.Linear(signals, 1, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (self.out(torch.relu(self.hidden(x))) + self.direct(x))[..., 0]


def joined(paths: list[Path]) -> dict[str, np.ndarray]:
    """Several dumps as one."""
    parts, first = [], 0
    for path in paths:
        with np.load(path) as stored:
            part = {key: stored[key] for key in stored}
        part["query"] = part["query"] + first
        first = int(part["query"].max()) + 1
        parts.append(part)
    return {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}


def padded(data: dict, keep: np.ndarray) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Requests as rows of candidates: standardised signals, groups (-1: wrong), and which are there."""
    starts = np.flatnonzero(np.append(True, data["query"][1:] != data["query"][:-1]))
    sizes = np.diff(np.append(starts, len(data["query"])))
    chosen = np.flatnonzero(keep)
    width = sizes[chosen].max()
    x = torch.zeros(len(chosen), width, data["signals"].shape[1])
    right = torch.full((len(chosen), width), -1)
    there = torch.zeros(len(chosen), width, dtype=torch.bool)
    for n, request in enumerate(chosen):
        part = slice(starts[request], starts[request] + sizes[request])
        x[n, : sizes[request]] = torch.from_numpy(data["signals"][part])
        right[n, : sizes[request]] = torch.from_numpy(data["right"][part])
        there[n, : sizes[request]] = True
    return x, right, there


def recall(scores: torch.Tensor, right: torch.Tensor, groups: np.ndarray, k: int = 8) -> float:
    """R@8 of evaluate.py."""
    top = scores.topk(min(k, scores.shape[1]), dim=1).indices
    hits = right.gather(1, top)
    return float(np.mean([len({int(g) for g in row if g >= 0}) / n for row, n in zip(hits, groups, strict=True)]))


def fit(x, right, there, weight, hidden, epochs=60, seed=SEED, decay=1e-3) -> Net:
    """Listwise softmax: the right candidates' probabilities."""
    torch.manual_seed(seed)
    net = Net(x.shape[-1], hidden)
    optimiser = torch.optim.AdamW(net.parameters(), lr=3e-3, weight_decay=decay)
    positive = (right >= 0).float()
    share = positive / positive.sum(1, keepdim=True).clamp(min=1)
    useful = positive.sum(1) > 0
    order = torch.nonzero(useful)[:, 0]
    for epoch in range(epochs):
        for group in optimiser.param_groups:
            group["lr"] = 3e-3 * (1 - epoch / epochs) + 1e-5
        for part in order[torch.randperm(len(order))].split(128):
            scores = net(x[part]).masked_fill(~there[part], -1e4)
            loss = (-(share[part] * F.log_softmax(scores, 1)).sum(1) * weight[part]).mean()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    return net


def train(options: argparse.Namespace) -> None:
    """Cross-validate by set, then fit on all and write the data."""
    torch.set_num_threads(1)
    data = joined(options.signals)
    data["signals"] = data["signals"].astype(np.float32)
    means = data["signals"].mean(0)
    scales = 1 / np.maximum(data["signals"].std(0), 1e-2)
    raw = data["signals"]
    if options.calibrate:
        calibrate(options, data, raw, weighed)
        return
    data["signals"] = np.clip((raw - means) * scales, -4, 4)
    keep = ~data["gone"]
    x, right, there = padded(data, keep)
    labels, groups = data["set"][keep], data["groups"][keep]
    origin = np.array([label.split(":")[-1] for label in labels])
    counts = {label: (labels == label).sum() for label in set(labels)}
    weight = torch.tensor([1 / counts[label] for label in labels], dtype=torch.float32)
    weight /= weight.mean()
    half = plain_scores(raw, data, keep, there)
    held = torch.zeros(x.shape[:2])
    for hidden in options.hidden:
        total, base = [], []
        for name in sorted(set(origin)):
            out = torch.from_numpy(origin == name)
            net = fit(x[~out], right[~out], there[~out], weight[~out], hidden)
            with torch.no_grad():
                scores = net(x[out]).masked_fill(~there[out], -1e4)
                held[out] = scores
            for label in sorted(set(labels[out.numpy()])):
                part = labels[out.numpy()] == label
                total.append(recall(scores[part], right[out][part], groups[out.numpy()][part]))
                base.append(recall(half[out][part], right[out][part], groups[out.numpy()][part]))
        print(
            hidden,
            "plain",
            round(np.mean(base), 4),
            "learned",
            round(np.mean(total), 4),
            np.round(base, 3),
            np.round(total, 3),
            flush=True,
        )
    net = fit(x, right, there, weight, options.hidden[-1])
    print("a function of this kind is not shipped: on other sets it does no better than the fusion", flush=True)
    calibrate(options, data, raw, learned_scores(net, means, scales))


def learned_scores(net: Net, means: np.ndarray, scales: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """The learned function over raw signals."""

    def score(signals: np.ndarray) -> np.ndarray:
        with torch.no_grad():
            given = np.clip((signals - means) * scales, -4, 4).astype(np.float32)
            return net(torch.from_numpy(given)).numpy().round(4)

    return score


def weighed(signals: np.ndarray) -> np.ndarray:
    """The scores that `rank.fused` gives candidates, from all their signals."""
    layers = (signals.shape[1] - len(OF_WORDS)) // len(OF_MEANING)
    rows = [OF_WORDS.index(name) for name in WEIGHED]
    for layer in range(layers):
        start = len(OF_WORDS) + layer * len(OF_MEANING)
        rows += [start + OF_MEANING.index(name) for name in ("meaning", "best need / best")]
    rows += [start + OF_MEANING.index("namespace's meaning")] * (layers > 1)
    given = signals.T[rows].astype(np.float32)
    meanings = given[len(WEIGHED) : len(WEIGHED) + 2 * layers : 2]
    meanings -= meanings.min(axis=1, keepdims=True)
    every = np.arange(given.shape[1])
    return fused(given, np.maximum(meanings.max(axis=1), 1e-3).tolist(), every)


def calibrate(
    options: argparse.Namespace, data: dict, raw: np.ndarray, ranker: Callable[[np.ndarray], np.ndarray]
) -> None:
    """Fit how sure a search is: each request with its tools there, and the same requests with them gone."""
    starts = np.flatnonzero(np.append(True, data["query"][1:] != data["query"][:-1]))
    stops = np.append(starts[1:], len(data["query"]))
    values = np.concatenate([ranker(raw[start:stop]) for start, stop in zip(starts, stops, strict=True)])
    twice = paired(data)
    rows, labels, names, parts = [], [], [], []
    for request in twice:
        part = slice(starts[request], stops[request])
        rows.append(evidence(Seen.of(raw[part], values[part])))
        labels.append(float(not data["gone"][request]))
        names.append(str(data["set"][request]).split(":")[-1])
        parts.append(part)
    given, labels, names = np.array(rows), np.array(labels, np.float32), np.array(names)
    means, scales = given.mean(0), 1 / np.maximum(given.std(0), 1e-2)
    x = torch.from_numpy(np.clip((given - means) * scales, -4, 4).astype(np.float32))
    y = torch.from_numpy(labels)
    held, figures = np.zeros(len(labels)), []
    for name in sorted(set(names)):
        out = torch.from_numpy(names == name)
        weights = logistic(x[~out], y[~out])
        held[out.numpy()] = torch.sigmoid(x[out] @ weights[:-1] + weights[-1]).numpy()
        figures.append(quality(held[out.numpy()], labels[out.numpy()]))
        print("confidence", name, *(round(v, 3) for v in figures[-1]), flush=True)
    print("confidence, mean", *np.mean(figures, axis=0).round(4), flush=True)
    weights = logistic(x, y).numpy().astype(np.float32)
    each = fit_each(raw, values, data["right"], parts, held)
    arrays = {"means": means.astype(np.float32), "scales": scales.astype(np.float32), "weights": weights, "each": each}
    np.savez(options.out / f"{options.name}-confidence.npz", **arrays)


def paired(data: dict) -> list[int]:
    """The requests that are there both ways: the first half of each set, and the same with their tools gone."""
    chosen: list[int] = []
    for label in dict.fromkeys(data["set"].tolist()):
        at = np.flatnonzero((data["set"] == label) & ~data["gone"])
        chosen += [*at[: len(at) // 2], *np.flatnonzero((data["set"] == label) & data["gone"])]
    return chosen


ABSENT = 1.5
"""How much more often a request has no right tool than it has one: what calibration assumes."""


def logistic(x: torch.Tensor, y: torch.Tensor, decay: float = 0.02) -> torch.Tensor:
    """Weights and, last, the bias."""
    weights = torch.zeros(x.shape[1] + 1, requires_grad=True)
    optimiser = torch.optim.LBFGS([weights], max_iter=200)
    share = torch.where(y > 0, 1.0, ABSENT)

    def loss() -> torch.Tensor:
        optimiser.zero_grad()
        each = F.binary_cross_entropy_with_logits(x @ weights[:-1] + weights[-1], y, reduction="none")
        found = (each * share).mean() + decay * (weights[:-1] ** 2).sum()
        found.backward()
        return found

    optimiser.step(loss)
    return weights.detach()


def quality(chance: np.ndarray, label: np.ndarray) -> tuple[float, float]:
    """AUROC and calibration error in ten bins."""
    yes, no = chance[label == 1], chance[label == 0]
    auroc = float((yes[:, None] > no).mean() + (yes[:, None] == no).mean() / 2)
    bins = np.minimum((chance * 10).astype(int), 9)
    error = sum(
        abs(chance[bins == b].mean() - label[bins == b].mean()) * (bins == b).mean() for b in set(bins.tolist())
    )
    return auroc, float(error)


def fit_each(raw, values, right, parts, anything) -> np.ndarray:
    """The weights by which the evidence of one of the first eight becomes the chance that it is right."""
    rows, labels = [], []
    for part, chance in zip(parts, anything, strict=True):
        order = np.argsort(-values[part], kind="stable")[:8]
        ranked = values[part][order].tolist()
        rows.append(evidence_of_each(float(np.clip(chance, 0.001, 0.99)), ranked[0], ranked))
        labels.append(right[part][order] >= 0)
    x = torch.from_numpy(np.concatenate(rows).astype(np.float32))
    y = torch.from_numpy(np.concatenate(labels).astype(np.float32))
    weights = torch.zeros(x.shape[1] + 1, requires_grad=True)
    optimiser = torch.optim.LBFGS([weights], max_iter=100)

    def loss() -> torch.Tensor:
        optimiser.zero_grad()
        found = F.binary_cross_entropy_with_logits(x @ weights[:-1] + weights[-1], y)
        found.backward()
        return found

    optimiser.step(loss)
    print("each", weights.detach().numpy().round(3), flush=True)
    return weights.detach().numpy().astype(np.float32)


def plain_scores(raw, data, keep, there) -> torch.Tensor:
    """The fusion without learning, for comparison."""
    starts = np.flatnonzero(np.append(True, data["query"][1:] != data["query"][:-1]))
    values = np.concatenate([weighed(part) for part in np.split(raw, starts[1:])])
    x, _, _ = padded({**data, "signals": values[:, None]}, keep)
    return x[..., 0].masked_fill(~there, -1e4)


def main() -> None:
    """Run one step of the recipe."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("step", choices=["dump", "train"])
    parser.add_argument("--bench", type=Path)
    parser.add_argument("--tables", nargs="*")
    parser.add_argument("--signals", type=Path, nargs="*")
    parser.add_argument("--sets", nargs="*", default=list(TRAIN))
    parser.add_argument("--pool", type=int, default=100, help="so many requests a set within the pool")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--name", default="static")
    parser.add_argument("--limit", type=int, default=400)
    parser.add_argument("--encoder", type=Path, help="the folder of the encoder, as a second layer")
    parser.add_argument("--calibrate", action="store_true", help="keep the fusion as it is, and calibrate it alone")
    parser.add_argument("--hidden", type=int, nargs="*", default=[16])
    options = parser.parse_args()
    {"dump": dump, "train": train}[options.step](options)


if __name__ == "__main__":
    main()
