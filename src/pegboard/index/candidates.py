"""What is known of the candidates of one request: what the ranking weighs, and what tells how sure a search is.

The ranking weighs a few signals of every candidate; all of them are worked out for the candidates that are asked for.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
import numpy.typing as npt

from pegboard.index.fields import Field
from pegboard.index.matches import Bits, Ints, Matches
from pegboard.index.postings import Floats, Mask

Groups = npt.NDArray[np.int32]
NEARLY = 0.6
"""A tool this nearly as near as the nearest, to a sentence encoder, is shown however far both are."""
LEAST_SHOWN = 0.2
"""A tool that is no nearer than this needs words of the request to be shown."""
LEAST_SHARE = 0.08
"""A tool that has a smaller share of the request's words, by rarity, has them by chance."""
LEAST_RELATIVE = 0.35
"""A tool that has a smaller share of what the best has is not among the best by words."""
GIVERS = 200
"""So many candidates at most, the best ones, tell something for the others of their namespaces."""
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
_TOLD = (Field.NAME, Field.PARAMETERS, Field.DESCRIPTION, Field.NAMESPACE)
_IN_FIELD = np.array([[bits >> field & 1 for bits in range(256)] for field in _TOLD], np.float32)


@dataclass(frozen=True, slots=True)
class Meaning:
    """What one layer says of the candidates.

    Parameters:
        whole: each one's cosine with the request.
        need: each one's greatest cosine with one need, or with the request.
        known: the share of the request's words that the model may know.
    """

    whole: Floats
    need: Floats
    known: float

    @property
    def relative(self) -> Floats:
        """Each one's cosine with the request, as a share of the greatest."""
        return self.whole * _part(self.whole, 1e-3)


@dataclass(frozen=True, slots=True)
class Signals:
    """The signals of the candidates of one request; in all that follows a column is a candidate.

    Parameters:
        slots: the candidates.
        matches: what the request's terms hold.
        scores: the candidates' BM25F scores, and those by each need, where there are several.
        meanings: what each layer says of them.
        groups: the numbers of their namespaces.
        share: what makes a score a share of what the request's terms are worth, those that no tool holds included.
        terms: how many terms the request has.
        weighed: the signals that the ranking weighs, a row each, in the order of `WEIGHED`.
    """

    slots: Ints
    matches: Matches
    scores: Floats
    meanings: Sequence[Meaning]
    groups: Groups
    share: np.float32
    terms: int
    weighed: Floats

    @classmethod
    def of(
        cls,
        slots: Ints,
        matches: Matches,
        scores: Floats,
        meanings: Sequence[Meaning],
        *,
        groups: Groups,
        name_sizes: Floats,
        asked: float,
        terms: int,
    ) -> "Signals":
        """Work out what the ranking weighs.

        Parameters:
            name_sizes: of each candidate, how many terms its name has.
            asked: the rarity of all terms, also of those that no tool holds.
        """
        rows = np.empty((len(WEIGHED) + 2 * len(meanings) + (len(meanings) > 1), len(slots)), np.float32)
        if len(slots):
            words = np.multiply(scores[0], _part(scores[0]), out=rows[0])
            rows[1] = _of_best(scores[1:]) if len(scores) > 1 else words
            np.minimum(matches.names(slots) / name_sizes, np.float32(1), out=rows[2])
            rows[3] = beside(words, groups, np.arange(len(slots)))
            for n, meaning in enumerate(meanings):
                rows[4 + 2 * n] = meaning.whole
                np.multiply(meaning.need, _part(meaning.need, 1e-3), out=rows[5 + 2 * n])
            if len(meanings) > 1:
                rows[-1] = beside(meanings[-1].relative, groups, np.arange(len(slots)))
        return cls(slots, matches, scores, meanings, groups, np.float32(1 / max(asked, 1e-6)), terms, rows)

    @property
    def compared(self) -> Floats:
        """The share of the request's words, and each layer's meaning, of every candidate; a row each."""
        return np.array([self.scores[0] * self.share, *[meaning.whole for meaning in self.meanings]])

    def fillers(self) -> Mask:
        """Which candidates share next to nothing with the request, in words or in meaning; not all of them ever."""
        found = (self.scores[0] * self.share < LEAST_SHARE) & (self.weighed[0] < LEAST_RELATIVE)
        for meaning in self.meanings:
            found &= meaning.need < LEAST_SHOWN
        for meaning in self.meanings[1:]:
            found &= meaning.whole < NEARLY * np.maximum.reduce(meaning.whole, initial=0)
        return found if not found.all() else np.zeros_like(found)

    def told(self, places: Ints, bits: Bits) -> Floats:
        """All signals of some candidates: a row a signal, in the order of `OF_WORDS` and `OF_MEANING`.

        Parameters:
            places: which candidates.
            bits: the fields of each row's term in each of them, a row a row.
        """
        words, rarity = len(OF_WORDS), self.matches.rarity
        weighed, scores = self.weighed.take(places, axis=1), self.scores[0].take(places)
        found = np.empty((words + len(OF_MEANING) * len(self.meanings), len(places)), np.float32)
        found[0] = scores * np.float32(0.1)
        found[1] = weighed[0]
        found[2] = scores * self.share
        found[3:5] = weighed[1:3]
        found[5:9] = (rarity * self.share) @ _IN_FIELD.take(bits, axis=1)
        found[9] = weighed[3]
        found[10] = np.add.reduce(rarity) * self.share
        found[11] = min(self.terms, 30) / 10
        found[12] = (len(self.scores) - 1) / 4
        for n, meaning in enumerate(self.meanings):
            relative = meaning.relative
            rows = found[words + n * len(OF_MEANING) :]
            rows[0] = meaning.whole.take(places)
            rows[1] = relative.take(places)
            rows[2] = _spread(meaning.whole).take(places)
            rows[3] = meaning.need.take(places)
            rows[4] = weighed[5 + 2 * n]
            rows[5] = beside(relative, self.groups, places)
            rows[6] = weighed[0] * rows[1]
            rows[7] = meaning.known
        return found


def _part(values: Floats, least: float = 1e-6) -> np.float32:
    """What makes values shares of the greatest."""
    return np.float32(1 / max(float(np.maximum.reduce(values)), least))


def _of_best(by_need: Floats) -> Floats:
    """Of each candidate, its share in the best of the need that it meets best."""
    best = np.maximum(np.maximum.reduce(by_need, axis=1), np.float32(1e-6))
    return np.maximum.reduce(by_need / best[:, None], axis=0)


def _spread(meaning: Floats) -> Floats:
    centred = meaning - np.add.reduce(meaning) / np.float32(len(meaning))
    return centred * np.float32(1 / max(sqrt(float(centred @ centred) / len(centred)), 1e-3))


def beside(values: Floats, groups: Groups, places: Ints) -> Floats:
    """Of some candidates, the best value of another candidate of their namespace; zero where there is none.

    Parameters:
        values: of every candidate; what is below zero counts as zero.
        groups: of every candidate, the number of its namespace; one of its own where it has none.
        places: which candidates.
    """
    givers = values.nonzero()[0]
    if len(givers) > GIVERS:
        givers = values.argsort(kind="stable")[-GIVERS:]
    given = groups.take(givers)[:, None] == groups.take(places)
    given &= givers[:, None] != places
    return np.maximum.reduce(given * values.take(givers)[:, None], axis=0, initial=0)
