"""The ways into a bundle: its first step, sibling first steps, and the value itself where the caller has it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pegboard.insight.propose.ask import Ask, Row


@dataclass(frozen=True, slots=True)
class Entry:
    """One way in.

    Parameters:
        row: the finding whose first step it is; None where the caller gives the value itself.
        tool: that step's tool; empty for none.
        gives: the inputs that it needs.
        also: the inputs that it can take beside them.
    """

    row: Row | None
    tool: str
    gives: tuple[str, ...]
    also: tuple[str, ...] = ()


def entries(ask: Ask) -> list[Entry]:
    """The ways into a bundle, the commonest first."""
    row = ask.row
    rows = [row, *(other for other in ask.others if other.get("variant_of") == row["id"])]
    found = [_entry(ask, each) for each in rows]
    direct = wires_of(row, 1) if list(row["tools"][1:]) in _replaced(row) else {}
    given = [name for name, wire in direct.items() if wire["from"].get("step") == 0 and "argument" not in wire["from"]]
    taken = {name for entry in found for name in entry.gives}
    if len(found) > 1 and len(given) == 1 and given[0] not in taken and not _many(row, 1):
        found.append(Entry(None, "", (given[0],)))
    return found if all(entry.gives for entry in found) else found[:1]


def wires_of(row: Row, step: int) -> dict[str, Mapping[str, Any]]:
    """The wires into a step, by the argument that they fill as a whole."""
    return {
        wire["argument"].removesuffix("[]"): wire
        for wire in row.get("wiring", ())
        if wire["step"] == step and "." not in wire["argument"] and "[" not in wire["argument"].removesuffix("[]")
    }


def _entry(ask: Ask, row: Row) -> Entry:
    tool = str(row["tools"][0])
    seen = [ask.parameter(tool, each["argument"]) for each in row.get("inputs", ()) if each["step"] == 0]
    required = ask.required(tool)
    names = list(dict.fromkeys([*(name for name in seen if name), *required]))
    gives = [name for name in names if name in required or not ask.spec(tool)]
    return Entry(row, tool, tuple(gives), tuple(name for name in names if name not in gives))


def _replaced(row: Row) -> list[list[str]]:
    return [list(chain) for chain in row.get("replaces", ())]


def _many(row: Row, step: int) -> bool:
    steps = row.get("steps", ())
    return step < len(steps) and bool(steps[step].get("list"))
