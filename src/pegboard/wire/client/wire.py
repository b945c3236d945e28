"""What every transport offers to the connection that lives on it."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

from mcp.shared.dispatcher import Dispatcher

from pegboard.wire.client.endpoint import Endpoint, HttpEndpoint, StdioEndpoint
from pegboard.wire.client.fault import Fault
from pegboard.wire.client.negotiate import Family


class Wire(Protocol):
    """A transport.

    `headers` tells whether requests carry HTTP headers, `encoded` whether they are written as JSON; `faults` holds what
    is known of failed requests, by their ids.
    """

    headers: bool
    encoded: bool
    faults: dict[str | int, Fault]

    @property
    def alive(self) -> bool:
        """Whether the other end is there, as far as is known."""
        ...

    @property
    def stderr(self) -> str:
        """The end of what it wrote to stderr, without secrets."""
        ...

    @property
    def junk(self) -> Sequence[str]:
        """The beginnings of the first lines that were no messages."""
        ...

    @property
    def junk_lines(self) -> int:
        """How many lines were no messages."""
        ...

    def obituary(self) -> str:
        """How it ended by itself, in words; empty while it lives."""
        ...

    def open(self) -> AbstractAsyncContextManager[Dispatcher[Any]]:
        """Take it up, and put it down on the way out."""
        ...


class Quiet:
    """What a transport without a process has to say of itself: nothing."""

    alive = True
    stderr = ""
    junk: Sequence[str] = ()
    junk_lines = 0

    def __init__(self) -> None:
        self.faults: dict[str | int, Fault] = {}

    def obituary(self) -> str:
        """Its end is not seen here."""
        return ""


def open_wire(endpoint: Endpoint, family: Family) -> Wire:
    """The transport that an endpoint needs; only this one is imported."""
    if isinstance(endpoint, StdioEndpoint):
        from pegboard.wire.client.stdio import StdioWire

        return StdioWire(endpoint)
    if isinstance(endpoint, HttpEndpoint):
        from pegboard.wire.client.http import HttpWire

        return HttpWire(endpoint)
    from pegboard.wire.client.memory import MemoryWire

    return MemoryWire(endpoint, framed=family == "handshake")
