"""An old tool beside its successor: both run, and the old name may work over the new tool."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from small_board import SmallBoard, failed, tool

from pegboard.board import Board
from pegboard.compose import succeeded_by
from pegboard.config import InvalidConfigError, parse
from pegboard.core import Effects, FailureCode, Mode, Result, ToolName, ToolSpec
from pegboard.define import tool as define
from pegboard.testing import FakeSource

STRING = {"type": "string"}
OLD = ToolSpec(
    name=ToolName("mail", "send_email"),
    description="Send an e-mail.",
    input={"type": "object", "properties": {"to": STRING, "text": STRING, "cc": STRING}, "required": ["to", "text"]},
)
NEW = ToolSpec(
    name=ToolName("mail", "send_email_v2"),
    description="Send an e-mail to some people.",
    input={
        "type": "object",
        "properties": {"recipients": {"type": "array", "items": STRING}, "body": STRING},
        "required": ["recipients", "body"],
    },
    effects=Effects.ADDITIVE,
)
TABLE = {
    "successor": "mail.send_email_v2",
    "note": "Recipients are a list now.",
    "sunset": "2999-01-31",
    "args": {"recipients": ["${input.to}"], "body": "${input.text}"},
}


def board(source: FakeSource, tables: Mapping[str, Any]) -> Board:
    config = parse({"board": {"store": ":memory:"}, "deprecated": tables}, folder=Path())
    return Board.open(config, beside=[source])


@pytest.mark.anyio
@pytest.mark.requirement("C15.1", "C15.2")
async def test_old_and_new_run_side_by_side_and_the_old_one_says_what_comes() -> None:
    source = FakeSource("mail", [OLD, NEW])
    table = {key: TABLE[key] for key in ("successor", "note", "sunset")}
    async with board(source, {"mail.send_email": table}) as opened:
        old = await opened.call("mail.send_email", {"to": "a@x.org", "text": "hi"})
        new = await opened.call("mail.send_email_v2", {"recipients": ["a@x.org"], "body": "hi"})
    assert old.ok
    assert new.ok
    assert len(source.handlers["send_email"].calls) == len(source.handlers["send_email_v2"].calls) == 1
    assert old.report is not None
    assert "Call mail.send_email_v2" in old.report.notes[0]
    assert new.report is None


@pytest.mark.anyio
@pytest.mark.requirement("C15.2")
@pytest.mark.parametrize("offered", [[OLD, NEW], [NEW]], ids=["still offered", "gone from its source"])
async def test_the_old_name_works_over_the_new_tool(offered: list[ToolSpec]) -> None:
    source = FakeSource("mail", offered)
    source.put("send_email_v2", {"sent": 1}, spec=NEW)
    async with board(source, {"mail.send_email": TABLE}) as opened:
        spec = opened.spec(ToolName("mail", "send_email"))
        result = await opened.call("mail.send_email", {"to": "a@x.org", "text": "hi"})
        missing = await opened.call("mail.send_email", {"to": "a@x.org"})
    [call] = source.handlers["send_email_v2"].calls
    assert call.arguments == {"recipients": ["a@x.org"], "body": "hi"}
    assert call.parent is not None
    assert result.value == {"sent": 1}
    assert result.report is not None
    assert [(step.id, step.tool) for step in result.report.steps] == [("successor", "mail.send_email_v2")]
    assert spec is not None
    assert {"to", "text"} <= set(spec.properties)
    assert spec.effects is Effects.ADDITIVE
    assert missing.failure is not None
    assert missing.failure.code is FailureCode.INVALID_ARGUMENTS


@pytest.mark.anyio
async def test_the_old_name_answers_in_the_old_form() -> None:
    source = FakeSource("mail")
    source.put("send_email_v2", {"messages": [{"id": 7}]}, spec=NEW)
    table = {**TABLE, "value": {"id": "${result.messages[0].id}", "to": "${input.to}"}}
    async with board(source, {"mail.send_email": table}) as opened:
        result = await opened.call("mail.send_email", {"to": "a@x.org", "text": "hi"})
        source.put("send_email_v2", {"messages": []}, spec=NEW)
        await opened.refresh()
        odd = await opened.call("mail.send_email", {"to": "a@x.org", "text": "hi"})
    assert result.value == {"id": 7, "to": "a@x.org"}
    assert odd.value == {"messages": []}
    assert odd.report is not None
    assert "could not be turned into the old form" in " ".join(odd.report.notes)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("name", "table", "says"),
    [
        ("mail.send_emial", {"note": "Old."}, "Did you mean mail.send_email"),
        ("mail.send_email", {"successor": "mail.send_email_v3"}, "Did you mean mail.send_email_v2"),
        ("mail.gone", {"args": {"body": "x"}}, "successor"),
        ("mail.send_email", {**TABLE, "args": {"recipient": "x"}}, "recipients"),
        ("mail.send_email", {**TABLE, "successor": "mail.nothing"}, "There is no tool 'mail.nothing'"),
        ("mail.send_email", {**TABLE, "successor": "mail.send_email"}, "made of itself"),
    ],
)
async def test_a_table_that_cannot_work_is_set_aside_with_a_reason(name: str, table: Any, says: str) -> None:
    async with board(FakeSource("mail", [OLD, NEW]), {name: table}) as opened:
        assert says in " ".join(opened.warnings)
        assert (await opened.call("mail.send_email_v2", {"recipients": [], "body": ""})).ok


@pytest.mark.anyio
async def test_a_composed_tool_can_be_deprecated_too() -> None:
    batch = {"mail.send_many": {"tool": "mail.send_email_v2", "over": "body"}}
    tables = {"mail.send_many": {"successor": "send_email_v2", "note": "Send one by one."}}
    document = {"board": {"store": ":memory:"}, "batch": batch, "deprecated": tables}
    async with Board.open(parse(document, folder=Path()), beside=[FakeSource("mail", [NEW])]) as opened:
        spec = opened.spec(ToolName("mail", "send_many"))
        assert opened.warnings == ()
    assert spec is not None
    assert (spec.deprecated, spec.successor) == ("Send one by one.", "mail.send_email_v2")


def test_a_sunset_that_is_no_day_is_refused_with_the_config() -> None:
    with pytest.raises(InvalidConfigError, match="2027-01-31"):
        parse({"deprecated": {"a": {"sunset": "soon"}}}, folder=Path())


async def send(recipients: list[str], body: str) -> Any:
    return {"sent": len(recipients)} if recipients else failed(message="nobody", where="/recipients")


@succeeded_by("send_email_v2", note="Recipients are a list now.", sunset="2999-01-31")
def send_email(to: str, body: str = "") -> dict[str, Any]:
    """Send an e-mail."""
    if to == "broken":
        raise ValueError("no address")
    return {"recipients": [to] if to else [], "body": body}


def in_python() -> SmallBoard:
    new = tool("send_email_v2", send, properties=NEW.properties, effects=Effects.DESTRUCTIVE)
    return SmallBoard([new, send_email])


@pytest.mark.requirement("C15.2")
def test_in_python_a_function_turns_the_old_arguments_into_the_new_ones() -> None:
    made = in_python()
    assert made.call("send_email", Mode.EXECUTE, to="a@x.org").value == {"sent": 1}
    spec = made.catalog.tools[ToolName("", "send_email")].spec
    assert (spec.successor, spec.sunset) == ("send_email_v2", "2999-01-31")
    assert spec.deprecated == "Recipients are a list now."


def test_modes_pass_through_to_the_successor() -> None:
    made = in_python()
    shown = made.call("send_email", None, to="a@x.org")
    assert shown.mode is Mode.PREVIEW
    assert made.executed("send_email_v2") == []


def test_a_failure_of_the_successor_names_it_and_one_of_the_adapter_says_that_nothing_was_done() -> None:
    made = in_python()
    nobody = made.call("send_email", Mode.EXECUTE, to="").failure
    assert nobody is not None
    assert nobody.message == "It works over send_email_v2: nobody"
    broken = made.call("send_email", Mode.EXECUTE, to="broken").failure
    assert broken is not None
    assert "no address" in broken.message
    assert "Nothing was done." in broken.message
    assert broken.next_step == "Call send_email_v2 itself."


@pytest.mark.anyio
async def test_a_tool_function_names_its_successor_and_its_last_day() -> None:
    async def v2(to: str) -> str:
        return to

    @define(successor=define(name="send_v2")(v2), sunset="2020-01-31")
    async def send_v1(to: str) -> str:
        """Send."""
        return to

    source = FakeSource("mail", [NEW])
    source.put("send_v1", spec=send_v1.spec)
    async with Board.of(source) as opened:
        result: Result = await opened.call("send_v1", {"to": "a"})
    assert result.failure is not None
    assert result.failure.code is FailureCode.RETIRED
    assert result.failure.next_step == "Call send_v2 instead."
