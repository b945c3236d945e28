"""A foreign tool is previewed by another one, which only reads, through the board's pipeline."""

from typing import Any

import pytest

from pegboard.board import Board
from pegboard.config import Config, load
from pegboard.core import Effects, FailureCode, Mode, Result, ToolName, ToolSpec
from pegboard.testing import FakeSource

pytestmark = pytest.mark.anyio

PATHS = {"type": "object", "properties": {"folder": {"type": "string"}, "glob": {"type": "string"}}}


def files(listing: Any = None) -> FakeSource:
    """A source with a tool that deletes and one that lists; both answer as told."""
    source = FakeSource("fs")
    delete = ToolSpec(
        name=ToolName("fs", "delete"), effects=Effects.DESTRUCTIVE, input={**PATHS, "required": ["folder"]}
    )
    source.put("delete", Result(value=["a", "b"]), spec=delete)
    show = ToolSpec(name=ToolName("fs", "list_files"), effects=Effects.READ_ONLY, input=PATHS)
    source.put("list_files", listing or Result(value={"files": ["a", "b"]}), spec=show)
    return source


def config(folder: Any, preview: str) -> Config:
    (folder / "x.json").write_text('{"tools": []}')
    text = f'[sources.f]\nrecorded = "x.json"\nprefix = "fs"\n[sources.f.tools.delete]\npreview = {preview}\n'
    (folder / "pegboard.toml").write_text(f'[board]\nstore = ":memory:"\nsearch = "off"\n{text}')
    return load(folder / "pegboard.toml")


@pytest.mark.requirement("C5.4")
@pytest.mark.parametrize(
    ("preview", "shown", "asked"),
    [
        ('"list_files"', {"files": ["a", "b"]}, {"folder": "/x"}),
        ('"fs.list_files"', {"files": ["a", "b"]}, {"folder": "/x"}),
        (
            '{ tool = "list_files", args = { folder = "${input.folder}", glob = "*" }, value = "${result.files}" }',
            ["a", "b"],
            {"folder": "/x", "glob": "*"},
        ),
    ],
)
async def test_the_other_tool_shows_what_would_change(tmp_path: Any, preview: str, shown: Any, asked: Any) -> None:
    source = files()
    async with Board.open(config(tmp_path, preview), beside=[source]) as board:
        spec = board.spec(ToolName("fs", "delete"))
        assert spec is not None
        assert spec.properties["mode"]["default"] == "preview"
        before = await board.call("fs.delete", {"folder": "/x"})
        assert before.mode is Mode.PREVIEW
        assert before.value == shown
        assert before.report is not None
        assert before.report.data["shown_by"] == "fs.list_files"
        assert source.handlers["delete"].calls == []
        done = await board.call("fs.delete", {"folder": "/x", "mode": "execute"})
    assert source.handlers["list_files"].calls[0].arguments == asked
    assert done.report is not None
    assert done.report.data["preview"]["same"] is (shown == ["a", "b"])
    assert len(source.handlers["delete"].calls) == 1


@pytest.mark.parametrize(
    ("preview", "told"),
    [
        ('"list_fils"', "list_files"),
        ('"delete"', "only reads"),
        ('{ tool = "list_files", args = { foldr = "x" } }', "folder"),
    ],
)
async def test_a_pair_that_cannot_work_is_told_and_leaves_the_tool(tmp_path: Any, preview: str, told: str) -> None:
    async with Board.open(config(tmp_path, preview), beside=[files()]) as board:
        assert any(told in warning for warning in board.warnings)
        assert (await board.call("fs.delete", {"folder": "/x"})).ok


async def test_a_preview_that_fails_says_so_and_changes_nothing(tmp_path: Any) -> None:
    source = files(Result.failed(FailureCode.UNAVAILABLE, "away", retryable=True))
    async with Board.open(config(tmp_path, '"list_files"'), beside=[source]) as board:
        failure = (await board.call("fs.delete", {"folder": "/x"})).failure
    assert failure is not None
    assert failure.code is FailureCode.UNAVAILABLE
    assert "Nothing was changed" in failure.message
    assert failure.next_step
    assert source.handlers["delete"].calls == []


@pytest.mark.requirement("C5.3")
async def test_an_exploration_reads_only_lists_what_could_be_done_here_and_needs_no_arguments(tmp_path: Any) -> None:
    source = files()
    wish = (
        '"list_files"\nexplore = { tool = "list_files", args = { folder = "/" }, value = { can = "${result.files}" } }'
    )
    async with Board.open(config(tmp_path, wish), beside=[source]) as board:
        result = await board.call("fs.delete", {"mode": "explore"})
        spec = board.spec(ToolName("fs", "delete"))
    assert (result.mode, result.value) == (Mode.EXPLORE, {"can": ["a", "b"]})
    assert result.report is not None
    assert "Nothing was changed" in result.report.notes[0]
    assert spec is not None
    assert {"explore", "preview"} <= set(spec.properties["mode"]["enum"])
    assert source.handlers["delete"].calls == []
    assert [call.arguments for call in source.handlers["list_files"].calls] == [{"folder": "/"}]


@pytest.mark.requirement("C5.3")
async def test_nothing_that_changes_something_may_answer_an_exploration(tmp_path: Any) -> None:
    async with Board.open(config(tmp_path, '"list_files"\nexplore = "delete"'), beside=[files()]) as board:
        assert any("only reads" in warning for warning in board.warnings)
        assert "explore" not in board.catalog.tools[ToolName("fs", "delete")].spec.properties["mode"]["enum"]
