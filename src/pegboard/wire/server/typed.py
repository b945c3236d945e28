"""Answers as objects of the `mcp` package, for frameworks that are built on it."""

from typing import Any

from mcp_types import CallToolResult

from pegboard.schema.types import JsonObject


def call_tool_result(answer: JsonObject) -> Any:
    """The answer to a `tools/call` as the SDK's `CallToolResult`.

    Parameters:
        answer: as plain data, such as `surface.mcp.output` makes it.
    """
    return CallToolResult.model_validate(answer)
