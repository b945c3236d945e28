"""Learn which terms mean nearly the same: from what descriptions call that which names call otherwise.

    python training/synonyms.py --pairs pairs.jsonl --wordnet DIR --words DIR --out synonyms.tsv

Two terms are kept when a request or description has the one and its tool's name the other clearly more often than by
chance, and one of three relations holds: they share a synset of WordNet 3.1, the teacher finds them alike, or the one
abbreviates the other.
"""

import argparse
import json
import math
import re
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
from prepare import wordnet

from pegboard.index.languages import ENGLISH, STOP_WORDS
from pegboard.index.text import stems, words

LEAST = 4
"""So many pairs must show it."""
LIFT = 3.0
"""And so much more often than by chance."""
HEAVIEST, LIGHTEST = 0.35, 0.15
MOST = 12_000
"""So many of the most frequent words are compared."""
ALIKE = 0.6
"""From this cosine on the teacher finds two words alike."""


def telling(text: str) -> set[str]:
    """The words of a text that carry meaning."""
    return {word for word in words(text) if word not in STOP_WORDS[ENGLISH] and word.isascii() and not word.isdigit()}


def shortens(short: str, long: str) -> bool:
    """`repo`: repository; `k8s`: kubernetes; `msg`: message; `img`: image."""
    if len(short) < 2 or len(short) >= len(long) or short[0] != long[0]:
        return False
    if short[1:-1].isdigit():
        return short[-1] == long[-1] and int(short[1:-1]) == len(long) - 2
    if not short.isalpha() or len(short) > 5 or len(long) < 5:
        return False
    if long.startswith(short):
        return len(short) >= 3 and len(long) >= len(short) + 3
    rest = iter(long)
    return all(letter in rest for letter in short) and not set(short[1:]) & set("aeiou") and len(short) <= 4


def neighbours(folder: Path) -> dict[str, set[str]]:
    """The stems of words that the teacher (`static.py teach`) finds alike."""
    vocabulary = (folder / "words.txt").read_text(encoding="utf8").splitlines()[:MOST]
    vectors = np.load(folder / "words.npy")[:MOST]
    vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    found: dict[str, set[str]] = defaultdict(set)
    stemmed = stems(vocabulary)
    for start in range(0, len(vectors), 512):
        for row, column in zip(*np.nonzero(vectors[start : start + 512] @ vectors.T >= ALIKE), strict=True):
            found[stemmed[start + row]].add(stemmed[column])
    return found


def abbreviations(pairs: list[dict], lemmas: set[str]) -> dict[tuple[str, str], float]:
    """Short words and the long ones that stand beside them in the same tools, clearly more often than by chance."""
    count, both = Counter[str](), Counter[tuple[str, str]]()
    for pair in pairs:
        found = telling(f"{pair['query']} {pair['tool']}")
        count.update(found)
        short = [word for word in found if len(word) <= 6]
        long = [word for word in found if word.isalpha()]
        both.update((a, b) for a in short for b in long if shortens(a, b) and (b in lemmas or a[1:-1].isdigit()))
    kept: dict[tuple[str, str], float] = {}
    for (a, b), times in both.items():
        lift = times * len(pairs) / (count[a] * count[b])
        stem_a, stem_b = stems((a, b))
        common = times >= 8 and times >= 0.3 * count[a] if len(a) == 2 else times >= 3 and times >= 0.03 * count[a]
        if stem_a != stem_b and common and lift >= 2 * LIFT:
            kept[stem_a, stem_b] = kept[stem_b, stem_a] = HEAVIEST
    return kept


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    for option in ("--pairs", "--wordnet", "--words", "--out"):
        parser.add_argument(option, type=Path, required=True)
    options = parser.parse_args()
    related: dict[str, set[str]] = defaultdict(set)
    for found, *_ in wordnet(options.wordnet):
        single = stems(word for word in found if word.isalpha() and word.islower())
        for a in single:
            related[a].update(b for b in single if b != a)
    pairs = [json.loads(line) for line in options.pairs.read_text(encoding="utf8").splitlines()]
    lemmas = {word for found, *_ in wordnet(options.wordnet) for word in found}
    kept = abbreviations(pairs, lemmas)
    near = neighbours(options.words)
    asked, named, both = Counter[str](), Counter[str](), Counter[tuple[str, str]]()
    for pair in pairs:
        request = set(stems(telling(pair["query"])))
        name = set(stems(telling(re.split("[/:]", pair["id"])[-1])))
        asked.update(request)
        named.update(name)
        both.update((a, b) for a in request - name for b in name - request if b in related[a] or b in near[a])
    for (a, b), times in both.items():
        lift = times * len(pairs) / (asked[a] * named[b])
        if times >= LEAST and lift >= LIFT:
            weight = round(min(HEAVIEST, max(LIGHTEST, 0.1 + 0.05 * math.log2(lift))), 2)
            for pair in ((a, b), (b, a)):
                kept[pair] = max(kept.get(pair, 0.0), weight)
    lines = [f"{a}\t{b}\t{weight}" for (a, b), weight in sorted(kept.items())]
    options.out.write_text(
        "# term, its synonym or abbreviation, weight: training/synonyms.py\n" + "\n".join(lines) + "\n"
    )
    print(len(lines))


if __name__ == "__main__":
    main()
