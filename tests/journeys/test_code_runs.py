"""`pegboard code run` in real processes that are killed: nothing is called twice, and the run goes on."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pegboard.cli.app import run

pytestmark = pytest.mark.slow
TOOLS = '''
import os
import time
from pathlib import Path

from pegboard import tool

def here() -> Path:
    return Path(os.environ["CODE_RUN_HOME"])


def note(text: str) -> str:
    with open(here() / "effects.txt", "a") as file:
        file.write(text + "\\n")
    return text


@tool(effects="additive")
def add(text: str) -> str:
    """Add a row."""
    note(f"add {text}")
    while (here() / "stay").exists():
        time.sleep(0.01)
    return f"added {text}"


@tool(effects="destructive")
def drop(text: str) -> str:
    """Drop a row."""
    return note(f"drop {text}")
'''
CONFIG = """
[board]
store = "store"
[approval]
require = ["w.drop"]
wait = 60
[sources.w]
python = "killed_tools"
[codemode]
tools = ["w.*"]
"""
CODE = {
    "a.js": "const a = await tools.w.add({ text: 'x' }); return [a, await tools.w.drop({ text: a })]",
    "a.py": "a = w__add(text='x')\n[a, w__drop(text=a)]",
}


class Shell:
    """The command line over one folder: in this process, but for what is killed."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder, self._capsys = folder, capsys
        (folder / "killed_tools.py").write_text(TOOLS)
        (folder / "pegboard.toml").write_text(CONFIG)
        for name, text in CODE.items():
            (folder / name).write_text(text)

    def told(self, *words: str) -> Any:
        """What a command prints."""
        run([*words, "--config", str(self.folder), "--json"])
        return json.loads(self._capsys.readouterr().out)

    def killed(self, file: str, ready: Callable[[], object]) -> None:
        """Run code, and kill the process as soon as something is so."""
        line = [sys.executable, "-m", "pegboard", "code", "run", str(self.folder / file), "--config", str(self.folder)]
        environment = {**os.environ, "PYTHONPATH": str(self.folder)}
        process = subprocess.Popen(line, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
        while not ready():
            assert process.poll() is None
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.wait()

    def waits(self) -> bool:
        """Whether a run waits for a yes."""
        return bool(self.effects) and bool(self.told("code", "list", "--status", "waiting_approval")["runs"])

    @property
    def effects(self) -> Counter[str]:
        """What the tools did."""
        file = self.folder / "effects.txt"
        return Counter(file.read_text().splitlines() if file.exists() else ())


@pytest.fixture
def shell(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Shell:
    monkeypatch.setenv("CODE_RUN_HOME", str(tmp_path))
    monkeypatch.syspath_prepend(tmp_path)
    return Shell(tmp_path, capsys)


@pytest.mark.parametrize("file", CODE)
def test_a_run_that_is_killed_while_it_waits_goes_on_after_the_yes(shell: Shell, file: str) -> None:
    shell.killed(file, shell.waits)
    [run] = shell.told("code", "list")["runs"]
    assert run["status"] == "waiting_approval"
    [call] = [call for call in shell.told("code", "show", run["id"])["calls"] if call["status"] == "waiting"]
    shell.told("approvals", "allow", call["request"])
    outcome = shell.told("code", "resume", run["id"])
    assert (outcome["ok"], outcome["value"]) == (True, ["added x", "drop added x"])
    assert shell.effects == {"add x": 1, "drop added x": 1}


def test_a_call_that_is_killed_in_flight_is_never_made_again_by_itself(shell: Shell) -> None:
    stay = shell.folder / "stay"
    stay.touch()
    shell.killed("a.js", lambda: shell.effects)
    stay.unlink()
    again = shell.told("code", "run", str(shell.folder / "a.js"))
    assert (again["ok"], again["error"]["code"]) == (False, "outcome_unknown")
    run = again["error"]["run"]
    assert shell.told("code", "list", "--status", "needs_operator")["runs"][0]["id"] == run
    outcome = shell.told("code", "resume", run, "--skip", "1", "--output", '"added x"', "--yes")
    assert outcome["value"] == ["added x", "drop added x"]
    assert shell.effects == {"add x": 1, "drop added x": 1}
