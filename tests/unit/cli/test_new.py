"""`pegboard new tool`: what it writes works, passes its test and `pegboard check`, and costs nothing that is there."""

import subprocess
import sys
import tomllib
from itertools import product
from pathlib import Path

import pytest

from pegboard.cli.app import run
from pegboard.core import Effects
from pegboard.define.scaffold import Scaffold, module
from pegboard.define.scaffold import test_module as written_test


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


KINDS = [
    pytest.param(effects, preview, many, id=f"{effects}-{preview}-{many}")
    for effects, preview, many in product(list(Effects)[:4], (True, False), (True, False))
    if preview or effects is not Effects.DESTRUCTIVE
]


@pytest.mark.parametrize(("effects", "preview", "many"), KINDS)
def test_each_kind_of_scaffold_passes_its_own_test_and_check(effects: Effects, preview: bool, many: bool) -> None:
    noun = "entries" if many else "entry"
    tool = Scaffold(name=f"set_{noun}", verb="set", noun=noun, many=many, effects=effects, preview=preview)
    made: dict[str, object] = {"__name__": f"set_{noun}"}
    exec(compile(module(tool), "module", "exec"), made)
    text = written_test(tool)
    assert f"from set_{noun} import set_{noun}\n" in text
    exec(compile(text.replace(f"from set_{noun} import set_{noun}\n", ""), "test", "exec"), made)
    tests = [value for name, value in made.items() if name.startswith("test_")]
    assert len(tests) == (3 if preview else 2)
    for test in tests:
        test()  # type: ignore[operator]


@pytest.mark.slow
def test_a_new_tool_is_on_the_board_and_its_test_passes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["new", "tool", "delete_files"]) == 0
    assert run(["new", "tool", "crm.get_user", "--batch"]) == 0
    assert run(["new", "tool", "crm.create_invoice", "--preview"]) == 0
    written = tomllib.loads((folder / "pegboard.toml").read_text())
    assert written["sources"]["crm"] == {"python": "get_user"}
    assert written["sources"]["create_invoice"] == {"python": "create_invoice", "prefix": "crm"}
    assert written["batch"]["crm.get_users"]["over"] == "user_name"
    capsys.readouterr()
    assert run(["check", "--fail-on", "info"]) == 0
    assert "Nothing to say" in capsys.readouterr().err
    assert run(["call", "own.delete_files", "--args", '{"file_names": ["first"]}']) == 0
    outcome = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "."],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert outcome.returncode == 0, outcome.stdout
    assert "8 passed" in outcome.stdout


def test_what_is_there_stays(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "pegboard.toml").write_text("# mine\n[board]\nname = 'x' # so\n")
    (folder / "get_user.py").write_text("mine")
    assert run(["new", "tool", "get_user"]) != 0
    assert (folder / "get_user.py").read_text() == "mine"
    assert run(["new", "tool", "get_user", "--force"]) == 0
    assert (folder / "pegboard.toml").read_text().startswith("# mine\n[board]\nname = 'x' # so\n")


@pytest.mark.parametrize("name", ["user", "Get-User", "get", "2get_user", "a b.get_user", "class", "größe_holen"])
def test_a_name_that_cannot_be_one_is_refused_with_what_to_write(
    name: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["new", "tool", name]) == 2
    assert "get_" in capsys.readouterr().err
    assert list(folder.iterdir()) == []
