"""Where a server is and how it is reached. Nothing secret shows in the text of an endpoint."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any, Literal, TypeAlias, cast
from urllib.parse import parse_qsl, urlsplit

from pegboard.schema.types import Json
from pegboard.wire.oauth import Keeper


@dataclass(frozen=True, slots=True)
class StdioEndpoint:
    """A program that speaks MCP on its stdin and stdout.

    Parameters:
        argv: the program and its arguments; the program is looked up beside the running Python, then on PATH.
        env: variables on top of the few that a server inherits.
        cwd: where it runs; None for where pegboard was started.
    """

    argv: tuple[str, ...] = field(repr=False)
    env: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    cwd: str | None = None

    def __str__(self) -> str:
        return PurePath(self.argv[0]).name

    @property
    def secrets(self) -> tuple[str, ...]:
        """The texts that may not be repeated in a message."""
        return tuple(self.env.values())


@dataclass(frozen=True, slots=True)
class HttpEndpoint:
    """A server behind an address.

    Parameters:
        url: the full address; only its origin is ever shown, for path and query may carry keys.
        headers: sent with every request.
        transport: `http` (streamable HTTP) or `sse` (the HTTP+SSE of 2024-11-05).
        keeper: puts the sign-in on requests, where somebody has signed in; None for none.
        proxy: what requests go through; the environment's proxy by default.
        ca_file: a file of certificates (PEM) that are trusted besides the system's.
    """

    url: str = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    transport: Literal["http", "sse"] = "http"
    keeper: Keeper | None = field(default=None, repr=False, compare=False)
    proxy: str | None = field(default=None, repr=False)
    ca_file: str | None = None

    def __str__(self) -> str:
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"

    @property
    def secrets(self) -> tuple[str, ...]:
        """The texts that may not be repeated in a message."""
        parts = urlsplit(self.url)
        bare = [value.partition(" ")[2] for value in self.headers.values()]
        query = [value for _, value in parse_qsl(parts.query)]
        kept = self.keeper.secrets if self.keeper is not None else ()
        through = urlsplit(self.proxy or "").password or ""
        return (*self.headers.values(), *bare, *query, *kept, through, parts.password or "")


@dataclass(frozen=True, slots=True)
class MemoryEndpoint:
    """A server object of the SDK in this very process (tests, embedding).

    Parameters:
        server: an `mcp.server.lowlevel.Server` or an `mcp.server.mcpserver.MCPServer`.
    """

    server: Any

    def __str__(self) -> str:
        return "in-process server"

    @property
    def secrets(self) -> tuple[str, ...]:
        """There are none."""
        return ()


Endpoint: TypeAlias = StdioEndpoint | HttpEndpoint | MemoryEndpoint

_SHORTEST_SECRET = 6


def scrub_json(value: Json, secrets: tuple[str, ...]) -> Json:
    """A JSON value in whose texts every secret is replaced."""
    match value:
        case str():
            return scrub(value, secrets)
        case list():
            return [scrub_json(item, secrets) for item in cast("list[Any]", value)]
        case dict():
            return {key: scrub_json(item, secrets) for key, item in cast("dict[str, Any]", value).items()}
        case _:
            return value


def scrub(text: str, secrets: tuple[str, ...]) -> str:
    """A text in which every secret of at least six characters is replaced by `***`."""
    for secret in sorted(set(secrets), key=len, reverse=True):
        if len(secret) >= _SHORTEST_SECRET:
            text = text.replace(secret, "***")
    return text
