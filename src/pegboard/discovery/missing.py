"""A failed call whose ids came from nowhere: the failure names the tool that gives them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from pegboard.core import Call, Failure, FailureCode, Handler, Middleware, Result, ToolSpec
from pegboard.discovery.desk import Desk
from pegboard.discovery.produced import Produced
from pegboard.index import Prerequisite
from pegboard.invoke.budget import META
from pegboard.invoke.lookup import SpecOf
from pegboard.schema.types import Json, as_list

_ASKED = frozenset({FailureCode.FAILED, FailureCode.UPSTREAM, FailureCode.INVALID_ARGUMENTS})
"""Failures that a wrong or missing argument may be the cause of."""
_KINDS = (
    ("an email address", re.compile(r"[^@\s]+@[^@\s]+\.[a-z]{2,}", re.IGNORECASE)),
    ("an address on the web", re.compile(r"https?://\S+", re.IGNORECASE)),
    ("a name or sentence", re.compile(r"\S+( \S+)+")),
)
"""What is no id, however ids look."""


def missing(desk: Desk, spec_of: SpecOf, produced: Produced) -> Middleware:
    """Repeat in a failure what to call first, where a prerequisite is missing.

    Missing is an id that no tool gave in this session, an argument of another kind (an email address where an id is
    wanted), and an id that is not there at all. The user may know an id, so the call is never held up: only its failure
    says more, in the next step and as data in `details["missing"]`.

    Parameters:
        desk: knows which tool gives what.
        spec_of: the tools.
        produced: what the tools of each session gave.
    """

    def wrap(next_handler: Handler) -> Handler:
        async def handle(call: Call) -> Result:
            result = await next_handler(call)
            spec = spec_of(call.tool)
            if spec is None or spec.source.kind == META:
                return result
            if result.failure is None:
                produced.add(call, result)
                return result
            if result.failure.code not in _ASKED:
                return result
            needs = [one for one in await desk.before(call.tool) if one.before == call.tool and one.parameter]
            ran = result.failure.code is not FailureCode.INVALID_ARGUMENTS  # else it is no id that was refused
            lacks = [row for need in needs for row in _lacks(call, spec, need, produced if ran else None)]
            return replace(result, failure=_told(result.failure, lacks)) if lacks else result

        return handle

    return wrap


def _lacks(call: Call, spec: ToolSpec, need: Prerequisite, produced: Produced | None) -> Iterator[dict[str, Any]]:
    """What is missing of one prerequisite, the tool that gives it beside it."""
    parameter = need.parameter or ""
    row = {"parameter": parameter, "tool": str(need.name), "because": need.because}
    if parameter not in call.arguments:
        if parameter in as_list(spec.input.get("required")):
            yield {**row, "why": f"{parameter} is missing"}
        return
    for value in _values(call.arguments[parameter]):
        kind = next((kind for kind, form in _KINDS if isinstance(value, str) and form.fullmatch(value.strip())), None)
        known = produced.gave(call.session, value) if produced is not None else None
        if known:
            continue
        if kind is not None:
            yield {**row, "value": value, "why": f"{parameter} looks like {kind}"}
        elif known is False:
            why = f"no tool gave the {parameter} {value!r} in this run, only the user can have"
            yield {**row, "value": value, "why": why}


def _values(value: Json) -> Sequence[Json]:
    return as_list(value) if isinstance(value, list) else [value]


def _told(failure: Failure, lacks: Sequence[dict[str, Any]]) -> Failure:
    said = "; ".join(f"{row['why']}: call {row['tool']} first" for row in lacks[:_SHOWN])
    step = f"{failure.next_step} " if failure.next_step else ""
    return replace(
        failure,
        next_step=f"{step}Perhaps {said}.",
        details={**failure.details, "missing": list(lacks)},
    )


_SHOWN = 3
