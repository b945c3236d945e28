"""Holding a tool to its output schema (MCP 2026-07-28, tools: structured results MUST conform to it)."""

from dataclasses import replace

from pegboard.core import Call, FailureCode, Handler, Report, Result
from pegboard.core.call import Failure
from pegboard.schema.types import Schema
from pegboard.schema.validate import validator

_SHOWN = 3


def hold_to(schema: Schema, handler: Handler, *, strict: bool) -> Handler:
    """The handler, with each success checked against what the tool promised.

    Parameters:
        schema: the output schema.
        handler: calls the tool.
        strict: whether a broken promise fails the call; if not, it is noted in the report.
    """

    async def call_tool(call: Call) -> Result:
        result = await handler(call)
        if result.failure is not None:
            return result
        wrong = _wrong(schema, result)
        if wrong is None:
            return result
        if strict:
            failure = Failure(FailureCode.UPSTREAM, wrong, next_step="Tell whoever runs the server.")
            return replace(result, failure=failure)
        report = result.report or Report()
        return replace(result, report=replace(report, notes=(*report.notes, wrong)))

    return call_tool


def _wrong(schema: Schema, result: Result) -> str | None:
    if result.value is None and "structuredContent" not in result.meta:
        return "The tool declares an output schema, but returned nothing structured."
    faults = validator(schema).violations(result.value)
    if not faults:
        return None
    shown = "; ".join(f"{fault.pointer or 'the whole'}: {fault.message}" for fault in faults[:_SHOWN])
    return f"The structured result does not fit the tool's output schema: {shown}"
