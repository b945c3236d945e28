"""What is known of the candidates of one request: what the ranking weighs, and what tells how sure a search is.

The ranking weighs a few signals of every candidate; all of them are worked out for the candidates that are asked for.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
import numpy.typing as npt

from pegboard.index.fields import Field
from pegboard.index.matches import Ints, Matches
from pegboard.index.postings import Floats

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
_IN_FIELD = (Field.NAME, Field.PARAMETERS, Field.DESCRIPTION, Field.NAMESPACE)


@dataclass(frozen=True, slots=True)
class Meaning:
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
    least: np.float32
    most: float

    @classmethod
    def of(cls, cosines: Floats, known: float) -> "Meaning":
        """From the candidates' cosines: of the request, then of each of its needs."""
        whole = cosines[0]
        need = np.maximum.reduce(cosines, axis=0) if len(cosines) > 1 else whole
        return cls(whole, need, known, np.minimum.reduce(whole), float(np.maximum.reduce(whole)))

    @property
    def part(self) -> np.float32:
        """What makes cosines with the request shares of the greatest."""
        return np.float32(1 / max(self.most, 1e-3))

    @property
    def span(self) -> float:
        """From the least to the greatest cosine with the request."""
        return max(self.most - float(self.least), 1e-3)

    def spread(self, place: int) -> float:
        """By how many standard deviations one candidate is nearer than all are in the mean."""
        centred = self.whole - np.add.reduce(self.whole) / np.float32(len(self.whole))
        return float(centred[place]) / max(sqrt(float(centred @ centred) / len(centred)), 1e-3)


@dataclass(frozen=True, slots=True)
class Signals:
    """The signals of the candidates of one request; in all that follows a column is a candidate.

    Parameters:
        slots: the candidates.
        matches: what the request's terms hold.
        scores: the candidates' BM25F scores, and those by each need, where there are several.
        meanings: what each layer says of them.
        groups: the numbers of their namespaces.
        asked: the rarity of all terms, also of those that no tool holds.
        terms: how many terms the request has.
        weighed: the signals that the ranking weighs, a row each, in the order of `WEIGHED`.
    """

    slots: Ints
    matches: Matches
    scores: Floats
    meanings: Sequence[Meaning]
    groups: Groups
    asked: float
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
        """
        rows = np.empty((len(WEIGHED) + 2 * len(meanings) + (len(meanings) > 1), len(slots)), np.float32)
        if len(slots):
            words = np.multiply(scores[0], _part(scores[0]), out=rows[0])
            rows[1] = _of_best(scores[1:]) if len(scores) > 1 else words
            np.minimum(matches.names(slots) / name_sizes, np.float32(1), out=rows[2])
            rows[3] = beside(words, groups)
            for n, meaning in enumerate(meanings, len(WEIGHED) // 2):
                np.subtract(meaning.whole, meaning.least, out=rows[2 * n])
                np.multiply(meaning.need, _part(meaning.need, 1e-3), out=rows[2 * n + 1])
            if len(meanings) > 1:
                rows[-1] = beside(meanings[-1].whole * meanings[-1].part, groups)
        return cls(slots, matches, scores, meanings, groups, max(asked, 1e-6), terms, rows)

    @property
    def spans(self) -> list[float]:
        """Of each layer, from the least to the greatest meaning."""
        return [meaning.span for meaning in self.meanings]

    @property
    def compared(self) -> Floats:
        """The share of the request's words, and each layer's meaning, of every candidate; a row each."""
        return np.array([self.scores[0] * np.float32(1 / self.asked), *[meaning.whole for meaning in self.meanings]])

    def fillers(self) -> list[bool]:
        """Which candidates share next to nothing with the request, in words or in meaning."""
        words = self.scores[0]
        best = max(float(np.maximum.reduce(words)), 1e-6)
        found = words < np.float32(min(LEAST_SHARE * self.asked, LEAST_RELATIVE * best))
        for meaning in self.meanings:
            found &= meaning.need < LEAST_SHOWN
        for meaning in self.meanings[1:]:
            found &= meaning.whole < NEARLY * meaning.most
        return found.tolist()

    def told(self, place: int) -> list[float]:
        """All signals of one candidate, in the order of `OF_WORDS`, and then of `OF_MEANING` for each layer."""
        rarity, words = self.matches.rarity, float(self.scores[0, place])
        relative, need, covered, others, *weighed = self.weighed[:, place].tolist()
        held = self.matches.of(int(self.slots[place]))
        fields = [sum([rarity[row] for row, bits in held if bits >> field & 1]) / self.asked for field in _IN_FIELD]
        found = [words * 0.1, relative, words / self.asked, need, covered, *fields, others]
        found += [sum(rarity) / self.asked, min(self.terms, 30) / 10, (len(self.scores) - 1) / 4]
        for meaning, best in zip(self.meanings, weighed[1::2], strict=False):
            whole, part = float(meaning.whole[place]), float(meaning.part)
            found += [whole, whole * part, meaning.spread(place), float(meaning.need[place]), best]
            found += [self._beside(meaning.whole, place) * part, relative * whole * part, meaning.known]
        return found

    def _beside(self, values: Floats, place: int) -> float:
        """The best value of another candidate of one's namespace, or zero."""
        others = (self.groups == self.groups[place]).nonzero()[0].tolist()
        return max([0.0, *[float(values[other]) for other in others if other != place]])


def _part(values: Floats, least: float = 1e-6) -> np.float32:
    """What makes values shares of the greatest."""
    return np.float32(1 / max(float(np.maximum.reduce(values)), least))


def _of_best(by_need: Floats) -> Floats:
    """Of each candidate, its share in the best of the need that it meets best."""
    best = np.maximum(np.maximum.reduce(by_need, axis=1), np.float32(1e-6))
    return np.maximum.reduce(by_need / best[:, None], axis=0)


def beside(values: Floats, groups: Groups) -> Floats:
    """Of each candidate, the best value of another candidate of its namespace; zero where there is none.

    Parameters:
        values: what is below zero counts as zero.
        groups: the numbers of the namespaces; a tool without one is a group of its own.
    """
    givers = values.nonzero()[0]
    if len(givers) > GIVERS:
        givers = values.argsort(kind="stable")[-GIVERS:]
    given = groups.take(givers)[:, None] == groups
    given[np.arange(len(givers)), givers] = False
    return np.maximum.reduce(given * values.take(givers)[:, None], axis=0, initial=0)
