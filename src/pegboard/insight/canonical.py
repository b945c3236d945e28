"""Runs under the board's own names: whatever a client calls a tool, it is the same tool."""

from collections.abc import Mapping
from dataclasses import replace
from typing import cast

from pegboard.insight.offer import Offer
from pegboard.schema.types import Json
from pegboard.trace.record import CallRecord, Run

_WRAPPER = "tool_call"


def canonical_name(tool: str, offer: Offer) -> str:
    """A tool's full name on the board; a name that is nobody's without the prefixes that clients add."""
    for name in (
        tool,
        tool.removeprefix("mcp__"),
        tool.partition("__")[2],
        tool.removeprefix("mcp__").partition("__")[2],
    ):
        spec = offer.find(name) if name else None
        if spec is not None:
            return str(spec.name)
    return tool


def canonical_run(run: Run, offer: Offer) -> Run:
    """A run with each tool under its full name; a call through the meta-tool `tool_call` is the call of what it names.

    Parameters:
        run: the run.
        offer: the board's tools.
    """
    calls = [_renamed(call, offer) for call in run.calls]
    wrapped = {call.id for call in run.calls if _is_wrapper(call)}
    kept = [call for call in calls if call.parent not in wrapped]
    return replace(run, calls=tuple(kept))


def _renamed(call: CallRecord, offer: Offer) -> CallRecord:
    given: Json = call.arguments
    if _is_wrapper(call) and isinstance(given, Mapping):
        body = cast("Mapping[str, Json]", given)
        if isinstance(body.get("name"), str):
            name = canonical_name(cast("str", body["name"]), offer)
            return replace(call, tool=name, arguments=body.get("arguments") or {})
    return replace(call, tool=canonical_name(call.tool, offer))


def _is_wrapper(call: CallRecord) -> bool:
    return call.tool.replace("__", ".").rpartition(".")[2] == _WRAPPER
