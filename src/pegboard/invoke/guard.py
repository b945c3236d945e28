"""Check a call's arguments before the tool sees them; mend what has one reading, explain the rest."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from pegboard.core import Call, Change, Failure, FailureCode, Handler, Middleware, Mode, Report, Result, ToolSpec
from pegboard.core.mode import relaxed
from pegboard.invoke.hint import told
from pegboard.invoke.lookup import SpecOf
from pegboard.schema.mend import Mended, mend
from pegboard.schema.types import Json, Schema
from pegboard.schema.validate import Validator, validator
from pegboard.schema.violation import Violation, misspelt


def guard(spec_of: SpecOf) -> Middleware:
    """Let only arguments through that are valid by the author's schema.

    What was mended stands in the result's report as changes, a key that no schema knows but that resembles a known
    one as a note. A failure names each faulty path, what is right there, a near name, and the tool's hints; as data
    in `details["violations"]`.
    """

    def wrap(next_handler: Handler) -> Handler:
        async def handle(call: Call) -> Result:
            spec = spec_of(call.tool)
            if spec is None:
                return await next_handler(call)
            schema, arguments = _schema_for(spec, call.mode), cast("Json", call.arguments)
            judge = validator(schema)
            if isinstance(arguments, Mapping) and judge.is_valid(arguments):
                return _with_notes(await next_handler(call), misspelt(schema, arguments))
            judge = validator({**schema, "type": "object"}) if not isinstance(arguments, Mapping) else judge
            mended, changes = mend(judge.schema, _read_freeform(spec, arguments))
            if not judge.is_valid(mended):
                return refuse(spec, judge, call)
            told = tuple(_change(one) for one in changes)
            return _with_changes(await next_handler(replace(call, arguments=mended)), told)

        return handle

    return wrap


def _schema_for(spec: ToolSpec, mode: Mode | None) -> Schema:
    schema = spec.accepts if spec.accepts is not None else spec.input
    return relaxed(schema) if mode is Mode.EXPLORE else schema


def _read_freeform(spec: ToolSpec, arguments: Json) -> Json:
    """A tool that takes one text may be called with the text alone."""
    return {"input": arguments} if spec.freeform is not None and isinstance(arguments, str) else arguments


def _change(mended: Mended) -> Change:
    place = f"The argument {mended.pointer}" if mended.pointer else "The arguments"
    return Change("mended", mended.pointer, f"{place}: {mended.message}.")


def _with_changes(result: Result, changes: Sequence[Change]) -> Result:
    if not changes:
        return result
    report = result.report or Report()
    return replace(result, report=replace(report, changes=(*changes, *report.changes)))


def _with_notes(result: Result, notes: Sequence[str]) -> Result:
    if not notes:
        return result
    report = result.report or Report()
    return replace(result, report=replace(report, notes=(*notes, *report.notes)))


def refuse(spec: ToolSpec, judge: Validator, call: Call) -> Result:
    """The failure of a call whose arguments are not valid.

    Parameters:
        spec: the tool.
        judge: its validator.
        call: the call.
    """
    violations = judge.violations(call.arguments)
    hints = [str(hint) for hint in spec.hints] if call.parent is None else told(spec, call)
    details: dict[str, Any] = {"violations": [one.to_json() for one in violations]}
    if hints:
        details["hints"] = hints
    failure = Failure(
        FailureCode.INVALID_ARGUMENTS,
        f"{spec.name}: {_ended('; '.join(str(one) for one in violations))}",
        where=violations[0].pointer,
        next_step=_next_step(violations, hints),
        details=details,
    )
    return Result(failure=failure, mode=call.mode or Mode.EXECUTE)


def _ended(text: str) -> str:
    return text if text.endswith("?") else f"{text}."


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _next_step(violations: Sequence[Violation], hints: Sequence[str]) -> str:
    names = [(one.pointer.rpartition("/")[2], one.near) for one in violations if one.near]
    renames = [f"rename {sent} to {near}" if sent != near else f"send {near} under that name" for sent, near in names]
    step = f"{_sentence('; '.join(renames))}, and call again." if renames else "Correct this and call again."
    return f"{step} Hints: {'; '.join(hints)}." if hints else step
