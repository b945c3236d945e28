"""Distil a static word table from the tuned encoder, then fit it to public pairs.

    python training/static.py teach --model encoder.safetensors --tokenizer tokenizer.json --texts texts.txt --out DIR
    python training/static.py train --texts texts.txt --pairs pairs.jsonl --out DIR [--leave-out SET,...]

A text's vector is the normalised sum of its words' rows; the rows' lengths are the words' weights. The words are those
of `pegboard.index.text`, so that the table reads what the index reads.
"""

import argparse
import hashlib
import json
import random
import time
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from bert import Texts, embed, load

from pegboard.index.static import rows_of
from pegboard.index.text import is_spaceless, words

SEED = 7340
DIM = 256
WORDS = 30_000


def teach(options: argparse.Namespace) -> None:
    """Write the teacher's vectors of all texts, pairs' texts and frequent words (fp16), projected to DIM."""
    torch.set_num_threads(options.threads)
    model, read = load(options.model), Texts(options.tokenizer, 64)
    texts = options.texts.read_text(encoding="utf8").splitlines()[: options.limit]
    vectors = np.zeros((len(texts), 384), np.float16)
    started = time.time()
    for start in range(0, len(texts), 16384):
        vectors[start : start + 16384] = embed(model, read, texts[start : start + 16384]).numpy()
        print(start, round(time.time() - started), flush=True)
    np.save(options.out / "teacher.npy", vectors)
    vocabulary = chosen(options.texts.read_text(encoding="utf8").splitlines())
    (options.out / "words.txt").write_text("\n".join(vocabulary), encoding="utf8")
    np.save(options.out / "words.npy", embed(model, read, vocabulary, 512).numpy())


def chosen(texts: list[str]) -> list[str]:
    """The vocabulary: the most frequent words that are no numbers and of no spaceless script, then by name."""
    counts = Counter(word for text in texts for word in words(text))
    kept = [word for word in counts if not word.isdigit() and not is_spaceless(word) and 1 < len(word) <= 24]
    kept.sort(key=lambda word: (-counts[word], word))
    return [word for word in kept[:WORDS] if counts[word] >= 3]


class Bags:
    """Texts as rows of the table."""

    def __init__(self, vocabulary: list[str]) -> None:
        self.rows = {word: n for n, word in enumerate(vocabulary)}
        self.cache: dict[str, list[int]] = {}

    def __call__(self, texts: list[str], drop: random.Random | None = None) -> tuple[torch.Tensor, torch.Tensor]:
        flat: list[int] = []
        starts: list[int] = []
        for text in texts:
            found = self.cache.get(text)
            if found is None:
                found = self.cache[text] = rows_of(words(text), self.rows)
            starts.append(len(flat))
            flat += found
        return torch.tensor(flat, dtype=torch.long), torch.tensor(starts, dtype=torch.long)


def train(options: argparse.Namespace) -> None:
    """Fit the table: first to the teacher's vectors alone, then also to the pairs."""
    torch.manual_seed(SEED)
    torch.set_num_threads(options.threads)
    texts = options.texts.read_text(encoding="utf8").splitlines()[: options.limit]
    teacher = torch.from_numpy(np.load(options.out / "teacher.npy")).float()
    vocabulary = (options.out / "words.txt").read_text(encoding="utf8").splitlines()
    basis = axes(teacher)
    target = F.normalize(teacher @ basis, dim=-1)
    bags = Bags(vocabulary)
    kept = [n for n, text in enumerate(texts) if rows_of(words(text), bags.rows)]
    table = torch.nn.EmbeddingBag(len(vocabulary), DIM, mode="sum")
    start = torch.from_numpy(np.load(options.out / "words.npy")) @ basis
    table.weight.data = F.normalize(start, dim=-1) * frequency_weight(texts, bags)[:, None]
    distil(table, bags, [texts[n] for n in kept], target[kept], options.epochs)
    if options.pairs:
        where = {text: n for n, text in enumerate(texts)}
        fit(table, bags, pairs_of(options), texts, target, where, kept, options.steps)
    np.savez(options.out / (options.name + ".npz"), table=table.weight.data.numpy().astype(np.float32))
    print("written", options.out / options.name)


def axes(teacher: torch.Tensor) -> torch.Tensor:
    """The principal axes, uncentred, strongest first, so that leading dimensions stand alone."""
    _, vectors = torch.linalg.eigh(teacher.T @ teacher)
    return vectors.flip(-1)[:, :DIM]


def frequency_weight(texts: list[str], bags: Bags) -> torch.Tensor:
    """Smooth inverse frequency (Arora et al. 2017): a / (a + p)."""
    counts = torch.ones(len(bags.rows))
    for text in texts[:: max(1, len(texts) // 100_000)]:
        for row in bags([text])[0].tolist():
            counts[row] += 1
    return 1e-3 / (1e-3 + counts / counts.sum())


def vector(table: torch.nn.EmbeddingBag, bag: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
    """Normalised sums."""
    return F.normalize(table(*bag), dim=-1)


def distil(table: torch.nn.EmbeddingBag, bags: Bags, texts: list[str], target: torch.Tensor, epochs: int) -> None:
    """Minimise 1 - cosine to the teacher."""
    rng = random.Random(SEED)
    optimiser = torch.optim.Adam(table.parameters(), lr=2e-3)
    order, started = list(range(len(texts))), time.time()
    total = epochs * (len(order) // 2048)
    step = 0
    for epoch in range(epochs):
        rng.shuffle(order)
        losses = []
        for start in range(0, len(order) - 2047, 2048):
            for group in optimiser.param_groups:
                group["lr"] = 2e-3 * (1 - step / total) + 2e-5
            step += 1
            part = order[start : start + 2048]
            loss = (1 - (vector(table, bags([texts[n] for n in part])) * target[part]).sum(-1)).mean()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            losses.append(loss.item())
        print("distil", epoch, round(sum(losses) / len(losses), 4), round(time.time() - started), flush=True)


def pairs_of(options: argparse.Namespace) -> list[dict]:
    """The pairs, without the sets left out."""
    left = set(filter(None, options.leave_out.split(",")))
    rows = [json.loads(line) for line in options.pairs.read_text(encoding="utf8").splitlines()]
    return [row for row in rows if row["set"] not in left]


MIX = {
    "sealtools": 4,
    "bfcl": 3,
    "toollinkos": 2.5,
    "apigen": 2,
    "apizoo": 1,
    "mcp-catalog": 3,
    "botocore": 3,
    "google": 2,
}


def fit(table, bags, pairs, texts, target, where, kept, steps) -> None:
    """In-batch InfoNCE on pairs of one set a batch, tied to the teacher's vectors so that nothing is forgotten."""
    rng = random.Random(SEED)
    by_set = defaultdict(list)
    right = defaultdict(set)
    for pair in pairs:
        by_set[pair["set"]].append(pair)
        right[pair["query"]].add(pair["id"])
    names = [name for name in MIX if name in by_set]
    scale = torch.tensor(20.0)
    optimiser = torch.optim.Adam(table.parameters(), lr=1e-3)
    losses, started = [], time.time()
    for step in range(steps):
        for group in optimiser.param_groups:
            group["lr"] = 1e-3 * (1 - step / steps) + 1e-5
        name = rng.choices(names, [MIX[name] for name in names])[0]
        rows = by_set[name]
        chosen = {pair["query"]: pair for pair in rng.sample(rows, min(len(rows), 256))}
        batch = list(chosen.values())
        queries = vector(table, bags([pair["query"] for pair in batch]))
        tools = vector(table, bags([pair["tool"] for pair in batch]))
        scores = scale * queries @ tools.T
        also = torch.tensor([[a is not b and b["id"] in right[a["query"]] for b in batch] for a in batch])
        contrast = F.cross_entropy(scores.masked_fill(also, -1e4), torch.arange(len(batch)))
        part = rng.sample(kept, 1024)
        stay = (1 - (vector(table, bags([texts[n] for n in part])) * target[part]).sum(-1)).mean()
        loss = contrast + 8.0 * stay
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append((contrast.item(), stay.item()))
        if (step + 1) % 200 == 0:
            means = np.mean(losses[-200:], axis=0).round(4).tolist()
            print("fit", step + 1, means, round(time.time() - started), flush=True)


def pack(options: argparse.Namespace) -> None:
    """Write the table as package data: whole numbers with a scale a row."""
    table = np.load(options.out / (options.name + ".npz"))["table"]
    vocabulary = (options.out / "words.txt").read_bytes()
    scales = np.abs(table).max(axis=1) / 127
    rows = np.rint(table / np.where(scales > 0, scales, 1)[:, None]).astype(np.int8)
    known = hashlib.sha256(rows.tobytes()).hexdigest()[:12]
    np.savez(
        options.pack,
        table=rows,
        scales=(scales / scales.max()).astype(np.float16),
        words=np.frombuffer(vocabulary, np.uint8),
        name=np.array(f"pegboard-static-{known}"),
    )
    print(options.pack, options.pack.stat().st_size)


def main() -> None:
    """Run one step of the recipe."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("step", choices=["teach", "train", "pack"])
    for option in ("--model", "--tokenizer", "--texts", "--pairs", "--out"):
        parser.add_argument(option, type=Path)
    parser.add_argument("--pack", type=Path)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--steps", type=int, default=700)
    parser.add_argument("--limit", type=int, default=81_920, help="so many texts are read")
    parser.add_argument("--name", default="static")
    parser.add_argument("--leave-out", default="")
    options = parser.parse_args()
    {"teach": teach, "train": train, "pack": pack}[options.step](options)


if __name__ == "__main__":
    main()
