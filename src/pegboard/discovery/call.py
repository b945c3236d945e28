"""`tool_call`: calls any tool of the board by name, for clients that only call what is in their list."""

from dataclasses import replace

from pegboard.catalog import Unknown
from pegboard.core import Call, Effects, Failure, FailureCode, Result
from pegboard.discovery.define import meta_spec
from pegboard.discovery.desk import Desk
from pegboard.discovery.hidden import withheld
from pegboard.schema.types import JsonObject

REASON = "requestReason"
"""The argument, and the key of a request's `_meta`, that says why the model wants a call."""

SPEC = meta_spec(
    "tool_call",
    "Call any tool of this server by its name, as tool_search or list_available_tools give it. The answer is the"
    " tool's own.",
    {
        "name": {"type": "string", "description": "The tool's name."},
        "arguments": {"type": "object", "description": "The tool's arguments, as its definition asks for them."},
        REASON: {
            "type": "string",
            "description": "Why you call it, for the person who may have to approve it. One sentence.",
        },
    },
    required=("name",),
    effects=Effects.UNKNOWN,
)


async def tool_call(desk: Desk, call: Call) -> Result:
    """Run the target through the whole pipeline: what is checked and recorded is the target, not this wrapper."""
    name = desk.resolve(str(call.arguments.get("name", "")))
    failure = withheld(desk, name)
    if failure is not None or isinstance(name, Unknown):
        return Result(failure=failure)
    if name == SPEC.name:
        return Result(failure=Failure(FailureCode.INVALID_ARGUMENTS, "tool_call does not call itself.", "/name"))
    arguments: JsonObject = call.arguments.get("arguments") or {}
    reason = call.arguments.get(REASON)
    meta = {**call.meta, REASON: reason} if reason else call.meta
    # The mode is the wrapper's; how the target runs, its own arguments and default say.
    return await desk.run(replace(call, tool=name, arguments=arguments, mode=None, parent=call.id, meta=meta))
