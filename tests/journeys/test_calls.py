"""What a client gets through the gateway is what it would get from the server, over every way in."""

import re

import anyio
import mcp_types as types
import pytest
from journey_kit import Visitor, until
from mcp.shared.exceptions import MCPError
from workshop_server import PIXEL

from pegboard.discovery.meta import SHOWN

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

CONTENT = {
    "picture": {"type": "image", "data": PIXEL, "mimeType": "image/png"},
    "sound": {"type": "audio", "data": "UklGRg==", "mimeType": "audio/wav"},
    # Resources stand under the addresses at which the board serves them.
    "link": {"type": "resource_link", "uri": "pegboard://one/file:///report.txt", "name": "report"},
    "embedded": {
        "type": "resource",
        "resource": {"uri": "pegboard://one/file:///notes.txt", "text": "noted", "mimeType": "text/plain"},
    },
}
META = {spec.name.name for spec in SHOWN}


@pytest.mark.requirement("D8.1", "R7.1")
async def test_a_big_board_lists_its_hot_set_and_the_meta_tools(visitor: Visitor) -> None:
    names = await visitor.names()
    assert names >= META | {"one__echo", "one__picture"}
    assert not any(name.startswith("two__") for name in names)
    assert re.search(r"^- two: \d+ tools \(echo, ", visitor.client.instructions or "", re.MULTILINE)


async def test_structured_content_comes_with_its_text(visitor: Visitor) -> None:
    echo = await visitor.call("one__echo", text="grüße")
    assert echo.structured_content == {"text": "grüße"}
    assert [block.text for block in echo.content] == ["grüße"]


@pytest.mark.requirement("C12.1")
@pytest.mark.parametrize("kind", CONTENT)
async def test_every_kind_of_content_passes_unharmed(visitor: Visitor, kind: str) -> None:
    got = await visitor.call(f"one__{kind}")
    assert [row.model_dump(by_alias=True, mode="json", exclude_none=True) for row in got.content] == [CONTENT[kind]]
    assert got.structured_content is None


async def test_a_tools_failure_stays_one_and_its_metadata_stays_with_it(visitor: Visitor) -> None:
    refused = await visitor.call("one__refuse")
    assert refused.is_error
    assert [block.text for block in refused.content] == ["The quota is used up."]
    tagged = await visitor.call("one__tagged")
    assert tagged.meta["example/colour"] == "green"


@pytest.mark.parametrize("name", ["two.echo", "two__echo", "mcp__two__echo", "tagged"])
async def test_a_name_is_taken_in_every_spelling_if_it_means_one_tool(visitor: Visitor, name: str) -> None:
    if name == "tagged":
        with pytest.raises(MCPError, match=r"one\.tagged, two\.tagged"):
            await visitor.call(name)
    else:
        assert (await visitor.call(name, text=name)).structured_content == {"text": name}


async def test_an_unknown_name_is_a_protocol_error_with_the_nearest_names(visitor: Visitor) -> None:
    with pytest.raises(MCPError, match=r"one\.echo") as caught:
        await visitor.call("one__ecko", text="x")
    assert caught.value.error.code == types.INVALID_PARAMS


async def test_a_wrong_argument_is_a_tool_error_that_names_the_right_one(visitor: Visitor) -> None:
    wrong = await visitor.call("one__echo", txt="x")
    assert wrong.is_error
    assert "text" in wrong.content[0].text


async def test_what_search_finds_is_called_by_its_name_and_through_tool_call(visitor: Visitor) -> None:
    before = await visitor.names()
    heard = visitor.count(types.ToolListChangedNotification)
    found = await visitor.call("tool_search", query="draw a picture", limit=2.0)
    rows = [row for group in found.structured_content["namespaces"] for row in group["tools"]]
    assert {row["name"] for row in rows} == {"one__picture", "two__picture"}

    assert (await visitor.call("two__picture")).content[0].type == "image"
    through = await visitor.call("tool_call", name="two__echo", arguments={"text": "hi"})
    assert through.structured_content == {"text": "hi"}
    lost = await visitor.call("tool_call", name="two__ecko", arguments={})
    assert lost.is_error
    assert "two.echo" in lost.content[0].text

    loaded = {"two__picture"} if visitor.mode == "legacy" else set()
    assert await visitor.names() == before | loaded
    if loaded:
        await until(lambda: visitor.count(types.ToolListChangedNotification) > heard)


@pytest.mark.requirement("C12.2")
async def test_the_whole_board_can_be_looked_through(visitor: Visitor) -> None:
    everything = await visitor.call("list_available_tools", namespace="two")
    assert everything.structured_content["total"] >= 15
    assert {row["state"] for row in everything.structured_content["sources"]} == {"ready"}
    described = await visitor.call("tool_describe", names=["two.echo"])
    assert described.structured_content["tools"][0]["outputSchema"]["required"] == ["text"]


async def test_progress_arrives_while_a_call_runs(visitor: Visitor) -> None:
    steps: list[tuple[float, float | None, str | None]] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        steps.append((progress, total, message))

    done = await visitor.client.call_tool("one__steps", {}, progress_callback=on_progress)
    assert done.content[0].text == "done"
    await until(lambda: len(steps) == 3)
    assert sorted(steps) == [(1, 3, "step 1"), (2, 3, "step 2"), (3, 3, "step 3")]


@pytest.mark.filterwarnings("ignore:The logging capability")
async def test_log_messages_arrive_from_the_level_on_that_the_client_wants(visitor: Visitor) -> None:
    if visitor.mode == "legacy":
        await visitor.client.set_logging_level("warning")
    await visitor.call("one__speak")
    await until(lambda: visitor.logged)
    assert visitor.logged == ["warning: at warning"]


async def test_a_cancelled_call_stops_the_upstream(visitor: Visitor) -> None:
    (visitor.folder / "diary").unlink(missing_ok=True)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(visitor.call, "two__wait")
        await until(lambda: visitor.diary == "waiting")
        tasks.cancel_scope.cancel()
    await until(lambda: visitor.diary == "cancelled")
    assert (await visitor.call("two__echo", text="still here")).structured_content == {"text": "still here"}


async def test_an_upstreams_new_tool_is_seen_without_asking_again(visitor: Visitor) -> None:
    before = await visitor.names()
    heard = visitor.count(types.ToolListChangedNotification)
    if visitor.mode == "legacy":
        grown = (await visitor.call("one__grow")).content[0].text
        await until(lambda: visitor.count(types.ToolListChangedNotification) > heard)
    else:
        async with visitor.client.listen(tools_list_changed=True) as changes:
            grown = (await visitor.call("one__grow")).content[0].text
            with anyio.fail_after(30):
                await anext(aiter(changes))
    assert await visitor.names() == before | {f"one__{grown}"}
    assert (await visitor.call(f"one__{grown}")).content[0].text == f"I am {grown}"


async def test_a_change_that_nobody_sees_in_its_list_is_not_announced(visitor: Visitor) -> None:
    heard = visitor.count(types.ToolListChangedNotification)
    grown = (await visitor.call("two__grow")).content[0].text
    found = None
    with anyio.fail_after(30):
        while found is None or found.is_error:
            found = await visitor.call("tool_call", name=f"two.{grown}", arguments={})
    assert found.content[0].text == f"I am {grown}"
    await visitor.call("one__echo", text="flush")
    assert visitor.count(types.ToolListChangedNotification) == heard


async def test_an_upstream_that_is_killed_comes_back_and_costs_nobody_else(visitor: Visitor) -> None:
    before = (await visitor.call("two__pid")).content[0].text
    died = await visitor.call("two__die")
    assert died.is_error
    assert died.meta["pegboard/failure"]["code"] == "outcome_unknown"
    assert (await visitor.call("one__echo", text="unharmed")).structured_content == {"text": "unharmed"}
    after = (await visitor.call("two__pid")).content[0].text
    assert after != before
