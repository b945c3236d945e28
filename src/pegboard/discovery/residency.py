"""Residency: which tools are in a model's list from the start, which ones it finds by search, and why."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any, Literal, cast

from pegboard.catalog import Catalog
from pegboard.core import Selection, ToolName, ToolSpec
from pegboard.errors import ConfigError
from pegboard.surface import mcp

Search = Literal["auto", "on", "off"]
Profile = Literal["default", "runtype"]

INLINE_KINDS = frozenset({"python", "http", "cli", "batch", "bundle", "scatter", "chain", "inline"})
"""Kinds of source whose tools are made in the board's own file or process: what Runtype calls runtime tools."""
BYTES_PER_TOKEN = 4
CROWDED = 10
"""Models choose well among so many tools of one namespace (specs 7: providers advise fewer than ten)."""


class Exposure(StrEnum):
    """Where a tool is for a model."""

    DIRECT = "direct"
    """In the list from the start."""
    DEFERRED = "deferred"
    """Found by search, and callable by its name at any time."""
    HIDDEN = "hidden"
    """In no list and no search; composed tools, and whoever knows its name, can call it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Residency:
    """The policy.

    Parameters:
        search: `auto`: search at `threshold` tools and more, or where the definitions take more than `context_share`;
            `on`: the meta-tools always; `off`: every tool is direct.
        threshold: from this number of tools on, only the hot set is direct.
        always: selectors of the tools that must be at hand.
        hidden: selectors of the tools that no model shall see.
        max_direct: how many tools are direct at most. Under search the rest is deferred; without it that is an error.
            What a session finds and loads comes on top.
        context_tokens: how large the model's context is, in tokens.
        context_share: which share of it direct definitions may take, from 0 to 1; `always` goes before it.
        profile: `default`, or `runtype`: only tools of `INLINE_KINDS` are ever deferred, the others are pinned and do
            not count to `max_direct`.
        wishes: by a source's name, whether its tools are to be deferred (True) or loaded (False), where a tool itself
            says nothing.
        learn: how many of the most used tools join the hot set.
    """

    search: Search = "auto"
    threshold: int = 20
    always: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    max_direct: int = 50
    context_tokens: int = 200_000
    context_share: float = 0.2
    profile: Profile = "default"
    wishes: Mapping[str, bool] = field(default_factory=dict[str, bool])
    learn: int = 0

    def wish(self, spec: ToolSpec) -> bool | None:
        """Whether the tool's author, or else its source's table, wants it deferred."""
        return spec.defer if spec.defer is not None else self.wishes.get(spec.source.name)

    @property
    def room(self) -> float:
        """How many bytes direct definitions may take."""
        return self.context_tokens * self.context_share * BYTES_PER_TOKEN


@dataclass(frozen=True)
class Exposed:
    """What the policy decides for one catalog.

    Parameters:
        direct: in the list from the start.
        deferred: found by search.
        meta: whether the meta-tools are in the list.
        notes: what a reader should know.
        hidden: neither listed nor found.
        reasons: why each tool is where it is.
        refusal: why there is no list at all: more tools than may be sent, and no search to find the rest by.
        advice: what would help models to choose; nothing is wrong.
    """

    direct: tuple[ToolSpec, ...]
    deferred: tuple[ToolSpec, ...] = ()
    meta: bool = False
    notes: tuple[str, ...] = ()
    hidden: tuple[ToolSpec, ...] = ()
    reasons: Mapping[ToolName, str] = field(default_factory=dict[ToolName, str])
    refusal: ConfigError | None = None
    advice: tuple[str, ...] = ()

    def exposure(self, name: ToolName) -> Exposure:
        """Where a tool is; the board's own ones are direct."""
        return self._places.get(name, Exposure.DIRECT)

    @cached_property
    def _places(self) -> Mapping[ToolName, Exposure]:
        places = {spec.name: Exposure.DEFERRED for spec in self.deferred}
        return places | {spec.name: Exposure.HIDDEN for spec in self.hidden}


def expose(catalog: Catalog, policy: Residency, hot: Sequence[str] = (), *, single_turn: bool = False) -> Exposed:
    """Decide the exposure of every tool of a catalog, in the catalog's order.

    Parameters:
        catalog: the tools.
        policy: the policy.
        hot: the full names of the tools that agents use most, the most used first.
        single_turn: the agent has one turn, in which a search would be of no use: it gets every tool.
    """
    unseen = _unseen(catalog.specs, policy)
    seen = [spec for spec in catalog.specs if spec.name not in unseen]
    hidden = tuple(spec for spec in catalog.specs if spec.name in unseen)
    if policy.search == "off" or single_turn:
        return _everything(seen, hidden, unseen, policy, single_turn=single_turn)
    chosen = _Choice(seen, policy, hot)
    direct, notes = chosen.cut()
    shown = {spec.name for spec in direct}
    deferred = tuple(spec for spec in seen if spec.name not in shown)
    return Exposed(
        direct=direct,
        deferred=deferred,
        meta=policy.search == "on" or chosen.many or bool(deferred),
        notes=notes,
        hidden=hidden,
        reasons={**unseen, **chosen.reasons},
        advice=tuple(_crowded(catalog)),
    )


def exposed_to(
    pool: Selection, catalog: Catalog, policy: Residency, hot: Sequence[str] = (), *, single_turn: bool = False
) -> Exposed:
    """What the policy decides for a session that has a part of the tools only, as if there were no others.

    Parameters:
        pool: picks the part.
        catalog: all tools.
        policy: the policy.
        hot: the full names of the tools that agents use most.
        single_turn: the agent has one turn.
    """
    part = Catalog.of(tool for tool in catalog if tool.spec in pool)
    return expose(part, policy, hot, single_turn=single_turn)


def definition_bytes(spec: ToolSpec) -> int:
    """About how many bytes a tool's definition takes in a list."""
    row = mcp.tool(spec, spec.name.qualified)
    return len(json.dumps(row, ensure_ascii=False, separators=(",", ":"), default=str).encode("utf-8", "replace"))


class _Choice:
    """Who wants to be direct, in which rank, and for which reason."""

    def __init__(self, seen: Sequence[ToolSpec], policy: Residency, hot: Sequence[str]) -> None:
        self._seen, self._policy = seen, policy
        self._always = Selection.parse(policy.always)
        self._hot = {name: place for place, name in enumerate(_known(hot, seen)[: policy.learn])}
        few = len(seen) < policy.threshold
        self._wide = few and sum(map(definition_bytes, seen)) > policy.room
        self.many = not few or self._wide
        self.reasons: dict[ToolName, str] = {}
        self.ranks: dict[ToolName, tuple[int, int]] = {}
        for spec in seen:
            rank, self.reasons[spec.name] = self._judge(spec)
            if rank is not None:
                self.ranks[spec.name] = rank, self._hot.get(spec.name, len(seen))

    def _judge(self, spec: ToolSpec) -> tuple[int | None, str]:
        """The rank of a tool that is to be direct, lower is kept longer; None for one that is deferred."""
        policy = self._policy
        wish = policy.wish(spec)
        if spec in self._always:
            against = ", against the wish to defer it" if wish is True else ""
            return _MUST, f"`always` picks it{against}"
        if policy.profile == "runtype" and spec.source.kind not in INLINE_KINDS:
            return _PINNED, "the profile runtype pins saved, built-in and MCP tools"
        if wish is True:
            return None, "its author wants it deferred" if spec.defer else f"[sources.{spec.source.name}] defers it"
        if wish is False:
            return 2, "its author wants it loaded" if spec.defer is False else f"[sources.{spec.source.name}] loads it"
        if not self.many:
            return 4, f"fewer than {policy.threshold} tools are all shown"
        if spec.name in self._hot:
            return 3, "it is among the tools that are used most"
        if self._wide:
            return None, f"all definitions would take more than {policy.context_share:.0%} of the context"
        return None, f"from {policy.threshold} tools on, those outside the hot set are found by search"

    def cut(self) -> tuple[tuple[ToolSpec, ...], tuple[str, ...]]:
        """The direct tools within the limits, in the catalog's order, and what had to be said of the others."""
        wanted = sorted((spec for spec in self._seen if spec.name in self.ranks), key=lambda s: self.ranks[s.name])
        pinned = [spec for spec in wanted if self.ranks[spec.name][0] == _PINNED]
        others = [spec for spec in wanted if self.ranks[spec.name][0] != _PINNED]
        kept = others[: self._policy.max_direct]
        small = self._within_room(kept, pinned)
        names = {spec.name for spec in (*pinned, *small)}
        notes = self._told(others[len(kept) :], f"max_direct is {self._policy.max_direct}")
        late = [spec for spec in kept if spec.name not in names]
        limit = f"{self._policy.context_share:.0%} of {self._policy.context_tokens:,} tokens"
        notes += self._told(late, f"definitions in the list may take {limit}")
        return tuple(spec for spec in self._seen if spec.name in names), tuple(notes)

    def _within_room(self, kept: Sequence[ToolSpec], pinned: Sequence[ToolSpec]) -> list[ToolSpec]:
        room = self._policy.room - sum(map(definition_bytes, pinned))
        small: list[ToolSpec] = []
        for spec in kept:
            room -= definition_bytes(spec)
            if room >= 0 or self.ranks[spec.name][0] == _MUST:
                small.append(spec)
        return small

    def _told(self, cut: Sequence[ToolSpec], why: str) -> list[str]:
        for spec in cut:
            self.reasons[spec.name] = f"{self.reasons[spec.name]}, but {why}"
        told = (
            f"{len(self.ranks)} tools are to be loaded from the start; {len(cut)} of them are deferred, because {why} "
            f"(deferred: {_by_server(cut)})."
        )
        return [told] if cut else []


_MUST, _PINNED = 0, 1


def _known(hot: Sequence[str], specs: Iterable[ToolSpec]) -> list[ToolName]:
    """The names that are on the board, those of the board's own tools left out."""
    if not hot:
        return []
    names = {str(spec.name): spec.name for spec in specs}
    return [names[name] for name in hot if name in names]


def _unseen(specs: Iterable[ToolSpec], policy: Residency) -> dict[ToolName, str]:
    """The hidden tools, each with the reason."""
    picked = Selection.parse(policy.hidden)
    found: dict[ToolName, str] = {}
    for spec in specs:
        if spec in picked:
            found[spec.name] = "`hidden` picks it"
        elif spec.meta and not _for_models(spec.meta):
            found[spec.name] = "its server shows it to apps only"
    return found


def _for_models(meta: Mapping[str, Any]) -> bool:
    """Whether a tool's `_meta.ui.visibility` leaves models in (MCP Apps: without `model` it is for the app alone)."""
    inner = meta.get("_meta")
    ui = cast("Mapping[str, Any]", inner).get("ui") if isinstance(inner, Mapping) else None
    visibility = cast("Mapping[str, Any]", ui).get("visibility") if isinstance(ui, Mapping) else None
    return not isinstance(visibility, list) or "model" in visibility


def _everything(
    seen: Sequence[ToolSpec],
    hidden: tuple[ToolSpec, ...],
    unseen: Mapping[ToolName, str],
    policy: Residency,
    *,
    single_turn: bool,
) -> Exposed:
    reason = "an agent of a single turn gets every tool" if single_turn else "search is off"
    reasons = {**unseen, **{spec.name: reason for spec in seen}}
    counted = [s for s in seen if policy.profile != "runtype" or s.source.kind in INLINE_KINDS]
    if len(counted) <= policy.max_direct:
        return Exposed(tuple(seen), hidden=hidden, reasons=reasons)
    refusal = _too_many(counted, policy, reason)
    return Exposed(tuple(seen), notes=(str(refusal),), hidden=hidden, reasons=reasons, refusal=refusal)


def _by_server(specs: Sequence[ToolSpec]) -> str:
    """How many of the tools each server has, the largest first."""
    counts: dict[str, int] = {}
    for spec in specs:
        counts[spec.source.name] = counts.get(spec.source.name, 0) + 1
    largest = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    return ", ".join(f"{name or '(no source)'} {count}" for name, count in largest)


def _too_many(specs: Sequence[ToolSpec], policy: Residency, reason: str) -> ConfigError:
    return ConfigError(
        f"{len(specs)} tools would all be sent, because {reason}, and max_direct is {policy.max_direct} "
        f"({_by_server(specs)}).",
        where="[board] search",
        next_step='Set search = "auto", take fewer tools per agent (a board for each namespace, or subagents), or raise'
        " max_direct.",
    )


def _crowded(catalog: Catalog) -> Iterable[str]:
    """Advice on namespaces in which a model has to choose among many."""
    for namespace, specs in catalog.namespaces.items():
        if namespace and len(specs) > CROWDED:
            yield (
                f"The namespace {namespace} holds {len(specs)} tools; models choose better among {CROWDED} at most."
                " Split it with prefix and allow, or leave out with deny what nobody uses."
            )
