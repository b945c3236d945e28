"""Tune the sentence encoder on public (request, tool) pairs.

    python training/encoder.py --base model.safetensors --tokenizer tokenizer.json --pairs pairs.jsonl --out DIR

In-batch InfoNCE, batches of one set, so that the other tools of a batch are near misses. A tool that is also right for
a request is no negative of it.
"""

import argparse
import json
import random
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import torch
from bert import Bert, Texts, load, save

SEED = 7340
TEMPERATURE = 0.05
BATCH = 48
MIX = {
    "sealtools": 0.2,
    "bfcl": 0.14,
    "toollinkos": 0.12,
    "apigen": 0.1,
    "apizoo": 0.06,
    "mcp-catalog": 0.14,
    "botocore": 0.12,
    "google": 0.12,
}
NEAR = ("botocore", "google", "mcp-catalog", "apizoo")
"""Sets whose neighbours in the file are siblings: half their batches are drawn from one stretch of it."""


def batches(pairs: list[dict[str, Any]], steps: int):
    """`steps` batches of pairs, each of one set, no request twice in one."""
    rng = random.Random(SEED)
    by_set: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for pair in pairs:
        by_set[pair["set"]].append(pair)
    plan = [name for name, share in MIX.items() for _ in range(round(share * steps))]
    rng.shuffle(plan)
    for name in plan:
        rows = by_set[name]
        if name in NEAR and rng.random() < 0.5:
            start = rng.randrange(max(1, len(rows) - 400))
            rows = rows[start : start + 400]
        chosen: dict[str, dict[str, Any]] = {}
        for pair in rng.sample(rows, min(len(rows), 4 * BATCH)):
            if len(chosen) < BATCH:
                chosen.setdefault(pair["query"], pair)
        yield list(chosen.values())


def tune(options: argparse.Namespace) -> None:
    """Train and write `encoder-STEP.safetensors` every 100 steps."""
    torch.manual_seed(SEED)
    torch.set_num_threads(options.threads)
    pairs = [json.loads(line) for line in options.pairs.read_text(encoding="utf8").splitlines()]
    right: dict[str, set[str]] = defaultdict(set)
    for pair in pairs:
        right[pair["query"]].add(pair["id"])
    model, read = load(options.base), Texts(options.tokenizer, 56)
    optimiser = torch.optim.AdamW(model.parameters(), lr=options.rate, weight_decay=0.01)
    options.out.mkdir(parents=True, exist_ok=True)
    started, losses = time.time(), []
    for step, batch in enumerate(batches(pairs, options.steps)):
        share = step / options.steps
        for group in optimiser.param_groups:
            group["lr"] = options.rate * min(1.0, (step + 1) / 30) * max(0.05, 1 - share)
        loss = one(model, read, batch, right)
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        losses.append(loss.item())
        if (step + 1) % 25 == 0:
            print(step + 1, round(sum(losses[-25:]) / 25, 4), round(time.time() - started), flush=True)
        if (step + 1) % 100 == 0:
            save(model, options.out / f"encoder-{step + 1}.safetensors")
    save(model, options.out / "encoder.safetensors")


def one(model: Bert, read: Texts, batch: list[dict[str, Any]], right: dict[str, set[str]]) -> torch.Tensor:
    """The loss of one batch."""
    model.train()
    queries = model(*read([pair["query"] for pair in batch]))
    tools = model(*read([pair["tool"] for pair in batch]))
    scores = queries @ tools.T / TEMPERATURE
    also = torch.tensor([[a is not b and b["id"] in right[a["query"]] for b in batch] for a in batch])
    scores = scores.masked_fill(also, -1e4)
    target = torch.arange(len(batch))
    return torch.nn.functional.cross_entropy(scores, target)


def main() -> None:
    """Tune the encoder."""
    parser = argparse.ArgumentParser(description=__doc__)
    for option in ("--base", "--tokenizer", "--pairs", "--out"):
        parser.add_argument(option, type=Path, required=True)
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rate", type=float, default=3e-5)
    tune(parser.parse_args())


if __name__ == "__main__":
    main()
