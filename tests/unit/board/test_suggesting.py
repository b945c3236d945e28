"""An agent asks for what is missing: what the host checks, what a person is asked, and what becomes of the answer."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from pegboard.approval import Choice, Decision, Kind, Request
from pegboard.board import Board
from pegboard.core import FailureCode, Result, Session, SourceState
from pegboard.directory.state import StateFile

pytestmark = pytest.mark.anyio

MODULE = '''
from pegboard import tool

@tool
def {name}(text: str) -> str:
    """{text}"""
    return text[::-1]
'''
OFFERS = """
[discoverables.mirror]
name = "Mirror"
description = "Reverse a text, letter by letter."
categories = ["text"]
version = "{version}"
source = {{ python = "mirror_{stem}" }}

[discoverables.crash]
description = "Translate a text into French."
source = {{ python = "not_there_{stem}" }}

[discoverables.empty]
description = "Summarize a text."
source = {{ python = "empty_{stem}" }}

[discoverables.service]
description = "Ask the oracle."
source = {{ http = {{ url = "https://oracle.example/", description = "Ask." }}, auth = "${{env:ORACLE_{stem}}}" }}
needs = ["ORACLE_{stem}"]

[discoverables.far]
type = "connector"
description = "Fetch a parcel's position."
source = {{ python = "far_{stem}" }}
"""
NAMES = {"mirror": "reverse", "far": "locate", "own": "shout", "sums": "add_up"}
SENTENCE = "The user wants a text reversed, and nothing here does that."


class House:
    """A board of one tool, with a directory, and a person who answers as told.

    Parameters:
        folder: where it is.
        answer: what the person says; None: nobody can be asked.
    """

    def __init__(self, folder: Path, answer: Choice | None = Choice.ALLOW_ONCE) -> None:
        self.folder, self.answer = folder, answer
        self.asked: list[Request] = []
        self.stem = f"h{abs(hash(str(folder)))}"
        self.more = ""
        for name, text in (
            ("mirror", "Reverse a text."),
            ("far", "Where a parcel is."),
            ("own", "Shout a text."),
            ("sums", "Add up."),
        ):
            path = folder / f"{name}_{self.stem}.py"
            path.write_text(MODULE.format(name=NAMES[name], text=text))
        (folder / f"empty_{self.stem}.py").write_text("")
        self.offer("1.0")

    def offer(self, version: str) -> None:
        (self.folder / "offers.toml").write_text(OFFERS.format(version=version, stem=self.stem))

    def config(self) -> Path:
        path = self.folder / "pegboard.toml"
        path.write_text(
            f'[sources.own]\npython = "own_{self.stem}"\n[sources.sums]\npython = "sums_{self.stem}"\ndisabled = true\n'
            f'[directories.ours]\nfrom = "offers.toml"\n{self.more}'
        )
        return path

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Board]:
        async with Board.open(self.config(), approvers=[self.person]) as board:
            yield board

    async def person(self, request: Request) -> Decision | None:
        self.asked.append(request)
        return None if self.answer is None else Decision(choice=self.answer)


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


async def ask(board: Board, id: str = "mirror", session: Session = Session(), **more: Any) -> Result:
    arguments = {"tool_type": "plugin", "action_type": "install", "tool_id": id, "suggest_reason": SENTENCE, **more}
    return await board.call("request_plugin_install", arguments, session=session)


async def find(board: Board, query: str = "reverse a text", session: Session = Session()) -> dict[str, Any]:
    return (await board.call("tool_search", {"query": query}, session=session)).value


def offered(found: dict[str, Any]) -> list[str]:
    return [row["tool_id"] for row in found.get("discoverables", [])]


def left(house: House) -> list[str]:
    return list(StateFile(house.folder / ".pegboard").read().sources)


@pytest.mark.requirement("D9.1", "D9.2", "D9.4", "D9.5", "D9.6", "D9.7", "D1.2")
async def test_what_is_agreed_to_is_installed_seen_and_called(house: House) -> None:
    async with house.open() as board:
        found = await find(board)
        assert found["discoverables"][0] | {"description": ""} == {
            "tool_id": "mirror",
            "tool_type": "plugin",
            "action_type": "install",
            "name": "Mirror",
            "description": "",
            "categories": ["text"],
            "permissions": ["adds a source mirror"],
            "version": "1.0",
        }
        result = await ask(board)
        assert result.value == {
            "completed": True,
            "user_confirmed": True,
            "tool_type": "plugin",
            "action_type": "install",
            "tool_id": "mirror",
            "tool_name": "Mirror",
            "suggest_reason": SENTENCE,
            "tools": ["mirror__reverse"],
            "next_step": "Call its tools: mirror__reverse.",
        }
        assert (await board.call("mirror.reverse", {"text": "abc"})).value == "cba"
        assert offered(await find(board)) == []
    [request] = house.asked
    assert request.kind is Kind.TOOL_SUGGESTION
    assert request.tags == {"codex_approval_kind": "tool_suggestion"}
    assert request.reason == SENTENCE
    assert request.details["tool_id"] == "mirror"
    async with house.open() as board:  # it is there the next time, and said to be installed
        assert (await board.call("mirror.reverse", {"text": "ab"})).value == "ba"
        assert board.config is not None
        assert board.config.sources["mirror"].origin == "mirror"


@pytest.mark.parametrize(
    ("arguments", "code", "reason"),
    [
        ({"suggest_reason": ""}, FailureCode.INVALID_ARGUMENTS, "blank_reason"),
        ({"suggest_reason": " \n\t "}, FailureCode.INVALID_ARGUMENTS, "blank_reason"),
        ({"suggest_reason": "please"}, FailureCode.INVALID_ARGUMENTS, "no_sentence"),
        ({"suggest_reason": "a a a a a a a a a a a a a"}, FailureCode.INVALID_ARGUMENTS, "no_sentence"),
        ({"suggest_reason": "... ??? !!! 123 456"}, FailureCode.INVALID_ARGUMENTS, "no_sentence"),
        ({"tool_id": "nothing"}, FailureCode.INVALID_ARGUMENTS, "unknown_id"),
        ({"tool_id": "miror"}, FailureCode.INVALID_ARGUMENTS, "unknown_id"),
        ({"tool_id": "  "}, FailureCode.INVALID_ARGUMENTS, "unknown_id"),
        ({"tool_type": "connector"}, FailureCode.INVALID_ARGUMENTS, "wrong_type"),
        ({"action_type": "enable"}, FailureCode.INVALID_ARGUMENTS, "wrong_action"),
        ({"tool_type": "skill"}, FailureCode.INVALID_ARGUMENTS, None),
        ({"action_type": "remove"}, FailureCode.INVALID_ARGUMENTS, None),
        ({"suggest_reason": None}, FailureCode.INVALID_ARGUMENTS, None),
    ],
)
@pytest.mark.requirement("D9.2", "D9.3", "D1.1")
async def test_a_bad_request_is_refused_before_anybody_is_asked(
    house: House, arguments: dict[str, Any], code: FailureCode, reason: str | None
) -> None:
    async with house.open() as board:
        await find(board)
        failure = (await ask(board, **arguments)).failure
    assert failure is not None
    assert failure.code is code
    assert failure.next_step
    assert failure.details.get("reason") in (reason, None)
    assert house.asked == []
    if arguments.get("tool_id") == "miror":
        assert "mirror" in failure.next_step


@pytest.mark.parametrize(
    "reason", ["El usuario quiere invertir un texto.", "ユーザーは文章を逆にしたい", "想把一段文字倒过来"]
)
async def test_a_reason_in_any_language_is_a_reason(house: House, reason: str) -> None:
    async with house.open() as board:
        await find(board)
        assert (await ask(board, suggest_reason=reason)).value["completed"]


@pytest.mark.requirement("D9.9")
async def test_only_what_the_session_has_searched_for_can_be_asked_for(house: House) -> None:
    async with house.open() as board:
        other = Session("other")
        await find(board, session=other)
        await find(board, "fetch a parcel")
        failure = (await ask(board)).failure
        assert failure is not None
        assert (failure.code, failure.details["reason"]) == (FailureCode.PREREQUISITE, "not_searched")
        assert "tool_search" in (failure.next_step or "")
        assert (await ask(board, session=other)).value["completed"]


@pytest.mark.requirement("D9.9")
async def test_what_is_there_already_is_not_installed_again(house: House) -> None:
    async with house.open() as board:
        await find(board)
        await ask(board)
        failure = (await ask(board)).failure
        assert failure is not None
        assert failure.details == {"reason": "already_there", "tools": ["mirror__reverse"]}
    assert len(house.asked) == 1


@pytest.mark.requirement("D9.9")
async def test_a_tool_that_does_the_job_already_comes_first(house: House) -> None:
    (house.folder / "offers.toml").write_text(
        '[discoverables.loud]\ndescription = "Shout a text."\ntools = ["shout"]\nsource = { python = "x" }\n'
    )
    async with house.open() as board:
        await find(board, "shout a text loud")
        failure = (await ask(board, "loud")).failure
    assert failure is not None
    assert failure.details == {"reason": "already_there", "tools": ["own.shout"]}


@pytest.mark.requirement("D9.9")
async def test_a_tool_that_was_searched_for_something_else_stands_in_no_way(house: House) -> None:
    async with house.open() as board:
        await find(board, "own.shout")
        await find(board, "shout")
        await find(board)
        assert (await ask(board)).value["completed"]


async def test_what_was_brought_in_is_in_the_list_of_the_session_that_asked(house: House) -> None:
    house.more = '[board]\nsearch = "on"\nthreshold = 0\n'
    mine, other = Session("mine"), Session("other")
    async with house.open() as board:
        await find(board, session=mine)
        await ask(board, session=mine)
        listed = [[str(spec.name) for spec in board.view(each).listed] for each in (mine, other)]
    assert "mirror.reverse" in listed[0]
    assert "mirror.reverse" not in listed[1]


@pytest.mark.parametrize("answer", [Choice.DENY, Choice.DENY_SESSION, Choice.DENY_ALWAYS])
@pytest.mark.requirement("D9.8")
async def test_a_no_is_a_no_and_holds_as_far_as_it_was_meant(house: House, answer: Choice) -> None:
    house.answer = answer
    async with house.open() as board:
        await find(board)
        value = (await ask(board)).value
        assert (value["completed"], value["user_confirmed"], value["code"]) == (False, False, "declined")
        assert "mirror" not in offered(await find(board))
        failure = (await ask(board)).failure
        assert failure is not None
        assert (failure.code, failure.details["reason"]) == (FailureCode.BLOCKED, "declined")
        other = Session("another")
        assert ("mirror" in offered(await find(board, session=other))) is (answer is not Choice.DENY_ALWAYS)
        somebody = Session("third", principal="somebody else")
        assert "mirror" in offered(await find(board, session=somebody))
    assert len(house.asked) == 1
    assert left(house) == []
    async with house.open() as board:
        house.offer("2.0")  # a no for good outlives a change of the definition
        again = offered(await find(board, session=Session("later")))
        assert ("mirror" in again) is (answer is not Choice.DENY_ALWAYS)


@pytest.mark.requirement("D9.8")
async def test_a_yes_for_good_covers_installing_and_enabling_until_the_definition_changes(house: House) -> None:
    house.answer = Choice.ALLOW_ALWAYS
    async with house.open() as board:
        await find(board)
        assert (await ask(board)).value["completed"]
        await board.openings.supply.uninstall("mirror")
        await find(board)
        assert (await ask(board)).value["completed"]  # nobody was asked again
        supply = board.openings.supply
        await supply.switch("mirror", off=True, tell=_quiet)
        assert (await ask(board, action_type="enable")).value["completed"]
        assert len(house.asked) == 1
        await supply.uninstall("mirror")
        house.offer("1.1")
        house.answer = Choice.DENY
        await find(board)
        assert not (await ask(board)).value["user_confirmed"]
        assert len(house.asked) == 2
        somebody = Session("x", principal="somebody else")
        await find(board, session=somebody)
        assert not (await ask(board, session=somebody)).value["user_confirmed"]
        assert len(house.asked) == 3


@pytest.mark.parametrize(
    ("answer", "days"), [(Choice.DENY, 0.01), (Choice.DENY_SESSION, 1.1), (Choice.DENY_ALWAYS, 181)]
)
@pytest.mark.requirement("D9.8")
async def test_each_no_has_an_end(house: House, answer: Choice, days: float) -> None:
    house.answer = answer
    async with house.open() as board:
        await find(board)
        await ask(board)
        assert "mirror" not in offered(await find(board))
        before = board.desk.clock
        board.desk.clock = board.desk.ledger.clock = lambda: before() + days * 86_400
        assert "mirror" in offered(await find(board))
        house.answer = Choice.ALLOW_ONCE
        assert (await ask(board)).value["completed"]
    assert len(house.asked) == 2


@pytest.mark.parametrize("pinned", [True, False])
@pytest.mark.requirement("D9.8")
async def test_a_yes_for_good_to_whatever_is_newest_holds_once(
    house: House, pinned: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")  # there is no npm, so nothing gets installed
    (house.folder / "offers.toml").write_text(
        '[discoverables.loose]\ndescription = "Fold a paper plane."\nnpm = "not-there-at-all"\n'
        + ('version = "1.0"\n' if pinned else "")
    )
    house.answer = Choice.ALLOW_ALWAYS
    async with house.open() as board:
        await find(board, "fold a paper plane")
        for _ in range(2):
            value = (await ask(board, "loose")).value
            assert "npm" in value["message"]
        grants = board.desk.ledger.grants()
    assert len(house.asked) == (1 if pinned else 2)
    assert len(grants) == (1 if pinned else 0)
    assert ("newest" in house.asked[0].details["permissions"][0]) is not pinned


@pytest.mark.requirement("D9.5")
async def test_nobody_to_ask_leaves_a_request_that_can_be_answered_later(house: House) -> None:
    house.answer = None
    house.more = "[approval]\nwait = 0\n"
    async with house.open() as board:
        await find(board)
        value = (await ask(board)).value
        assert (value["completed"], value["user_confirmed"], value["code"]) == (False, False, "approval_needed")
        assert value["request_id"] in value["next_step"]
        desk = board.desk
        [entry] = [each for each in desk.ledger.entries(waiting=True)]
        assert entry.to_json(desk.clock())["kind"] == "tool_suggestion"
        await find(board, "fetch a parcel's position")
        failure = (await ask(board, "far", tool_type="connector")).failure  # one is asked at a time
        assert failure is not None
        assert (failure.code, failure.details["reason"]) == (FailureCode.APPROVAL_NEEDED, "pending")
        await desk.answer(value["request_id"], Decision(choice=Choice.ALLOW_ONCE))
        assert (await ask(board)).value["completed"]


async def test_a_question_that_nobody_answers_in_time_installs_nothing(house: House) -> None:
    house.more = "[approval]\ntimeout = 0.2\n"

    async def asleep(request: Request) -> Decision | None:
        house.asked.append(request)
        await anyio.sleep_forever()

    async with Board.open(house.config(), approvers=[asleep]) as board:
        await find(board)
        value = (await ask(board)).value
    assert (value["completed"], value["user_confirmed"], value["code"]) == (False, False, "timeout")
    assert value["next_step"]
    assert left(house) == []


@pytest.mark.requirement("D9.9")
async def test_two_requests_at_once_are_put_one_at_a_time(house: House) -> None:
    gate = anyio.Event()

    async def slow(request: Request) -> Decision | None:
        house.asked.append(request)
        await gate.wait()
        return Decision(choice=Choice.DENY)

    results: list[Result] = []
    async with Board.open(house.config(), approvers=[slow]) as board:
        await find(board)
        await find(board, "fetch a parcel's position")

        async def one(**more: Any) -> None:
            results.append(await ask(board, **more))
            gate.set()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: one())
            tasks.start_soon(lambda: one(id="far", tool_type="connector"))
    assert [result.failure.details["reason"] for result in results if result.failure] == ["pending"]
    assert len(house.asked) == 1


@pytest.mark.requirement("D9.9")
async def test_so_many_requests_an_hour_and_no_more(house: House) -> None:
    house.answer = Choice.DENY
    house.more = "[suggestions]\nper_hour = 2\n"
    async with house.open() as board:
        for number in range(3):
            session = Session(f"s{number}")
            await find(board, session=session)
            result = await ask(board, session=session)
    failure = result.failure
    assert failure is not None
    assert (failure.code, failure.details["reason"]) == (FailureCode.BUDGET, "rate_limited")
    assert failure.retryable
    assert len(house.asked) == 2


@pytest.mark.parametrize("id", ["crash", "empty"])
@pytest.mark.requirement("D9.5")
async def test_what_cannot_be_seen_is_not_completed_and_leaves_nothing_behind(house: House, id: str) -> None:
    async with house.open() as board:
        await find(board, "translate a text into french, summarize a text")
        await find(board, "summarize a text")
        before = [status.name for status in await board.statuses()]
        value = (await ask(board, id)).value
        assert (value["completed"], value["user_confirmed"], value["code"]) == (False, True, "not_completed")
        assert value["message"]
        assert value["next_step"]
        assert [status.name for status in await board.statuses()] == before
    assert left(house) == []


@pytest.mark.requirement("D9.5")
async def test_what_waits_for_a_sign_in_stays_and_says_what_to_do(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with house.open() as board:
        await find(board, "ask the oracle")
        value = (await ask(board, "service", tool_type="plugin")).value
        assert (value["completed"], value["user_confirmed"]) == (False, True)
        assert f"$ORACLE_{house.stem}" in value["next_step"]
    assert left(house) == ["service"]
    monkeypatch.setenv(f"ORACLE_{house.stem}", "secret")
    async with house.open() as board:
        await board.refresh(["service"])
        states = {status.name: status.state for status in await board.statuses()}
    assert states["service"] is SourceState.READY


@pytest.mark.parametrize(
    ("type", "id", "action", "query"),
    [
        ("plugin", "mirror", "install", "reverse a text"),
        ("connector", "far", "install", "fetch a parcel's position"),
        ("plugin", "sums", "enable", "sums"),
        ("connector", "remote-off", "enable", "remote-off service"),
    ],
)
@pytest.mark.requirement("D1.2")
async def test_all_four_pairs_go_through_one_request(house: House, type: str, id: str, action: str, query: str) -> None:
    house.more = '[sources.remote-off]\nhttp = { url = "https://x.example/", description = "X." }\ndisabled = true\n'
    async with house.open() as board:
        assert id in offered(await find(board, query))
        value = (await ask(board, id, tool_type=type, action_type=action)).value
        assert (value["completed"], value["user_confirmed"]) == (True, True)
        assert (value["tool_type"], value["action_type"], value["tool_id"]) == (type, action, id)
        assert len(value["tools"]) == 1


async def test_switched_off_suggestions_leave_search_alone(house: House) -> None:
    house.more = "[suggestions]\nenabled = false\n"
    async with house.open() as board:
        found = await find(board)
        assert offered(found) == []
        assert found["namespaces"] is not None
        failure = (await ask(board)).failure
        assert failure is not None
        assert (failure.code, failure.details["reason"]) == (FailureCode.BLOCKED, "switched_off")
        assert "request_plugin_install" not in [spec.name.name for spec in board.view().listed]


async def test_the_tool_that_asks_is_listed_where_there_is_something_to_ask_for(house: House, tmp_path: Path) -> None:
    async with house.open() as board:
        assert [spec.name.name for spec in board.view().meta] == ["tool_search", "request_plugin_install"]
        assert board.view(single_turn=True).meta == ()
    plain = House(tmp_path)
    path = plain.config()
    path.write_text(path.read_text().partition("[directories")[0])
    async with Board.open(path) as board:
        assert board.view().meta == ()


async def test_another_process_installs_and_switches_and_the_board_follows(house: House) -> None:
    async with house.open() as board, house.open() as other:
        await find(other)
        await ask(other)
        assert (await board.call("mirror.reverse", {"text": "ab"})).value == "ba"
        await other.openings.supply.switch("mirror", off=True, tell=_quiet)
        failure = (await board.call("mirror.reverse", {"text": "ab"})).failure
        assert failure is not None
        assert failure.code is FailureCode.BLOCKED
        assert "pegboard enable mirror" in (failure.next_step or "")
        await other.openings.supply.uninstall("mirror")
        failure = (await board.call("mirror.reverse", {"text": "ab"})).failure
        assert failure is not None
        assert failure.code is FailureCode.UNKNOWN_TOOL


async def test_list_available_tools_names_what_could_be_there(house: House) -> None:
    async with house.open() as board:
        value = (await board.call("list_available_tools", {})).value
        assert {row["tool_id"] for row in value["discoverables"]} == {
            "mirror",
            "crash",
            "empty",
            "service",
            "far",
            "sums",
        }
        some = (await board.call("list_available_tools", {"category": "text"})).value
        assert [row["tool_id"] for row in some["discoverables"]] == ["mirror"]


MANAGING = ("install", "enable", "disable", "uninstall")


async def test_models_manage_the_board_only_where_that_is_configured_and_with_a_yes_each(house: House) -> None:
    async with house.open() as board:
        assert not {spec.name.name for spec in board.view().meta} & {f"{each}_plugin" for each in MANAGING}
        failure = (await board.call("install_plugin", {"tool_id": "mirror"})).failure
        assert failure is not None
        assert failure.code is FailureCode.BLOCKED
    house.more = "[suggestions]\nmanage = true\n"
    async with house.open() as board:
        assert {spec.name.name for spec in board.view().meta} >= {f"{each}_plugin" for each in MANAGING}
        for action in ("install", "disable", "enable", "uninstall"):
            result = await board.call(f"{action}_plugin", {"tool_id": "mirror"})
            assert result.ok, result.failure
            assert result.value["completed"]
        assert [request.kind for request in house.asked] == [Kind.TOOL_CALL] * 4
        for action in MANAGING:
            failure = (await board.call(f"{action}_plugin", {"tool_id": "nothing"})).failure
            assert failure is not None
            assert failure.next_step
        house.answer = Choice.DENY
        failure = (await board.call("install_plugin", {"tool_id": "mirror"})).failure
        assert failure is not None
        assert failure.code is FailureCode.BLOCKED
    assert left(house) == []


async def test_what_a_model_is_shown_is_no_code(house: House) -> None:
    async with house.open() as board:
        assert house.stem not in json.dumps(await find(board))


async def _quiet(_: str) -> None: ...
