"""`tool_call`: calls any tool of the board by name, for clients that only call what is in their list."""

from dataclasses import replace

from pegboard.catalog import Unknown
from pegboard.core import Call, Effects, Failure, FailureCode, Result
from pegboard.discovery.define import meta_spec
from pegboard.discovery.desk import Desk
from pegboard.schema.types import JsonObject

SPEC = meta_spec(
    "tool_call",
    "Call any tool of this server by its name, as tool_search or list_available_tools give it. The answer is the"
    " tool's own.",
    {
        "name": {"type": "string", "description": "The tool's name."},
        "arguments": {"type": "object", "description": "The tool's arguments, as its definition asks for them."},
    },
    required=("name",),
    effects=Effects.UNKNOWN,
)


async def tool_call(desk: Desk, call: Call) -> Result:
    """Run the target through the whole pipeline: what is checked and recorded is the target, not this wrapper."""
    name = desk.resolve(str(call.arguments.get("name", "")))
    if isinstance(name, Unknown):
        return Result(failure=desk.absent(name))
    if name == SPEC.name:
        return Result(failure=Failure(FailureCode.INVALID_ARGUMENTS, "tool_call does not call itself.", "/name"))
    arguments: JsonObject = call.arguments.get("arguments") or {}
    return await desk.run(replace(call, tool=name, arguments=arguments, parent=call.id))
