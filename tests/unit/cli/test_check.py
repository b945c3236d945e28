"""`pegboard check`: what it takes, what it prints, how it ends, and what it writes."""

import io
import json
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from pegboard.cli.app import run

TOOLS = [
    {
        "name": "read_file",
        "description": "Read a file. DEPRECATED: use read_text instead.",
        "inputSchema": {"type": "object", "properties": {"path": {"type": "string", "description": "Where."}}},
        "annotations": {"readOnlyHint": True},
    },
    {
        "name": "read_text",
        "description": "Read a file as text, whole or by lines.",
        "inputSchema": {"type": "object", "properties": {"path": {"type": "string", "description": "Where."}}},
        "annotations": {"readOnlyHint": True},
    },
    {"name": "delete_files", "description": "", "inputSchema": {"type": "object", "properties": {}}},
]
BOARD = '# mine\n[sources.hub]\nrecorded = "tools.json"\n\n[check]\nignore = ["PB509"]\n'
API = {
    "openapi": "3.0.0",
    "info": {"title": "Shop", "version": "1"},
    "paths": {"/orders": {"get": {"operationId": "listOrders", "responses": {"200": {"description": "Orders"}}}}},
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "tools.json").write_text(json.dumps({"server": "hub", "tools": TOOLS}, indent=1))
    (tmp_path / "pegboard.toml").write_text(BOARD)
    (tmp_path / "api.json").write_text(json.dumps(API))
    monkeypatch.chdir(tmp_path)
    return tmp_path


class Said:
    """What a command left behind."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    @property
    def codes(self) -> set[str]:
        return {row["code"] for row in json.loads(self.out)["findings"]}


@pytest.fixture
def check(folder: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    def command(*arguments: str) -> Said:
        code = run(["check", *arguments])
        return Said(code, *capsys.readouterr())

    return command


def test_a_file_of_tools_is_judged_and_an_error_ends_with_one(check: Any) -> None:
    said = check("tools.json")
    assert said.code == 1
    assert "error   PB301  hub.delete_files: It has no description." in said.out
    assert "3 tools of tools.json." in said.err
    assert check("tools.json", "--ignore", "PB301").code == 0
    assert check("tools.json", "--ignore", "PB301", "--fail-on", "warning").code == 1


def test_a_board_is_judged_by_its_config(check: Any, folder: Path) -> None:
    said = check("--json")
    assert said.codes == check("pegboard.toml", "--json").codes == check(str(folder), "--json").codes
    assert {"PB301", "PB402", "PB606"} <= said.codes and "PB509" not in said.codes
    (folder / "pegboard.toml").write_text(BOARD.replace('["PB509"]', '["PB5"]\ntools = { "*.delete_*" = ["PB"] }'))
    assert check("--json").codes == {"PB606"}


def test_an_api_description_is_judged(check: Any) -> None:
    assert check("api.json", "--json").code == 0
    assert json.loads(check("api.json", "--json").out)["tools"] == 1


@pytest.mark.slow
def test_a_server_is_judged(check: Any, folder: Path) -> None:
    server = (
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    asked = json.loads(line)\n"
        "    if 'id' not in asked: continue\n"
        "    result = {'tools': json.load(open('tools.json'))['tools']} if asked['method'] == 'tools/list' else {\n"
        "        'protocolVersion': '2025-06-18', 'capabilities': {'tools': {}},\n"
        "        'serverInfo': {'name': 's', 'version': '1'}}\n"
        "    print(json.dumps({'jsonrpc': '2.0', 'id': asked['id'], 'result': result}), flush=True)\n"
    )
    (folder / "server.py").write_text(server)
    said = check("--json", "--", sys.executable, "server.py")
    assert said.code == 1 and {"PB301", "PB606"} <= said.codes


def test_rules_are_chosen_and_counted(check: Any) -> None:
    assert check("tools.json", "--json", "--select", "PB3,PB6").codes == {"PB301", "PB606"}
    assert "PB301\t1\tno-description" in check("tools.json", "--statistics").out
    assert check("tools.json", "--select", "PB99").code == 2


def test_a_rule_explains_itself(check: Any) -> None:
    said = check("--explain", "PB401")
    assert said.code == 0
    assert all(word in said.out for word in ("PB401", "Why: ", "Bad: ", "Good: ", "How to fix it: "))
    assert len(check("--explain", "all").out.splitlines()) > 40
    assert json.loads(check("--explain", "PB401", "--json").out)[0]["rule"] == "destructive-without-preview"
    assert check("--explain", "PB999").code == 2


def test_annotations_name_the_line_of_the_tool(check: Any) -> None:
    line = next(n for n, text in enumerate(Path("tools.json").read_text().splitlines(), 1) if '"delete_files"' in text)
    assert f"::error file=tools.json,line={line},title=PB301" in check("tools.json", "--format", "github").out
    assert "::error file=pegboard.toml,line=2,title=PB301" in check("--format", "github").out
    results = json.loads(check("--format", "sarif").out)["runs"][0]["results"]
    assert {row["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for row in results} == {"pegboard.toml"}


def test_fixes_become_overrides_in_the_config_and_the_findings_are_gone(check: Any, folder: Path) -> None:
    said = check("--fix", "--json")
    assert said.code == 0 and not {"PB301", "PB606"} & said.codes
    text = (folder / "pegboard.toml").read_text()
    assert text.startswith(BOARD)
    written = tomllib.loads(text)
    assert written["override"]["hub.delete_files"] == {"description": "Delete files.", "effects": "destructive"}
    assert written["deprecated"]["hub.read_file"] == {"successor": "hub.read_text"}
    again = check("--json")
    assert not {"PB301", "PB402", "PB606"} & again.codes
    check("--fix")
    assert (folder / "pegboard.toml").read_text() == text


def test_a_key_that_is_written_stays_and_others_join_it(check: Any, folder: Path) -> None:
    own = BOARD + "\n[override.'hub.delete_files'] # by hand\neffects = \"idempotent\"\n"
    (folder / "pegboard.toml").write_text(own)
    check("--fix")
    written = tomllib.loads((folder / "pegboard.toml").read_text())
    assert written["override"]["hub.delete_files"] == {"description": "Delete files.", "effects": "idempotent"}
    assert "# by hand" in (folder / "pegboard.toml").read_text()


def test_a_foreign_list_is_never_fixed(check: Any, folder: Path) -> None:
    before = (folder / "tools.json").read_text()
    assert check("tools.json", "--fix").code == 2
    assert (folder / "tools.json").read_text() == before


@pytest.mark.requirement("C16.6")
def test_a_lock_file_beside_the_config_is_compared_with(check: Any, folder: Path) -> None:
    assert check("--write-lock").code == 0
    assert check("--json", "--select", "PB6", "--ignore", "PB606").codes == set()
    changed = [{**TOOLS[1], "inputSchema": {"type": "object", "properties": {}}}, TOOLS[2]]
    (folder / "tools.json").write_text(json.dumps({"tools": changed}))
    said = check("--json", "--select", "PB6", "--ignore", "PB606")
    assert (said.code, said.codes) == (1, {"PB601", "PB604"})
    check("--write-lock")
    assert check("--json", "--select", "PB6").codes == set()
    assert check("--lock", "missing.lock").code == 2


@pytest.mark.parametrize("text", ["", "[]", "{}", "not json", "[1, 2]"])
def test_a_file_without_tools_is_refused_and_one_of_nothing_but_rubbish_says_so(
    check: Any, folder: Path, text: str
) -> None:
    (folder / "x.json").write_text(text)
    said = check("x.json")
    assert said.code in (1, 2) and said.err and "Traceback" not in said.err
    assert check("missing.json").code == 2


@pytest.mark.parametrize("command", ["check", "probe"])
def test_tools_are_read_from_standard_input(
    command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("\ufeff" + json.dumps({"tools": TOOLS})))
    assert run([command, "-", "--json"]) in (0, 1)
    assert json.loads(capsys.readouterr().out)["tools"]
