"""Tools that are JavaScript: they compute with what they get, and reach nothing else."""

from pathlib import Path
from typing import Any

import pytest

from pegboard.board import Board
from pegboard.core import Effects, FailureCode, Mode
from pegboard.schema.types import Json

pytestmark = pytest.mark.anyio

CONFIG = """
[sources.calc]
prefix = "calc"

[sources.calc.script]
add = { code = "return input.a + input.b;", parameters = { a = "integer", b = "integer" } }
keys = "return Object.keys(input).sort();"
echo = "return input.x;"
throws = "const a = 1;\\nthrow new TypeError('no ' + input.x);"
reach = "return [typeof Deno, typeof fetch, typeof require, typeof process];"
call = "return await tools.calc.add({a: 1, b: 2});"
empty = ""
loop = { code = "for (;;) {}", timeout_ms = 200 }
odd = { code = "return 1;", colour = "red" }
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "pegboard.toml").write_text(CONFIG)
    return tmp_path


async def test_a_script_computes_with_its_arguments(home: Path) -> None:
    async with Board.open(home) as board:
        spec = next(spec for spec in board.catalog.specs if str(spec.name) == "calc.add")
        assert spec.effects is Effects.READ_ONLY
        assert (await board.call("calc.add", {"a": 2, "b": 3})).value == 5
        wrong = (await board.call("calc.add", {"a": "x", "b": 3})).failure
        assert wrong is not None
        assert wrong.code is FailureCode.INVALID_ARGUMENTS
        assert (await board.call("calc.add", {"a": 2, "b": 3}, mode=Mode.DRY_RUN)).ok


@pytest.mark.parametrize(
    "value",
    ["'\"`${x}</script>\\ \u2028", {"__proto__": {"a": 1}, "é": None}, [1.5, True, None], "\U0001f600", "});//"],
)
async def test_what_it_gets_is_data_and_never_code(home: Path, value: Json) -> None:
    async with Board.open(home) as board:
        assert (await board.call("calc.echo", {"x": value})).value == value


async def test_a_script_reaches_nothing_but_its_arguments(home: Path) -> None:
    async with Board.open(home) as board:
        assert (await board.call("calc.keys", {"b": 1, "a": 2})).value == ["a", "b"]
        reached: Any = (await board.call("calc.reach", {})).value
        assert set(reached) == {"undefined"}
        assert not (await board.call("calc.call", {})).ok


async def test_what_goes_wrong_in_it_is_a_failure_with_its_line(home: Path) -> None:
    async with Board.open(home) as board:
        thrown = (await board.call("calc.throws", {"x": "luck"})).failure
        late = (await board.call("calc.loop", {})).failure
    assert thrown is not None
    assert (thrown.message, thrown.where) == ("TypeError: no luck", "line 2")
    assert late is not None
    assert late.code is FailureCode.TIMEOUT


async def test_a_script_that_cannot_be_one_costs_only_itself(home: Path) -> None:
    async with Board.open(home) as board:
        names = {str(spec.name) for spec in board.catalog.specs}
        [status] = await board.statuses()
    assert "calc.add" in names
    assert not names & {"calc.empty", "calc.odd"}
    assert status.tools == len(names)
