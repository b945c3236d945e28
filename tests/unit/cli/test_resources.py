"""`pegboard resources` and `pegboard prompts`, with a real server."""

import json
import sys
from pathlib import Path

import pytest

from pegboard.cli.app import run

SERVER = """
import json, sys
ROW = {"uri": "note://é", "name": "note", "mimeType": "text/plain"}
LISTS = {
    "initialize": {
        "protocolVersion": "2025-06-18", "capabilities": {"resources": {}, "prompts": {}},
        "serverInfo": {"name": "s", "version": "1"},
    },
    "resources/list": {"resources": [ROW]},
    "resources/templates/list": {"resourceTemplates": [{"uriTemplate": "row://{id}", "name": "row"}]},
    "resources/read": {"contents": [{"uri": "note://é", "text": "hello"}, {"uri": "note://é", "blob": "AAEC"}]},
    "prompts/list": {"prompts": [{"name": "greet", "arguments": [{"name": "who", "required": True}]}]},
}
for line in sys.stdin:
    asked = json.loads(line)
    method, params = asked["method"], asked.get("params", {})
    result = LISTS.get(method)
    if method == "prompts/get":
        text = {"type": "text", "text": "Hello " + params["arguments"]["who"]}
        result = {"messages": [{"role": "user", "content": text}]}
    answer = {"result": result} if result else {"error": {"code": -32601, "message": "no such method"}}
    if "id" in asked:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **answer}), flush=True)
"""


@pytest.fixture(autouse=True)
def board(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "server.py").write_text(SERVER, "utf-8")
    command = json.dumps([sys.executable, "server.py"])
    (tmp_path / "pegboard.toml").write_text(f'[sources.s]\nmcp = {command}\ncwd = "."\n')


@pytest.mark.slow
def test_resources_are_listed_and_read(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["resources", "list", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [row["uri"] for row in found["resources"]] == ["pegboard://s/note://é"]
    assert [row["uriTemplate"] for row in found["resourceTemplates"]] == ["pegboard://s/row://{id}"]
    assert found["errors"] == {}
    assert run(["resources", "read", "pegboard://s/note://é"]) == 0
    said = capsys.readouterr()
    assert said.out == "hello\n"
    assert "3 bytes" in said.err


@pytest.mark.slow
def test_prompts_are_listed_and_filled_in(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["prompts", "list"]) == 0
    assert "s__greet" in (told := capsys.readouterr().out) and "who" in told
    assert run(["prompts", "get", "greet", "--args", '{"who": "Ada"}']) == 0
    assert capsys.readouterr().out == "Hello Ada\n"
    assert run(["prompts", "get", "nothing", "--json"]) == 1
    assert "nothing" in json.loads(capsys.readouterr().out)["error"]["message"]


@pytest.mark.slow
def test_a_server_that_cannot_be_listed_is_said_and_the_exit_code_tells(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "pegboard.toml").write_text('[sources.gone]\nmcp = ["/no/such/program"]\n')
    assert run(["resources", "list", "--json"]) == 1
    assert set(json.loads(capsys.readouterr().out)["errors"]) == {"gone"}
