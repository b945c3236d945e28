"""Lowering of one schema."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from pegboard.schema.lower.codex import BUDGET, codex_schema
from pegboard.schema.lower.compact import Compaction, bytes_of
from pegboard.schema.lower.dialect import Dialect
from pegboard.schema.lower.dialects import DIALECTS, dialect
from pegboard.schema.lower.node import Node, plant
from pegboard.schema.lower.work import Loss, Refused, Work
from pegboard.schema.repair import Repaired, SchemaChange, repair
from pegboard.schema.repair.intake import Intake
from pegboard.schema.types import Json


@dataclass(frozen=True)
class Lowered:
    """A schema in a dialect, and what it took.

    Parameters:
        schema: the schema that goes on the wire; None where the provider wants it unset, or the schema was refused.
        dialect: the dialect that it is in: the one asked for, or its non-strict form.
        strict: whether the provider may hold the model to it.
        losses: what it no longer enforces.
        changes: what was rewritten with its meaning kept, repairs first.
        obstacles: why it is not strict, where strict was asked for.
        refused: why no tool can have these arguments, else None.
        author: the author's schema, repaired; raised arguments are checked against it.
        tree: the plan for raising; None where the schema was refused.
    """

    schema: dict[str, Any] | None
    dialect: str
    strict: bool = False
    losses: tuple[Loss, ...] = ()
    changes: tuple[SchemaChange, ...] = ()
    obstacles: tuple[str, ...] = ()
    refused: str | None = None
    author: dict[str, Any] = field(default_factory=dict[str, Any])
    tree: Node | None = field(default=None, repr=False, compare=False)


def lower(schema: Json, to: str, *, budget: int | None = None) -> Lowered:
    """Bring the schema of a tool's arguments into a dialect, lossless first, and report what is lost.

    A schema that cannot be strict without losing meaning comes back in the non-strict form, with the reasons.

    Parameters:
        schema: any JSON; it is repaired first.
        to: the dialect's name, one of `DIALECTS`.
        budget: bytes of compact JSON that the wire form may take; a larger one is compacted by value.

    Raises:
        DefinitionError: there is no such dialect.
    """
    target = dialect(to)
    repaired = repair(schema, arguments=True)
    if target.name == "codex":
        return _as_codex(schema, repaired, budget)
    found = _any_way(repaired, target)
    if budget is not None and bytes_of(found.schema) > budget:
        return _compacted(repaired, target, budget, strict=found.strict)
    return found


def _compacted(repaired: Repaired, target: Dialect, budget: int, *, strict: bool) -> Lowered:
    """The smaller form; it stays strict where the whole one is."""
    goal = target if strict or target.loose is None else DIALECTS[target.loose]
    search = Compaction(plant(repaired.schema), lambda prepare: _lower(repaired, goal, prepare).schema, budget)
    prepare = search.preparation()
    return _any_way(repaired, target, prepare) if goal is target else _lower(repaired, goal, prepare)


def _any_way(repaired: Repaired, target: Dialect, prepare: Callable[[Work], None] | None = None) -> Lowered:
    """In the dialect, or in its non-strict form with the reasons."""
    lowered = _lower(repaired, target, prepare)
    if not lowered.obstacles or target.loose is None:
        return lowered
    loose = _lower(repaired, DIALECTS[target.loose], prepare)
    reason = SchemaChange("", f"not strict: {'; '.join(lowered.obstacles)}")
    return replace(loose, changes=(*loose.changes, reason), obstacles=lowered.obstacles)


def _as_codex(schema: Json, repaired: Repaired, budget: int | None) -> Lowered:
    """The baseline: from the schema as it came, with nothing reported."""
    author = dict(repaired.schema)
    try:
        found = codex_schema(Intake().copy(schema), budget=BUDGET if budget is None else budget)
        return Lowered(found, "codex", author=author)
    except Refused as refusal:
        return Lowered(None, "codex", refused=str(refusal), author=author)


def _lower(repaired: Repaired, target: Dialect, prepare: Callable[[Work], None] | None = None) -> Lowered:
    work = Work(target, plant(repaired.schema))
    author = dict(repaired.schema)
    try:
        if prepare is not None:
            prepare(work)
        for step in target.passes:
            step(work)
    except Refused as refusal:
        return Lowered(None, target.name, changes=repaired.changes, refused=str(refusal), author=author)
    return Lowered(
        target.emit(work.root),
        target.name,
        strict=target.strict,
        losses=tuple(work.losses.values()),
        changes=(*repaired.changes, *work.changes),
        obstacles=tuple(dict.fromkeys(work.obstacles)),
        author=author,
        tree=work.root,
    )
