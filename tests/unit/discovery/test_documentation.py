"""`get_platform_documentation`: our own documentation as a tool."""

from pathlib import Path

import pytest

from pegboard.board import Board
from pegboard.config import parse
from pegboard.core import Session
from pegboard.discovery import manual
from pegboard.discovery.meta import BUILTINS
from pegboard.testing import FakeSource

pytestmark = pytest.mark.anyio
NAME = "get_platform_documentation"


def board(folder: Path) -> Board:
    config = parse({"board": {"store": ":memory:", "builtins": [NAME, "asset_read"]}}, folder=folder)
    return Board.open(config, beside=[FakeSource("crm", {"find": None})])


@pytest.mark.requirement("R6.5")
@pytest.mark.parametrize(
    ("topic", "said"),
    [
        ("agent-design", ("stop reason", "Let a person decide", "max_tool_calls")),
        ("subagent-delegation", ("spawn_subagent", "max_spawns")),
        ("tool-design", ("@tool",)),
        ("glossary", ("Alias table",)),
    ],
)
async def test_a_topic_is_read_from_the_projects_own_pages(topic: str, said: tuple[str, ...], tmp_path: Path) -> None:
    async with board(tmp_path) as opened:
        result = await opened.call(NAME, {"topic": topic})
    assert result.ok and result.value["topic"] == topic
    assert all(words in result.value["text"] for words in said)


@pytest.mark.requirement("R6.5")
async def test_a_question_finds_the_part_that_answers_it(tmp_path: Path) -> None:
    async with board(tmp_path) as opened:
        found = (await opened.call(NAME, {"query": "subagents max_spawns"})).value["sections"]
        nothing = (await opened.call(NAME, {"query": "zzzyx"})).value["sections"]
    assert (found[0]["topic"], found[0]["heading"]) == ("agents", "Subagents")
    assert nothing == []


@pytest.mark.requirement("R10.3")
async def test_the_built_in_tools_are_told_from_what_is_there(tmp_path: Path) -> None:
    async with board(tmp_path) as opened:
        text = (await opened.call(NAME, {"topic": "builtin-tools"})).value["text"]
        own = [spec.name.name for spec in opened.view(Session()).meta]
    assert "asset_read" in own
    assert [line.removeprefix("## ") for line in text.splitlines() if line.startswith("## ")] == own
    assert "- `handle`: The asset's handle" in text


async def test_a_topic_that_is_not_there_is_told_with_the_nearest(tmp_path: Path) -> None:
    async with board(tmp_path) as opened:
        result = await opened.call(NAME, {"topic": "agent-desing"})
        listed = (await opened.call(NAME)).value["topics"]
    assert result.failure is not None and "agent-design" in (result.failure.next_step or "")
    assert {"builtin-tools", *manual.TOPICS} <= set(listed)


async def test_it_is_listed_only_where_the_config_says_so() -> None:
    async with Board.of(FakeSource("crm", {"find": None})) as opened:
        assert NAME not in [spec.name.name for spec in opened.view(Session()).listed]
    assert NAME in BUILTINS


def test_every_page_that_a_topic_is_made_of_is_there() -> None:
    texts = manual.topics()
    assert all(texts[name].strip() for name in manual.TOPICS)
