"""Boards are published, compared, chosen and rolled back from the command line."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pegboard.cli.app import run
from pegboard.store import Store
from pegboard.store.published import Published
from pegboard.trace.record import CallRecord
from pegboard.trace.sqlite import SqliteTraces
from pegboard.trace.store import Entry

V1 = '''
from pegboard import tool


@tool(effects="read_only")
def greet(name: str, shout: bool = False) -> str:
    """Greet a person."""
    return f"hello {name}"


@tool(deprecated="Say who.", successor="greet", sunset="2999-01-31")
def hello() -> str:
    """Greet."""
    return "hello"
'''
CONFIG = """
[sources.desk]
python = "{module}"

[bundle.welcome]
description = "Welcome a person."
steps = [{{ id = "a", tool = "desk.greet", args = {{ name = "${{input.who}}" }} }}]
"""
Pegboard = Callable[..., tuple[int, Any, str]]


@pytest.fixture
def board(tmp_path: Path) -> Path:
    module = f"desk_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{module}.py").write_text(V1)
    (tmp_path / "pegboard.toml").write_text(CONFIG.format(module=module))
    return tmp_path


@pytest.fixture
def pegboard(board: Path, capsys: pytest.CaptureFixture[str]) -> Pegboard:
    def command(*arguments: str) -> tuple[int, Any, str]:
        code = run([*arguments, "--config", str(board), "--json"])
        seen = capsys.readouterr()
        return code, json.loads(seen.out), seen.err

    return command


def change(board: Path, before: str, after: str) -> None:
    [module] = board.glob("desk_*.py")
    module.write_text(module.read_text().replace(before, after))
    sys.modules.pop(module.stem, None)  # the next command runs in a process of its own


def changed(found: Any) -> dict[str, str]:
    return {row["tool"]: row["weight"] for row in found["tools"]}


@pytest.mark.requirement("R12.2")
@pytest.mark.parametrize(
    ("before", "after", "weight"),
    [
        ("shout: bool = False", "shout: bool = False, loud: int = 1", "compatible"),
        ("shout: bool = False", "volume: int", "breaking"),
        ("Greet a person.", "Say hello to a person.", "docs"),
    ],
)
def test_versions_differ_by_what_their_callers_notice(
    pegboard: Pegboard, board: Path, before: str, after: str, weight: str
) -> None:
    assert pegboard("publish", "board", "v1")[0] == 0
    assert pegboard("versions", "diff", "v1")[:2] == (0, {"before": "v1", "after": "live", "tools": []})
    change(board, before, after)
    code, found, _ = pegboard("versions", "diff", "v1")
    assert changed(found)["desk.greet"] == weight
    assert code == (1 if weight == "breaking" else 0)
    pegboard("publish", "board", "v2")
    assert changed(pegboard("versions", "diff", "v1", "v2")[1])["desk.greet"] == weight


def test_a_tool_that_is_gone_breaks_and_a_new_one_does_not(pegboard: Pegboard, board: Path) -> None:
    pegboard("publish", "board", "v1")
    change(board, "def hello", "def hi")
    assert changed(pegboard("versions", "diff", "v1")[1]) == {"desk.hello": "breaking", "desk.hi": "compatible"}


@pytest.mark.requirement("R12.2")
def test_what_is_published_never_changes(pegboard: Pegboard, board: Path) -> None:
    _, first, _ = pegboard("publish", "board", "v1", "--note", "The first.")
    assert pegboard("publish", "board", "v1")[1] == first
    change(board, "Greet a person.", "Say hello.")
    code, refused, _ = pegboard("publish", "board", "v1")
    assert code == 1
    assert "holds something else" in str(refused)
    _, shown, _ = pegboard("versions", "show", "v1")
    assert shown["digest"] == first["digest"]
    assert [row["spec"]["name"][1] for row in shown["content"]["tools"]] == ["greet", "hello", "welcome"]
    assert all(len(row["digest"]) == 64 for row in shown["content"]["tools"])


@pytest.mark.requirement("R12.2")
def test_a_version_that_is_used_keeps_its_bundle_and_is_rolled_back_from(pegboard: Pegboard, board: Path) -> None:
    pegboard("publish", "board", "v1")
    config = board / "pegboard.toml"
    config.write_text(config.read_text().replace("${input.who}", "Dr. ${input.who}"))
    pegboard("publish", "board", "v2")

    def welcomed() -> Any:
        return pegboard("call", "welcome", "--args", '{"who": "Ann"}')[1]["value"]

    assert welcomed() == "hello Dr. Ann"
    assert pegboard("versions", "use", "v1")[1] == {"before": "live", "after": "v1"}
    assert welcomed() == "hello Ann"
    assert [row["used"] for row in pegboard("versions", "list")[1]["versions"]] == [True, False]
    assert pegboard("versions", "use", "live")[1] == {"before": "v1", "after": "live"}
    assert welcomed() == "hello Dr. Ann"


@pytest.mark.requirement("R12.2")
def test_runs_record_the_version(pegboard: Pegboard) -> None:
    pegboard("publish", "board", "v1")
    pegboard("call", "desk.hello")
    pegboard("versions", "use", "v1")
    pegboard("call", "desk.greet", "--args", '{"name": "Ann"}')
    found = [pegboard("runs", "show", row["id"])[1] for row in pegboard("runs", "list")[1]["runs"]]
    by_tool = {run["calls"][0]["tool"]: run["calls"][0] for run in found}
    assert by_tool["desk.greet"]["meta"]["board_version"] == "v1"
    assert "board_version" not in by_tool["desk.hello"]["meta"]
    assert len(by_tool["desk.hello"]["digest"]) == 64


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("versions", "show", "v3"), "There are: v1."),
        (("versions", "use", "v3"), "There are: v1."),
        (("versions", "diff", "v3"), "There are: v1."),
        (("versions", "show", "chain/x@v1"), "There is no version"),
        (("publish", "board", "live"), "means what the config says now"),
        (("publish", "board", "../v1"), "cannot be the name"),
    ],
)
def test_a_version_that_is_not_there_is_told_with_those_that_are(
    pegboard: Pegboard, arguments: tuple[str, ...], says: str
) -> None:
    pegboard("publish", "board", "v1")
    code, told, _ = pegboard(*arguments)
    assert code == 1
    assert says in json.dumps(told)


def test_nothing_is_published_where_nothing_is_kept(board: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = board / "pegboard.toml"
    config.write_text('[board]\nstore = ":memory:"\n' + config.read_text())
    assert run(["publish", "board", "v1", "--config", str(board)]) == 1
    assert "Nothing was published." in capsys.readouterr().err


@pytest.mark.requirement("C15.2")
def test_the_traffic_of_each_version_is_told(pegboard: Pegboard, board: Path) -> None:
    traces = SqliteTraces(board / ".pegboard/traces.db")
    names = ["desk.hello", "desk.hello", "other"]
    calls = [CallRecord(id=str(n), tool=name, ok=n != 1, started=4e9 + n) for n, name in enumerate(names)]
    traces.append([Entry("r", n, call, "claude") for n, call in enumerate(calls)])
    traces.append([Entry("old", 0, CallRecord(id="1", tool="desk.greet", ok=True, started=1.0))])
    traces.close()
    rows = {row["tool"]: row for row in pegboard("versions", "tools")[1]["tools"]}
    assert list(rows) == ["desk.greet", "desk.hello"]
    hello, greet = rows["desk.hello"], rows["desk.greet"]
    assert (hello["calls"], hello["failed"], hello["agents"]) == (2, 1, ["claude"])
    assert (hello["state"], hello["successor"], hello["sunset"]) == ("deprecated", "desk.greet", "2999-01-31")
    assert (greet["calls"], greet["state"]) == (0, "current")


def test_other_kinds_are_published_by_the_same_means(pegboard: Pegboard, board: Path) -> None:
    with Store.open(board / ".pegboard") as store:
        for version, steps in (("1", ["a"]), ("2", ["a", "b"])):
            new = Published(kind="chain", name="report", version=version, digest=version * 64, content={"steps": steps})
            assert store.publish(new).label == f"chain/report@{version}"
    assert [row["version"] for row in pegboard("versions", "list", "--kind", "chain")[1]["versions"]] == [
        "chain/report@1",
        "chain/report@2",
    ]
    code, found, _ = pegboard("versions", "diff", "chain/report@1", "chain/report@2")
    assert code == 1
    assert found["places"]
    assert pegboard("versions", "show", "chain/report")[1]["version"] == "chain/report@2"
    pegboard("versions", "use", "chain/report@1")
    assert pegboard("versions", "show", "chain/report")[1]["version"] == "chain/report@1"
    assert pegboard("versions", "use", "chain/report@live")[1]["after"] == "live"


def test_a_client_is_connected_to_a_version(pegboard: Pegboard) -> None:
    entry = pegboard("connect", "cursor", "--board-version", "v1")[1]["entry"]
    assert entry["args"][-2:] == ["--board-version", "v1"]
