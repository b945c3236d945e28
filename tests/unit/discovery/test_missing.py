"""Hints: accepted or refused in the config, shown where they help, and repeated where a prerequisite is missing."""

from pathlib import Path
from typing import Any

import pytest
from crm_office import OFFICE, TEXT, USER, spec, takes

from pegboard.board import Board
from pegboard.config import parse
from pegboard.core import Call, Failure, FailureCode, Result, Session
from pegboard.define.hint import first
from pegboard.discovery.produced import Produced
from pegboard.testing import FakeSource

pytestmark = pytest.mark.anyio
RUN = Session("run")


def office() -> FakeSource:
    source = FakeSource("crm", OFFICE)

    async def lookup(call: Call) -> Result:
        known = {"u1", "u2"}
        if call.arguments["user_id"] in known:
            return Result(value={"name": "Ann"})
        return Result.failed(FailureCode.FAILED, "no such user", next_step="Try again.")

    source.handlers["get_user"].script = lookup
    source.handlers["search_users"].script = Result(value=[{"user": {"id": "u9"}}])
    return source


async def failure(board: Board, user_id: Any, session: Session = RUN) -> Failure:
    found = (await board.call("crm.get_user", {"user_id": user_id}, session=session)).failure
    assert found is not None
    return found


@pytest.mark.requirement("C8.4")
async def test_an_id_that_no_tool_gave_fails_with_what_gives_it() -> None:
    async with Board.of(office()) as board:
        found = await failure(board, "u7")
        assert "Perhaps no tool gave the user_id 'u7' in this run" in (found.next_step or "")
        assert "use find_guest instead if the person has no account" in (found.next_step or "")
        assert "call crm.search_users first" in (found.next_step or "")
        assert found.details["missing"][0] | {"because": 0, "why": 0} == {
            "parameter": "user_id",
            "tool": "crm.search_users",
            "because": 0,
            "value": "u7",
            "why": 0,
        }
        await board.call("crm.search_users", {"query": "Ann"}, session=RUN)
        assert "missing" not in (await failure(board, "u9")).details, "a tool gave this one"
        assert "missing" in (await failure(board, "u9", Session("another"))).details


@pytest.mark.requirement("C8.4")
@pytest.mark.parametrize(
    ("sent", "kind"),
    [
        ("ann@example.org", "an email address"),
        ("https://crm.example.org/u/7", "an address on the web"),
        ("Ann Smith", "a name or sentence"),
    ],
)
async def test_an_argument_of_another_kind_fails_with_what_gives_the_right_one(sent: str, kind: str) -> None:
    async with Board.of(office()) as board:
        for session in (RUN, Session("")):
            assert f"user_id looks like {kind}: call crm.search_users first" in str(await failure(board, sent, session))


@pytest.mark.requirement("C8.4")
async def test_an_id_that_is_not_there_fails_with_what_gives_it() -> None:
    async with Board.of(office()) as board:
        found = (await board.call("crm.get_user", {}, session=RUN)).failure
    assert found is not None and found.code is FailureCode.INVALID_ARGUMENTS
    assert "user_id is missing: call crm.search_users first" in (found.next_step or "")


async def test_a_call_with_an_unknown_id_runs_and_success_says_nothing() -> None:
    async with Board.of(office()) as board:
        assert (await board.call("crm.get_user", {"user_id": "u1"}, session=RUN)).value == {"name": "Ann"}
        await board.call("crm.delete_project", {"project_id": "u1", "reason": "x"}, session=RUN)
        unavailable = FakeSource("crm", OFFICE)
        unavailable.handlers["get_user"].script = Failure(FailureCode.UNAVAILABLE, "gone")
    async with Board.of(unavailable) as board:
        assert "missing" not in (await failure(board, "u7")).details, "its service is down, whatever the id"


def result_of(value: Any = None, text: str = "") -> Result:
    return Result(value=value, content=({"type": "text", "text": text},) if text else ())


@pytest.mark.parametrize(
    ("given", "asked", "known"),
    [
        (result_of({"a": [{"id": 7}]}), 7, True),
        (result_of({"a": [{"id": 7}]}), "7", True),
        (result_of({"u1": {"name": "x"}}), "u1", True),
        (result_of(text="Found user u1."), "u1", True),
        (result_of({"id": "u1"}), "u2", False),
        (result_of(), "u2", False),
        (result_of({"ok": True}), True, None),
        (result_of({"id": "u1"}), {"id": "u1"}, None),
    ],
)
def test_what_tools_gave_is_recognised(given: Result, asked: Any, known: bool | None) -> None:
    produced = Produced()
    produced.add(Call(tool=USER.name, arguments={}, session=RUN), given)
    assert produced.gave(RUN, asked) is known
    assert produced.gave(Session("run", principal="eve"), asked) in (False, None)


def test_of_a_long_text_nothing_is_claimed() -> None:
    produced = Produced()
    produced.add(Call(tool=USER.name, arguments={}, session=RUN), result_of(text="u1 " * 50_000))
    assert produced.gave(RUN, "u7") is None


def test_where_results_were_forgotten_nothing_is_claimed() -> None:
    produced = Produced(most=2)
    for n in range(3):
        produced.add(Call(tool=USER.name, arguments={"n": n}, session=RUN), Result(value=f"u{n}"))
    assert produced.gave(RUN, "u2") is True
    assert produced.gave(RUN, "u0") is None
    assert produced.gave(Session("other"), "u0") is False


@pytest.mark.requirement("C8.1", "C8.2", "C8.3")
async def test_a_hint_stands_in_description_parameter_and_definition(tmp_path: Path) -> None:
    tables = {
        "board": {"store": ":memory:"},
        "hint": {
            "crm.get_user": {
                "first": [{"tool": "search_users", "when": "you only have an email", "parameter": "user_id"}],
                "then": [{"tool": "log_visit"}],
                "instead": [{"tool": "find_guest", "when": "it fails"}],
            }
        },
    }
    async with Board.open(parse(tables, folder=tmp_path), beside=[FakeSource("crm", OFFICE)]) as board:
        [row] = (await board.call("tool_describe", {"names": ["get_user"]})).value["tools"]
    parameter = row["inputSchema"]["properties"]["user_id"]["description"]
    assert parameter == "Call search_users first if you only have an email."
    assert "Then call log_visit." in row["description"] and "Use find_guest instead if it fails." in row["description"]
    assert "call search_users first" in row["description"]
    assert "call_first" not in row, "what somebody wrote down need not be derived"


@pytest.mark.requirement("C8.1")
@pytest.mark.parametrize(
    ("table", "derived"), [({}, ["crm__search_users"]), ({"refuse": ["search_users"]}, []), ({"refuse": ["x"]}, None)]
)
async def test_a_derived_hint_is_told_until_it_is_refused(
    tmp_path: Path, table: dict[str, Any], derived: list[str] | None
) -> None:
    tables = {"board": {"store": ":memory:"}, "hint": {"crm.get_user": table}}
    async with Board.open(parse(tables, folder=tmp_path), beside=[FakeSource("crm", OFFICE)]) as board:
        [row] = (await board.call("tool_describe", {"names": ["get_user"]})).value["tools"]
    found = [step["tool"] for step in row.get("call_first", ())]
    assert found == (derived if derived is not None else ["crm__search_users"])
    assert all(0.5 <= step["confidence"] < 1 for step in row.get("call_first", ()))


async def test_a_result_that_declares_the_very_id_is_surer_than_a_name() -> None:
    shop = FakeSource(
        "crm",
        [
            spec("pay", "Pay.", input=takes(order_id=TEXT)),
            spec("list_orders", "List.", output=takes(orders={"type": "array", "items": takes(order_id=TEXT)})),
            spec("track", "Track.", input=takes(parcel_id=TEXT)),
            spec("find_parcels", "Find."),
            spec("open", "Open.", input=takes(door_id=TEXT), hints=(first("ring", parameter="door_id"),)),
            spec("ring", "Ring."),
        ],
    )
    async with Board.of(shop) as board:
        before = {name: (await board.before(spec(name, "").name)) for name in ("pay", "track", "open")}
    assert [(one.name.name, one.confidence) for one in before["pay"]] == [("list_orders", 0.9)]
    assert [(one.name.name, one.confidence) for one in before["track"]] == [("find_parcels", 0.75)]
    assert [(one.name.name, one.derived) for one in before["open"]] == [("ring", False)]
