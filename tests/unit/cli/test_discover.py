"""`pegboard discover`: a real server's tools, looked at without adding it."""

import json
import sys
from pathlib import Path

import pytest

from pegboard.cli.app import run
from pegboard.config import load

SERVER = """
import json, os, sys
TOOLS = [
    {"name": "read", "description": "Read it.", "inputSchema": {"type": "object"},
     "annotations": {"readOnlyHint": True}},
    {"name": "odd", "inputSchema": {"type": "object", "properties": {"a": {"type": "String"}}},
     "x-own": os.environ["WHO"]},
]
for line in sys.stdin:
    asked = json.loads(line)
    if asked["method"] == "initialize":
        result = {
            "protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
            "serverInfo": {"name": "s", "version": "1"}, "instructions": "Read first.",
        }
    elif asked["method"] == "tools/list":
        result = {"tools": TOOLS + ([{"no": "name"}] if os.environ["WHO"] == "odd" else [])}
    elif "id" in asked:
        answer = {"code": -32601, "message": "no such method"}
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "error": answer}), flush=True)
        continue
    else:
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "server.py").write_text(SERVER)
    return ["--", sys.executable, "server.py"]


@pytest.mark.slow
def test_tools_repairs_and_costs_are_shown_and_nothing_is_kept(
    server: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["discover", "--json", "--env", "WHO=me", *server]) == 0
    shape = json.loads(capsys.readouterr().out)
    assert [tool["name"] for tool in shape["tools"]] == ["read", "odd"]
    assert shape["instructions"] == "Read first."
    assert any(note["tool"] == "odd" and note["kind"] == "repaired" for note in shape["notes"])
    read = {key: shape["tools"][0][key] for key in ("name", "description", "inputSchema")}
    assert shape["tools"][0]["tokens"] == -(-len(json.dumps(read, separators=(",", ":"))) // 4)
    assert shape["tokens"] == sum(tool["tokens"] for tool in shape["tools"])
    assert [path.name for path in tmp_path.iterdir()] == ["server.py"]


@pytest.mark.slow
def test_a_recording_holds_what_the_server_said_and_serves_as_a_source(
    server: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["discover", "--record", "tools.json", "--env", "WHO=odd", *server]) == 1
    shown = capsys.readouterr()
    assert "read" in shown.out and "set aside" in shown.err
    saved = json.loads((tmp_path / "tools.json").read_text())["tools"]
    assert saved[1]["inputSchema"] == {"type": "object", "properties": {"a": {"type": "String"}}}
    assert saved[1]["x-own"] == "odd"
    assert saved[0]["annotations"] == {"readOnlyHint": True}
    (tmp_path / "pegboard.toml").write_text('[sources.kept]\nrecorded = "tools.json"\n')
    assert list(load(tmp_path).sources) == ["kept"]
    assert run(["list"]) == 0
    assert "kept.odd" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ([], 2, "no server"),
        (["http://127.0.0.1:1/mcp", "more"], 2, "takes no arguments"),
        (["--header", "nothing", "http://127.0.0.1:1/mcp"], 2, "is no header"),
        (["--env", "NOT_SET_ANYWHERE", "x"], 2, "is not set"),
        (["no-such-program-at-all"], 1, "no-such-program-at-all"),
    ],
)
def test_what_cannot_be_looked_at_is_said(
    capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, said: str
) -> None:
    assert run(["discover", *arguments]) == code
    assert said in capsys.readouterr().err
