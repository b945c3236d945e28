"""Agreeing on a protocol, by `server/discover` (2026-07-28) or by `initialize`, and what each request then carries."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import metadata
from typing import Any, Literal, TypeAlias, cast

from mcp.shared.dispatcher import CallOptions, Dispatcher
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import (
    MCP_METHOD_HEADER,
    MCP_NAME_HEADER,
    MCP_PROTOCOL_VERSION_HEADER,
    NAME_BEARING_METHODS,
    encode_header_value,
)
from mcp_types import (
    CLIENT_CAPABILITIES_META_KEY,
    CLIENT_INFO_META_KEY,
    PROTOCOL_VERSION_META_KEY,
    SERVER_INFO_META_KEY,
    UNSUPPORTED_PROTOCOL_VERSION,
)
from mcp_types.version import (
    HANDSHAKE_PROTOCOL_VERSIONS,
    LATEST_HANDSHAKE_VERSION,
    LATEST_MODERN_VERSION,
    MODERN_PROTOCOL_VERSIONS,
)

from pegboard.schema.types import JsonObject

Family: TypeAlias = Literal["auto", "modern", "handshake"]
"""Which protocol family to speak; `auto` tries the modern one and falls back."""

Answer: TypeAlias = Callable[[JsonObject], Awaitable[dict[str, Any]]]
"""Answers a request of the server, params to result, both raw."""

PROBE_TIMEOUT = 5.0
"""Seconds to wait for `server/discover`: old servers are free to ignore what comes before `initialize`."""


@dataclass(frozen=True)
class Declared:
    """What this client says that it can do for a server; what it cannot, it refuses at once.

    Parameters:
        capabilities: the `ClientCapabilities` object, raw (`{"elicitation": {}}` ...).
        answers: who answers each server request, by method (`elicitation/create` ...).
    """

    capabilities: JsonObject = field(default_factory=dict[str, Any])
    answers: Mapping[str, Answer] = field(default_factory=dict[str, Answer])


@dataclass(frozen=True, slots=True)
class Peer:
    """The server, as it introduced itself.

    Parameters:
        version: the protocol version that both speak.
        modern: whether that is the stateless family.
        capabilities: its `ServerCapabilities`, raw.
        instructions: what it says of itself; untrusted text.
        info: its name and version, raw; for display only.
        envelope: what each request carries in `_meta` (modern family).
        oddity: what was wrong with the introduction, where something was.
    """

    version: str
    modern: bool
    capabilities: JsonObject
    instructions: str = ""
    info: JsonObject = field(default_factory=dict[str, Any])
    envelope: JsonObject = field(default_factory=dict[str, Any])
    oddity: str | None = None

    @property
    def announced(self) -> frozenset[str]:
        """The lists (`tools`, `resources`, `prompts`) of which the server says that it tells when they change."""
        return frozenset(
            list_
            for list_ in ("tools", "resources", "prompts")
            if _object(self.capabilities.get(list_)).get("listChanged")
        )


@cache
def client_info() -> dict[str, str]:
    """How this client names itself."""
    try:
        version = metadata.version("pegboard")
    except metadata.PackageNotFoundError:
        version = "0"
    return {"name": "pegboard", "version": version}


async def negotiate(dispatcher: Dispatcher[Any], family: Family, declared: Declared) -> Peer:
    """Agree with the server on a protocol.

    Raises:
        MCPError: the server refused, or the connection ended.
    """
    if family == "handshake":
        return await _initialize(dispatcher, declared)
    version = LATEST_MODERN_VERSION
    for _ in range(2):
        try:
            return await _discover(dispatcher, version, declared)
        except MCPError as error:
            offered = _offered(error)
            mutual = [known for known in MODERN_PROTOCOL_VERSIONS if known in offered and known != version]
            if mutual:
                version = mutual[-1]
                continue
            if family == "modern" or _disjoint(offered):
                raise
        except ValueError:
            if family == "modern":
                raise MCPError(code=UNSUPPORTED_PROTOCOL_VERSION, message="no modern version in common") from None
        break
    return await _fall_back(dispatcher, declared)


async def _fall_back(dispatcher: Dispatcher[Any], declared: Declared) -> Peer:
    """Shake hands; a server that settled on the modern family after a late probe says so, and is asked once more."""
    try:
        return await _initialize(dispatcher, declared)
    except MCPError as error:
        mutual = [known for known in MODERN_PROTOCOL_VERSIONS if known in _offered(error)]
        if not mutual:
            raise
        return await _discover(dispatcher, mutual[-1], declared)


def _offered(error: MCPError) -> list[str]:
    if error.code != UNSUPPORTED_PROTOCOL_VERSION:
        return []
    found = _object(error.data).get("supported")
    return [str(version) for version in cast("list[Any]", found)] if isinstance(found, list) else []


def _disjoint(offered: list[str]) -> bool:
    return bool(offered) and not any(version in HANDSHAKE_PROTOCOL_VERSIONS for version in offered)


async def _discover(dispatcher: Dispatcher[Any], version: str, declared: Declared) -> Peer:
    envelope = {
        PROTOCOL_VERSION_META_KEY: version,
        CLIENT_INFO_META_KEY: client_info(),
        CLIENT_CAPABILITIES_META_KEY: dict(declared.capabilities),
    }
    options: CallOptions = {
        "timeout": PROBE_TIMEOUT,
        "cancel_on_abandon": False,
        "headers": {MCP_PROTOCOL_VERSION_HEADER: version, MCP_METHOD_HEADER: "server/discover"},
    }
    raw = await dispatcher.send_raw_request("server/discover", {"_meta": dict(envelope)}, options)
    versions = raw.get("supportedVersions")
    if not isinstance(versions, list) or version not in versions:
        raise ValueError("no modern version in common")
    return Peer(
        version=version,
        modern=True,
        capabilities=_object(raw.get("capabilities")),
        instructions=_text(raw.get("instructions")),
        info=_object(_object(raw.get("_meta")).get(SERVER_INFO_META_KEY)),
        envelope=envelope,
    )


async def _initialize(dispatcher: Dispatcher[Any], declared: Declared) -> Peer:
    params = {
        "protocolVersion": LATEST_HANDSHAKE_VERSION,
        "capabilities": dict(declared.capabilities),
        "clientInfo": client_info(),
    }
    raw = await dispatcher.send_raw_request("initialize", params, {"cancel_on_abandon": False})
    version = _text(raw.get("protocolVersion"))
    known = version in HANDSHAKE_PROTOCOL_VERSIONS
    peer = Peer(
        version=version or LATEST_HANDSHAKE_VERSION,
        modern=False,
        capabilities=_object(raw.get("capabilities")),
        instructions=_text(raw.get("instructions")),
        info=_object(raw.get("serverInfo")),
        oddity=None if known else f"The server answered with the unknown protocol version {version!r}.",
    )
    headers = {MCP_PROTOCOL_VERSION_HEADER: peer.version}
    await dispatcher.notify("notifications/initialized", None, {"headers": headers})
    return peer


def request_headers(peer: Peer, method: str, params: JsonObject) -> dict[str, str]:
    """The HTTP headers that a request carries (MCP 2026-07-28, transports; only the version before it)."""
    headers = {MCP_PROTOCOL_VERSION_HEADER: peer.version}
    if peer.modern:
        headers[MCP_METHOD_HEADER] = method
        name = params.get(NAME_BEARING_METHODS.get(method, ""))
        if isinstance(name, str):
            headers[MCP_NAME_HEADER] = encode_header_value(name)
    return headers


def _object(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
