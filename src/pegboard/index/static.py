"""The static word table: an embedder that looks words up and adds them. No network, no runtime but numpy.

A text's vector is the sum of its words' rows; the rows' lengths say how much a word counts. The table is our own
(`training/static.py`); its model card is beside it.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from struct import unpack
from zipfile import ZIP_STORED, ZipFile

import numpy as np

from pegboard.index import kernel
from pegboard.index.ask import Request
from pegboard.index.dense import Bytes, Floats
from pegboard.index.foreign import SPACELESS, TONGUES, Tongue, tongue
from pegboard.index.languages import ENGLISH, language_of, written_in
from pegboard.index.lexicon import Ints, Lexicon
from pegboard.index.remembered import Remembered
from pegboard.index.shipped import shipped
from pegboard.index.text import stems, words

PIECE = 3
"""An unknown word is read as the known words that it consists of, of so many letters at least."""
LONGEST = 24
REMEMBERED = 20_000
"""So many words of requests are remembered with their rows."""
SPOKEN = 0.5
"""A text of which no language knows more than this share is in none."""
TOGETHER = 64
"""The rows of so many tools are taken at once."""
_ONE, PARAMETERS = np.float32(1), np.float32(0.25)
"""What a parameter's name counts beside a word of the tool's name or description."""


def rows_of(found: Sequence[str], rows: Mapping[str, int]) -> list[int]:
    """The rows of some words: of each itself, else of its stem, else of the known words that it consists of."""
    numbers: list[int] = []
    for word in found:
        row = rows.get(word)
        if row is not None:
            numbers.append(row)
        elif len(word) > PIECE and word.isalpha():
            numbers += _unknown(word, rows)
    return numbers


def _rows_in(rows: Mapping[str, int]) -> Mapping[str, tuple[int, ...]]:
    """The rows of each word of requests in a table."""

    def found(word: str) -> tuple[int, ...]:
        row = rows.get(word)
        return tuple(rows_of((word,), rows)) if row is None else (row,)

    return Remembered(found, REMEMBERED)


def _unknown(word: str, rows: Mapping[str, int]) -> list[int]:
    row = rows.get(stems((word,))[0])
    if row is not None:
        return [row]
    numbers: list[int] = []
    at = 0
    while at < len(word) - PIECE + 1:
        for stop in range(min(len(word), at + LONGEST), at + PIECE - 1, -1):
            row = rows.get(word[at:stop])
            if row is not None:
                numbers.append(row)
                at = stop
                break
        else:
            return []
    return numbers if at == len(word) else []


class StaticEmbedder:
    """Texts to the sums of their words' rows.

    Parameters:
        name: identifies the table.
        vocabulary: one word a row.
        table: the rows.
        scales: what each row is multiplied by.
    """

    english = True
    ordered = True

    def __init__(self, name: str, vocabulary: Sequence[str], table: Bytes, scales: Floats) -> None:
        self.name = name
        self.dim = int(table.shape[1])
        self.rows = dict(zip(vocabulary, range(len(vocabulary)), strict=True))
        self._table = table
        self._scales = scales
        self._known = _rows_in(self.rows)

    def embed_words(self, parts: Sequence[Sequence[str]], spoken: Tongue | None = None) -> Floats:
        """A vector for each part, the sum of its words' (which may be another language's), or zeros."""
        rows = self._known.__getitem__
        numbers = [list(map(rows, part)) for part in parts]
        found = np.empty((len(parts), self.dim), np.float32)
        kernel.summed(self._table, self._scales, numbers, found)
        if spoken:
            for part, row in zip(parts, found, strict=True):
                spoken.add(part, row)
        return found

    def tongue(self, language: str) -> Tongue | None:
        """The words of another language in this table's space, where there are any."""
        return tongue(language, self.name)

    def spoken(self, found: Sequence[str], language: str) -> Tongue | None:
        """Whose words a text's words are: its language's, or where English knows too few of them, who knows most."""
        own = self.tongue(language)
        if language in SPACELESS:
            return own
        known = sum(map(self.rows.__contains__, found))
        if language != ENGLISH:
            return own if own and own.knows(found) >= known else None
        return self._told_by_words(found) if 2 * known < len(found) else None

    def _told_by_words(self, found: Sequence[str]) -> Tongue | None:
        best, most = None, max(2.0, len(found) * SPOKEN)
        for spoken in filter(None, map(self.tongue, TONGUES)):
            if (known := spoken.knows(found)) > most:
                best, most = spoken, known
        return best

    def asked(self, request: Request) -> tuple[Tongue | None, float]:
        """In whose words a request is, where not in English ones, and the share of its telling words that are known."""
        found = request.words if request.spaceless else [term.word for term in request.terms if not term.word.isdigit()]
        spoken = self.spoken(found, request.language)
        if spoken is None:
            return None, 0.0
        numbers = [row is not None for row in spoken.numbers(found)]
        return spoken, sum(numbers) / len(numbers) if numbers else 0.0

    def embed_docs(self, texts: Sequence[str]) -> Floats:
        """One row a text."""
        return self.embed_gists([(text, "") for text in texts])

    def embed_gists(self, gists: Sequence[tuple[str, str]], lexicon: Lexicon | None = None) -> Floats:
        """One row a tool, of what it is and of its parameters, which count less: many are the same everywhere.

        Parameters:
            gists: what the tools are, and the names of their parameters.
            lexicon: of this reading; without it they are read one by one, which is faster for a few.
        """
        if lexicon is None:
            return self._embed_few(gists)
        rows = lexicon.translation(self, lambda found: [rows_of((word,), self.rows) for word in found])
        said, tool = lexicon.read([head for head, _ in gists])
        named, of_tool = lexicon.read([parameters for _, parameters in gists])
        (counts, told), (more, added) = rows.of(said), rows.of(named)
        numbers = np.append(told, added)
        scales = self._scales.take(numbers)
        scales[len(told) :] *= PARAMETERS
        place = np.append(tool.repeat(counts), of_tool.repeat(more))
        order = place.argsort(kind="stable")
        stops = [0, *np.bincount(place, minlength=len(gists)).cumsum().tolist()]
        found = self._added(numbers.take(order), scales.take(order), stops)
        self._add_spoken([head for head, _ in gists], said, tool, lexicon, found)
        return found

    def _embed_few(self, gists: Sequence[tuple[str, str]]) -> Floats:
        heads = [words(head) for head, _ in gists]
        numbers: list[int] = []
        weights: list[np.float32] = []
        stops = [0]
        for said, (_, parameters) in zip(heads, gists, strict=True):
            numbers += rows_of(said, self.rows)
            weights += [_ONE] * (len(numbers) - stops[-1])
            numbers += rows_of(words(parameters), self.rows)
            stops.append(len(numbers))
            weights += [PARAMETERS] * (len(numbers) - len(weights))
        taken = np.array(numbers, np.intp)
        found = self._added(taken, self._scales.take(taken) * np.array(weights, np.float32), stops)
        for (head, _), said, row in zip(gists, heads, found, strict=True):
            if spoken := self.spoken(said, written_in(head) or language_of(said)):
                spoken.add(said, row)
        return found

    def _added(self, numbers: Ints, scales: Floats, stops: Sequence[int]) -> Floats:
        """The sums of rows from each stop to the next."""
        found = np.zeros((len(stops) - 1, self.dim), np.float32)
        for first in range(0, len(found), TOGETHER):
            some = stops[first : first + TOGETHER + 1]
            rows = self._table.take(numbers[some[0] : some[-1]], axis=0).astype(np.float32)
            for row, start, stop in zip(found[first:], some, some[1:], strict=False):
                if stop > start:
                    np.matmul(scales[start:stop], rows[start - some[0] : stop - some[0]], out=row)
        return found

    def _add_spoken(self, heads: Sequence[str], said: Ints, tool: Ints, lexicon: Lexicon, found: Floats) -> None:
        """Add the words of other languages to the rows of tools that are told in them."""
        ours = lexicon.translation((self, "ours"), lambda found: [(1,) if word in self.rows else () for word in found])
        known = np.bincount(tool[ours.counts(said) > 0], minlength=len(heads))
        unknown = (2 * known < np.bincount(tool, minlength=len(heads))).nonzero()[0].tolist()
        told = lexicon.languages(said, tool)
        odd = [n for n, head in enumerate(heads) if not head.isascii()]
        for n in sorted({*unknown, *told, *odd}):
            start, stop = tool.searchsorted([n, n + 1])
            words = lexicon.listed(said[start:stop])
            if spoken := self.spoken(words, written_in(heads[n]) or told.get(n, ENGLISH)):
                spoken.add(words, found[n])

    def embed_query(self, text: str) -> Floats:
        """The vector of a request."""
        return self.embed_words([words(text)])[0]


def read_table(path: Path) -> StaticEmbedder:
    """A table as `training/static.py pack` writes it; its rows are read from the file as they are looked at."""
    with np.load(path) as data:
        scales: Floats = data["scales"].astype(np.float32)
        vocabulary = bytes(data["words"]).decode().split("\n")
        return StaticEmbedder(str(data["name"]), vocabulary, _mapped(path, "table.npy"), scales)


def _mapped(path: Path, name: str) -> Bytes:
    """An array that stands in a `.npz` file as it is."""
    with ZipFile(path) as archive, archive.open(name) as stream:
        if archive.getinfo(name).compress_type != ZIP_STORED:
            raise ValueError(f"{path.name}: {name} is compressed; pack the table with `np.savez`")
        np.lib.format.read_magic(stream)
        shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
        start = archive.getinfo(name).header_offset
        ahead = stream.tell()
    with path.open("rb") as file:
        file.seek(start + _LENGTHS)
        ahead += _AHEAD + sum(unpack("<HH", file.read(4)))
    return np.asarray(np.memmap(path, dtype, "r", start + ahead, shape))


_LENGTHS, _AHEAD = 26, 30
"""Where an entry of a zip file says how long its name and its extra field are, and how much stands before them."""


@cache
def bundled() -> StaticEmbedder | None:
    """The table of this package."""
    source = shipped("static.npz")
    return read_table(source) if source.is_file() else None
