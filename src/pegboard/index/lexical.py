"""BM25F: words, weighed by the field that they stand in and by their rarity (Robertson, Zaragoza and Taylor 2004)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import log

import numpy as np

from pegboard.core import ToolName, ToolSpec
from pegboard.index.fields import Field, texts
from pegboard.index.names import Names
from pegboard.index.postings import Floats, Ints, Mask, Posting, Postings
from pegboard.index.protocol import Found, Hit, Where
from pegboard.index.text import is_spaceless, stems, terms, words

K1 = 1.2
TERMS = 256
"""So many of a request's terms count, the rarest ones."""
NEXT = 20
"""So many names of hits beyond the limit are told."""


@dataclass(frozen=True, slots=True)
class Weight:
    """How one field counts.

    Parameters:
        weight: of one occurrence.
        b: how much a long text counts less, from 0 to 1.
        length: the usual number of terms. It is a constant, so that no tool's score depends on another's text.
    """

    weight: float
    b: float
    length: float


WEIGHTS = {
    Field.NAME: Weight(3.0, 0.3, 3),
    Field.TITLE: Weight(1.5, 0.3, 3),
    Field.NAMESPACE: Weight(1.0, 0.3, 2),
    Field.DESCRIPTION: Weight(1.5, 0.75, 16),
    Field.PARAMETERS: Weight(0.7, 0.75, 5),
    Field.PARAMETER_TEXT: Weight(0.4, 0.75, 25),
    Field.VALUES: Weight(0.3, 0.75, 8),
    Field.EXAMPLES: Weight(0.3, 0.75, 8),
}


def entry(spec: ToolSpec) -> dict[str, tuple[float, int]]:
    """A tool's terms, each with its impact (from 0 to 1, before rarity) and the bits of its fields."""
    counts: dict[Field, dict[str, int]] = {}
    for field, text in texts(spec):
        found = stems(words(text)) if field is Field.NAME else terms(text)
        row = counts.setdefault(field, {})
        for term in found:
            row[term] = row.get(term, 0) + 1
    sums: dict[str, tuple[float, int]] = {}
    for field, row in counts.items():
        rule = WEIGHTS[field]
        scale = rule.weight / (1 - rule.b + rule.b * max(1.0, sum(row.values()) / rule.length))
        for term, count in row.items():
            weight, bits = sums.get(term, (0.0, 0))
            sums[term] = (weight + scale * count, bits | 1 << field)
    return {term: (weight / (K1 + weight), bits) for term, (weight, bits) in sums.items()}


class LexicalIndex:
    """An `Index` by words alone. Tools are added, changed and removed without a rebuild."""

    def __init__(self) -> None:
        self._specs: list[ToolSpec | None] = []
        self._slots: dict[ToolName, int] = {}
        self._postings = Postings()
        self._names = Names()

    def __len__(self) -> int:
        return len(self._slots)

    def update(self, *, put: Iterable[ToolSpec] = (), remove: Iterable[ToolName] = ()) -> None:
        """Add or replace tools, and remove others, without a rebuild."""
        for name in remove:
            self._drop(name)
        for spec in put:
            self._drop(spec.name)
            self._slots[spec.name] = len(self._specs)
            self._postings.add(len(self._specs), entry(spec))
            self._specs.append(spec)
            self._names.add(spec)
        if self._postings.due or len(self._specs) > 2 * len(self._slots) + 100:
            self._merge()

    def _drop(self, name: ToolName) -> None:
        slot = self._slots.pop(name, None)
        if slot is not None and (spec := self._specs[slot]):
            self._names.remove(spec)
            self._specs[slot] = None

    def _merge(self) -> None:
        kept = [slot for slot, spec in enumerate(self._specs) if spec is not None]
        moved = np.full(len(self._specs), -1, np.int32)
        moved[kept] = np.arange(len(kept), dtype=np.int32)
        self._postings.merge(moved)
        self._specs = [self._specs[slot] for slot in kept]
        self._slots = {spec.name: slot for slot, spec in enumerate(self._specs) if spec is not None}

    def search(self, query: str, *, limit: int = 8, where: Where | None = None) -> Found:
        """The tools that meet the request best."""
        shown = np.array([spec is not None and (where is None or where.admits(spec)) for spec in self._specs], np.bool_)
        asked = list(dict.fromkeys(terms(query) or stems(words(query))))
        rows = self._rows(asked, shown)
        scores = np.zeros(len(self._specs), np.float32)
        for _, row, rarity in rows:
            scores[row.slots] += np.float32(rarity) * row.impacts
        scores[~shown] = 0
        order = self._order(scores, self._pinned(query, shown, scores), limit + NEXT)
        best = sum(rarity for *_, rarity in rows) + 1e-9
        hits = [self._hit(slot, scores, rows, asked, best) for slot in order[:limit]]
        missing = set(asked) - {term for term, *_ in rows}
        return Found(
            query=query,
            hits=tuple(hits),
            confidence=hits[0].confidence if hits else 0.0,
            next_names=tuple(self._spec(slot).name for slot in order[limit:]),
            unknown_terms=tuple(term for term in asked if term in missing),
            total=int(np.count_nonzero(scores)),
        )

    def _spec(self, slot: int) -> ToolSpec:
        spec = self._specs[slot]
        assert spec is not None
        return spec

    def _rows(self, asked: Sequence[str], shown: Mask) -> list[tuple[str, Posting, float]]:
        """The postings of the request's terms among the shown tools, each with the term's rarity."""
        count = int(np.count_nonzero(shown))
        rows: list[tuple[str, Posting, float]] = []
        for term in asked:
            row = self._postings.get(term)
            seen = shown[row.slots] if row else np.zeros(0, np.bool_)
            found = int(np.count_nonzero(seen))
            if row and found:
                rarity = log(1 + (count - found + 0.5) / (found + 0.5)) * (
                    0.3 if is_spaceless(term) and len(term) == 1 else 1
                )
                rows.append((term, Posting(row.slots[seen], row.impacts[seen], row.fields[seen]), rarity))
        if len(rows) > TERMS:
            least = sorted((rarity for *_, rarity in rows), reverse=True)[TERMS - 1]
            rows = [row for row in rows if row[2] >= least][:TERMS]
        return rows

    def _pinned(self, query: str, shown: Mask, scores: Floats) -> list[int]:
        """The slots of the tools that the request names: the best of each name first, then the second best ..."""
        groups = [self._best_first(names, shown, scores) for names in self._names.named(query)]
        deepest = max(map(len, groups), default=0)
        return list(dict.fromkeys(group[n] for n in range(deepest) for group in groups if n < len(group)))

    def _best_first(self, names: Iterable[ToolName], shown: Mask, scores: Floats) -> list[int]:
        slots = [slot for name in names if shown[slot := self._slots[name]]]
        return sorted(slots, key=lambda slot: (-float(scores[slot]), str(self._spec(slot).name)))

    def _order(self, scores: Floats, pinned: list[int], limit: int) -> list[int]:
        found: Ints = np.flatnonzero(scores).astype(np.int32)
        if len(found) > limit + len(pinned):
            least = np.partition(scores[found], -(limit + len(pinned)))[-(limit + len(pinned))]
            found = found[scores[found] >= least]
        best = sorted(found.tolist(), key=lambda slot: (-scores[slot], str(self._spec(slot).name)))
        return list(dict.fromkeys([*pinned, *best]))[:limit]

    def _hit(
        self, slot: int, scores: Floats, rows: list[tuple[str, Posting, float]], asked: list[str], best: float
    ) -> Hit:
        spec = self._spec(slot)
        matched: dict[str, tuple[str, ...]] = {}
        known: set[str] = set()
        for term, row, _ in rows:
            at = int(np.searchsorted(row.slots, slot))
            if at < len(row.slots) and row.slots[at] == slot:
                known.add(term)
                for field in Field:
                    if row.fields[at] >> field & 1:
                        matched[field.label] = (*matched.get(field.label, ()), term)
        return Hit(
            name=spec.name,
            spec=spec,
            score=float(scores[slot]),
            confidence=round(min(1.0, float(scores[slot]) / best), 4),
            matched=matched,
            unmatched=tuple(term for term in asked if term not in known),
        )
