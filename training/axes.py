"""Find the directions along which the encoder's vectors tell most, so that few of them may be compared first.

    python training/axes.py --bench DIR --out encoder/src/pegboard_encoder/axes.npy

The principal axes of the vectors of tools and requests of the training sets, and of mcp-catalog's tools, each kind
counting the same; as whole numbers of one byte, all by one scale, so that what is measured along them is exact.
"""

import argparse
import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from prepare import SEED, TRAIN, rows

from pegboard.bench import spec_of
from pegboard.index.encoder import bundled_encoder
from pegboard.index.fields import passage

MANY = 1000
"""So many tools, and at most as many requests, of each set."""


def vectors(bench: Path) -> Iterator[np.ndarray]:
    """The unit vectors of each kind of text."""
    encoder, draw = bundled_encoder(), random.Random(SEED)
    for name in (*TRAIN, "mcp-catalog"):
        tools = rows(bench / name / "tools.jsonl.gz")
        yield encoder.embed_docs([passage(spec_of(tool)) for tool in draw.sample(tools, min(MANY, len(tools)))])
        print(name, flush=True)
    for name in TRAIN:
        queries = rows(bench / name / "queries.jsonl.gz")
        chosen = draw.sample(queries, min(MANY, len(queries)))
        yield np.array([encoder.embed_query(query["query"]) for query in chosen])


def axes(kinds: Iterator[np.ndarray], count: int) -> np.ndarray:
    """The first principal axes, a column each, with the sign that makes each one's greatest number positive."""
    spread = sum(found.T.astype(np.float64) @ found / len(found) for found in kinds)
    found = np.linalg.eigh(spread)[1][:, ::-1][:, :count]
    found *= np.sign(found[np.abs(found).argmax(axis=0), range(count)])
    return np.rint(found * (127 / np.abs(found).max())).astype(np.int8)


def main() -> None:
    """Write the axes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bench", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--count", type=int, default=48)
    options = parser.parse_args()
    np.save(options.out, axes(vectors(options.bench), options.count))


if __name__ == "__main__":
    main()
