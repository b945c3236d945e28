"""A manifest declares a tool that takes one text in OpenAI's spellings, and binds it to whatever takes a text."""

import json
from pathlib import Path
from typing import Any

import pytest

from pegboard.board import Board
from pegboard.config import parse
from pegboard.core import Freeform
from pegboard.surface import anthropic, openai_responses

pytestmark = pytest.mark.anyio

FLAT = {"format": {"type": "grammar", "syntax": "lark", "definition": "start: WORD"}}
NESTED = {"format": {"type": "grammar", "grammar": {"syntax": "lark", "definition": "start: WORD"}}}
ROWS: list[dict[str, Any]] = [
    {"type": "custom", "name": "ask", "description": "Ask.", **FLAT},
    {"type": "custom", "custom": {"name": "ask", "description": "Ask.", **NESTED}},
]


@pytest.mark.requirement("D2.2")
@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("binding", [{"python": "freeform_tools:shout"}, {"cli": ["printf", "%s", "{{input}}"]}])
async def test_the_text_reaches_what_the_tool_is_bound_to(
    tmp_path: Path, row: dict[str, Any], binding: dict[str, Any]
) -> None:
    (tmp_path / "freeform_tools.py").write_text("def shout(query: str) -> str:\n    return query\n")
    (tmp_path / "tools.json").write_text(json.dumps([row | binding]))
    config = parse({"board": {"store": ":memory:"}, "sources": {"db": {"manifest": "tools.json"}}}, folder=tmp_path)
    async with Board.open(config) as board:
        [spec] = board.catalog.specs
        assert spec.freeform == Freeform("lark", "start: WORD")
        made = openai_responses.tools(board.view())
        assert made.tools[0]["tools"][0]["format"] == FLAT["format"]
        item = {"type": "custom_tool_call", "call_id": "c", "name": "ask", "namespace": "db", "input": "SELECT 1"}
        call = openai_responses.call(item, made)
        assert call is not None
        answer = openai_responses.output(item, await board.run(call), made)
        assert "SELECT 1" in answer["output"]
        plain = anthropic.tools(board.view())
        assert list(plain.tools[0]["input_schema"]["properties"]) == ["input"]
        block = {"type": "tool_use", "id": "t", "name": "db__ask", "input": {"input": "SELECT 1"}}
        call = anthropic.call(block, plain)
        assert call is not None
        assert (await board.run(call)).ok
