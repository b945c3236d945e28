"""The whole story of a missing tool: a real gateway, real clients, a real package in an environment of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest
from journey_kit import PATIENCE, WORKSHOP, Gateway
from mcp import Client
from mcp_types import ElicitResult
from tiny_kit import PYPI, board, sha256, wheel

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

PEGBOARD = str(Path(sys.executable).with_name("pegboard"))
REASON = "The user wants to know the weather, and no tool here forecasts it."
ASK = {"tool_type": "plugin", "action_type": "install", "tool_id": "weather", "suggest_reason": REASON}
QUERY = {"query": "weather forecast for a place"}


class Person:
    """Somebody at a client who answers each question as told.

    Parameters:
        content: the filled form.
        delay: seconds until the answer.
    """

    def __init__(self, content: dict[str, Any], delay: float = 0.0) -> None:
        self.content, self.delay, self.questions = content, delay, list[Any]()

    async def __call__(self, _context: Any, params: Any) -> ElicitResult:
        self.questions.append(params)
        await anyio.sleep(self.delay)
        return ElicitResult(action="accept", content=self.content)


def client(folder: Path, mode: str, person: Person | None = None) -> Client:
    target: Any = Gateway(folder, "stdio").target
    return Client(target, mode=mode, read_timeout_seconds=4 * PATIENCE, elicitation_callback=person)


def pegboard(*arguments: str, folder: Path, code: int = 0) -> Any:
    command = [PEGBOARD, *arguments, "--json", "--config", str(folder)]
    outcome = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert outcome.returncode == code, outcome.stdout + outcome.stderr
    return json.loads(outcome.stdout)


async def search(asking: Client) -> list[str]:
    found = await asking.call_tool("tool_search", QUERY)
    return [row["tool_id"] for row in found.structured_content.get("discoverables", [])]


def story(folder: Path, more: str = "", entry: str = PYPI) -> Path:
    return board(folder, entry, more)


@pytest.mark.requirement("D9.1", "D9.4", "D9.5", "D9.6")
@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_yes_in_the_client_installs_the_package_and_its_tool_is_called(tmp_path: Path, mode: str) -> None:
    pinned = f'{PYPI}sha256 = "{sha256(wheel(tmp_path / "wheels"))}"\n'
    folder, person = story(tmp_path, entry=pinned), Person({"decision": "allow_once"})
    async with client(folder, mode, person) as asking:
        names = {tool.name for tool in (await asking.list_tools()).tools}
        assert names == {"ops__add", "tool_search", "request_plugin_install"}
        assert await search(asking) == ["weather"]
        result = await asking.call_tool("request_plugin_install", ASK)
        value = result.structured_content
        assert (value["completed"], value["user_confirmed"]) == (True, True), value
        assert value["tools"] == ["weather__get_forecast"]
        assert "weather__get_forecast" in {tool.name for tool in (await asking.list_tools()).tools}
        answer = await asking.call_tool("weather__get_forecast", {"place": "Rome"})
        assert answer.content[0].text == "Sunny in Rome"
    [question] = person.questions
    assert REASON in question.message
    assert "installs tiny-weather 1.0.0 from PyPI" in question.message
    assert question.meta["codex_approval_kind"] == "tool_suggestion"
    assert question.meta["tool_id"] == "weather"
    sources = {row["name"]: row["origin"] for row in pegboard("list", folder=folder)["sources"]}
    assert sources == {"ops": None, "weather": "weather"}
    assert (folder / ".pegboard/installed/weather/bin/tiny-weather").exists() or os.name == "nt"


@pytest.mark.requirement("D9.6", "D9.7")
async def test_a_yes_on_the_command_line_while_the_agent_waits(tmp_path: Path) -> None:
    folder = story(tmp_path)
    async with client(folder, "auto") as asking:
        await search(asking)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(anyio.to_thread.run_sync, _allow, folder)
            result = await asking.call_tool("request_plugin_install", ASK)
        assert result.structured_content["completed"], result.structured_content
        answer = await asking.call_tool("weather__get_forecast", {"place": "Oslo"})
        assert answer.content[0].text == "Sunny in Oslo"


def _allow(folder: Path) -> None:
    """Say yes to the first suggestion that waits."""
    for _ in range(200):
        waiting = pegboard("approvals", "list", "--kind", "tool_suggestion", folder=folder)["requests"]
        if waiting:
            assert waiting[0]["kind"] == "tool_suggestion"
            assert waiting[0]["reason"] == REASON
            pegboard("approvals", "allow", waiting[0]["id"], folder=folder)
            return
    raise AssertionError("Nothing ever waited for an answer.")


@pytest.mark.requirement("D9.5")
@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_an_answer_that_comes_too_late_installs_nothing(tmp_path: Path, mode: str) -> None:
    folder, person = story(tmp_path, "[approval]\ntimeout = 1\n"), Person({"decision": "allow_once"}, delay=2.0)
    async with client(folder, mode, person) as asking:
        await search(asking)
        value = (await asking.call_tool("request_plugin_install", ASK)).structured_content
        assert (value["completed"], value["user_confirmed"], value["code"]) == (False, False, "timeout")
        assert {tool.name for tool in (await asking.list_tools()).tools} >= {"ops__add"}
    assert not (folder / ".pegboard/installed").exists()


@pytest.mark.requirement("D9.8")
async def test_a_refusal_for_good_hides_the_suggestion_from_then_on(tmp_path: Path) -> None:
    folder, person = story(tmp_path), Person({"decision": "deny_always"})
    async with client(folder, "legacy", person) as asking:
        await search(asking)
        value = (await asking.call_tool("request_plugin_install", ASK)).structured_content
        assert (value["completed"], value["user_confirmed"], value["code"]) == (False, False, "declined")
    async with client(folder, "auto", person) as again:  # another process, another session
        assert await search(again) == []
        refused = await again.call_tool("request_plugin_install", ASK)
        assert refused.is_error
        assert refused.meta["pegboard/failure"]["details"]["reason"] == "declined"
    assert len(person.questions) == 1


@pytest.mark.requirement("D9.8")
async def test_a_yes_for_good_dies_with_the_definition(tmp_path: Path) -> None:
    folder, person = story(tmp_path), Person({"decision": "allow_always"})
    async with client(folder, "auto", person) as asking:
        await search(asking)
        assert (await asking.call_tool("request_plugin_install", ASK)).structured_content["completed"]
    pegboard("uninstall", "weather", folder=folder)
    assert list((folder / ".pegboard/installed").iterdir()) == []
    wheel(folder / "wheels", "2.0.0")
    offers = folder / "offers.toml"
    offers.write_text(offers.read_text().replace("1.0.0", "2.0.0"))
    async with client(folder, "auto", person) as asking:
        await search(asking)
        value = (await asking.call_tool("request_plugin_install", ASK)).structured_content
        assert value["completed"], value
    assert len(person.questions) == 2
    kept = [grant for grant in pegboard("approvals", "grants", folder=folder)["grants"]]
    assert len(kept) == 1


@pytest.mark.requirement("D1.2", "D1.3")
def test_a_connector_of_a_registry_file_is_installed_switched_off_and_on_by_hand(tmp_path: Path) -> None:
    command = [sys.executable, str(WORKSHOP), "--http"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as service:
        try:
            assert service.stdout is not None
            remote = {"type": "streamable-http", "url": service.stdout.readline().strip()}
            row = {
                "name": "io.example/workshop",
                "description": "Say a text back.",
                "version": "1",
                "remotes": [remote],
            }
            (tmp_path / "server.json").write_text(json.dumps(row))
            config = '[directories.d]\nfrom = "server.json"\n'
            (tmp_path / "pegboard.toml").write_text(config)
            refused = pegboard("discoverables", "list", folder=tmp_path, code=1)
            assert refused["discoverables"] == []
            assert "allow_private" in refused["set_aside"][0]["next_step"]
            (tmp_path / "pegboard.toml").write_text(f"{config}allow_private = true\n")
            installed = pegboard("install", "io.example/workshop", folder=tmp_path)
            assert (installed["type"], installed["completed"]) == ("connector", True)
            said = pegboard("call", "workshop.echo", "--args", '{"text": "hello"}', folder=tmp_path)
            assert said["value"] == {"text": "hello"}
            pegboard("disable", "workshop", folder=tmp_path)
            failed = pegboard("call", "workshop.echo", "--args", '{"text": "x"}', folder=tmp_path, code=1)
            assert failed["failure"]["code"] == "blocked"
            [off] = pegboard("discoverables", "search", "say a text back", folder=tmp_path)["discoverables"]
            assert (off["state"], off["action"]) == ("disabled", "enable")
            assert pegboard("enable", "io.example/workshop", folder=tmp_path)["completed"]
            pegboard("uninstall", "workshop", folder=tmp_path)
            assert pegboard("list", folder=tmp_path)["sources"] == []
        finally:
            service.kill()


# A package of others

REAL = ("mcp-server-sqlite==2025.4.25", "mcp<2")
"""A small server that is not on the demo board, and the SDK that it was written for."""


@pytest.fixture(scope="module")
def wheelhouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheelhouse of the real package and what it needs, downloaded once; without an index there is none."""
    folder = tmp_path_factory.mktemp("download")
    subprocess.run([sys.executable, "-m", "venv", str(folder / "pip")], check=True)
    command = [str(folder / "pip/bin/pip"), "download", "--quiet", "--disable-pip-version-check", "--retries", "0"]
    command += ["--timeout", "15", "--only-binary", ":all:", "--dest", str(folder / "wheels"), *REAL]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode:
        pytest.skip(f"no index can be reached to download {REAL[0]}: {done.stderr.strip()[-200:]}")
    return folder / "wheels"


@pytest.mark.requirement("D9.1", "D9.5", "D9.9")
async def test_a_real_server_from_a_wheelhouse(tmp_path: Path, wheelhouse: Path) -> None:
    folder = story(tmp_path)
    server = {
        "name": "io.example/mcp-server-sqlite",
        "description": "Query and change SQLite databases.",
        "version": "2025.4.25",
        "packages": [
            {
                "registryType": "pypi",
                "identifier": "mcp-server-sqlite",
                "version": "2025.4.25",
                "transport": {"type": "stdio"},
                "packageArguments": [{"type": "named", "name": "--db-path", "value": str(tmp_path / "shop.db")}],
            }
        ],
    }
    (folder / "server.json").write_text(json.dumps(server))
    config = folder / "pegboard.toml"
    config.write_text(
        config.read_text().replace('"offers.toml"', '"server.json"').replace('"wheels"', json.dumps(str(wheelhouse)))
    )
    person = Person({"decision": "allow_once"})
    async with client(folder, "auto", person) as asking:
        found = await asking.call_tool("tool_search", {"query": "query a sqlite database"})
        assert found.structured_content["namespaces"] == []
        [offered] = found.structured_content["discoverables"]
        request = {key: offered[key] for key in ("tool_type", "action_type", "tool_id")}
        reason = "The user wants numbers out of a SQLite file, and no tool here reads one."
        value = (
            await asking.call_tool("request_plugin_install", {**request, "suggest_reason": reason})
        ).structured_content
        assert value["completed"], value
        made = await asking.call_tool(
            "mcp-server-sqlite__create_table", {"query": "CREATE TABLE shop (name TEXT, price REAL)"}
        )
        assert not made.is_error, made
        listed = await asking.call_tool("mcp-server-sqlite__list_tables", {})
        assert "shop" in listed.content[0].text
