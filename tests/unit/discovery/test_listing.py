"""The registry: every tool with its category, sign-in, state, rung and modes; and what could be there."""

import json
from pathlib import Path
from typing import Any

import pytest
from crm_office import OFFICE, fair

from pegboard.board import Board
from pegboard.core import Mode, Rung, SourceState, ToolName, ToolSpec, with_modes
from pegboard.discovery.category import OTHER, category_of
from pegboard.index import Where
from pegboard.testing import FakeSource

pytestmark = pytest.mark.anyio


def spec(name: str, **more: Any) -> ToolSpec:
    return ToolSpec(name=ToolName("", name), **more)


@pytest.mark.requirement("C9.3")
@pytest.mark.parametrize(
    ("tool", "category", "declared"),
    [
        (spec("x", category="pets"), "pets", True),
        (spec("x", annotations={"category": "input"}), "input", True),
        (spec("x", meta={"_meta": {"fastmcp": {"tags": ["math", "b"]}}}), "math", True),
        (spec("x", meta={"tags": ["geo"]}), "geo", True),
        (spec("x", annotations={"category": 3}, meta={"_meta": {"tags": "x"}}), OTHER, False),
        (spec("send_email", description="Send a message."), "messages", False),
        (spec("readFile"), "files", False),
        (spec("create_pull_request"), "code", False),
        (spec("execute_sql", description="Run a query on the database."), "database", False),
        (spec("frobnicate", description="It does."), OTHER, False),
        (spec(""), OTHER, False),
    ],
)
def test_a_category_is_what_is_said_else_what_words_speak_for(tool: ToolSpec, category: str, declared: bool) -> None:
    assert category_of(tool) == (category, declared)


@pytest.mark.requirement("C9.2", "C9.3")
async def test_a_row_says_what_one_needs_to_know_before_relying_on_a_tool() -> None:
    tool = with_modes(
        spec("send_email", auth="oauth:mail", rung=Rung.HIGH, description="Send it. Now."), [Mode.PREVIEW]
    )
    async with Board.of(FakeSource("mail", [tool]), FakeSource("crm", OFFICE)) as board:
        page = await board.call("list_available_tools", {"category": "messages"})
        row = next(row for row in page.value["tools"] if row["name"] == "send_email")
        assert row | {"modes": 0} == {
            "name": "send_email",
            "summary": "Send it.",
            "category": "messages",
            "classified": True,
            "auth": "oauth:mail",
            "rung": "high",
            "modes": 0,
            "state": "ready",
            "loaded": True,
        }
        assert set(row["modes"]) == {"preview", "dry_run", "schema"}
        assert "send_email [messages; needs oauth:mail]: Send it." in page.content[0]["text"]
        rest = await board.call("list_available_tools", {"namespace": "crm"})
        assert {row["auth"] for row in rest.value["tools"]} == {"none declared"}
        assert sum(rest.value["categories"].values()) == len(OFFICE) + 1


@pytest.mark.parametrize(("table", "met"), [({"auth": "Bearer x"}, True), ({}, False)])
async def test_a_row_says_whether_the_sign_in_is_given(tmp_path: Path, table: dict[str, Any], met: bool) -> None:
    document = {
        "openapi": "3.1.0",
        "info": {"title": "a", "version": "1"},
        "servers": [{"url": "https://api.example.org"}],
        "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
        "security": [{"token": []}],
        "paths": {"/users": {"get": {"operationId": "list_users", "responses": {"200": {"description": "ok"}}}}},
    }
    (tmp_path / "api.json").write_text(json.dumps(document))
    lines = ['[board]\nstore = ":memory:"\n[sources.api]\nopenapi = "api.json"']
    lines += ['auth = { token = "Bearer x" }'] if table else []
    (tmp_path / "pegboard.toml").write_text("\n".join(lines))
    async with Board.open(tmp_path) as board:
        [row] = (await board.call("list_available_tools")).value["tools"]
        found = await board.search("list users", where=board.narrowed(Where(), auth_met=True))
        ready = board.narrowed(Where(), states=[SourceState.READY, SourceState.IDLE])
        away = board.narrowed(Where(), states=[SourceState.UNAVAILABLE])
        counts = [len((await board.search("list users", where=where)).hits) for where in (ready, away)]
    assert row["auth"] != "none declared" and row["auth_met"] is met
    assert len(found.hits) == met
    assert counts == [1, 0]


@pytest.mark.parametrize(
    ("arguments", "near"), [({"category": "mesages"}, "messages"), ({"namespace": "crn"}, "crm"), ({"cursor": "9"}, "")]
)
async def test_what_is_not_there_is_answered_with_what_is(arguments: dict[str, str], near: str) -> None:
    async with Board.of(FakeSource("crm", OFFICE)) as board:
        failure = (await board.call("list_available_tools", arguments)).failure
    assert failure is not None and failure.next_step and near in failure.next_step


async def test_a_cursor_leads_on_though_tools_come_and_go() -> None:
    source = FakeSource("files", {f"t{n:03}": None for n in range(250)})
    async with Board.of(source) as board:
        page = (await board.call("list_available_tools")).value
        names = [row["name"] for row in page["tools"]]
        source.drop("t005")
        await board.refresh()
        page = (await board.call("list_available_tools", {"cursor": page["next_cursor"]})).value
        assert [row["name"] for row in page["tools"]][0] == "files__t100"
        source.drop("t199")
        await board.refresh()
        gone = await board.call("list_available_tools", {"cursor": page["next_cursor"]})
    assert names[-1] == "files__t099"
    assert gone.failure is not None and "Start again" in (gone.failure.next_step or "")


async def test_what_could_be_there_is_listed_too() -> None:
    async with fair(FakeSource("crm", OFFICE)) as board:
        every = await board.call("list_available_tools")
        assert [row["name"] for row in every.value["discoverables"]] == ["Pizza"]
        food = await board.call("list_available_tools", {"category": "food"})
        assert food.value["tools"] == [] and food.value["discoverables"][0]["tool_id"] == "io.example/pizza"
        assert "discoverables" not in (await board.call("list_available_tools", {"namespace": "crm"})).value


async def test_a_service_that_hangs_does_not_hold_up_the_list() -> None:
    class Hanging(FakeSource):
        async def health(self) -> Any:
            raise AssertionError("the list asks nobody")

    async with Board.of(Hanging("crm", OFFICE)) as board:
        assert (await board.call("list_available_tools")).value["total"] == len(OFFICE)
