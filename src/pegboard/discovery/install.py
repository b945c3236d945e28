"""`request_plugin_install`: an agent asks a person to put something on the board, or to switch it on."""

from pegboard.core import Call, Effects, Result
from pegboard.discovery.define import meta_spec
from pegboard.discovery.desk import Desk

SPEC = meta_spec(
    "request_plugin_install",
    "Ask the user to install or enable a connector or plugin that this server does not have. Only for what tool_search"
    " offered in this session, when no tool of this server does the job. One request at a time. The user sees your"
    " reason and decides; after a yes its tools are there at once.",
    {
        "tool_type": {"type": "string", "enum": ["connector", "plugin"], "description": "As tool_search gives it."},
        "action_type": {"type": "string", "enum": ["install", "enable"], "description": "As tool_search gives it."},
        "tool_id": {"type": "string", "description": "As tool_search gives it."},
        "suggest_reason": {
            "type": "string",
            "description": "Why the user needs it, in a whole sentence that the user will read.",
        },
    },
    required=("tool_type", "action_type", "tool_id", "suggest_reason"),
    effects=Effects.ADDITIVE,
)


async def request_plugin_install(desk: Desk, call: Call) -> Result:
    """Check the request, ask the person, and bring in what was agreed to."""
    return await desk.openings.request(call)
