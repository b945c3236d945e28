"""What is known of the candidates of one request: what the ranking weighs, and what tells how sure a search is.

The ranking weighs a few signals of every candidate; all of them are worked out for the candidates that are asked for.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pegboard.index import kernel
from pegboard.index.matches import Bits, Ints, Matches
from pegboard.index.postings import Floats

Groups = npt.NDArray[np.int32]
NEARLY = 0.6
"""A tool this nearly as near as the nearest, to a sentence encoder, is shown however far both are."""
LEAST_SHOWN = 0.17
"""A tool that is no nearer than this needs words of the request to be shown."""
LEAST_SHARE = 0.08
"""A tool that has a smaller share of the request's words, by rarity, has them by chance."""
LEAST_RELATIVE = 0.35
"""A tool that has a smaller share of what the best has is not among the best by words."""
OF_WORDS = (
    "words",
    "words / best",
    "words, share of the request",
    "words of the best need",
    "name covered",
    "name, share of the request",
    "parameters, share of the request",
    "description, share of the request",
    "namespace, share of the request",
    "namespace's words",
    "words known",
    "terms",
    "needs",
)
OF_MEANING = (
    "meaning",
    "meaning / best",
    "meaning, spread",
    "meaning of the best need",
    "best need / best",
    "namespace's meaning",
    "words and meaning",
    "known to the model",
)
"""The signals of each layer, after those of words."""
WEIGHED = ("words / best", "words of the best need", "name covered", "namespace's words")
"""Of those of words, what the ranking weighs; of each layer its meaning and its meaning for the best need follow."""
_OF_WORDS = len(WEIGHED)


class Meaning(NamedTuple):
    """What one layer says of the candidates.

    Parameters:
        whole: each one's cosine with the request.
        need: each one's greatest cosine with one need, or with the request.
        known: the share of the request's words that the model may know.
        least, most: of the cosines with the request.
    """

    whole: Floats
    need: Floats
    known: float
    least: float
    most: float

    @property
    def span(self) -> float:
        """From the least to the greatest cosine with the request."""
        return max(self.most - self.least, 1e-3)


class Signals(NamedTuple):
    """The signals of the candidates of one request; in all that follows a column is a candidate.

    Parameters:
        slots: the candidates.
        matches: what the request's terms hold.
        needs: how many needs the request has.
        words: the candidates' BM25F scores.
        best: the greatest of them.
        meanings: what each layer says of them.
        asked: the rarity of all terms, also of those that no tool holds.
        terms: how many terms the request has.
        table: the signals that the ranking weighs, a row each, in the order of `WEIGHED`, and others below them.
        wide: how many it weighs.
    """

    slots: Ints
    matches: Matches
    needs: int
    words: Floats
    best: float
    meanings: Sequence[Meaning]
    asked: float
    terms: int
    table: Floats
    wide: int

    @classmethod
    def of(
        cls,
        slots: Ints,
        matches: Matches,
        scores: Floats,
        cosines: Sequence[tuple[Floats, float]],
        *,
        needs: int,
        names: Bits,
        name_sizes: Floats,
        groups: Groups,
        asked: float,
        terms: int,
    ) -> "Signals":
        """Work out what the ranking weighs.

        Parameters:
            scores: of all tools, those of words first.
            cosines: of each layer, the candidates' cosines with the request and with each of its needs, and the share
                of the request's words that it may know.
            names: how many terms' worth of each tool's name the request holds.
            name_sizes: how many terms each tool's name has.
            groups: the numbers of the namespaces of all tools; a tool without one is a group of its own.
        """
        layers, count = len(cosines), len(slots)
        wide = _OF_WORDS + 2 * layers + (layers > 1)
        table = np.empty((wide + 1 + 2 * layers, count), np.float32)
        best, ends, near = 0.0, [(0.0, 0.0)] * layers, [near for near, _ in cosines]
        if count:
            size = scores.shape[1]
            best, ends = kernel.weighed(
                slots, count, scores, size, needs, names, name_sizes, groups, near, table
            )  # fmt: skip
        meanings = [
            Meaning(near[0], table[wide + 1 + 2 * n], known, *ends[n]) for n, (near, known) in enumerate(cosines)
        ]
        return cls(slots, matches, needs, table[wide], best, meanings, max(asked, 1e-6), terms, table, wide)

    @property
    def share(self) -> float:
        """How much of the request's words the best tool has, by rarity."""
        return self.best / self.asked

    @property
    def spans(self) -> list[float]:
        """Of each layer, from the least to the greatest meaning."""
        return [meaning.span for meaning in self.meanings]

    @property
    def compared(self) -> list[tuple[Floats, float]]:
        """The request's words, and each layer's meaning, of every candidate, each with what makes shares of them."""
        return [(self.words, 1 / self.asked), *[(meaning.whole, 1.0) for meaning in self.meanings]]

    def least(self) -> list[tuple[Floats, float]]:
        """What candidates should reach of the words or of a meaning: others share next to nothing with the request."""
        least = min(LEAST_SHARE * self.asked, LEAST_RELATIVE * max(self.best, 1e-6))
        rows = [(self.words, least), *[(meaning.need, LEAST_SHOWN) for meaning in self.meanings]]
        return rows + [(meaning.whole, NEARLY * meaning.most) for meaning in self.meanings[1:]]

    def told(self, place: int) -> list[float]:
        """All signals of one candidate, in the order of `OF_WORDS`, and then of `OF_MEANING` for each layer."""
        meanings = [(meaning.whole, meaning.most, meaning.known) for meaning in self.meanings]
        return kernel.told(
            self.matches.rows, self.slots.item(place), self.table, len(self.slots), self.wide, place, meanings,
            (self.asked, min(self.terms, 30) / 10, self.needs / 4),
        )  # fmt: skip
