"""Databases as tools: explored in layers, then asked on three rungs."""

from pegboard.sources.sql.source import SqlSource

__all__ = ["SqlSource"]
