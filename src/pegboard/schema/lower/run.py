"""Lowering of one schema."""

from dataclasses import dataclass, field
from typing import Any

from pegboard.schema.lower.codex import codex_schema
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


def lower(schema: Json, to: str) -> Lowered:
    """Bring the schema of a tool's arguments into a dialect, lossless first, and report what is lost.

    A schema that cannot be strict without losing meaning comes back in the non-strict form, with the reasons.

    Parameters:
        schema: any JSON; it is repaired first.
        to: the dialect's name, one of `DIALECTS`.

    Raises:
        DefinitionError: there is no such dialect.
    """
    target = dialect(to)
    repaired = repair(schema, arguments=True)
    if target.name == "codex":
        return _as_codex(schema, repaired)
    lowered = _lower(repaired, target)
    if lowered.obstacles and target.loose is not None:
        loose = _lower(repaired, DIALECTS[target.loose])
        reason = SchemaChange("", f"not strict: {'; '.join(lowered.obstacles)}")
        return Lowered(
            loose.schema,
            loose.dialect,
            losses=loose.losses,
            changes=(*loose.changes, reason),
            obstacles=lowered.obstacles,
            refused=loose.refused,
            author=loose.author,
            tree=loose.tree,
        )
    return lowered


def _as_codex(schema: Json, repaired: Repaired) -> Lowered:
    """The baseline: from the schema as it came, with nothing reported."""
    author = dict(repaired.schema)
    try:
        return Lowered(codex_schema(Intake().copy(schema)), "codex", author=author)
    except Refused as refusal:
        return Lowered(None, "codex", refused=str(refusal), author=author)


def _lower(repaired: Repaired, target: Dialect) -> Lowered:
    work = Work(target, plant(repaired.schema))
    author = dict(repaired.schema)
    try:
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
