"""The names under which traces go out: OpenTelemetry's conventions for GenAI and MCP, and ours beside them.

Sources: open-telemetry/semantic-conventions-genai v0.1.0 (status: development), pages execute-tool and mcp. They are
our own constants, since the Python package still holds the older copy.
"""

from collections.abc import Mapping
from typing import Any

from pegboard.schema.cut import json_text
from pegboard.trace.record import CallRecord, Run

OPERATION = "gen_ai.operation.name"
TOOL_NAME = "gen_ai.tool.name"
TOOL_CALL_ID = "gen_ai.tool.call.id"
TOOL_TYPE = "gen_ai.tool.type"
TOOL_DESCRIPTION = "gen_ai.tool.description"
TOOL_ARGUMENTS = "gen_ai.tool.call.arguments"
"""Opt-in, since it may hold what is private; a JSON text."""
TOOL_RESULT = "gen_ai.tool.call.result"
"""Opt-in, likewise."""
AGENT_NAME = "gen_ai.agent.name"
CONVERSATION_ID = "gen_ai.conversation.id"
ERROR_TYPE = "error.type"

MCP_METHOD = "mcp.method.name"
MCP_SESSION = "mcp.session.id"
MCP_PROTOCOL = "mcp.protocol.version"
MCP_RESOURCE = "mcp.resource.uri"
JSONRPC_ID = "jsonrpc.request.id"

RUN = "pegboard.run.id"
TURN = "pegboard.turn"
GROUP = "pegboard.group"
MODE = "pegboard.mode"
SOURCE = "pegboard.source"
PRINCIPAL = "pegboard.principal"
DIGEST = "pegboard.tool.digest"
TOKENS = "pegboard.tokens"
FAILURE = "pegboard.failure"
"""The failure's code in our own words, which `error.type` says in the conventions' words."""
ERROR_MESSAGE = "pegboard.error.message"

EXECUTE_TOOL = "execute_tool"
DURATION_METRIC = "gen_ai.execute_tool.duration"
"""A histogram in seconds."""


def error_type(failure: str | None) -> str | None:
    """A failure's code as `error.type`: `tool_error` where the tool itself reported an error (`isError` in MCP)."""
    return "tool_error" if failure in ("failed", "upstream") else failure


def span_name(record: CallRecord) -> str:
    """The name of a call's span: `execute_tool` and the tool."""
    return f"{EXECUTE_TOOL} {record.tool}"


def span_attributes(record: CallRecord, run: Run | None = None, *, content: bool = False) -> Mapping[str, Any]:
    """The attributes of a call's span.

    Parameters:
        record: the call.
        run: the run that it belongs to.
        content: whether arguments and result go out too.
    """
    found: dict[str, Any] = {
        OPERATION: EXECUTE_TOOL,
        TOOL_NAME: record.tool,
        TOOL_TYPE: "function",
        TOOL_CALL_ID: record.id,
        ERROR_TYPE: error_type(record.failure),
        FAILURE: record.failure,
        ERROR_MESSAGE: record.error,
        TURN: record.turn,
        GROUP: record.group,
        MODE: record.mode,
        SOURCE: record.source,
        PRINCIPAL: record.principal,
        DIGEST: record.digest,
        TOKENS: record.tokens,
    }
    if run is not None:
        found |= {RUN: run.id, CONVERSATION_ID: run.id, AGENT_NAME: run.agent}
    if content:
        found |= {TOOL_ARGUMENTS: _text(record.arguments), TOOL_RESULT: _text(record.result)}
    return {name: value for name, value in found.items() if value is not None}


def _text(value: Any) -> str | None:
    return None if value is None else json_text(value)
