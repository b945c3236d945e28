"""Reaching MCP servers: one long-lived link per server, in either protocol family, over any transport."""

from pegboard.wire.client.endpoint import Endpoint, HttpEndpoint, MemoryEndpoint, StdioEndpoint
from pegboard.wire.client.fault import Answered, CannotStart, ConnectionLost, TimedOut, WireError
from pegboard.wire.client.link import Link
from pegboard.wire.client.negotiate import Declared, Peer
from pegboard.wire.client.pool import LinkKey, Pool, Role

__all__ = [
    "Answered",
    "CannotStart",
    "ConnectionLost",
    "Declared",
    "Endpoint",
    "HttpEndpoint",
    "Link",
    "LinkKey",
    "MemoryEndpoint",
    "Peer",
    "Pool",
    "Role",
    "StdioEndpoint",
    "TimedOut",
    "WireError",
]
