"""Tools of MCP servers."""

from pegboard.sources.mcp.source import McpSource

__all__ = ["McpSource"]
