"""The command line over a board of recorded tools: shapes, exit codes, and where each word goes."""

import json
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from pegboard.__main__ import main
from pegboard.cli.app import run
from pegboard.cli.output import clean
from pegboard.cli.overview import shortcut
from pegboard.cli.verbs import VERBS
from pegboard.index import kernel

TOOLS = [
    {
        "name": "open_issue",
        "title": "Open an issue",
        "description": "Report a bug \u001b[31min\u001b[0m a repository.\nMore.",
        "inputSchema": {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]},
    },
    {"name": "close_issue", "description": "Close an issue.", "inputSchema": {"type": "object"}},
]
BOARD = '[board]\nname = "test"\n[sources.hub]\nrecorded = "tools.json"\n'


@pytest.fixture
def board(tmp_path: Path) -> Path:
    (tmp_path / "tools.json").write_text(json.dumps({"tools": TOOLS}))
    (tmp_path / "pegboard.toml").write_text(BOARD)
    return tmp_path / "pegboard.toml"


class Outcome:
    """What a command left behind."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def pegboard(capsys: pytest.CaptureFixture[str]) -> Any:
    def command(*arguments: object) -> Outcome:
        code = run([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        return Outcome(code, captured.out, captured.err)

    return command


def test_help_names_every_verb_and_costs_no_parser(pegboard: Any) -> None:
    for arguments in ((), ("--help",), ("-h",), ("help",)):
        outcome = pegboard(*arguments)
        assert outcome.code == 0
        assert [verb.name for verb in VERBS if f"  {verb.name} " not in outcome.out] == []
    assert shortcut(["list", "--help"]) is None


def test_the_version_is_the_projects(pegboard: Any) -> None:
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())["project"]
    assert pegboard("--version").out.strip() == project["version"]


@pytest.mark.parametrize("verb", [verb.name for verb in VERBS])
def test_every_verb_has_help(pegboard: Any, verb: str) -> None:
    outcome = pegboard(verb, "--help")
    assert outcome.code == 0
    assert f"pegboard {verb}" in outcome.out


def test_list_prints_one_document_of_tools_and_sources(pegboard: Any, board: Path) -> None:
    outcome = pegboard("list", "--config", board, "--json")
    assert outcome.code == 0
    tools, sources = outcome.json["tools"], outcome.json["sources"]
    assert [tool["name"] for tool in tools] == ["hub.open_issue", "hub.close_issue"]
    assert (
        tools[0].items()
        >= {
            "namespace": "hub",
            "wire_name": "hub__open_issue",
            "title": "Open an issue",
            "description": TOOLS[0]["description"],
            "input_schema": TOOLS[0]["inputSchema"],
            "source": "hub",
        }.items()
    )
    assert sources[0].items() >= {"name": "hub", "tools": 2, "error": None}.items()
    assert sources[0]["state"] in ("ready", "idle")


def test_list_takes_selectors(pegboard: Any, board: Path) -> None:
    names = [tool["name"] for tool in pegboard("list", "close*", "--config", board, "--json").json["tools"]]
    assert names == ["hub.close_issue"]
    assert pegboard("list", "effects:wrong", "--config", board).code == 2


def test_piped_tables_are_one_line_a_row_with_nothing_cut_and_no_terminal_codes(pegboard: Any, board: Path) -> None:
    lines = pegboard("list", "--config", board).out.splitlines()
    assert [line.split("\t")[0] for line in lines] == ["hub.open_issue", "hub.close_issue"]
    assert "\x1b" not in pegboard("describe", "open_issue", "--config", board).out


def test_search_prints_hits_with_their_reasons(pegboard: Any, board: Path) -> None:
    outcome = pegboard("search", "report a bug", "--config", board, "--json")
    assert outcome.code == 0
    first = outcome.json["hits"][0]
    assert first["name"] == "hub.open_issue"
    assert {"score", "confidence", "matched"} <= set(first)
    assert "report" in [term for terms in first["matched"].values() for term in terms]


def test_search_keeps_to_a_limit_and_to_selectors(pegboard: Any, board: Path) -> None:
    assert len(pegboard("search", "issue", "--limit", 1, "--config", board, "--json").json["hits"]) == 1
    only = pegboard("search", "issue", "--only", "close*", "--config", board, "--json").json["hits"]
    assert [hit["name"] for hit in only] == ["hub.close_issue"]
    assert pegboard("search", "issue", "--limit", 0, "--config", board).code == 2


@pytest.mark.parametrize(
    ("options", "names"),
    [
        (("--namespace", "hub", "--state", "ready", "--state", "idle", "--auth-met"), {"open_issue", "close_issue"}),
        (("--namespace", "other"), set()),
        (("--category", "other"), set()),
        (("--effects", "unknown"), {"open_issue", "close_issue"}),
        (("--effects", "read-only"), set()),
        (("--mode", "preview"), set()),
        (("--version", "2"), set()),
        (("--state", "unavailable"), set()),
    ],
)
def test_search_keeps_to_what_is_asked_of_a_tool(pegboard: Any, board: Path, options: Any, names: set[str]) -> None:
    hits = pegboard("search", "issue", *options, "--config", board, "--json").json["hits"]
    assert {hit["name"].removeprefix("hub.") for hit in hits} == names


@pytest.mark.parametrize("options", [("--mode", "never"), ("--state", "lost"), ("--effects", "odd")])
def test_search_refuses_a_filter_that_does_not_exist(pegboard: Any, board: Path, options: Any) -> None:
    assert pegboard("search", "issue", *options, "--config", board).code == 2


@pytest.mark.parametrize("name", ["hub.open_issue", "hub__open_issue", "mcp__hub__open_issue", "open_issue"])
def test_describe_takes_every_spelling_of_a_name(pegboard: Any, board: Path, name: str) -> None:
    assert pegboard("describe", name, "--config", board, "--json").json["name"] == "hub.open_issue"


def test_an_unknown_tool_ends_with_1_and_near_names(pegboard: Any, board: Path) -> None:
    for verb in ("describe", "call"):
        outcome = pegboard(verb, "hub.open_isue", "--config", board)
        assert outcome.code == 1
        assert "hub.open_issue" in outcome.err
        assert outcome.out == ""
    assert pegboard("describe", "x", "--config", board, "--json").json["error"]["code"] == "unknown_tool"


def test_a_failed_call_ends_with_1_and_a_whole_document(pegboard: Any, board: Path) -> None:
    outcome = pegboard("call", "open_issue", "--args", '{"title": "x"}', "--config", board, "--json")
    assert outcome.code == 1
    assert set(outcome.json) == {"ok", "mode", "value", "content", "failure", "report"}
    assert outcome.json["ok"] is False
    assert outcome.json["failure"]["code"] == "unavailable"
    assert outcome.json["failure"]["next_step"]


def test_a_preview_says_at_the_terminal_that_nothing_was_changed(pegboard: Any, board: Path, tmp_path: Path) -> None:
    board.write_text(f'[sources.fs]\ncli = {{ argv = ["{sys.executable}", "--version"], description = "Wipe." }}\n')
    board.write_text(board.read_text() + '[sources.fs.tools."*"]\neffects = "destructive"\n')
    shown = pegboard("call", "fs.fs", "--mode", "preview", "--config", board)
    assert shown.code == 0
    assert json.loads(shown.out)["run"] is False
    assert "nothing was changed" in shown.err


def test_arguments_come_from_a_text_a_file_or_standard_input(
    pegboard: Any, board: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import io

    (tmp_path / "args.json").write_text('{"title": "x"}')
    monkeypatch.setattr("sys.stdin", io.StringIO('{"title": "x"}'))
    for source in ('{"title": "x"}', f"@{tmp_path / 'args.json'}", "-"):
        outcome = pegboard("call", "open_issue", "--args", source, "--config", board, "--json")
        assert outcome.json["failure"]["code"] == "unavailable", source


@pytest.mark.parametrize(
    ("text", "says"),
    [("{", "This is not JSON"), ("[1]", "an object is needed"), ("@none.json", "cannot be read")],
)
def test_arguments_that_cannot_be_read_are_wrong_usage(pegboard: Any, board: Path, text: str, says: str) -> None:
    outcome = pegboard("call", "open_issue", "--args", text, "--config", board)
    assert outcome.code == 2
    assert says in outcome.err


def test_doctor_reports_each_source_and_fails_when_one_is_missing(pegboard: Any, board: Path) -> None:
    well = pegboard("doctor", "--config", board, "--json")
    assert well.code == 0
    assert {"name", "state", "tools", "start_seconds", "error", "notes"} <= set(well.json["sources"][0])
    board.write_text(BOARD + '[sources.gone]\nmcp = ["no-such-server-anywhere"]\n')
    ill = pegboard("doctor", "--config", board, "--json")
    assert ill.code == 1
    states = {source["name"]: source["state"] for source in ill.json["sources"]}
    assert states == {"hub": "ready", "gone": "unavailable"}
    assert "no-such-server-anywhere" in ill.json["sources"][1]["error"]


def test_doctor_tells_that_search_could_not_be_compiled(
    pegboard: Any, board: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remark = kernel.slower(kernel.compiled)
    assert (remark in pegboard("doctor", "--config", board, "--json").json["advice"]) == bool(remark)
    monkeypatch.setattr("pegboard.index.kernel.compiled", None)
    slow = pegboard("doctor", "--config", board, "--json")
    assert slow.code == 0
    assert any("C compiler" in line for line in slow.json["advice"])


def test_a_wrong_config_ends_with_2_and_tells_all_of_it_on_stdout_too(pegboard: Any, board: Path) -> None:
    board.write_text('[board]\nthreshhold = 3\n[sources.x]\nmcp = "x y"\n')
    for arguments in (("list",), ("search", "x"), ("describe", "x"), ("call", "x"), ("doctor",)):
        outcome = pegboard(*arguments, "--config", board, "--json")
        assert outcome.code == 2
        assert [row["key"] for row in outcome.json["error"]["problems"]] == ["sources.x.mcp", "board.threshhold"] or [
            row["key"] for row in outcome.json["error"]["problems"]
        ] == ["board.threshhold", "sources.x.mcp"]
        assert "Did you mean threshold?" in outcome.err


def test_a_missing_config_names_the_remedy(pegboard: Any, tmp_path: Path) -> None:
    outcome = pegboard("list", "--config", tmp_path / "none.toml")
    assert outcome.code == 2
    assert "pegboard init" in outcome.err


@pytest.mark.parametrize(
    "arguments",
    [("lst",), ("list", "--jsn"), ("search",), ("search", "x", "--limit", "many"), ("call", "x", "--mode", "fast")],
)
def test_a_misspelt_command_line_ends_with_2_and_no_data(pegboard: Any, arguments: tuple[str, ...]) -> None:
    outcome = pegboard(*arguments)
    assert outcome.code == 2
    assert outcome.out == ""
    assert outcome.err.startswith("pegboard: ")
    assert pegboard(*arguments, "--json").json["error"]["message"]


def test_init_writes_a_config_that_works_and_keeps_what_is_there(pegboard: Any, tmp_path: Path) -> None:
    outcome = pegboard("init", "--config", tmp_path, "--name", "mine")
    assert outcome.code == 0
    path = tmp_path / "pegboard.toml"
    assert outcome.out.strip() == str(path)
    assert pegboard("list", "--config", path, "--json").json == {"tools": [], "sources": []}
    path.write_text(path.read_text() + "# mine\n")
    assert pegboard("init", "--config", path).code == 1
    assert path.read_text().endswith("# mine\n")
    assert pegboard("init", "--config", path, "--force").code == 0


@pytest.mark.parametrize(
    "arguments", [("--stdio", "--check"), ("--stdio", "--http", "127.0.0.1:1"), ("--http", "8321"), ("--http", "a:b")]
)
def test_serve_refuses_what_cannot_be_meant(pegboard: Any, board: Path, arguments: tuple[str, ...]) -> None:
    assert pegboard("serve", *arguments, "--config", board).code == 2


def test_serve_refuses_other_machines_without_a_token(
    pegboard: Any, board: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PEGBOARD_TOKEN", raising=False)
    outcome = pegboard("serve", "--http", "0.0.0.0:0", "--config", board)
    assert outcome.code == 2
    assert "--token" in outcome.err


def test_foreign_text_cannot_steer_a_terminal() -> None:
    assert clean("a\x1b[31mb\x07\u202ec\nd") == "a\ufffd[31mb\ufffd\ufffdc\nd"


def test_a_source_that_its_author_has_changed_or_mended_is_listed_anew(pegboard: Any, board: Path) -> None:
    def names() -> list[str]:
        return [tool["name"] for tool in pegboard("list", "--config", board, "--json").json["tools"]]

    board.write_text('[sources.ops]\npython = "ops_tools_under_test"\n')
    assert names() == []
    module = board.parent / "ops_tools_under_test.py"
    module.write_text('from pegboard import tool\n\n\n@tool\ndef one() -> int:\n    """One."""\n    return 1\n')
    assert names() == ["ops.one"]


def test_without_its_extra_the_command_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cyclopts", None)
    monkeypatch.setattr(sys, "argv", ["pegboard", "list"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert 'pip install "pegboard[gateway]"' in str(ended.value)


@pytest.mark.parametrize("verb", ["call", "describe"])
def test_an_unknown_name_leads_to_a_command_of_the_shell(pegboard: Any, board: Path, verb: str) -> None:
    told = pegboard(verb, "qqqqqq", "--config", board)
    shaped = pegboard(verb, "qqqqqq", "--config", board, "--json")
    for text in (told.err, shaped.out):
        assert "`pegboard search`" in text and "tool_search" not in text
    assert told.code == shaped.code == 1


@pytest.mark.parametrize("arguments", [("list",), ("list", "--ladder"), ("doctor",), ("search", "open an issue")])
def test_a_board_without_sources_says_so_and_what_to_do(pegboard: Any, board: Path, arguments: tuple[str, ...]) -> None:
    board.write_text('[board]\nname = "bare"\n')
    outcome = pegboard(*arguments, "--config", board)
    assert outcome.code == 0 and outcome.out == ""
    assert "has no sources" in outcome.err and "[sources.NAME]" in outcome.err and "pegboard import" in outcome.err
    board.write_text(BOARD)
    assert "has no sources" not in pegboard(*arguments, "--config", board).err
