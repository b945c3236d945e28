"""What the clients have is taken over, and a client that was pointed at the board is served all of it."""

import json
import sys
from pathlib import Path

import anyio
import pytest

from pegboard.cli.app import run
from pegboard.config.clients import CLIENTS, Attachment, Machine
from pegboard.sources.mcp import McpSource

TIME = str(Path(sys.executable).with_name("mcp-server-time"))


def settle(machine: Machine) -> None:
    """One server in one config of each client, alike but for its name and time zone."""
    for number, known in enumerate(CLIENTS, 1):
        place = Attachment.of(known, "user", f"clock-{known.name}", machine)
        place.write({"command": TIME, "args": ["--local-timezone", f"Etc/GMT+{number}"], "env": {"OWN": "value"}})
        place.backup.unlink(missing_ok=True)


async def tools(command: list[str]) -> list[str]:
    source = McpSource("board", command, start_timeout=120)
    async with source.session():
        return [tool.spec.name.name for tool in (await source.listing()).tools]


@pytest.mark.slow
def test_a_home_of_every_client_becomes_a_board_that_serves_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for variable in ("XDG_CONFIG_HOME", "CODEX_HOME", "CLAUDE_CONFIG_DIR"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.chdir(tmp_path)
    settle(Machine.here())
    assert run(["import", "--write"]) == 0
    assert run(["list"]) == 0
    capsys.readouterr()
    assert run(["connect", "zed", "--json"]) == 0
    entry = json.loads(capsys.readouterr().out)["entry"]
    served = anyio.run(tools, [entry["command"], *entry["args"]])
    assert [known.name for known in CLIENTS if not any(known.name in name for name in served)] == []
