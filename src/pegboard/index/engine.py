"""The search engine: words and meaning, ranked together, over tools that come and go."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from pegboard.core import ToolName, ToolSpec
from pegboard.index import confidence, rank
from pegboard.index.ask import Request, read
from pegboard.index.candidates import OF_MEANING, OF_WORDS, Signals
from pegboard.index.confidence import Background, Seen
from pegboard.index.dense import Embedder
from pegboard.index.explain import Reasons
from pegboard.index.layer import Asked, Layer
from pegboard.index.matches import Ints, Matches
from pegboard.index.nearest import chosen
from pegboard.index.order import Order
from pegboard.index.postings import Floats, Mask
from pegboard.index.prior import Priors
from pegboard.index.protocol import Found, Hit, Prerequisite, Use, Where
from pegboard.index.tools import Tools
from pegboard.index.view import Read, View

KNOWN = 0.5
"""A model that knows a smaller share of the request's words has no say in it."""
NEXT = 20
"""So many names of hits beyond the limit are told."""
Answer: TypeAlias = tuple[tuple[Hit, ...], float, tuple[ToolName, ...]]
_NOTHING: Answer = ((), 0.0, ())
_new: Callable[..., Any] = tuple[Any, ...].__new__
"""Makes a named tuple of all its parts, in half the time that the call of its class takes."""


KINDS = {"pegboard-static": "static"}
"""The functions that tell how sure a search is, by the name of the first embedder without its version. A second one
finds more, but tells less well whether anything fits: it finds something near to everything. Ours is heard a little."""
HEARD = "pegboard-encoder"


@cache
def _kind(name: str) -> str:
    return KINDS.get(name.rsplit("-", 1)[0], "")


class Ranked(NamedTuple):
    """The candidates of one request.

    Parameters:
        slots: which tools.
        read: what the request's terms stand for among the shown tools.
        told: what is known of each.
        total: how many tools hold any of the request's words.
        kind: which learned function tells how sure the search is; empty where there is none for these embedders.
        background: the request's cosines with all shown tools, in the first layer that has a say in it.
        heard: the same in the sentence encoder, where that is the second of them.
    """

    slots: Ints
    read: Read
    told: Signals
    total: int
    kind: str
    background: Background | None
    heard: Background | None

    def aside(self, fitting: Floats) -> float | None:
        """How far the candidate that fits best stands out of the catalog, to the sentence encoder.

        Parameters:
            fitting: how well each candidate meets the request.
        """
        return self.heard and self.heard.beyond(float(self.told.meanings[1].whole[fitting.argmax()]))

    @property
    def signals(self) -> Floats:
        """All signals, a row a candidate."""
        width = len(OF_WORDS) + len(OF_MEANING) * len(self.told.meanings)
        rows = [self.told.told(place) for place in range(len(self.slots))]
        return np.array(rows, np.float32).reshape(len(rows), width)


class ToolIndex:
    """An `Index` by words, and by meaning where it is given embedders.

    Parameters:
        embedders: texts to vectors, each a layer; none for words alone.
        rerank: scores the candidates anew, such as a model of your own; tools that a request names still come first.
    """

    def __init__(self, *embedders: Embedder, rerank: rank.Reranker | None = None) -> None:
        self.tools = Tools(embedders)
        self._rerank = rerank
        self._priors = Priors({})

    def __len__(self) -> int:
        return len(self.tools)

    def update(self, *, put: Iterable[ToolSpec] = (), remove: Iterable[ToolName] = ()) -> None:
        """Add or replace tools, and remove others, without a rebuild."""
        self.tools.update(put=put, remove=remove)

    def weigh(self, uses: Mapping[ToolName, Use]) -> None:
        """Let past use count a little: see `prior`. It changes the order of hits, never how sure they are."""
        self._priors = Priors(uses)

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
        view = tools.view(where)
        request = read(query)
        named = self._named(query, view.mask)
        ranked = self.ranked(request, view, [slot for group in named for slot in group])
        hits, sure, rest = self._answer(request, ranked, named, limit) if len(ranked.slots) else _NOTHING
        return Found(
            query=query,
            hits=hits,
            confidence=sure,
            next_names=rest,
            unknown_terms=ranked.read.unknown,
            did_you_mean=ranked.read.nearest,
            total=max(ranked.total, len(hits)),
            prerequisites=self._before([found.name for found in hits], where) if with_prerequisites else (),
        )

    def _answer(self, request: Request, ranked: Ranked, named: Sequence[Sequence[int]], limit: int) -> Answer:
        """The candidates that are shown, how sure that is, and the names of the next ones."""
        told = ranked.told
        fitting = self._fitting(request, ranked)
        values = self._values(request, ranked, fitting)
        order = Order.of(values, ranked.slots, told.least(), limit + NEXT)
        if order.alike:
            order = order.by_name(self._named_as)
        if named:
            order = order.after_named(named, values, ranked.slots, told.least(), self._named_as)
        slots, scores, top = order.slots, order.values, order.places[:limit]
        if values is fitting and len(told.meanings) < 2:
            seen, near = _seen(told, order), scores[:limit]
        else:
            seen, near = _calibrated(told, fitting, top)
        count, aside = sum(map(len, named)), ranked.aside(fitting)
        sure = confidence.of(ranked.kind, seen, top, near, named=count, background=ranked.background, aside=aside)
        asked, terms, matches = request.terms, ranked.read.terms, told.matches
        specs = self.tools.specs_in(slots[: limit + NEXT])
        hits = [
            _new(Hit, (spec.name, spec, score, chance, _new(Reasons, (asked, terms, matches, slot))))
            for spec, slot, score, chance in zip(specs, slots, scores, sure.each, strict=False)
        ]
        return tuple(hits), sure.any, tuple([spec.name for spec in specs[limit:]])

    def _fitting(self, request: Request, ranked: Ranked) -> Floats:
        """How well each candidate meets the request."""
        told = ranked.told
        trust = 1.0
        if ranked.kind == "static" and len(told.meanings) < 2:
            trust = rank.trusted(told.share, told.meanings[0].known)
        return rank.fused(told.table, told.spans, ranked.slots, self.tools.doing, -request.wants, trust=trust)

    def _values(self, request: Request, ranked: Ranked, values: Floats) -> Floats:
        """The candidates' scores: how well they fit, and what comes before what."""
        tools, slots = self.tools, ranked.slots
        if self._priors:
            values = self._priors.applied(values, slots, tools.slots)
        if self._rerank is not None:
            values = self._rerank(request.text, tools.specs_in(slots.tolist()), ranked.signals, values)
            values = np.ascontiguousarray(values, np.float32)
        if tools.precedence:
            specs = tools.specs_in(slots.tolist())
            rarity = np.array(ranked.told.matches.rarity, np.float32)
            values = tools.precedence.applied(values, specs, ranked.read.terms, rarity, ranked.told.matches.held(slots))
        return values

    def _before(self, names: Sequence[ToolName], where: Where | None) -> tuple[Prerequisite, ...]:
        graph = self.tools.graph(where)
        found = {needed.name: needed for name in names for needed in graph.before(name)}
        return tuple(needed for name, needed in found.items() if name not in names)

    def ranked(self, request: Request, view: View, named: Sequence[int] = ()) -> Ranked:
        """The candidates for a request, the tools that it names among them, and their signals."""
        tools = self.tools
        found = view.read(request)
        terms = request.terms
        of_need = [request.need_of.get(terms[n].word, 0) for n in found.terms] if request.needs else []
        matches = Matches(found.rows, of_need, tools.size)
        asked = self._asked(request, view)
        parts = [1 + len(request.needs), *[len(seen.question.rows) for _, seen in asked]]
        ends = list(accumulate(parts))
        scores = np.empty((ends[-1], tools.size), np.float32)
        total, names = matches.scores(len(request.needs), scores)
        backgrounds: list[Background] = []
        for (layer, seen), start, end in zip(asked, ends, ends[1:], strict=False):
            near = scores[start:end]
            layer.vectors.compare(seen.question, near)
            if view.mask is not None:
                near *= view.mask
            backgrounds.append(Background.of(near[0], view.count))
            layer.vectors.refine(seen.question, near)
        slots = chosen(scores, parts, named)
        cosines = [(layer.vectors.cosines(seen.question, slots), seen.known) for layer, seen in asked]
        told = Signals.of(
            slots, matches, scores, cosines,
            needs=len(request.needs), names=names, name_sizes=tools.name_size, groups=tools.group,
            asked=found.rarity, terms=len(terms),
        )  # fmt: skip
        kind = _kind(asked[0][0].embedder.name) if asked else "words"
        if kind == "static" and asked[0][1].foreign:
            kind = confidence.FOREIGN
        background = backgrounds[0] if asked else None
        heard = backgrounds[1] if len(asked) > 1 and asked[1][0].embedder.name.startswith(HEARD) else None
        return Ranked(slots, found, told, total, kind, background, heard)

    def _asked(self, request: Request, view: View) -> list[tuple[Layer, Asked]]:
        """The layers that have a say in the request, each with how it sees it."""
        tools = self.tools
        seen = [
            (layer, layer.asked(request, tools.vocabulary, view.held, KNOWN)) for layer in tools.layers if layer.ready
        ]
        return [(layer, asked) for layer, asked in seen if asked]

    def _named_as(self, slot: int) -> str:
        """The name of the tool in a slot."""
        return str(self.tools.spec(slot).name)

    def _named(self, query: str, shown: Mask | None) -> list[list[int]]:
        """The slots of the tools that the request names, one list a name."""
        groups = [[self.tools.slots[name] for name in names] for names in self.tools.names.named(query)]
        return [found for group in groups if (found := [slot for slot in group if shown is None or shown[slot]])]


def _seen(told: Signals, order: Order) -> Seen:
    """What tells how sure the search is."""
    return Seen(told.told(order.best[0]), told.compared, order.best, order.best_values, len(told.slots))


def _calibrated(told: Signals, values: Floats, top: Sequence[int]) -> tuple[Seen, list[float]]:
    """The same by words and the table, no other model, and by what fits alone: so the confidence was learned.

    Returns:
        It, and how well those that are shown fit.
    """
    if len(told.meanings) > 1:
        values = rank.fused(told.table, told.spans[:1], told.slots)
        told = told._replace(meanings=told.meanings[:1])
    order = Order.of(values, told.slots, [], 0)
    return _seen(told, order), values.take(top).tolist()
