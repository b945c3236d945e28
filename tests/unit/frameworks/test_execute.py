"""`builder.execute_agent`: an agent of the config, tried out by another."""

from pathlib import Path

import pytest
from scripted_model import Scripted, serving

from pegboard.board import Board
from pegboard.config import parse
from pegboard.core import Session
from pegboard.frameworks.agents.execute import agents_of
from pegboard.testing import FakeSource

pytestmark = pytest.mark.anyio


async def test_a_builder_runs_an_agent_and_sees_what_it_did(tmp_path: Path) -> None:
    with serving(Scripted([[("crm__find", {})], "Found."])) as model:
        table = {"model": "toy", "base_url": model.url, "tools": ["crm.*"], "max_tool_calls": 3}
        config = parse({"builder": {"enabled": True}, "agent": {"clerk": table}}, folder=tmp_path)
        [source] = agents_of(config)
        async with Board.open(config, beside=[FakeSource("crm", {"find": None}), source]) as board:
            source.over(board)
            arguments = {"agent": "clerk", "task": "Find."}
            result = await board.call("builder.execute_agent", arguments, session=Session("b"))
    assert result.ok, result.failure
    assert (result.value["output"], result.value["stop_reason"]) == ("Found.", "end_turn")
    assert [call["tool"] for call in result.value["calls"]] == ["crm.find"]


async def test_an_agent_that_is_tried_out_tries_out_no_other(tmp_path: Path) -> None:
    again = [("builder__execute_agent", {"agent": "clerk", "task": "Again."})]
    with serving(Scripted([again, "No."])) as model:
        table = {"model": "toy", "base_url": model.url, "tools": ["builder.execute_agent"]}
        config = parse({"builder": {"enabled": True}, "agent": {"clerk": table}}, folder=tmp_path)
        [source] = agents_of(config)
        async with Board.open(config, beside=[source]) as board:
            source.over(board)
            result = await board.call("builder.execute_agent", {"agent": "clerk", "task": "Again."})
    assert [call["failure"] for call in result.value["calls"]] == ["blocked"]


@pytest.mark.parametrize("tables", [{"builder": {"enabled": True}}, {"agent": {"clerk": {"model": "a:b"}}}])
def test_it_is_there_only_with_the_namespace_and_an_agent(tables: dict[str, object], tmp_path: Path) -> None:
    assert agents_of(parse(tables, folder=tmp_path)) == []
