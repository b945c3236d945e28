"""The search engine: words and meaning, ranked together, over tools that come and go."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pegboard.core import ToolName, ToolSpec
from pegboard.index import candidates, confidence, rank
from pegboard.index.ask import Request, read
from pegboard.index.candidates import NEARBY, Row
from pegboard.index.dense import Bytes, Embedder, Vectors, quantised
from pegboard.index.explain import hit
from pegboard.index.fields import passage
from pegboard.index.names import Names
from pegboard.index.postings import Floats, Mask, Postings
from pegboard.index.protocol import Found, Where
from pegboard.index.static import StaticEmbedder
from pegboard.index.vocabulary import Vocabulary
from pegboard.index.words import Entry, entry, rarity, rows_of, scores

NEXT = 20
"""So many names of hits beyond the limit are told."""
MANY = 200
"""So many tools at once are added in bulk."""
Ints = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Ranked:
    """The candidates of one request.

    Parameters:
        slots: which tools.
        rows: the request's terms among the shown tools.
        bits: the fields of each row's term in each candidate.
        signals: what is known of each.
        total: how many tools hold any of the request's words.
    """

    slots: Ints
    rows: Sequence[Row]
    bits: npt.NDArray[np.uint8]
    signals: Floats
    total: int


class ToolIndex:
    """An `Index` by words, and by meaning where it is given an embedder.

    Parameters:
        embedder: texts to vectors; None for words alone.
    """

    def __init__(self, embedder: Embedder | None = None) -> None:
        self._embedder = embedder
        self._specs: list[ToolSpec | None] = []
        self._slots: dict[ToolName, int] = {}
        self._postings = Postings()
        self._names = Names()
        table = embedder.rows if isinstance(embedder, StaticEmbedder) else {}
        self._vocabulary = Vocabulary(table)
        self._vectors = Vectors(embedder.dim if embedder else 1, ordered=bool(embedder and embedder.ordered))
        self._groups: dict[str, int] = {"": -1}
        self._group: Ints = np.zeros(0, np.intp)
        self._name_size: Floats = np.zeros(0, np.float32)
        self._masks: dict[Where | None, tuple[Mask | None, int]] = {}

    def __len__(self) -> int:
        return len(self._slots)

    # -- update --------------------------------------------------------------------------------

    def update(self, *, put: Iterable[ToolSpec] = (), remove: Iterable[ToolName] = ()) -> None:
        """Add or replace tools, and remove others, without a rebuild."""
        for name in remove:
            self._drop(name)
        specs = list({spec.name: spec for spec in put}.values())
        if specs:
            self._append(specs, [entry(spec) for spec in specs], self._embedded(specs))
        self._masks.clear()
        if self._postings.due or len(self._specs) > 2 * len(self._slots) + 100:
            self._merge()

    def _embedded(self, specs: Sequence[ToolSpec]) -> Bytes:
        if self._embedder is None:
            return np.zeros((len(specs), 1), np.int8)
        return quantised(self._embedder.embed_docs([passage(spec) for spec in specs]))

    def _append(self, specs: Sequence[ToolSpec], entries: Sequence[Entry], rows: Bytes) -> None:
        for spec in specs:
            self._drop(spec.name)
        first = len(self._specs)
        if len(specs) > MANY:
            self._postings.add_many(first, [found.terms for found in entries])
        else:
            for n, found in enumerate(entries):
                self._postings.add(first + n, found.terms)
        for spec, found in zip(specs, entries, strict=True):
            self._slots[spec.name] = len(self._specs)
            self._vocabulary.add(found.spelt)
            self._specs.append(spec)
            self._names.add(spec)
        groups = [self._groups.setdefault(spec.name.namespace, len(self._groups)) for spec in specs]
        self._group = np.append(self._group, np.array(groups, np.intp))
        sizes = np.array([found.name_size for found in entries], np.float32)
        self._name_size = np.append(self._name_size, sizes)
        self._vectors.append(rows)

    def _drop(self, name: ToolName) -> None:
        slot = self._slots.pop(name, None)
        if slot is not None and (spec := self._specs[slot]):
            self._names.remove(spec)
            self._specs[slot] = None

    def _merge(self) -> None:
        kept = np.array([slot for slot, spec in enumerate(self._specs) if spec is not None], np.intp)
        moved = np.full(len(self._specs), -1, np.int32)
        moved[kept] = np.arange(len(kept), dtype=np.int32)
        self._postings.merge(moved)
        if len(kept) < len(self._specs):
            self._specs = [self._specs[slot] for slot in kept.tolist()]
            self._slots = {spec.name: slot for slot, spec in enumerate(self._specs) if spec is not None}
            self._group, self._name_size = self._group[kept], self._name_size[kept]
            self._vectors.keep(kept)

    # -- search --------------------------------------------------------------------------------

    def search(self, query: str, *, limit: int = 8, where: Where | None = None) -> Found:
        """The tools that meet the request best."""
        shown, count = self._shown(where)
        request = read(query)
        named = self._named(query, shown)
        ranked = self.ranked(request, shown, count, [slot for group in named for slot in group])
        values = (self._ranker() or rank.plain)(ranked.signals)
        order = self._order(ranked.slots, values, named, limit + NEXT)
        sure = confidence.of(ranked.signals, values, order[:limit], named=len(named) > 0)
        bits = ranked.bits[:, order[:limit]].T.tolist()
        hits = [
            hit(self._spec(ranked.slots[at]), request, ranked.rows, fields, score=float(values[at]), confidence=chance)
            for at, fields, chance in zip(order[:limit], bits, sure.each, strict=True)
        ]
        unknown = self._unknown(request, ranked.rows)
        return Found(
            query=query,
            hits=tuple(hits),
            confidence=sure.any,
            next_names=tuple(self._spec(ranked.slots[at]).name for at in order[limit:]),
            unknown_terms=tuple(unknown),
            did_you_mean=tuple(self._vocabulary.suggestions(unknown, self._postings)) if unknown else (),
            total=max(ranked.total, len(hits)),
        )

    def _ranker(self) -> rank.Ranker | None:
        return rank.learned("static") if self._embedder else rank.learned("words")

    def _shown(self, where: Where | None) -> tuple[Mask | None, int]:
        """Which slots may be shown (None: all), and how many."""
        known = self._masks.get(where)
        if known is None:
            if where is None and len(self._slots) == len(self._specs):
                known = (None, len(self._slots))
            else:
                mask = np.array(
                    [spec is not None and (where is None or where.admits(spec)) for spec in self._specs], bool
                )
                known = (mask, int(np.count_nonzero(mask)))
            if len(self._masks) > 64:
                self._masks.clear()
            self._masks[where] = known
        return known

    def ranked(self, request: Request, shown: Mask | None, count: int, named: Sequence[int] = ()) -> Ranked:
        """The candidates for a request, the tools that it names among them, and their signals."""
        options = [self._vocabulary.options(term, self._postings) for term in request.terms]
        rows = rows_of(request.terms, options, self._postings, shown, count)
        size, needs = len(self._specs), len(request.needs)
        by_need = scores(rows, size, needs)
        total = by_need.sum(axis=0) if len(by_need) > 1 else by_need[0]
        chosen = np.zeros(size, np.bool_)
        chosen[list(named)] = True
        chosen[candidates.best(total, NEARBY)] = True
        for part in by_need if needs else ():
            chosen[candidates.best(part, NEARBY // needs)] = True
        whole, parts, known = self._asked(request)
        for part in (whole, *parts) if known else ():
            compared = self._vectors.compare(part)
            near = compared if shown is None else np.where(shown, compared, 0)
            chosen[candidates.best(near, NEARBY if part is whole else NEARBY // needs)] = True
        slots = np.flatnonzero(chosen)
        impacts, bits = candidates.table(rows, slots)
        signals = np.zeros((0, len(candidates.SIGNALS)), np.float32)
        if len(slots):
            meaning = self._vectors.cosines(whole, slots) if known else np.zeros(len(slots), np.float32)
            best = (
                np.max([meaning, *(self._vectors.cosines(part, slots) for part in parts)], axis=0) if parts else meaning
            )
            signals = candidates.signals(
                rows, impacts, bits,
                asked=self._rarity_of_all(request, rows, count), terms=len(request.terms), needs=needs,
                name_sizes=self._name_size[slots], groups=self._group[slots],
                meaning=meaning, meaning_of_needs=best, known=known,
            )  # fmt: skip
        return Ranked(slots, rows, bits, signals, int(np.count_nonzero(total)))

    def _rarity_of_all(self, request: Request, rows: Sequence[Row], count: int) -> float:
        """The rarity of all the request's terms; one that no tool holds is as rare as can be."""
        found: dict[int, float] = {}
        for row in rows:
            found[row.term] = max(found.get(row.term, 0.0), row.rarity)
        rarest = rarity(0, count)
        return sum(found.get(n, rarest * term.weight) for n, term in enumerate(request.terms))

    def _asked(self, request: Request) -> tuple[Bytes, list[Bytes], float]:
        """The vectors of the request and of its needs, and the share of its words that the embedder knows."""
        embedder = self._embedder
        if embedder is None or not request.terms:
            return np.zeros(self._vectors.dim, np.int8), [], 0.0
        if isinstance(embedder, StaticEmbedder):
            corrected = self._vocabulary.corrected(request.words, self._postings)
            known = self._vocabulary.known_share(request)
            whole = embedder.embed_words(corrected)
            parts = [embedder.embed_words(self._vocabulary.corrected(need, self._postings)) for need in request.needs]
        else:
            known = 1.0
            whole, parts = embedder.embed_query(request.text), []
        return quantised(whole), [quantised(part) for part in parts], known if whole.any() else 0.0

    def _spec(self, slot: int | np.intp) -> ToolSpec:
        spec = self._specs[slot]
        assert spec is not None
        return spec

    def _named(self, query: str, shown: Mask | None) -> list[list[int]]:
        """The slots of the tools that the request names, one list a name."""
        groups = [[self._slots[name] for name in names] for names in self._names.named(query)]
        return [found for group in groups if (found := [slot for slot in group if shown is None or shown[slot]])]

    def _order(self, slots: Ints, values: Floats, named: Sequence[Sequence[int]], limit: int) -> list[int]:
        """The candidates' places, best first: of each name its best tool, then its second best ..., then the rest."""
        most = min(len(values), limit)
        if most < len(values):
            least = np.partition(values, -most)[-most]
            places = np.flatnonzero(values >= least).tolist()
        else:
            places = list(range(len(values)))
        first: list[int] = []
        if named:
            at = {slot: place for place, slot in enumerate(slots.tolist())}
            groups = [self._sorted([at[slot] for slot in group], slots, values) for group in named]
            first = [group[n] for n in range(max(map(len, groups))) for group in groups if n < len(group)]
        return list(dict.fromkeys([*first, *self._sorted(places, slots, values)]))[:limit]

    def _sorted(self, places: Iterable[int], slots: Ints, values: Floats) -> list[int]:
        return sorted(places, key=lambda place: (-float(values[place]), str(self._spec(slots[place]).name)))

    def _unknown(self, request: Request, rows: Sequence[Row]) -> list[str]:
        known = {row.term for row in rows}
        return [term.word for n, term in enumerate(request.terms) if n not in known]
