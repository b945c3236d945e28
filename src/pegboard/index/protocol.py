"""What every search engine answers, and in what shape."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

from pegboard.core import Effects, Selection, ToolName, ToolSpec
from pegboard.index.explain import Reasons

if TYPE_CHECKING:
    from pegboard.core import Mode


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """Which tools a search may show; what it leaves out never shifts another tool's score.

    Parameters:
        select: selectors, as everywhere.
        namespace: only this namespace.
        category: only this category.
        effects: only these effects.
        sources: only tools of these sources (None: of any).
        mode: only tools that run in this mode themselves, such as `preview`.
        version: only this version; empty for tools without one.
        signed_out: sources that nobody is signed in to: their tools that need a sign-in (`auth`) are left out.
    """

    select: Selection | None = None
    namespace: str | None = None
    category: str | None = None
    effects: frozenset[Effects] | None = None
    sources: frozenset[str] | None = None
    mode: "Mode | None" = None
    version: str | None = None
    signed_out: frozenset[str] = frozenset()

    def admits(self, spec: ToolSpec) -> bool:
        """Whether a search with this filter may show the tool."""
        return (
            (self.select is None or spec in self.select)
            and (self.namespace is None or spec.name.namespace == self.namespace)
            and (self.category is None or spec.category == self.category)
            and (self.effects is None or spec.effects in self.effects)
            and (self.sources is None or spec.source.name in self.sources)
            and (self.mode is None or _offers(spec, self.mode))
            and (self.version is None or (spec.name.version or "") == self.version)
            and (spec.auth is None or spec.source.name not in self.signed_out)
        )


def _offers(spec: ToolSpec, mode: "Mode") -> bool:
    from pegboard.core import offers  # what calls are is read when it is first needed

    return offers(spec, mode)


class Hit(NamedTuple):
    """One tool that was found, and why.

    Parameters:
        name: its full name.
        spec: the tool.
        score: the engine's score; only its order within one answer means something.
        confidence: from 0 to 1, calibrated on data: how likely this tool meets the request.
        reasons: which of the request's terms matched it.
    """

    name: ToolName
    spec: ToolSpec
    score: float
    confidence: float
    reasons: Reasons = Reasons()

    @property
    def matched(self) -> dict[str, tuple[str, ...]]:
        """The request's terms that matched, by field (`name`, `description`, `parameters` ...)."""
        return self.reasons.matched

    @property
    def unmatched(self) -> tuple[str, ...]:
        """The request's terms that matched nothing of this tool."""
        return self.reasons.unmatched


@dataclass(frozen=True, slots=True)
class Prerequisite:
    """A tool to call before another.

    Parameters:
        name: the tool.
        before: the tool that needs it.
        because: why, in words: the hint's condition, or the parameter that it produces.
        parameter: the parameter whose value it gives, where it is about one.
        confidence: from 0 to 1: 1 where somebody says so, less where schemas and names suggest it.
    """

    name: ToolName
    before: ToolName
    because: str
    parameter: str | None = None
    confidence: float = 1.0

    @property
    def derived(self) -> bool:
        """Whether it follows from schemas and names alone."""
        return self.confidence < 1


class Found(NamedTuple):
    """The answer to one search.

    Parameters:
        query: what was asked.
        hits: best first, ties broken by name.
        confidence: from 0 to 1: how likely anything here meets the request.
        next_names: the names of the hits that the limit cut off, best first.
        unknown_terms: terms of the request that match no tool at all.
        did_you_mean: known words near the unknown ones.
        total: how many tools matched at all.
        prerequisites: where asked for, what to call before the hits, in order; hits are not repeated.
    """

    query: str
    hits: tuple[Hit, ...]
    confidence: float = 0.0
    next_names: tuple[ToolName, ...] = ()
    unknown_terms: tuple[str, ...] = ()
    did_you_mean: tuple[str, ...] = ()
    total: int = 0
    prerequisites: tuple[Prerequisite, ...] = ()


@dataclass(frozen=True, slots=True)
class Use:
    """How past runs used one tool.

    Parameters:
        runs: how many runs called it.
        calls: how many calls that were.
        failed: how many of the calls failed.
    """

    runs: int = 0
    calls: int = 0
    failed: int = 0


class Index(Protocol):
    """A search engine over specs. It is updated in place; a search never sees half an update."""

    def update(self, *, put: Iterable[ToolSpec] = (), remove: Iterable[ToolName] = ()) -> None:
        """Add or replace tools, and remove others, without a rebuild."""
        ...

    def search(self, query: str, *, limit: int = 8, where: Where | None = None) -> Found:
        """The tools that meet the request best."""
        ...

    def __len__(self) -> int: ...


def names_of(hits: Sequence[Hit]) -> list[str]:
    """The hits' full names, as text."""
    return [str(hit.name) for hit in hits]
