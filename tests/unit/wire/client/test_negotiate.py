"""Agreeing on a protocol with servers of every kind."""

from collections.abc import Mapping
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError

from pegboard.wire.client.negotiate import Declared, Family, Peer, negotiate, request_headers

pytestmark = pytest.mark.anyio
MODERN, HANDSHAKE = "2026-07-28", "2025-11-25"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Script:
    """A dispatcher that answers each request with the next answer for its method."""

    def __init__(self, answers: Mapping[str, list[Any]]) -> None:
        self.answers = {method: list(rows) for method, rows in answers.items()}
        self.sent: list[str] = []
        self.params: list[Any] = []

    async def send_raw_request(self, method: str, params: Any, _options: Any = None) -> dict[str, Any]:
        self.sent.append(method)
        self.params.append(params)
        answer = self.answers[method].pop(0)
        if isinstance(answer, MCPError):
            raise answer
        return answer

    async def notify(self, method: str, _params: Any, _options: Any = None) -> None:
        self.sent.append(method)


def found(*versions: str) -> dict[str, Any]:
    return {"supportedVersions": list(versions), "capabilities": {"tools": {"listChanged": True}}, "instructions": "i"}


def shaken(version: Any = HANDSHAKE) -> dict[str, Any]:
    return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": {"name": "s"}, "instructions": "i"}


def unsupported(*versions: str) -> MCPError:
    return MCPError(code=-32022, message="unsupported", data={"supported": list(versions)})


NOT_FOUND = MCPError(code=-32601, message="Method not found")
TIMEOUT = MCPError(code=-32001, message="timed out")
DISCOVER, INITIALIZE, DONE = "server/discover", "initialize", "notifications/initialized"


async def agree(script: Script, family: Family = "auto") -> Peer:
    return await negotiate(script, family, Declared({"elicitation": {}}))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("family", "discover", "initialize", "sent", "version"),
    [
        ("auto", [found(MODERN)], [], [DISCOVER], MODERN),
        ("modern", [found("2030-01-01", MODERN)], [], [DISCOVER], MODERN),
        ("handshake", [], [shaken()], [INITIALIZE, DONE], HANDSHAKE),
        ("auto", [NOT_FOUND], [shaken()], [DISCOVER, INITIALIZE, DONE], HANDSHAKE),
        ("auto", [TIMEOUT], [shaken("2024-11-05")], [DISCOVER, INITIALIZE, DONE], "2024-11-05"),
        ("auto", [found(HANDSHAKE)], [shaken()], [DISCOVER, INITIALIZE, DONE], HANDSHAKE),
        ("auto", [{"odd": 1}], [shaken()], [DISCOVER, INITIALIZE, DONE], HANDSHAKE),
        ("auto", [unsupported(HANDSHAKE)], [shaken()], [DISCOVER, INITIALIZE, DONE], HANDSHAKE),
        ("auto", [TIMEOUT, found(MODERN)], [unsupported(MODERN)], [DISCOVER, INITIALIZE, DISCOVER], MODERN),
    ],
)
async def test_each_kind_of_server_is_agreed_with(
    family: Family, discover: list[Any], initialize: list[Any], sent: list[str], version: str
) -> None:
    script = Script({DISCOVER: discover, INITIALIZE: initialize})
    peer = await agree(script, family)
    assert script.sent == sent
    assert (peer.version, peer.modern, peer.instructions) == (version, version == MODERN, "i")
    assert bool(peer.announced) is (version == MODERN)


@pytest.mark.parametrize(
    ("family", "discover", "initialize"),
    [
        ("modern", [NOT_FOUND], []),
        ("modern", [found(HANDSHAKE)], []),
        ("auto", [unsupported("2031-01-01")], []),
        ("auto", [NOT_FOUND], [NOT_FOUND]),
        ("handshake", [], [unsupported(MODERN)]),
    ],
)
async def test_what_cannot_be_agreed_on_is_refused(family: Family, discover: list[Any], initialize: list[Any]) -> None:
    with pytest.raises(MCPError):
        await agree(Script({DISCOVER: discover, INITIALIZE: initialize}), family)


@pytest.mark.parametrize("version", ["2099-01-01", None, 7])
async def test_a_version_that_nobody_knows_is_taken_with_a_remark(version: Any) -> None:
    peer = await agree(Script({INITIALIZE: [shaken(version)]}), "handshake")
    assert peer.oddity and "unknown protocol version" in peer.oddity


async def test_what_is_declared_goes_out_in_both_families() -> None:
    modern, handshake = Script({DISCOVER: [found(MODERN)]}), Script({INITIALIZE: [shaken()]})
    peer = await agree(modern)
    await agree(handshake, "handshake")
    assert peer.envelope["io.modelcontextprotocol/clientCapabilities"] == {"elicitation": {}}
    assert modern.params[0]["_meta"] == peer.envelope
    assert handshake.params[0]["capabilities"] == {"elicitation": {}}


def test_headers_name_the_method_and_the_tool_in_the_modern_family_only() -> None:
    params = {"name": "größe"}
    modern = request_headers(Peer(MODERN, True, {}), "tools/call", params)
    assert modern["mcp-protocol-version"] == MODERN and modern["mcp-method"] == "tools/call"
    assert modern["mcp-name"].isascii()
    assert request_headers(Peer(HANDSHAKE, False, {}), "tools/call", params) == {"mcp-protocol-version": HANDSHAKE}
