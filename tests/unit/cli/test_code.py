"""`pegboard code run`: one document whether the code ran or was stopped, and exit codes that tell which."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pegboard.cli.app import run

OPS = '''
from pegboard import tool


@tool(effects="read_only")
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b
'''
CONFIG = '[board]\nstore = ":memory:"\n[sources.ops]\npython = "code_ops"\n'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "code_ops.py").write_text(OPS)
    (tmp_path / "pegboard.toml").write_text(CONFIG + '[codemode]\ntools = ["ops.*"]\n')
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def code(folder: Path, name: str, text: str, capsys: pytest.CaptureFixture[str], *more: str) -> tuple[int, Any]:
    (folder / name).write_text(text)
    ended = run(["code", "run", str(folder / name), "--config", str(folder), "--json", *more])
    return ended, json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.js", "console.log('on the way'); return await tools.ops.add({ a: 1, b: 2 })"),
        ("a.py", "print('on the way')\nops__add(a=1, b=2)"),
    ],
)
def test_a_file_runs(folder: Path, capsys: pytest.CaptureFixture[str], name: str, text: str) -> None:
    ended, told = code(folder, name, text, capsys)
    assert ended == 0
    assert list(told) == ["ok", "value", "error", "logs", "calls", "usage"]
    assert (told["ok"], told["value"], told["error"], told["logs"]) == (True, 3, None, "on the way")
    assert [(row["tool"], row["ok"]) for row in told["calls"]] == [("ops.add", True)]


@pytest.mark.parametrize(
    ("name", "text", "stop"),
    [
        ("a.js", "for (;;) {}", "timeout"),
        ("a.py", "while True:\n    pass", "timeout"),
        ("b.js", "throw new Error('no')", "error"),
        ("b.py", "1 / 0", "error"),
        ("c.js", "return await tools.ops.add({ a: 'x' })", "error"),
        ("d.js", "return 'x'.repeat(5e6)", "output"),
        ("d.py", "'x' * 5000000", "output"),
        ("e.js", "return ((", "error"),
        ("e.py", "def (", "error"),
        ("f.js", "const all = []; for (;;) all.push(new Array(1e5).fill(1))", "memory"),
        ("f.py", "a = []\nwhile True:\n    a.append('x' * 100000)", "memory"),
        ("g.js", "await new Promise(() => {})", "timeout"),
        ("h.js", "Deno.exit(3)", "error"),
        ("h.py", "raise SystemExit", "error"),
    ],
)
def test_code_that_is_stopped_gives_the_same_document(
    folder: Path, capsys: pytest.CaptureFixture[str], name: str, text: str, stop: str
) -> None:
    timeout = "300" if stop == "timeout" else "10000"
    ended, told = code(folder, name, text, capsys, "--timeout-ms", timeout)
    assert ended == 1
    assert list(told) == ["ok", "value", "error", "logs", "calls", "usage"]
    assert (told["ok"], told["value"], told["error"]["code"]) == (False, None, stop)


@pytest.mark.parametrize(("name", "more"), [("a.txt", ()), ("a.js", ("--timeout-ms", "0"))])
def test_a_wrong_command_ends_with_2(
    folder: Path, capsys: pytest.CaptureFixture[str], name: str, more: tuple[str, ...]
) -> None:
    (folder / name).write_text("return 1")
    assert run(["code", "run", str(folder / name), "--config", str(folder), *more]) == 2
    assert capsys.readouterr().err


def test_without_a_pool_the_config_is_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "pegboard.toml").write_text(CONFIG)
    (folder / "a.js").write_text("return 1")
    assert run(["code", "run", str(folder / "a.js"), "--config", str(folder)]) == 2
    assert "[codemode]" in capsys.readouterr().err


def test_doctor_says_what_holds_code_in(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(["doctor", "--config", str(folder), "--json"])
    sandbox = json.loads(capsys.readouterr().out)["sandbox"]
    assert sandbox["configured"]
    assert sandbox["starts"] == {"javascript": True, "python": True}
    assert [row["name"] for row in sandbox["protections"]] == [
        "process",
        "permissions",
        "landlock",
        "rlimits",
        "memory watchdog",
    ]


def test_the_command_ends_although_a_tools_thread_does_not() -> None:
    script = (
        "import threading, time; from pegboard.__main__ import leave; "
        "threading.Thread(target=time.sleep, args=(600,)).start(); print('told'); leave(3)"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stdout) == (3, "told\n")
