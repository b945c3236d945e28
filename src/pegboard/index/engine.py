"""The search engine: words and meaning, ranked together, over tools that come and go."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pegboard.core import ToolName, ToolSpec
from pegboard.index import candidates, confidence, rank
from pegboard.index.ask import Request, read
from pegboard.index.candidates import NEARBY, Held, Matches, Meaning, Row
from pegboard.index.dense import Embedder
from pegboard.index.doing import OPPOSITE
from pegboard.index.explain import hit
from pegboard.index.layer import Asked, Layer
from pegboard.index.postings import Floats, Mask
from pegboard.index.protocol import Found, Prerequisite, Where
from pegboard.index.tools import Tools
from pegboard.index.vocabulary import Shown
from pegboard.index.words import rarity, rows_of

KNOWN = 0.5
"""A model that knows a smaller share of the request's words has no say in it."""
NEXT = 20
"""So many names of hits beyond the limit are told."""
Ints = npt.NDArray[np.intp]


KINDS = {"": "words", "pegboard-static": "static"}
"""The functions that tell how sure a search is, by the name of the first embedder without its version. A second one
finds more, but tells less well whether anything fits: it finds something near to everything."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """The candidates of one request.

    Parameters:
        slots: which tools.
        rows: the request's terms among the shown tools.
        held: which candidates hold which of the rows, in which fields.
        signals: what is known of each.
        total: how many tools hold any of the request's words.
        kind: which learned function tells how sure the search is; empty where there is none for these embedders.
    """

    slots: Ints
    rows: Sequence[Row]
    held: Held
    signals: Floats
    total: int
    kind: str


class ToolIndex:
    """An `Index` by words, and by meaning where it is given embedders.

    Parameters:
        embedders: texts to vectors, each a layer; none for words alone.
        rerank: scores the candidates anew, such as a model of your own; tools that a request names still come first.
    """

    def __init__(self, *embedders: Embedder, rerank: rank.Reranker | None = None) -> None:
        self.tools = Tools(embedders)
        self._rerank = rerank

    def __len__(self) -> int:
        return len(self.tools)

    def update(self, *, put: Iterable[ToolSpec] = (), remove: Iterable[ToolName] = ()) -> None:
        """Add or replace tools, and remove others, without a rebuild."""
        self.tools.update(put=put, remove=remove)

    def save(self, path: Path) -> None:
        """Write what the tools are found by, so that `load` need not read them anew."""
        self.tools.save(path)

    def load(self, path: Path, specs: Iterable[ToolSpec]) -> int:
        """Hold these tools and no others; those that `path` knows are not read anew. Returns how many it knew."""
        return self.tools.load(path, specs)

    @property
    def failures(self) -> list[str]:
        """Why embedders do not take part, where they failed; search goes on without them."""
        return [layer.failure for layer in self.tools.layers if layer.failure]

    @property
    def slow(self) -> bool:
        """Whether a model reads the tools in the background."""
        return any(layer.slow for layer in self.tools.layers)

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until slow embedders have read every tool; whether they have. Until then search does without them."""
        return all(layer.wait(seconds) for layer in self.tools.layers)

    def search(
        self, query: str, *, limit: int = 8, where: Where | None = None, with_prerequisites: bool = False
    ) -> Found:
        """The tools that meet the request best; `with_prerequisites` brings along what to call before them."""
        tools = self.tools
        shown, count = tools.shown(where)
        request = read(query)
        named = self._named(query, shown)
        ranked = self.ranked(request, shown, count, [slot for group in named for slot in group])
        bits = ranked.held.table(len(ranked.rows), len(ranked.slots))
        values = rank.fused(ranked.signals)
        if request.wants and len(values):
            values = values - np.float32(OPPOSITE) * (tools.doing[ranked.slots] == -request.wants)
        if self._rerank is not None and len(values):
            values = self._rerank(query, [tools.spec(slot) for slot in ranked.slots], ranked.signals, values)
        if tools.precedence:
            specs = [tools.spec(slot) for slot in ranked.slots]
            values = tools.precedence.applied(values, specs, ranked.rows, bits)
        telling = np.where(candidates.fillers(ranked.signals), -np.inf, values) if len(values) else values
        order = self._order(ranked.slots, telling, named, limit + NEXT)
        top = order[:limit]
        sure = confidence.of(ranked.kind, *self._calibrated(ranked, values), top, named=sum(map(len, named)))
        hits = [
            hit(tools.spec(ranked.slots[at]), request, ranked.rows, fields, score=score, confidence=chance)
            for at, fields, score, chance in zip(
                top, bits[:, top].T.tolist(), values[top].tolist(), sure.each, strict=True
            )
        ]
        unknown = self._unknown(request, ranked.rows)
        return Found(
            query=query,
            hits=tuple(hits),
            confidence=sure.any,
            next_names=tuple(tools.spec(ranked.slots[at]).name for at in order[limit:]),
            unknown_terms=tuple(unknown),
            did_you_mean=tuple(tools.vocabulary.suggestions(request.terms, Shown(tools.postings, shown))),
            total=max(ranked.total, len(hits)),
            prerequisites=self._before([found.name for found in hits], where) if with_prerequisites else (),
        )

    def _calibrated(self, ranked: Ranked, values: Floats) -> tuple[Floats, Floats]:
        """The signals that the confidence was learned from, and scores by them: words and the table, no other model."""
        width = len(candidates.OF_WORDS) + len(candidates.OF_MEANING)
        if ranked.signals.shape[1] <= width:
            return ranked.signals, values
        return (signals := ranked.signals[:, :width]), rank.fused(signals)

    def _before(self, names: Sequence[ToolName], where: Where | None) -> tuple[Prerequisite, ...]:
        graph = self.tools.graph(where)
        found = {needed.name: needed for name in names for needed in graph.before(name)}
        return tuple(needed for name, needed in found.items() if name not in names)

    def ranked(self, request: Request, shown: Mask | None, count: int, named: Sequence[int] = ()) -> Ranked:
        """The candidates for a request, the tools that it names among them, and their signals."""
        tools = self.tools
        known = Shown(tools.postings, shown)
        options = [tools.vocabulary.options(term, known) for term in request.terms]
        rows = rows_of(request.terms, options, tools.postings, shown, count)
        needs = len(request.needs)
        matches = Matches(rows, tools.size)
        by_need = matches.scores(needs)
        total = by_need.sum(axis=0) if len(by_need) > 1 else by_need[0]
        chosen = np.zeros(tools.size, np.bool_)
        chosen[list(named)] = True
        chosen[candidates.best(total, NEARBY)] = True
        for part in by_need if needs else ():
            chosen[candidates.best(part, NEARBY // needs)] = True
        layers = [layer for layer in tools.layers if layer.ready]
        read_by = [(layer, layer.asked(request, tools.vocabulary, known)) for layer in layers]
        views = [(layer, asked) for layer, asked in read_by if asked.known >= KNOWN]
        compared = [_nearest(layer, asked, shown, chosen) for layer, asked in views]
        slots = np.flatnonzero(chosen)
        held = matches.held(slots)
        signals = np.zeros((0, 0), np.float32)
        if len(slots):
            of_words = candidates.of_words(
                matches, held, by_need[:, slots],
                asked=self._rarity_of_all(request, rows, count), terms=len(request.terms), needs=needs,
                name_sizes=tools.name_size[slots],
            )  # fmt: skip
            by_layer = zip(views, compared, strict=True)
            meanings = [_meaning(layer, asked, near, slots) for (layer, asked), near in by_layer]
            blocks = [candidates.of_meaning(meaning, of_words[1]) for meaning in meanings]
            signals = candidates.together(of_words, blocks, tools.group[slots])
        kind = KINDS.get(next((layer.embedder.name.rsplit("-", 1)[0] for layer, _ in views), ""), "")
        kind = "words" if request.spaceless else kind
        return Ranked(slots, rows, held, signals, int(np.count_nonzero(total)), kind)

    def _rarity_of_all(self, request: Request, rows: Sequence[Row], count: int) -> float:
        """The rarity of all the request's terms; one that no tool holds is as rare as can be."""
        found: dict[int, float] = {}
        for row in rows:
            found[row.term] = max(found.get(row.term, 0.0), row.rarity)
        rarest = rarity(0, count)
        return sum(found.get(n, rarest * term.unheld) for n, term in enumerate(request.terms))

    def _named(self, query: str, shown: Mask | None) -> list[list[int]]:
        """The slots of the tools that the request names, one list a name."""
        groups = [[self.tools.slots[name] for name in names] for names in self.tools.names.named(query)]
        return [found for group in groups if (found := [slot for slot in group if shown is None or shown[slot]])]

    def _order(self, slots: Ints, values: Floats, named: Sequence[Sequence[int]], limit: int) -> list[int]:
        """The candidates' places, best first: of each name its best tool, then its second best ..., then the rest."""
        most = min(len(values), limit)
        least = np.partition(values, -most)[-most] if most else 0.0
        places = np.flatnonzero((values >= least) & np.isfinite(values)).tolist()
        first: list[int] = []
        if named:
            at = {slot: place for place, slot in enumerate(slots.tolist())}
            groups = [self._sorted([at[slot] for slot in group], slots, values) for group in named]
            first = [group[n] for n in range(max(map(len, groups))) for group in groups if n < len(group)]
        return list(dict.fromkeys([*first, *self._sorted(places, slots, values)]))[:limit]

    def _sorted(self, places: Iterable[int], slots: Ints, values: Floats) -> list[int]:
        """By value, then by name."""
        by_value: dict[float, list[int]] = {}
        for place in places:
            by_value.setdefault(float(values[place]), []).append(place)
        for tied in by_value.values():
            if len(tied) > 1:
                tied.sort(key=lambda place: str(self.tools.spec(slots[place]).name))
        return [place for value in sorted(by_value, reverse=True) for place in by_value[value]]

    def _unknown(self, request: Request, rows: Sequence[Row]) -> list[str]:
        known = {row.term for row in rows}
        return [term.word for n, term in enumerate(request.terms) if n not in known]


def _nearest(layer: Layer, asked: Asked, shown: Mask | None, chosen: Mask) -> Floats:
    """Mark the tools nearest to the request and to each of its needs; returns what each was compared to be."""
    compared = layer.vectors.compare(asked.vectors)
    parts = len(compared) - 1
    for n, near in enumerate(compared if shown is None else np.where(shown, compared, np.float32(0))):
        chosen[candidates.best(near, NEARBY // parts if n else NEARBY, candidates.LEAST)] = True
    return compared


def _meaning(layer: Layer, asked: Asked, compared: Floats, slots: Ints) -> Meaning:
    exact = compared[:, slots] if layer.vectors.exact else layer.vectors.cosines(asked.vectors, slots)
    return Meaning(exact[0], exact.max(axis=0) if len(exact) > 1 else exact[0], asked.known)
