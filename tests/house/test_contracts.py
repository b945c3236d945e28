"""Imports point down only, and the check sees it when one does not."""

import re
import shutil
import subprocess
import sys
import tomllib
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]

# For each contract, by the start of its name: the module that gets a forbidden import, and the import.
FAULTS = [
    ("Rooms", "pegboard/core/name.py", "import pegboard.catalog"),
    ("Rooms", "pegboard/schema/types.py", "import pegboard.core"),
    ("Rooms", "pegboard/store/secrets.py", "import pegboard.config"),
    ("Rooms", "pegboard/index/protocol.py", "import pegboard.catalog"),
    ("Rooms", "pegboard/schema/types.py", "def late():\n    import pegboard.store.keep"),
    ("Only wire/", "pegboard/config/load.py", "import mcp"),
    ("Only wire/", "pegboard/core/call.py", "from mcp_types import Tool"),
    ("The core", "pegboard/core/spec.py", "import pydantic"),
    ("The core", "pegboard/errors.py", "import numpy"),
]


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache", "pyproject.toml"]
    environ = {"PYTHONPATH": str(folder), "PATH": "/usr/bin:/bin"}
    return subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, check=False)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "src/pegboard", tmp_path / "pegboard", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


@pytest.mark.slow
def test_the_contracts_hold() -> None:
    outcome = lint(ROOT / "src/..")
    assert outcome.returncode == 0, outcome.stdout


def test_each_contract_has_a_planted_fault() -> None:
    names = [contract["name"] for contract in CONTRACTS]
    assert [name for name in names if not any(name.startswith(start) for start, _, _ in FAULTS)] == []


@pytest.mark.slow
@pytest.mark.parametrize(("contract", "module", "line"), FAULTS)
def test_a_planted_fault_is_caught(copy: Path, contract: str, module: str, line: str) -> None:
    with (copy / module).open("a") as file:
        file.write(f"\n{line}\n")
    outcome = lint(copy)
    broken = [text for text in outcome.stdout.splitlines() if " BROKEN" in text]
    assert outcome.returncode == 1
    assert any(text.startswith(contract) for text in broken), outcome.stdout


def rooms() -> list[list[str]]:
    """The rooms that there are, by layer, the highest first."""
    layers = next(contract["layers"] for contract in CONTRACTS if contract["type"] == "layers")
    named = [[room.strip(" ()") for room in layer.split("|")] for layer in layers]
    source = ROOT / "src/pegboard"
    return [[room for room in layer if list(source.glob(f"{room}*"))] for layer in named]


def a_module_of(folder: Path, room: str) -> Path:
    """A file of a room."""
    alone = folder / "pegboard" / f"{room}.py"
    return alone if alone.exists() else folder / "pegboard" / room / "planted.py"


@pytest.mark.slow
def test_an_import_that_points_up_or_across_is_caught_in_every_room(copy: Path) -> None:
    layers = [layer for layer in rooms() if layer]
    up = [(room, above[0]) for above, layer in pairwise(layers) for room in layer]
    across = [(room, other) for layer in layers for room, other in pairwise(layer)]
    for room, other in (*up, *across):
        with a_module_of(copy, room).open("a") as file:
            file.write(f"\nimport pegboard.{other}\n")
    told = lint(copy).stdout
    missed = [f"{room} -> {other}" for room, other in (*up, *across) if not names_import(told, room, other)]
    assert len(up) > 10
    assert missed == []


def names_import(report: str, room: str, other: str) -> bool:
    return re.search(rf"pegboard\.{room}(\.\w+)* -> pegboard\.{other}\b", report) is not None


@pytest.mark.slow
def test_a_room_that_no_layer_names_is_refused(copy: Path) -> None:
    (copy / "pegboard/attic.py").write_text('"""A room that nobody has placed."""\n')
    outcome = lint(copy)
    assert outcome.returncode == 1
    assert "attic" in outcome.stdout
