"""The demo board, as a newcomer meets it: real servers, the real command line, a real client."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
DEMO = ROOT / "examples/demo"
PEGBOARD = str(Path(sys.executable).with_name("pegboard"))
HAS_NODE = shutil.which("node") is not None and (DEMO / "node_modules/.installed").exists()

pytestmark = pytest.mark.slow


def run(*arguments: object, folder: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    command = [PEGBOARD, *map(str, arguments), "--config", str(folder)]
    return subprocess.run(
        command, cwd=ROOT, env={**os.environ, **environ}, capture_output=True, text=True, timeout=120, check=False
    )


def document(*arguments: object, folder: Path, code: int = 0) -> Any:
    outcome = run(*arguments, "--json", folder=folder)
    assert outcome.returncode == code, outcome.stderr
    return json.loads(outcome.stdout)


def copy_of_the_demo(folder: Path) -> Path:
    for name in ("pegboard.toml", "desk.py"):
        shutil.copy(DEMO / name, folder)
    if (DEMO / "node_modules").exists():
        (folder / "node_modules").symlink_to(DEMO / "node_modules")
    return folder


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    yield copy_of_the_demo(tmp_path_factory.mktemp("demo"))


def test_the_check_talks_to_real_servers_through_a_real_client_and_ends_with_0(demo: Path) -> None:
    outcome = run("serve", "--check", folder=demo)
    assert outcome.returncode == 0, outcome.stderr
    assert outcome.stdout == ""
    for program in ("mcp-server-git", "mcp-server-time", "mcp-server-fetch"):
        assert program in outcome.stderr
    assert "/mcp" in outcome.stderr
    assert "The check passed." in outcome.stderr


def test_list_names_enough_tools_and_how_each_source_is(demo: Path) -> None:
    found = document("list", folder=demo)
    assert len(found["tools"]) > (40 if HAS_NODE else 20)
    names = [tool["name"] for tool in found["tools"]]
    assert {"git.git_status", "time.get_current_time", "fetch.fetch", "desk.calculate"} <= set(names)
    assert len({tool["wire_name"] for tool in found["tools"]}) == len(names)
    states = {source["name"]: source["state"] for source in found["sources"]}
    assert set(states.values()) <= {"ready", "idle", "starting", "degraded", "unavailable", "disabled"}
    assert sum(source["tools"] for source in found["sources"]) == len(names)


def test_search_finds_a_git_diff_tool_among_the_first_three(demo: Path) -> None:
    hits = document("search", "show what changed in the repository", folder=demo)["hits"]
    assert any("diff" in hit["name"] for hit in hits[:3])
    assert all({"name", "score", "confidence", "matched"} <= set(hit) for hit in hits)


def test_a_call_answers_with_the_whole_result(demo: Path) -> None:
    answer = document("call", "git.git_status", "--args", '{"repo_path": "."}', folder=demo)
    assert set(answer) == {"ok", "mode", "value", "content", "failure", "report"}
    assert answer["ok"] is True
    assert answer["failure"] is None
    assert "On branch" in answer["content"][0]["text"] or "HEAD detached" in answer["content"][0]["text"]


def test_a_wrong_argument_name_ends_with_1_and_names_the_right_one(demo: Path) -> None:
    outcome = run("call", "git.git_status", "--args", '{"repo_pth": "."}', folder=demo)
    assert outcome.returncode == 1
    assert "repo_path" in outcome.stderr
    assert "Traceback" not in outcome.stderr


def test_python_tools_answer_with_values(demo: Path) -> None:
    assert document("call", "desk.calculate", "--args", '{"expression": "2 * (3 + 4)"}', folder=demo)["value"] == 14
    failed = document("call", "desk.calculate", "--args", '{"expression": "open(1)"}', folder=demo, code=1)
    assert "not arithmetic" in failed["failure"]["message"]


@pytest.mark.requirement("R11.1", "R11.2")
def test_every_call_is_a_run_that_can_be_found_and_looked_at(demo: Path) -> None:
    document("call", "desk.convert_unit", "--args", '{"amount": 1, "source": "km", "target": "m"}', folder=demo)
    document(
        "call", "desk.convert_unit", "--args", '{"amount": 1, "source": "km", "target": "kg"}', folder=demo, code=1
    )
    runs = document("runs", "list", "--tool", "desk.convert_unit", "--since", "1h", folder=demo)["runs"]
    assert [run["failed"] for run in runs] == [1, 0]
    failed = document("runs", "list", "--tool", "desk.convert_unit", "--failed", folder=demo)["runs"]
    assert [run["id"] for run in failed] == [runs[0]["id"]]
    assert len(document("runs", "list", "--agent", "cli", folder=demo)["runs"]) >= 2
    assert document("runs", "list", "--agent", "nobody", folder=demo)["runs"] == []
    call = document("runs", "show", runs[1]["id"], folder=demo)["calls"][0]
    assert call["arguments"] == {"amount": 1, "source": "km", "target": "m"}
    assert call["ok"] is True
    assert call["seconds"] > 0
    shown = run("runs", "show", runs[0]["id"], folder=demo).stdout
    assert "desk.convert_unit" in shown
    assert "kg is a unit of mass" in shown or "km is a unit of length" in shown
    assert document("runs", "show", "no-such-run", folder=demo, code=1)["error"]["next_step"]


def test_without_node_the_others_serve_and_the_rest_is_reported(tmp_path: Path) -> None:
    folder = copy_of_the_demo(tmp_path)
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "git").symlink_to(shutil.which("git") or "git")
    outcome = run("list", "--json", folder=folder, PATH=str(programs))
    assert outcome.returncode == 0, outcome.stderr
    found = json.loads(outcome.stdout)
    assert len(found["tools"]) >= 20
    missing = {source["name"]: source for source in found["sources"] if source["state"] == "unavailable"}
    assert set(missing) == {"filesystem", "memory", "everything"}
    assert "node" in missing["memory"]["error"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_server_that_is_asked_to_stop_ends_cleanly(demo: Path, number: signal.Signals) -> None:
    command = [PEGBOARD, "serve", "--http", "127.0.0.1:0", "--config", str(demo)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert server.stderr is not None
    told: list[str] = []
    for line in server.stderr:
        told.append(line)
        if line.startswith("Serving at"):
            break
    server.send_signal(number)
    out, err = server.communicate(timeout=60)
    assert server.returncode == 0, "".join(told) + err
    assert out == ""
    assert "Traceback" not in err
