"""Two sets of tools compared, tool by tool: what was added, what is gone, and what callers will notice of the rest."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pegboard.core import ToolSpec
from pegboard.schema.diff import Difference, Weight, diff_definitions, verdict
from pegboard.schema.types import JsonObject


@dataclass(frozen=True, slots=True)
class ToolDifference:
    """How one tool differs.

    Parameters:
        tool: its full name.
        weight: the heaviest of its differences.
        change: `added`, `removed` or `changed`.
        differences: where it differs; empty where it was added or removed.
    """

    tool: str
    weight: Weight
    change: str
    differences: tuple[Difference, ...] = ()


def compare(before: Iterable[ToolSpec], after: Iterable[ToolSpec]) -> tuple[ToolDifference, ...]:
    """The tools that differ: the heaviest first, then by name.

    Parameters:
        before: the older definitions.
        after: the newer ones.
    """
    old, new = ({str(spec.name): spec for spec in specs} for specs in (before, after))
    order = list(Weight)
    return tuple(sorted(_compared(old, new), key=lambda one: (order.index(one.weight), one.tool)))


def differences(before: ToolSpec, after: ToolSpec) -> tuple[Difference, ...]:
    """Where two definitions of a tool differ, and what that means for its callers."""
    return diff_definitions(_row(before), _row(after))


def _compared(old: dict[str, ToolSpec], new: dict[str, ToolSpec]) -> Iterator[ToolDifference]:
    for name, spec in old.items():
        if name not in new:
            yield ToolDifference(name, Weight.BREAKING, "removed")
            continue
        found = differences(spec, new[name])
        weight = verdict(found)
        if weight is not None:
            yield ToolDifference(name, weight, "changed", found)
    yield from (ToolDifference(name, Weight.COMPATIBLE, "added") for name in new if name not in old)


def _row(spec: ToolSpec) -> JsonObject:
    """A spec in MCP's spelling, with our own effects and what else its callers are told."""
    more = {
        "deprecated": spec.deprecation,
        "hints": [str(hint) for hint in spec.hints],
        "examples": list(spec.examples),
        "auth": spec.auth,
    }
    return {
        "name": str(spec.name),
        "title": spec.title,
        "description": spec.description,
        "inputSchema": spec.input,
        "outputSchema": spec.output,
        "annotations": spec.annotations,
        "effects": spec.effects.value,
        "format": None if spec.freeform is None else [spec.freeform.syntax, spec.freeform.definition],
        **{key: value for key, value in more.items() if value},
    }
