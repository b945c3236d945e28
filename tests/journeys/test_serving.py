"""How a gateway starts, refuses and stops."""

import signal
import subprocess
import sys
from pathlib import Path

import anyio
import httpx2
import pytest
from journey_kit import PATIENCE, WORKSHOP, MakeGateway, until, workshop
from mcp import Client

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
HANGS = f'mcp = ["{sys.executable}", "-c", "import time; time.sleep(600)"]'


def store(folder: Path) -> None:
    """List the board once, so that its catalog is stored."""
    command = [sys.executable, "-m", "pegboard", "list", "--config", str(folder / "pegboard.toml")]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def popen(command: list[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


async def test_a_stored_catalog_answers_at_once_while_its_server_hangs(gateway: MakeGateway, tmp_path: Path) -> None:
    script = tmp_path / "server.py"
    script.write_text(f"import runpy; runpy.run_path({str(WORKSHOP)!r}, run_name='__main__')")
    table = f'mcp = ["{sys.executable}", "{script}"]\nstart_timeout = 6'
    served = gateway("stdio", {"ws": table}, 'search = "on"')
    store(served.folder)
    script.write_text("import time; time.sleep(600)")
    async with served.client("auto") as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert {"ws__echo", "tool_search"} <= names
        found = await client.call_tool("tool_search", {"query": "draw a picture", "limit": 1})
        assert found.structured_content["namespaces"][0]["tools"][0]["name"] == "ws__picture"
        listed = await client.call_tool("list_available_tools", {})
        assert listed.structured_content["sources"][0]["state"] in ("idle", "starting")
        failed = await client.call_tool("ws__echo", {"text": "anybody?"})
        assert failed.is_error
        assert failed.meta["pegboard/failure"]["code"] == "unavailable"
        assert failed.meta["pegboard/failure"]["retryable"] is True


async def test_one_server_that_hangs_and_one_that_is_missing_cost_the_third_nothing(gateway: MakeGateway) -> None:
    hangs = f"{HANGS}\nstart_timeout = 2"
    served = gateway("stdio", {"hangs": hangs, "gone": 'mcp = ["no-such-program"]', "ws": workshop()}, 'search = "on"')
    async with served.client("auto") as client:
        assert (await client.call_tool("ws__echo", {"text": "fine"})).structured_content == {"text": "fine"}
        listed = await client.call_tool("list_available_tools", {})
        sources = {row["name"]: row for row in listed.structured_content["sources"]}
        assert sources["ws"]["state"] == "ready"
        assert sources["hangs"]["state"] == sources["gone"]["state"] == "unavailable"
        assert "no-such-program" in sources["gone"]["error"]


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_the_gateway_over_stdio_with_its_servers(gateway: MakeGateway, ending: int) -> None:
    served = gateway("stdio", {"ws": workshop()})
    store(served.folder)
    process = popen([*served.command, "--stdio"])
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(
        b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",'
        b'"capabilities":{},"clientInfo":{"name":"t","version":"0"}}}\n'
    )
    process.stdin.flush()
    assert b"serverInfo" in process.stdout.readline()
    process.send_signal(ending)
    assert process.wait(PATIENCE) == 0
    assert process.stdout.read() == b""


async def test_a_signal_lets_a_call_over_http_end(gateway: MakeGateway) -> None:
    served = gateway("http", {"ws": workshop(env='{ WORKSHOP_DIARY = "{}" }')})
    diary = served.folder / "diary"
    config = served.folder / "pegboard.toml"
    config.write_text(config.read_text().replace('"{}"', f'"{diary}"'))
    async with served.client("auto") as client:
        await client.list_tools()
        [process] = served.processes
        with pytest.raises(Exception):  # noqa: B017 - the connection ends, in whatever words
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(client.call_tool, "ws__wait", {})
                await until(lambda: diary.exists() and diary.read_text() == "waiting")
                process.send_signal(signal.SIGTERM)
                await until(lambda: process.poll() is not None)
                raise RuntimeError("the gateway has ended")
    assert process.returncode == 0
    assert diary.read_text() == "cancelled"


async def test_a_stranger_is_not_served_over_http(gateway: MakeGateway) -> None:
    served = gateway("http", {"ws": workshop()})
    address = served.start("--token", "open-sesame")
    async with httpx2.AsyncClient() as http:
        answer = await http.post(address, json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
        assert answer.status_code == 401
        foreign = await http.post(address, json={}, headers={"origin": "https://evil.example"})
        assert foreign.status_code == 403
    from mcp.client.streamable_http import streamable_http_client

    async with httpx2.AsyncClient(headers={"authorization": "Bearer open-sesame"}) as http:
        async with Client(streamable_http_client(address, http_client=http)) as client:
            assert (await client.list_tools()).tools
