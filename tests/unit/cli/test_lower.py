"""`pegboard lower` and `pegboard raise`: one line for each tool, in every spelling, with exit codes that tell."""

import io
import json
from pathlib import Path
from typing import Any

import pytest

from pegboard.cli.app import run

SCHEMA = {"type": "object", "properties": {"depth": {"enum": [0, 4]}}}
SPELLINGS: list[dict[str, Any]] = [
    {"name": "t", "inputSchema": SCHEMA},
    {"name": "t", "input_schema": SCHEMA},
    {"type": "function", "name": "t", "parameters": SCHEMA},
    {"type": "function", "function": {"name": "t", "parameters": SCHEMA}},
]


def lower(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, list[dict[str, Any]]]:
    code = run(["lower", *arguments])
    return code, [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_every_spelling_is_read(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for row in SPELLINGS:
        (tmp_path / "tool.json").write_text(json.dumps(row, indent=2))
        code, (line,) = lower(capsys, str(tmp_path / "tool.json"), "--target", "gemini")
        assert code == 0
        assert line["tool"]["parameters"]["properties"] == {"depth": {"type": "STRING", "enum": ["0", "4"]}}
        assert line.keys() >= {"name", "tool", "changes", "losses", "refused"}


def test_each_line_gets_its_line_and_a_broken_one_costs_itself(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [
        json.dumps({"name": "a", "inputSchema": SCHEMA}),
        "not json",
        json.dumps({"name": "b", "inputSchema": "int"}),
    ]
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(lines)))
    code, rows = lower(capsys, "--target", "openai-chat")
    assert code == 1
    assert [row["name"] for row in rows] == ["a", None, "b"]
    assert [row["refused"] is None for row in rows] == [True, False, False]


def test_a_bare_schema_is_taken_as_a_tools_arguments(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(json.dumps(SCHEMA)))
    _, (line,) = lower(capsys, "-", "--target", "codex", "--schema")
    assert line["tool"]["parameters"]["properties"] == {"depth": {"type": "string", "enum": [0, 4]}}


@pytest.mark.requirement("D4.2")
def test_keys_are_sorted_where_that_is_asked_for(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    row = {
        "name": "t",
        "inputSchema": {"type": "object", "properties": {"b": {"type": "string"}, "a": {"type": "string"}}},
    }
    for flags, order in (([], ["b", "a"]), (["--sorted"], ["a", "b"])):
        monkeypatch.setattr("sys.stdin", io.StringIO(json.dumps(row)))
        _, (line,) = lower(capsys, "--target", "anthropic", *flags)
        assert list(line["tool"]["input_schema"]["properties"]) == order


def test_arguments_are_raised_or_their_faults_told(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    tool, arguments = tmp_path / "tool.json", tmp_path / "args.json"
    tool.write_text(json.dumps(SPELLINGS[0]))
    for sent, code, key in (({"depth": "4"}, 0, "depth"), ({"depth": "5"}, 1, "violations")):
        arguments.write_text(json.dumps(sent))
        assert run(["raise", str(arguments), "--target", "gemini", "--tool", str(tool)]) == code
        printed = json.loads(capsys.readouterr().out)
        assert key in printed
    assert printed["violations"][0]["pointer"] == "/depth"


@pytest.mark.parametrize(
    "arguments",
    [["nope.json", "--target", "gemini"], ["-", "--target", "gemni"], ["-", "--target", "gemini", "--cap", "x"]],
)
def test_a_wrong_command_line_is_told_with_a_remedy(
    arguments: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(json.dumps(SPELLINGS[0])))
    assert run(["lower", *arguments]) == 2
    told = capsys.readouterr().err
    assert any(words in told for words in ("cannot be read", "There is no dialect", "is no cap"))


@pytest.mark.parametrize(
    ("data", "names"),
    [
        (b'\xef\xbb\xbf{"name": "a"}\r\n{"name": "b"}\r\n', ["a", "b"]),
        ('{"name": "a", "description": "x\u2028y\x85z"}\n{"name": "b"}'.encode(), ["a", "b"]),
        ('{"name": "a"}'.encode("utf-16"), ["a"]),
        (
            b'{"type": "namespace", "name": "n", "tools": [{"name": "a"}, {"name": "b"}]}\n{"name": "c"}',
            ["a", "b", "c"],
        ),
        (b'{"functionDeclarations": [{"name": "a"}, {"name": "b"}]}', ["a", "b"]),
        (b'{"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"name": "a"}]}}', ["a"]),
        (b'\n\n{"name": "a"}\n', ["a"]),
        (b"", []),
    ],
    ids=[
        "byte order mark",
        "separators in texts",
        "UTF-16",
        "namespace",
        "Gemini",
        "JSON-RPC",
        "blank lines",
        "nothing",
    ],
)
def test_no_tool_of_a_file_is_lost_to_how_it_was_saved(
    data: bytes, names: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "tools.jsonl").write_bytes(data)
    code, rows = lower(capsys, str(tmp_path / "tools.jsonl"), "--target", "openai-responses")
    assert code == 0
    assert [row["name"] for row in rows] == names


def test_a_tool_out_of_a_namespace_keeps_it(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    group = {"type": "namespace", "name": "crm", "description": "Customers.", "tools": [{"name": "find"}, 5]}
    (tmp_path / "request.json").write_text(json.dumps({"tools": [{"name": "top"}, group]}))
    code, rows = lower(capsys, str(tmp_path / "request.json"), "--target", "openai-chat")
    assert code == 1  # 5 is no tool
    assert [row["tool"] and row["tool"]["function"]["name"] for row in rows] == ["top", "crm__find", None]


def test_bytes_that_are_no_text_are_told_of(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "tool.json").write_bytes(b'{"name": "a", "description": "caf\xe9"}')
    assert run(["lower", str(tmp_path / "tool.json"), "--target", "anthropic"]) == 0
    assert "no UTF-8" in capsys.readouterr().err


def test_arguments_are_not_raised_for_the_first_of_many_tools(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "tools.json").write_text(json.dumps(SPELLINGS))
    monkeypatch.setattr("sys.stdin", io.StringIO("{}"))
    assert run(["raise", "-", "--target", "gemini", "--tool", str(tmp_path / "tools.json")]) == 2
    assert "holds 4 tools" in capsys.readouterr().err


def test_more_tools_than_one_request_may_hold_are_all_lowered_and_that_is_said(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "tools.jsonl").write_text("\n".join(json.dumps({"name": f"t{n}"}) for n in range(130)))
    assert run(["lower", str(tmp_path / "tools.jsonl"), "--target", "openai-chat"]) == 0
    captured = capsys.readouterr()
    assert [json.loads(line)["refused"] for line in captured.out.splitlines()] == [None] * 130
    assert "at most 128 tools in one request; these are 130" in captured.err
