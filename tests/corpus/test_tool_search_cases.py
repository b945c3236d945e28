"""Failures that people reported on finding and loading tools: each comes out right."""

import json
from pathlib import Path
from typing import Any

import pytest

from pegboard.board import Board
from pegboard.catalog import AliasTable, View
from pegboard.config import parse
from pegboard.core import FailureCode, Session, ToolName, ToolSpec
from pegboard.discovery.meta import SHOWN
from pegboard.surface import anthropic, openai_responses
from pegboard.surface.anthropic_history import history
from pegboard.testing import FakeSource

pytestmark = pytest.mark.anyio
CASES = {case["id"]: case for case in map(json.loads, (Path(__file__).parent / "cases/tool-search-cases.jsonl").open())}
RUN = Session("run")
HERE = {"ts-02", "ts-03", "ts-04", "ts-05", "ts-06", "ts-10", "ts-12", "ts-17", "ts-18", "ts-20", "ts-21"}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def test_every_case_has_a_test() -> None:
    assert set(CASES) == HERE


def given(id: str) -> dict[str, Any]:
    return CASES[id]["input"]


def source(rows: list[Any], name: str = "shelf", namespace: str = "") -> FakeSource:
    specs = [
        ToolSpec(
            name=ToolName(namespace, row if isinstance(row, str) else row["name"]),
            description="" if isinstance(row, str) else row.get("description", ""),
            aliases=() if isinstance(row, str) else tuple(row.get("aliases", ())),
            input={"type": "object", "properties": {}} if isinstance(row, str) else row.get("inputSchema", {}),
        )
        for row in rows
    ]
    return FakeSource(name, specs)


async def names(board: Board, query: str, limit: int = 8) -> list[str]:
    """The names of what a search finds, best first."""
    return [hit.name.name for hit in (await board.search(query, limit)).hits]


async def test_ts_02_a_bare_name_finds_the_prefixed_one() -> None:
    async with Board.of(source(given("ts-02")["catalog"])) as board:
        assert (await names(board, given("ts-02")["query"]))[0] == "mcp__plugin_x__ask_helper"


async def test_ts_03_the_name_of_a_server_finds_its_tools() -> None:
    case = given("ts-03")
    server = case["server"]["name"]
    async with Board.of(source(case["catalog"], server, server), source(["settle", "find"], "other", "other")) as board:
        found = (await board.search(case["query"])).hits
    assert {hit.name.name for hit in found if hit.name.namespace == server} == set(case["catalog"])


async def test_ts_04_ts_05_ts_06_scripts_and_accents_find_what_they_say() -> None:
    async with Board.of(source(given("ts-04")["catalog"])) as board:
        assert (await names(board, given("ts-04")["query"]))[0] == "get_portfolio"
    async with Board.of(source(given("ts-05")["catalog"])) as board:
        firsts = [(await names(board, query))[0] for query in given("ts-05")["queries"]]
        assert firsts == ["get_screen", "parse_pdf", "parse_pdf"]
    async with Board.of(source(given("ts-06")["catalog"])) as board:
        assert (await names(board, given("ts-06")["queries"][0]))[0] == "image_generate"


@pytest.mark.parametrize("case", ["ts-10", "ts-20"])
async def test_ts_10_ts_20_a_guessed_call_brings_the_definition_and_never_reaches_the_tool(case: str) -> None:
    """Unseen (ts-10), or seen and lost with the history (ts-20): the failure gives the schema for the next call."""
    tool = {"name": "ask_form", "inputSchema": {"type": "object", "properties": {"questions": {"type": "array"}},
            "required": ["questions"]}}  # fmt: skip
    row, wrong, right = tool, {"question": "a", "options": []}, {"questions": ["a"]}
    if case == "ts-10":
        row, wrong, right = given(case)["deferred"], given(case)["call"], {"path": "a", "search": "b", "replace": "c"}
    shelf = source([row, *(f"other_{n}" for n in range(25))])
    async with Board.of(shelf) as board:
        if case == "ts-20":
            await board.call("tool_search", {"query": row["name"], "limit": 1}, session=RUN)
        refused = (await board.call(row["name"], wrong, session=RUN)).failure
        assert refused is not None and refused.code is FailureCode.INVALID_ARGUMENTS
        assert refused.details["definition"]["inputSchema"]["required"] == row["inputSchema"]["required"]
        assert ("was not loaded" in refused.message) is (case == "ts-10")
        assert shelf.handlers[row["name"]].calls == []
        [health] = await board.check(["shelf"])
        assert health.status == "healthy", "it is no failure of the tool"
        assert (await board.call(row["name"], right, session=RUN)).ok
        again = await board.call("tool_describe", session=RUN)
        assert [one["name"] for one in again.value["tools"]] == [row["name"]], "what is loaded survives compaction"


async def test_ts_10_a_call_whose_arguments_happen_to_be_valid_runs() -> None:
    shelf = source([given("ts-10")["deferred"], *(f"other_{n}" for n in range(25))])
    async with Board.of(shelf) as board:
        assert (await board.call("edit_text", {"path": "a", "search": "b", "replace": "c"}, session=RUN)).ok


async def test_ts_12_what_is_disabled_is_not_found_not_counted_and_blocked_when_called(tmp_path: Path) -> None:
    recorded = tmp_path / "tools.json"
    recorded.write_text(json.dumps([{"name": "delete_all"}, {"name": "delete_draft"}]))

    def board(**more: Any) -> Board:
        tables = {"board": {"store": ":memory:"}, "sources": {"shelf": {"recorded": str(recorded), **more}}}
        return Board.open(parse(tables, folder=tmp_path))

    async with board(deny=["delete_all"]) as shut:
        found = await shut.search("delete")
        assert ([hit.name.name for hit in found.hits], found.total) == (["delete_draft"], 1)
        refused = (await shut.call("delete_all")).failure
        assert refused is not None and refused.code is FailureCode.BLOCKED
    async with board() as opened:
        assert set(await names(opened, "delete")) == {"delete_all", "delete_draft"}


def test_ts_17_a_call_goes_back_with_its_namespace() -> None:
    item = given("ts-17")["item"]
    specs = [ToolSpec(name=ToolName("pool", name), description="x") for name in ("watch", "leave")]
    view = View(tuple(specs), aliases=AliasTable().extend([one.name for one in specs]))
    offer = openai_responses.tools(view)
    call = openai_responses.call(item, offer)
    assert call is not None and call.tool == ToolName("pool", "watch")
    from pegboard.core import Result

    answer = openai_responses.output(item, Result(value=1), offer)
    assert answer["namespace"] == "pool" and answer["call_id"] == "c1"


def test_ts_18_a_history_that_names_missing_tools_is_told_in_words() -> None:
    used = {"type": "tool_use", "id": "u1", "name": "drag", "input": {"to": "b"}}
    found = {
        "type": "tool_search_tool_result",
        "tool_use_id": "s1",
        "content": {
            "type": "tool_search_tool_search_result",
            "tool_references": [{"type": "tool_reference", "tool_name": name} for name in ("drag", "click")],
        },
    }
    result = {"type": "tool_result", "tool_use_id": "u1", "content": [{"type": "text", "text": "It was moved."}]}
    kept = {"type": "tool_use", "id": "u2", "name": "click", "input": {}}
    references = {
        "type": "tool_result",
        "tool_use_id": "u3",
        "content": [{"type": "tool_reference", "tool_name": "drag"}],
    }
    messages = [
        {"role": "user", "content": "Do it."},
        {"role": "assistant", "content": [found, used, kept]},
        {"role": "user", "content": [result, references]},
    ]
    tools = anthropic.tools(View((ToolSpec(name=ToolName("", "click"), description="x"),))).tools
    mended = history(messages, tools)
    text = json.dumps(mended)
    assert '"tool_name": "drag"' not in text and '"name": "drag"' not in text and '"u1"' not in text
    assert "It was moved." in text and '"tool_name": "click"' in text
    assert mended[0] == messages[0] and mended[1]["content"][2] == kept
    assert mended[2]["content"][1]["content"] == [
        {"type": "text", "text": "The tools that were found are no longer there."}
    ]
    assert history(mended, tools) == mended


async def test_ts_21_a_short_word_is_matched_as_a_word_and_not_inside_of_others() -> None:
    async with Board.of(source(given("ts-21")["catalog"])) as board:
        assert await names(board, given("ts-21")["query"]) == ["pr_list"]


# The weaknesses of the codex tool layer (3.1, 9 to 15) that concern search and residency


async def test_a_name_is_found_by_its_words_and_a_parameter_by_its_description() -> None:
    parameter = {"type": "object", "properties": {"x": {"type": "string", "description": "The customs tariff number."}}}
    rows = [{"name": "createEvent"}, {"name": "lookup", "inputSchema": parameter}, "other_tool"]
    async with Board.of(source(rows)) as board:
        assert (await names(board, "create event"))[0] == "createEvent"
        assert (await names(board, "customs tariff"))[0] == "lookup"


async def test_ties_are_broken_by_name_and_every_named_tool_is_found() -> None:
    async with Board.of(source([f"tool_{letter}" for letter in "dbca"])) as board:
        assert await names(board, "tool") == ["tool_a", "tool_b", "tool_c", "tool_d"]
        assert set((await names(board, "tool_d and tool_b"))[:2]) == {"tool_b", "tool_d"}


@pytest.mark.parametrize("limit", [8, 8.0, 8.5, -1, 0, "8", 10_000, None])
async def test_a_limit_is_read_as_a_model_writes_it(limit: Any) -> None:
    async with Board.of(source([f"tool_{n}" for n in range(60)])) as board:
        found = await board.call("tool_search", {"query": "tool", "limit": limit})
        assert found.ok, found.failure
        count = sum(len(group["tools"]) for group in found.value["namespaces"])
    assert count == {-1: 1, 0: 1, 10_000: 50}.get(limit, 8)  # type: ignore[arg-type]


async def test_a_search_says_what_it_covers_and_gives_what_is_loaded_as_a_stub() -> None:
    async with Board.of(source([f"tool_{n}" for n in range(60)])) as board:
        first = (await board.call("tool_search", {"query": "tool zyxwv"}, session=RUN)).value
        assert first["unmatched_terms"] == ["zyxwv"] and len(first["next"]) > 0 and first["tokens_saved"] > 0
        again = (await board.call("tool_search", {"query": "tool"}, session=RUN)).value
    assert again["namespaces"][0]["tools"][0] == {**again["namespaces"][0]["tools"][0], "already_loaded": True}


async def test_too_many_definitions_are_deferred_and_never_hidden() -> None:
    wide = [{"name": f"tool_{n}", "description": "x" * 9_000} for n in range(19)]
    async with Board.of(source(wide)) as board:
        view = board.view()
        assert len(view.direct) + len(view.deferred) == 19 and view.meta == SHOWN
        assert (await names(board, "tool_18"))[0] == "tool_18"
