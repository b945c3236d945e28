"""Answers from traces: a tool that stands in a recording answers what it once answered to the same arguments."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import cast

from pegboard.core import Call, Failure, FailureCode, Note, NoteKind, Result, ToolSpec
from pegboard.errors import nearest
from pegboard.schema.types import Json, JsonObject, canonical
from pegboard.trace.record import CallRecord, Run


@dataclass
class Answers:
    """What tools answered, by bare name and arguments.

    Of several answers to the same call the commonest one counts, of equally common ones the first; a success counts
    before every failure. Where the trace holds only the beginning of a result, with single values from the rest of it,
    the answer is an object `{"text", "values"}`.

    Parameters:
        known: by tool and arguments, every answer in order.
    """

    known: dict[str, dict[str, list[CallRecord]]] = field(default_factory=dict[str, dict[str, list[CallRecord]]])

    @classmethod
    def of(cls, runs: Iterable[Run]) -> "Answers":
        """The answers that stand in these runs."""
        answers = cls()
        for run in runs:
            for call in run.calls:
                if call.result is not None or call.ok is False:
                    by_arguments = answers.known.setdefault(bare(call.tool), {})
                    by_arguments.setdefault(canonical(call.arguments or {}), []).append(call)
        return answers

    def eased(self, spec: ToolSpec, notes: list[Note]) -> ToolSpec:
        """A tool without the demand for parameters that no recorded call sent, although calls succeeded without.

        Parameters:
            spec: the tool as the recording has it.
            notes: receives a note for each such parameter.
        """
        calls = [call for calls in self.known.get(spec.name.name, {}).values() for call in calls if call.ok is True]
        rows: list[Json] = [call.arguments for call in calls]
        sent = [set(cast("JsonObject", row)) for row in rows if isinstance(row, dict)]
        required = cast("Sequence[str]", spec.input.get("required") or ())
        idle = [name for name in required if not any(name in names for names in sent)]
        if not sent or not idle:
            return spec
        for name in idle:
            message = f"It demands {name}, which none of {len(sent)} recorded calls sent that succeeded: not demanded."
            notes.append(Note(NoteKind.REPAIRED, spec.name.name, "/inputSchema/required", message))
        eased = {**spec.input, "required": [name for name in required if name not in idle]}
        return replace(spec, input=eased, original_input=spec.original_input or spec.input)

    async def __call__(self, call: Call) -> Result:
        """The recorded answer to a call; `unavailable` where there is none."""
        known = self.known.get(call.tool.name, {})
        records = known.get(canonical(dict(call.arguments)))
        if records is None:
            return Result(failure=_unknown(call, known))
        return recorded_result(_with_all_values(_chosen(records), records))


def bare(tool: str) -> str:
    """The name of a tool without namespace, however a client spells it."""
    return tool.rpartition(".")[2].rpartition("__")[2] or tool


def recorded_result(record: CallRecord) -> Result:
    """The result that a record tells of."""
    if record.ok is False:
        message = record.error or (record.result if isinstance(record.result, str) else canonical(record.result))
        return Result.failed(_code(record.failure), message or "It failed.", next_step="It failed so in the trace too.")
    return Result(value=recorded_value(record))


def recorded_value(record: CallRecord) -> Json:
    """What a record's result says: parsed where it is JSON, with the values that were kept of a cut one."""
    result = record.result
    if isinstance(result, str):
        with suppress(ValueError):
            result = json.loads(result) if result[:1] in ("{", "[") else result
    whole = result if isinstance(result, str) else canonical(result)
    lost = [value for value in record.values or () if str(value) not in whole]
    return {"text": result, "values": lost} if lost else result


def _chosen(records: Sequence[CallRecord]) -> CallRecord:
    good = [record for record in records if record.ok is not False] or list(records)
    texts = [canonical([record.result, record.ok]) for record in good]
    counts: Mapping[str, int] = Counter(texts)
    return good[max(range(len(good)), key=lambda place: (counts[texts[place]], -place))]


def _with_all_values(chosen: CallRecord, records: Sequence[CallRecord]) -> CallRecord:
    """The record with the values that any record of this answer has kept: each keeps only what its own run used."""
    same = [record for record in records if record.result == chosen.result and record.values]
    values = tuple(dict.fromkeys(value for record in same for value in record.values or ()))
    return replace(chosen, values=values) if values else chosen


def _code(text: str | None) -> FailureCode:
    return FailureCode(text) if text in set(FailureCode) else FailureCode.FAILED


def _unknown(call: Call, known: Mapping[str, object]) -> Failure:
    near = nearest(canonical(dict(call.arguments)), known, limit=1)
    step = f"Recorded are {len(known)} other calls of it" + (f", such as {near[0]}." if near else ".")
    return Failure(
        FailureCode.UNAVAILABLE,
        f"No trace shows {call.tool} with these arguments.",
        where=call.tool.namespace or None,
        next_step=step if known else f"No trace shows {call.tool} at all.",
    )
