"""The meta-tools, on a board of tools made by hand."""

import json
from typing import Any

import pytest

from pegboard.board import Board
from pegboard.core import Effects, FailureCode, Mode, Session, ToolName, ToolSpec, with_modes
from pegboard.discovery.meta import META_NAMES, SHOWN
from pegboard.discovery.search import clamp
from pegboard.surface import mcp
from pegboard.testing import FakeSource

pytestmark = pytest.mark.anyio
SESSION = Session("one")


def spec(namespace: str, name: str, description: str, **more: Any) -> ToolSpec:
    return ToolSpec(name=ToolName(namespace, name), description=description, **more)


def office(extra: int = 20) -> tuple[FakeSource, ...]:
    mail = [
        spec("mail", "send_mail", "Send a mail to somebody.", input={"type": "object", "required": ["to"],
             "properties": {"to": {"type": "string"}, "body": {"type": "string"}}}),
        spec("mail", "list_mails", "List the mails of a folder.", category="mail"),
    ]  # fmt: skip
    more = [spec("files", f"read_{n}", f"Read the file of drawer {n}.") for n in range(extra)]
    return FakeSource("mail", mail), FakeSource("files", more)


@pytest.mark.requirement("D8.2", "R1.2")
async def test_search_loads_definitions_that_can_be_called_at_once() -> None:
    async with Board.of(*office()) as board:
        found = await board.call("tool_search", {"query": "send a mail", "limit": 1}, session=SESSION)
        [group] = found.value["namespaces"]
        assert group["namespace"] == "mail"
        assert group["tools"][0]["name"] == "mail__send_mail"
        assert group["tools"][0]["inputSchema"]["required"] == ["to"]
        assert found.value["tokens_saved"] > 0
        assert "### mail__send_mail" in found.content[0]["text"]
        assert (await board.call("mail__send_mail", {"to": "a"}, session=SESSION)).ok


async def test_what_is_loaded_already_is_named_and_not_repeated() -> None:
    async with Board.of(*office()) as board:
        for _ in range(2):
            found = await board.call("tool_search", {"query": "send a mail", "limit": 1}, session=SESSION)
        assert found.value["namespaces"][0]["tools"] == [{"name": "mail__send_mail", "already_loaded": True}]
        other = await board.call("tool_search", {"query": "send a mail", "limit": 1}, session=Session("two"))
        assert "inputSchema" in other.value["namespaces"][0]["tools"][0]


async def test_a_session_without_an_id_always_gets_whole_definitions() -> None:
    async with Board.of(*office()) as board:
        for _ in range(2):
            found = await board.call("tool_search", {"query": "send a mail", "limit": 1}, session=Session(""))
        assert "inputSchema" in found.value["namespaces"][0]["tools"][0]


async def test_a_search_without_a_hit_says_so_and_names_the_unknown_words() -> None:
    async with Board.of(*office()) as board:
        found = await board.call("tool_search", {"query": "zzyzx"})
    assert found.ok
    assert found.value["namespaces"] == []
    assert found.value["unmatched_terms"] == ["zzyzx"]
    assert "No tool matches" in found.content[0]["text"]


@pytest.mark.parametrize(
    ("sent", "meant"), [(8, 8), (8.0, 8), ("8", 8), (0, 1), (-3, 1), (10_000, 50), (None, 8), ("many", 8), (1e400, 8)]
)
def test_a_limit_is_clamped_and_never_refused(sent: Any, meant: int) -> None:
    assert clamp(sent) == meant


async def test_definitions_of_meta_tools_are_the_same_bytes_whatever_the_board_holds() -> None:
    texts = []
    for extra in (20, 120):
        async with Board.of(*office(extra)) as board:
            assert board.view().meta == SHOWN
            texts.append(json.dumps([mcp.tool(meta, meta.name.name) for meta in board.view().meta]))
    assert texts[0] == texts[1]


async def test_tool_call_runs_the_target_through_the_whole_pipeline() -> None:
    mail, files = office()
    async with Board.of(mail, files) as board:
        done = await board.call("tool_call", {"name": "mail.send_mail", "arguments": {"to": "a"}}, session=SESSION)
        assert done.value == {"to": "a"}
        wrong = await board.call("tool_call", {"name": "mail.send_mail", "arguments": {"too": "a"}})
        assert wrong.failure is not None
        assert wrong.failure.code is FailureCode.INVALID_ARGUMENTS
        assert "to" in wrong.failure.message
        unknown = await board.call("tool_call", {"name": "send_mial"})
        assert unknown.failure is not None
        assert unknown.failure.code is FailureCode.UNKNOWN_TOOL
        assert "mail.send_mail" in str(unknown.failure)
        itself = await board.call("tool_call", {"name": "tool_call", "arguments": {}})
        assert itself.failure is not None
    [call] = mail.handlers["send_mail"].calls
    assert call.parent is not None or call.id is not None
    assert call.session == SESSION


@pytest.mark.requirement("D5.3")
async def test_a_tool_that_previews_by_default_does_so_through_tool_call_too() -> None:
    files = FakeSource("files", kind="python")
    spec = ToolSpec(name=ToolName("files", "remove"), effects=Effects.DESTRUCTIVE)
    files.put("remove", spec=with_modes(spec, [Mode.PREVIEW]))
    async with Board.of(files) as board:
        for arguments in ({}, {"mode": "preview"}, {"mode": "execute"}):
            await board.call("tool_call", {"name": "files.remove", "arguments": arguments})
    modes = [call.mode for call in files.handlers["remove"].calls]
    assert modes == [Mode.PREVIEW, Mode.PREVIEW, Mode.EXECUTE]


@pytest.mark.parametrize("through", ["its own name", "tool_call"])
async def test_a_tool_called_unseen_with_wrong_arguments_fails_with_its_definition(through: str) -> None:
    mail, files = office()
    async with Board.of(mail, files) as board:
        name, arguments = "mail.send_mail", {"recipient": "a"}
        if through == "tool_call":
            name, arguments = "tool_call", {"name": "mail.send_mail", "arguments": arguments}
        first = await board.call(name, arguments, session=SESSION)
        assert first.failure is not None
        assert first.failure.details["definition"]["inputSchema"]["required"] == ["to"]
        assert "### mail__send_mail" in first.content[1]["text"]
        again = await board.call(name, arguments, session=SESSION)
        assert again.failure is not None
        assert "definition" not in again.failure.details
        assert (await board.call("mail.send_mail", {"to": "a"}, session=SESSION)).ok
    assert len(mail.handlers["send_mail"].calls) == 1


async def test_a_loaded_tool_called_wrongly_gives_its_definition_again_once_until_it_is_called_well() -> None:
    """After a client has compacted its history it no longer has what it loaded."""
    async with Board.of(*office()) as board:
        await board.call("tool_search", {"query": "send a mail", "limit": 1}, session=SESSION)

        async def wrong() -> bool:
            failure = (await board.call("mail.send_mail", {"recipient": "a"}, session=SESSION)).failure
            assert failure is not None and failure.code is FailureCode.INVALID_ARGUMENTS
            return "definition" in failure.details

        assert [await wrong(), await wrong()] == [True, False]
        assert (await board.call("mail.send_mail", {"to": "a"}, session=SESSION)).ok
        assert await wrong()


async def test_describe_shows_known_tools_and_says_which_names_mean_none() -> None:
    async with Board.of(*office()) as board:
        found = await board.call("tool_describe", {"names": ["list_mails", "list_males"]}, session=SESSION)
        assert [row["full_name"] for row in found.value["tools"]] == ["mail.list_mails"]
        assert found.value["tools"][0]["category"] == "mail"
        assert found.value["unknown"][0]["code"] == "unknown_tool"
        assert [one.name.name for one in board.view(SESSION).loaded] == ["list_mails"]
        nothing = await board.call("tool_describe", {"names": ["list_males"]})
        assert nothing.failure is not None


@pytest.mark.requirement("D5.1")
async def test_the_list_comes_in_pages_that_lead_through_every_tool_once() -> None:
    async with Board.of(*office(250)) as board:
        names: list[str] = []
        arguments: dict[str, Any] = {}
        while True:
            page = await board.call("list_available_tools", arguments)
            names += [row["name"] for row in page.value["tools"]]
            if "next_cursor" not in page.value:
                break
            arguments = {"cursor": page.value["next_cursor"]}
        assert len(names) == len(set(names)) == page.value["total"] == 252
        assert page.value["namespaces"] == {"mail": 2, "files": 250}
        wrong = await board.call("list_available_tools", {"cursor": "999999"})
        assert wrong.failure is not None


@pytest.mark.requirement("C9.2", "C11.4")
async def test_the_list_says_which_sources_are_not_well() -> None:
    mail, files = office()
    files.fail_start()
    async with Board.of(mail, files) as board:
        page = await board.call("list_available_tools", {"category": "mail"})
    assert [row["name"] for row in page.value["tools"]] == ["mail__list_mails"]
    assert {row["name"]: row["state"] for row in page.value["sources"]} == {"mail": "ready", "files": "unavailable"}
    assert "files is unavailable" in page.content[0]["text"]


async def test_no_tool_takes_a_meta_tools_name() -> None:
    wire = FakeSource("x", [spec("tool", "search", "Its readable name is tool__search, and is free.")])
    clash = FakeSource("y", [spec("", name, "Not the real one.") for name in sorted(META_NAMES)])
    async with Board.of(wire, clash, *office()) as board:
        assert not META_NAMES & set(board.aliases.wire.values())
        found = await board.call("tool_search", {"query": "mail"})
        notes = (await board.statuses())[1].notes
    assert "namespaces" in found.value
    assert [note.tool for note in notes] == sorted(META_NAMES)


async def test_a_page_of_a_result_that_nobody_kept_is_a_failure_with_a_next_step() -> None:
    async with Board.of(*office()) as board:
        lost = await board.call("result_read", {"id": "r_1", "page": 3})
    assert lost.failure is not None
    assert lost.failure.next_step is not None


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("tool_search", {"query": "mail", "limit": None}),
        ("tool_describe", {"names": None}),
        ("tool_call", {"name": "mail.list_mails", "arguments": None}),
        ("list_available_tools", {"category": None, "namespace": None, "cursor": None}),
        ("check_service_health", {"service": None, "probe": None}),
    ],
)
async def test_null_is_taken_for_what_a_model_leaves_out(tool: str, arguments: dict[str, Any]) -> None:
    async with Board.of(*office()) as board:
        assert (await board.call(tool, arguments, session=SESSION)).ok


async def test_a_long_request_is_not_repeated_as_a_whole() -> None:
    async with Board.of(*office()) as board:
        for tool, key in (("tool_search", "query"), ("find_tool_by_intent", "intent")):
            found = await board.call(tool, {key: "send a mail " * 5_000, "limit": 1})
            assert found.ok and len(json.dumps(found.value)) + len(found.content[0]["text"]) < 5_000
