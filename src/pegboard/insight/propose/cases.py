"""Cases for a new tool from the evidence: its arguments in recorded runs, and what the old sequence came to there."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from pegboard.insight.propose.ask import Row
from pegboard.insight.propose.proposal import Piece, Proposal
from pegboard.schema.types import Json, as_list, canonical
from pegboard.trace.record import CallRecord, Run

MOST_CASES = 10
_INPUT = re.compile(r"\$\{(?:default\()?input\.(\w+)(?:, null\))?\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One recorded example of what a new tool stands for.

    Parameters:
        run: the run that it comes from.
        arguments: the new tool's arguments.
        instead_of: the calls that were made, as tool and arguments.
        gives: the results of the last step, each of which the new tool's answer has to hold.
    """

    run: str
    arguments: Mapping[str, Json]
    instead_of: tuple[Mapping[str, Json], ...]
    gives: tuple[Json, ...]

    def to_json(self) -> dict[str, Json]:
        """As plain data."""
        calls = [dict(call) for call in self.instead_of]
        return {"run": self.run, "arguments": dict(self.arguments), "instead_of": calls, "gives": list(self.gives)}


def cases(proposal: Proposal, row: Row, runs: Iterable[Run], *, most: int = MOST_CASES) -> list[Case]:
    """Examples of a proposal's tool from recorded runs, each arguments once.

    Parameters:
        proposal: what is proposed.
        row: the finding.
        runs: the runs to look in.
        most: how many are enough.
    """
    if proposal.tool is None:
        return []
    piece = proposal.pieces[-1]
    find = {"bundle": _of_bundle, "batch": _of_batch}.get(piece.kind)
    if find is None or row["kind"] not in ("bundle", "batch"):
        return []
    found: dict[str, Case] = {}
    for run in runs:
        for case in find(piece, row, run):
            found.setdefault(canonical(case.arguments), case)
        if len(found) >= most:
            break
    return list(found.values())[:most]


def _of_bundle(piece: Piece, row: Row, run: Run) -> Iterator[Case]:
    tools = list(map(str, row["tools"]))
    steps = [step for step in piece.table["steps"] if step.get("tool")]
    many = {tool for tool, step in zip(tools, row.get("steps", ()), strict=False) if step.get("list")}
    many &= {tool for tool in tools if _bare(tool) not in {_bare(step["tool"]) for step in steps}}
    given = {_bare(step["tool"]): _inputs(step["args"]) for step in steps}
    needed = {_bare(step["tool"]): _demanded(step["args"]) for step in steps}
    for place, call in enumerate(run.calls):
        taken = _sequence(run.calls, place, tools) if call.tool == tools[0] else None
        if taken is None or any(count > 1 for tool, count in _counted(taken).items() if tool not in many):
            continue  # a step that the tool makes once was made more often here: not the same thing
        if not all(_fed(each, taken, row) and _shared(each, taken, row) for each in taken):
            continue  # a value came from elsewhere here
        if not all(needed.get(_bare(each.tool), set[str]()) <= _arguments(each).keys() for each in taken):
            continue  # a step was asked in another way here
        arguments: dict[str, Json] = {}
        for each in taken:
            for parameter, name in given.get(_bare(each.tool), {}).items():
                if parameter in _arguments(each):
                    arguments.setdefault(name, _arguments(each)[parameter])
        last = [each for each in taken if each.tool == tools[-1]]
        yield Case(run=run.id, arguments=arguments, instead_of=_told(taken), gives=tuple(each.result for each in last))


def _sequence(calls: Sequence[CallRecord], start: int, tools: Sequence[str]) -> list[CallRecord] | None:
    """The calls from a place on that run through the tools in order, loops included, with no user message between."""
    taken: list[CallRecord] = []
    at = 0
    for call in calls[start:]:
        if call.segment != calls[start].segment or call.ok is False:
            break
        if call.tool != tools[at]:
            at += 1
            if at == len(tools) or call.tool != tools[at]:
                break
        taken.append(call)
    return taken if {call.tool for call in taken} == set(tools) else None


def _fed(call: CallRecord, taken: Sequence[CallRecord], row: Row) -> bool:
    """Whether the values of a call that the bundle wires stood in the results of the calls before it."""
    wires = [wire for wire in row.get("wiring", ()) if wire["tool"] == call.tool and "argument" not in wire["from"]]
    said = [_said(each) for each in taken if each is not call and each.tool != call.tool]
    given = _arguments(call)
    values = [
        str(given[wire["argument"]])
        for wire in wires
        if not isinstance(given.get(wire["argument"]), list | dict) and wire["argument"] in given
    ]
    return all(any(value in text for text in said) for value in values)


def _shared(call: CallRecord, taken: Sequence[CallRecord], row: Row) -> bool:
    """Whether the arguments that the bundle takes to be those of an earlier step were the same here."""
    for wire in row.get("wiring", ()):
        giver, given = wire["from"], _arguments(call)
        if wire["tool"] == call.tool and "argument" in giver and wire["argument"] in given:
            earlier = [_arguments(each).get(giver["argument"]) for each in taken if each.tool == giver["tool"]]
            if given[wire["argument"]] not in earlier:
                return False
    return True


def _said(call: CallRecord) -> str:
    whole = call.result if isinstance(call.result, str) else canonical(call.result)
    return "\n".join([whole, *map(str, call.values or ())])


def _counted(calls: Iterable[CallRecord]) -> Counter[str]:
    return Counter(call.tool for call in calls)


def _of_batch(piece: Piece, row: Row, run: Run) -> Iterator[Case]:
    tool = str(row["tools"][0])
    given = piece.table["over"]
    over: list[str] = [given] if isinstance(given, str) else as_list(given)
    for block in _blocks(run.calls, tool):
        rows = [_arguments(call) for call in block]
        rest = [{name: value for name, value in row.items() if name not in over} for row in rows]
        differing = {canonical([row.get(name) for name in over]) for row in rows}
        if len(block) < 2 or len(differing) < len(block) or any(other != rest[0] for other in rest):
            continue
        items = [{name: row[name] for name in over if name in row} for row in rows]
        listed = [next(iter(item.values()), None) for item in items] if len(over) == 1 else items
        arguments: dict[str, Json] = {over[0] if len(over) == 1 else "items": listed, **rest[0]}
        gives = tuple(call.result for call in block)
        yield Case(run=run.id, arguments=arguments, instead_of=_told(block), gives=gives)


def _blocks(calls: Sequence[CallRecord], tool: str) -> Iterator[list[CallRecord]]:
    block: list[CallRecord] = []
    for call in calls:
        if call.tool == tool and call.ok is not False and (not block or block[-1].segment == call.segment):
            block.append(call)
            continue
        if block:
            yield block
        block = [call] if call.tool == tool and call.ok is not False else []
    if block:
        yield block


def _inputs(args: Mapping[str, Any]) -> dict[str, str]:
    """By parameter of a step's tool, the input that it is filled from directly."""
    found = {name: _INPUT.fullmatch(value) for name, value in args.items() if isinstance(value, str)}
    return {name: match[1] for name, match in found.items() if match}


def _demanded(args: Mapping[str, Any]) -> set[str]:
    """The parameters of a step's tool that are filled from an input which is not optional."""
    return {name for name in _inputs(args) if not str(args[name]).startswith("${default(")}


def _told(calls: Iterable[CallRecord]) -> tuple[Mapping[str, Json], ...]:
    return tuple({"tool": call.tool, "arguments": call.arguments} for call in calls)


def _arguments(call: CallRecord) -> Mapping[str, Json]:
    given: Json = call.arguments
    return cast("Mapping[str, Json]", given) if isinstance(given, Mapping) else {}


def _bare(tool: str) -> str:
    return tool.rpartition(".")[2]
