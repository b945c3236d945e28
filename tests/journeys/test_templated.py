"""HTTP requests, programs and manifests as tools."""

import json
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from mock_api import json_reply, serving

from pegboard.board import Board
from pegboard.config import parse
from pegboard.core import Effects, FailureCode, Mode, Result, Rung, SourceStatus, ToolSpec


def ask(
    folder: Path, sources: dict[str, Any], *calls: tuple[str, dict[str, Any]], mode: Mode | None = None
) -> list[Result]:
    async def main() -> list[Result]:
        config = parse({"board": {"store": ":memory:"}, "sources": sources}, folder=folder)
        async with Board.open(config) as board:
            return [await board.call(name, arguments, mode=mode) for name, arguments in calls]

    return anyio.run(main)


def board_of(folder: Path, sources: dict[str, Any]) -> tuple[dict[str, ToolSpec], list[SourceStatus]]:
    async def main() -> tuple[dict[str, ToolSpec], list[SourceStatus]]:
        config = parse({"board": {"store": ":memory:"}, "sources": sources}, folder=folder)
        async with Board.open(config) as board:
            return {str(spec.name): spec for spec in board.catalog.specs}, await board.statuses()

    return anyio.run(main)


@pytest.mark.requirement("R7.2", "C13.1")
def test_a_request_template_is_a_tool(tmp_path: Path) -> None:
    with serving(lambda seen: json_reply({"ok": True})) as api:
        sources = {
            "crm": {
                "http": {
                    "get_user": {"url": f"{api.url}/users/{{{{id}}}}", "query": {"full": "{{full}}"}},
                    "add_user": {
                        "url": f"{api.url}/users",
                        "body": {"name": "{{name}}", "tags": "{{tags}}", "from": "board {{name}}"},
                        "headers": {"X-Lang": "{{lang}}"},
                        "parameters": {
                            "type": "object",
                            "properties": {
                                "name": {"type": "string"},
                                "tags": {"type": "array", "items": {"type": "string"}},
                                "lang": {"type": "string"},
                            },
                            "required": ["name", "lang"],
                        },
                        "description": "Add a user.",
                        "effects": "additive",
                    },
                },
                "auth": "tok",
            }
        }
        read, added = ask(
            tmp_path,
            sources,
            ("crm.get_user", {"id": "a/b ?c"}),
            ("crm.add_user", {"name": "Ann", "tags": ["x"], "lang": "en"}),
        )
        specs, _ = board_of(tmp_path, sources)
    assert read.ok and added.ok
    assert (api.seen[0].path, api.seen[0].query) == ("/users/a%2Fb%20%3Fc", "")
    assert api.seen[0].header("authorization") == "Bearer tok"
    assert json.loads(api.seen[1].body) == {"name": "Ann", "tags": ["x"], "from": "board Ann"}
    assert (api.seen[1].method, api.seen[1].header("x-lang")) == ("POST", "en")
    assert specs["crm.get_user"].effects is Effects.READ_ONLY
    assert specs["crm.get_user"].rung is Rung.MID
    assert specs["crm.get_user"].input["required"] == ["id"]
    assert list(specs["crm.get_user"].properties) == ["id", "full"]


@pytest.mark.parametrize(
    ("arguments", "where"),
    [({"id": ".."}, "/id"), ({"id": ""}, "/id"), ({"id": "x", "lang": "a\r\nX-Evil: 1"}, "/X-Lang")],
)
def test_an_argument_cannot_leave_its_place(tmp_path: Path, arguments: dict[str, Any], where: str) -> None:
    with serving() as api:
        table = {"url": f"{api.url}/users/{{{{id}}}}", "headers": {"X-Lang": "{{lang}}"}}
        [result] = ask(tmp_path, {"x": {"http": table}}, ("x.x", {"lang": "en", **arguments}))
        assert api.seen == []
    assert result.failure is not None
    assert result.failure.code is FailureCode.INVALID_ARGUMENTS
    assert result.failure.where == where


def test_a_host_is_never_an_argument(tmp_path: Path) -> None:
    specs, [status] = board_of(tmp_path, {"x": {"http": {"url": "https://{{host}}/x"}}})
    assert specs == {}
    assert "fixed host" in status.notes[0].message


ECHO = [sys.executable, "-c", "import sys, json; print(json.dumps(sys.argv[1:]))"]


def test_a_program_is_a_tool_and_no_shell_reads_its_arguments(tmp_path: Path) -> None:
    argv = [*ECHO, "--name={{name}}", "{{word}}", {"when": "all", "args": ["--all"]}, "--", "{{files}}"]
    parameters = {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "word": {"type": "string"},
            "all": {"type": "boolean"},
            "files": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["name", "word", "files"],
    }
    sources = {"echo": {"cli": {"argv": argv, "parameters": parameters, "description": "Echo."}}}
    hostile = {"name": "$(id); rm -rf /", "word": "a b`x`", "files": ["-rf", "*"], "all": True}
    shown, plain = ask(tmp_path, sources, ("echo.echo", hostile), ("echo.echo", {**hostile, "all": False, "files": []}))
    assert shown.value == ["--name=$(id); rm -rf /", "a b`x`", "--all", "--", "-rf", "*"]
    assert plain.value == ["--name=$(id); rm -rf /", "a b`x`", "--"]


@pytest.mark.parametrize("word", ["-rf", "--force", "-", "-5", "-1.5"])
def test_an_argument_that_looks_like_an_option_is_refused(tmp_path: Path, word: str) -> None:
    [result] = ask(tmp_path, {"echo": {"cli": [*ECHO, "{{word}}"]}}, ("echo.echo", {"word": word}))
    assert result.failure is not None
    assert result.failure.code is FailureCode.INVALID_ARGUMENTS
    assert "looks like an option" in result.failure.message
    assert result.failure.next_step == "Give one that does not begin with -; a file may be ./-name."
    numbers = {"type": "object", "properties": {"word": {"type": "integer"}}}
    declared = {"argv": [*ECHO, "{{word}}"], "parameters": numbers, "description": "Echo."}
    [number] = ask(tmp_path, {"echo": {"cli": declared}}, ("echo.echo", {"word": -5}))
    assert number.value == ["-5"]


def test_what_a_program_reads_is_needed_like_its_arguments(tmp_path: Path) -> None:
    cat = [sys.executable, "-c", "print(input())"]
    [result] = ask(
        tmp_path, {"x": {"cli": {"argv": cat, "stdin": "{{text}}", "description": "Give back."}}}, ("x.x", {})
    )
    assert result.failure is not None
    assert (result.failure.code, result.failure.where) == (FailureCode.INVALID_ARGUMENTS, "/text")
    assert "required" in result.failure.message


def test_what_a_program_said_before_it_failed_is_kept(tmp_path: Path) -> None:
    code = "import sys; print('two of three are done'); sys.exit('the third is not there')"
    [result] = ask(tmp_path, {"x": {"cli": {"argv": [sys.executable, "-c", code]}}}, ("x.x", {}))
    assert result.failure is not None
    said = {"stdout": "two of three are done\n", "stderr": "the third is not there\n"}
    assert result.failure.details == {"exit_code": 1, **said}


def test_an_output_that_should_be_json_and_is_not_is_said(tmp_path: Path) -> None:
    program = {"argv": [sys.executable, "-c", "print('{bad')"], "output": "json"}
    [result] = ask(tmp_path, {"x": {"cli": program}}, ("x.x", {}))
    assert result.value == "{bad\n"
    assert result.report is not None
    assert "no JSON" in result.report.notes[0]


@pytest.mark.parametrize(
    ("code", "check"),
    [
        (
            "import sys; sys.exit('bad name')",
            lambda r: "bad name" in r.failure.message and r.failure.details["exit_code"] == 1,
        ),
        ("print('a'); print('b')", lambda r: r.value == "a\nb\n"),
        ("print('{}'.format(5))", lambda r: r.value == 5),
        ("import sys; print('x' * 3_000_000)", lambda r: "cut at 1000000 bytes" in r.report.notes[0]),
        ("import sys; print('warn', file=sys.stderr); print(1)", lambda r: r.report.notes == ("warn",)),
        ("import os; print(sorted(os.environ))", lambda r: "SECRET_OF_THE_BOARD" not in r.value),
        ("import time; time.sleep(60)", lambda r: r.failure.code is FailureCode.OUTCOME_UNKNOWN),
    ],
)
def test_what_a_program_says_becomes_the_result(
    tmp_path: Path, code: str, check: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_OF_THE_BOARD", "s")
    [result] = ask(tmp_path, {"run": {"cli": {"argv": [sys.executable, "-c", code], "timeout": 3}}}, ("run.run", {}))
    assert check(result), result


def test_a_program_that_is_not_there_and_a_preview(tmp_path: Path) -> None:
    sources = {"x": {"cli": ["no-such-program-anywhere", "{{a}}"]}}
    [missing] = ask(tmp_path, sources, ("x.x", {"a": "1"}))
    assert missing.failure is not None
    assert missing.failure.code is FailureCode.UNAVAILABLE
    [preview] = ask(tmp_path, sources, ("x.x", {"a": "1"}), mode=Mode.PREVIEW)
    assert preview.value == {"run": False, "command": ["no-such-program-anywhere", "1"]}


LIST_PIPELINES = {
    "name": "list_pipelines",
    "description": "List all data pipelines in the warehouse, optionally filtered by status.",
    "input_schema": {
        "type": "object",
        "properties": {"status": {"type": "string", "enum": ["running", "paused", "failed", "all"], "default": "all"}},
        "required": [],
    },
    "defer_loading": True,
}


@pytest.mark.requirement("D11.1")
def test_a_manifest_binds_definitions_to_implementations(tmp_path: Path) -> None:
    (tmp_path / "impl_of_pipelines.py").write_text(
        "async def pipelines(status: str = 'all') -> list[str]:\n    return [status, 'p1']\n"
    )
    with serving(lambda seen: json_reply([seen.query])) as api:
        rows = [
            {**LIST_PIPELINES, "python": "impl_of_pipelines:pipelines"},
            {**LIST_PIPELINES, "name": "by_http", "http": {"url": f"{api.url}/p", "query": {"status": "{{status}}"}}},
            {**LIST_PIPELINES, "name": "by_cli", "cli": {"argv": [*ECHO, {"when": "status", "args": ["{{status}}"]}]}},
            {**LIST_PIPELINES, "name": "loose"},
            {**LIST_PIPELINES, "name": "typo", "cli": [*ECHO, "{{stats}}"]},
            {"name": "no_function", "python": "impl_of_pipelines:nothing"},
            5,
        ]
        (tmp_path / "tools.json").write_text(json.dumps({"tools": rows}))
        sources = {"dw": {"manifest": "tools.json"}}
        names = ("list_pipelines", "by_http", "by_cli", "loose")
        results = ask(tmp_path, sources, *((f"dw.{name}", {"status": "failed"}) for name in names))
        specs, [status] = board_of(tmp_path, sources)
    assert [result.value for result in results[:3]] == [["failed", "p1"], ["status=failed"], ["failed"]]
    assert results[3].failure is not None
    assert "bound to nothing" in results[3].failure.message
    assert specs["dw.list_pipelines"].defer is True
    assert specs["dw.list_pipelines"].properties == LIST_PIPELINES["input_schema"]["properties"]  # type: ignore[index]
    assert set(specs) == {f"dw.{name}" for name in names}
    messages = " ".join(note.message for note in status.notes)
    assert "stats" in messages and "cannot be imported" in messages


def test_one_definition_alone_is_a_manifest(tmp_path: Path) -> None:
    (tmp_path / "one.yaml").write_text("name: hello\ndescription: Say hello.\ncli: [echo, '{{who}}']\n")
    [result] = ask(tmp_path, {"m": {"manifest": "one.yaml"}}, ("m.hello", {"who": "you"}))
    assert result.value == "you\n"
