"""What a type checker says of tools: they are the functions that they were, and previews must match."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

CODE = """\
from pegboard import Mode, tool


@tool(effects="destructive")
async def delete(paths: list[str], force: bool = False) -> list[str]:
    return paths


@delete.preview
async def same(paths: list[str], force: bool = False) -> list[str]:
    return paths


@delete.preview  # wrong: another result
async def another_result(paths: list[str], force: bool = False) -> int:
    return 1


@delete.explore  # wrong: another parameter
async def another_parameter(path: str) -> list[str]:
    return [path]


async def use() -> list[str]:
    await delete(5)  # wrong: not a list
    await delete.using(Mode.PREVIEW)(["a"], fourth=1)  # wrong: no such parameter
    return await delete(["a"], force=True)


@tool(effect="destructive")  # wrong: no such option
def misspelt() -> None: ...
"""


@pytest.mark.requirement("C5.8")
def test_a_type_checker_finds_each_misuse_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "tools.py").write_text(CODE)
    (tmp_path / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict"}')
    command = [Path(sys.executable).with_name("pyright"), "--pythonpath", sys.executable, "tools.py"]
    said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True).stdout
    found = {int(line) for line in re.findall(r"tools\.py:(\d+):\d+ - error", said)}
    wrong = {number for number, line in enumerate(CODE.splitlines(), 1) if "# wrong" in line}
    assert found == wrong, said
