"""Words of other languages in the word table's space: what lies near `weather` lies near its Chinese word too.

`data/foreign.npz` comes from `training/foreign.py`. A language's words are read when a text in it is first met, so that
English costs nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from pegboard.index.languages import CHINESE
from pegboard.index.shipped import shipped
from pegboard.index.text import is_spaceless, stems

Floats = npt.NDArray[np.float32]
TONGUES = ("german", "spanish", "french", "portuguese", "italian")
"""The languages that a text may turn out to be in by its words alone."""
SPACELESS = (CHINESE, "japanese", "korean")
LONGEST = 5
"""The longest word of a script without spaces, in characters."""
PIECE = 4
"""An unknown word is read as the known ones that it is made of, each of so many letters at least."""
JOINTS = ("", "s", "es", "n", "en", "e")
"""What may stand between the parts of a compound."""


@dataclass(frozen=True, slots=True)
class Tongue:
    """The words of one language.

    Parameters:
        name: of the language.
        rows: each word's stem, or a word of a script without spaces, and its row.
        table: the rows: the leading dimensions of the word table's space.
        scales: what each row is multiplied by.
    """

    name: str
    rows: Mapping[str, int]
    table: npt.NDArray[np.int8]
    scales: Floats

    def knows(self, found: Sequence[str]) -> int:
        """How many words of a text it has as they are."""
        return sum(map(self.rows.__contains__, stems(found, self.name)))

    def add(self, found: Sequence[str], total: Floats) -> int:
        """Add the vectors of a text's words, as `text.words` has them, to a vector; returns how many are known."""
        numbers = [row for row in self.numbers(found) if row is not None]
        if numbers:
            rows = self.table.take(numbers, axis=0).astype(np.float32)
            total[: self.table.shape[1]] += self.scales.take(numbers) @ rows
        return len(numbers)

    def numbers(self, found: Sequence[str]) -> Iterator[int | None]:
        """The row of each word, or of each part of an unknown one; None for what is unknown."""
        if self.name in SPACELESS:
            for run in runs(found):
                yield from self._parted(run)
        else:
            for word, stem in zip(found, stems(found, self.name), strict=True):
                row = self.rows.get(stem)
                yield from self._compound(word) if row is None and len(word) >= 2 * PIECE else (row,)

    def _parted(self, run: str) -> Iterator[int | None]:
        """A run of characters into words, the longest first."""
        at = 0
        while at < len(run):
            for size in range(min(LONGEST, len(run) - at), 0, -1):
                row = self.rows.get(run[at : at + size])
                if row is not None or size == 1:
                    yield row
                    at += size
                    break

    def _compound(self, word: str) -> Sequence[int | None]:
        """A word of two known parts; None where there are none."""
        for cut in range(len(word) - PIECE, PIECE - 1, -1):
            head, tail = self._part(word[:cut]), self._part(word[cut:])
            if tail is None:
                continue
            if head is None:
                head = next((row for joint in JOINTS[1:] if (row := self._joined(word[:cut], joint)) is not None), None)
            if head is not None:
                return head, tail
        return (None,)

    def _part(self, part: str) -> int | None:
        return self.rows.get(stems((part,), self.name)[0])

    def _joined(self, part: str, joint: str) -> int | None:
        bare = part.removesuffix(joint)
        return self._part(bare) if len(bare) >= PIECE and bare != part else None


def runs(found: Sequence[str]) -> Iterator[str]:
    """The runs of characters of a script without spaces that a text's words come from: its single characters."""
    run = ""
    for word in found:
        if len(word) == 1 and is_spaceless(word):
            run += word
        elif run:
            yield run
            run = ""
    if run:
        yield run


@cache
def tongue(language: str, table: str) -> Tongue | None:
    """The words of a language, or None where there are none.

    Parameters:
        language: its name.
        table: the name of the word table in whose space they are to be.
    """
    source = shipped("foreign.npz")
    if not source.is_file():
        return None
    with source.open("rb") as stream, np.load(stream) as data:
        if str(data["table"]) != table or f"{language}-words" not in data.files:
            return None
        vocabulary = bytes(data[f"{language}-words"]).decode().split("\n")
        rows, scales = data[f"{language}-table"], data[f"{language}-scales"].astype(np.float32)
    return Tongue(language, {word: n for n, word in enumerate(vocabulary)}, rows, scales)
