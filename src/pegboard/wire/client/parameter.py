"""Arguments that also travel as HTTP headers (`x-mcp-header`, MCP 2026-07-28, tools)."""

from collections.abc import Mapping
from typing import TypeAlias

from mcp.shared.inbound import find_invalid_x_mcp_header, mcp_param_headers, x_mcp_header_map

from pegboard.schema.types import JsonObject, Schema

HeaderMap: TypeAlias = Mapping[tuple[str, ...], str]
"""Header name by the path of the argument."""


def header_map(schema: Schema) -> HeaderMap:
    """Which arguments a schema wants as headers."""
    return x_mcp_header_map(dict(schema))


def header_fault(schema: Schema) -> str | None:
    """Why a schema's wishes for headers are invalid, so that a client must leave the tool out; None if they are not."""
    return find_invalid_x_mcp_header(dict(schema))


def argument_headers(wanted: HeaderMap, arguments: JsonObject) -> dict[str, str]:
    """The headers for these arguments."""
    return mcp_param_headers(wanted, arguments)
