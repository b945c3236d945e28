"""Serving downstream clients: one server for both protocol families, over stdio and streamable HTTP."""

from pegboard.wire.server.front import Front, Peer, Refusal

__all__ = ["Front", "Peer", "Refusal"]
