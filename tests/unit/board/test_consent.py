"""On a board, a call that needs a yes waits for it, wherever it comes from, and runs exactly as it was shown."""

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import anyio
import pytest

from pegboard.approval import ApprovalError, Choice, Decision, Fault, Request
from pegboard.approval.responses import decision_of
from pegboard.board import Board
from pegboard.config.load import parse
from pegboard.core import Call, Effects, FailureCode, Mode, Result, Session, ToolName, ToolSpec
from pegboard.core.call import Reply
from pegboard.testing import FakeSource

pytestmark = pytest.mark.anyio
ANNA = Session("s1", principal="anna", agent="claude")
PAY = {
    "type": "object",
    "properties": {"amount": {"type": "number"}, "to": {"type": "string"}},
    "required": ["amount"],
}
Person = Callable[[Request], Awaitable[Decision | None]]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def bank(**effects: Effects) -> FakeSource:
    found = FakeSource("bank", kind="mcp")
    for name, effect in ({"pay": Effects.DESTRUCTIVE, "balance": Effects.UNKNOWN} | effects).items():
        found.put(
            name, spec=ToolSpec(name=ToolName("bank", name), input=PAY, effects=effect, description="Moves money.")
        )
    return found


def board(source: FakeSource, folder: Path, *people: Person, store: Any = ":memory:", **tables: Any) -> Board:
    approval = {"wait": 0, **tables.pop("approval", {})}
    document = {"board": {"store": str(store)}, "approval": approval, **tables}
    return Board.open(parse(document, folder=folder), beside=[source], approvers=people)


class Voice:
    """Answers one after the other, and remembers what it was asked; the last answer is repeated."""

    def __init__(self, *answers: Choice | Decision) -> None:
        self.answers = [one if isinstance(one, Decision) else Decision(choice=one) for one in answers]
        self.asked: list[Request] = []

    async def __call__(self, request: Request) -> Decision:
        self.asked.append(request)
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


def code(result: Result) -> FailureCode | None:
    if result.failure is None:
        return None
    assert result.failure.next_step
    return result.failure.code


@pytest.mark.requirement("R8.2")
async def test_a_call_runs_after_a_yes_and_not_before(tmp_path: Path) -> None:
    source = bank()
    ran_before: list[int] = []

    async def person(request: Request) -> Decision:
        ran_before.append(len(source.handlers["pay"].calls))
        return Decision(choice=Choice.ALLOW_ONCE)

    async with board(source, tmp_path, person) as found:
        result = await found.call("bank.pay", {"amount": 10}, session=ANNA)
    assert result.value == {"amount": 10}
    assert ran_before == [0]
    assert result.report is not None
    assert result.report.data["approval"]["choice"] == "allow_once"


async def test_a_no_is_told_as_such_and_nothing_runs(tmp_path: Path) -> None:
    source, person = bank(), Voice(Choice.DENY, Choice.DENY_ALWAYS)
    async with board(source, tmp_path, person) as found:
        results = [await found.call("bank.pay", {"amount": 10}, session=ANNA) for _ in range(4)]
    assert [code(result) for result in results] == [FailureCode.DECLINED] * 4
    assert len(person.asked) == 2
    assert source.handlers["pay"].calls == []


async def test_where_nobody_can_be_asked_the_failure_names_the_request_and_the_next_step(tmp_path: Path) -> None:
    source = bank()
    async with board(source, tmp_path) as found:
        first = await found.call("bank.pay", {"amount": 10}, session=ANNA)
        assert code(first) is FailureCode.APPROVAL_NEEDED
        assert first.failure is not None
        id = first.failure.details["approval"]["id"]
        assert f"pegboard approvals allow {id}" in (first.failure.next_step or "")
        again = await found.call("bank.pay", {"amount": 10}, session=ANNA)
        assert again.failure is not None
        assert again.failure.details["approval"]["id"] == id
        await found.desk.answer(id, Decision(choice=Choice.ALLOW_ONCE))
        assert (await found.call("bank.pay", {"amount": 10}, session=ANNA)).ok
        assert code(await found.call("bank.pay", {"amount": 10}, session=ANNA)) is FailureCode.APPROVAL_NEEDED
    assert len(source.handlers["pay"].calls) == 1


async def test_an_openai_caller_answers_in_its_own_shape(tmp_path: Path) -> None:
    async with board(bank(), tmp_path) as found:
        first = await found.call("bank.pay", {"amount": 10}, session=ANNA)
        assert first.failure is not None
        item = first.failure.details["mcp_approval_request"]
        assert (item["server_label"], item["name"], item["arguments"]) == ("bank", "pay", '{"amount":10}')
        answer = {"type": "mcp_approval_response", "approval_request_id": item["id"], "approve": True}
        await found.desk.answer(*decision_of(answer))
        assert (await found.call("bank.pay", {"amount": 10}, session=ANNA)).ok


async def test_the_person_at_the_callers_end_is_asked_first_with_what_would_run(tmp_path: Path) -> None:
    questions: list[tuple[str, Mapping[str, Any], Mapping[str, Any]]] = []

    async def ask(message: str, schema: Mapping[str, Any], meta: Mapping[str, Any]) -> Reply:
        questions.append((message, schema, meta))
        return Reply("accept", {"decision": "allow_once"})

    other = Voice(Choice.DENY)
    async with board(bank(), tmp_path, other) as found:
        result = await found.run(
            Call(
                tool=ToolName("bank", "pay"),
                arguments={"amount": "10"},
                session=ANNA,
                ask=ask,
                meta={"requestReason": "rent is due\x1b[2J \u202eevil"},
            )
        )
    assert result.value == {"amount": 10}
    [(message, schema, meta)] = questions
    assert '{"amount":10}' in message  # mended before it is shown
    assert '"rent is due [2J evil"' in message
    assert "unchecked" in message
    assert list(schema["properties"]["decision"]["oneOf"][0].values()) == ["allow_once", "Allow once"]
    assert meta["pegboard/approval"]["kind"] == "tool_call"
    assert "codex_approval_kind" not in meta
    assert other.asked == []


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        (Reply("accept"), None),
        (Reply("accept", {"decision": "allow_always"}), None),
        (Reply("accept", {"decision": "certainly"}), FailureCode.DECLINED),
        (Reply("accept", {"decision": ["allow_once"]}), FailureCode.DECLINED),
        (Reply("decline"), FailureCode.DECLINED),
        (Reply("cancel"), FailureCode.DECLINED),
        (Reply("nonsense", {"decision": "allow_once"}), FailureCode.DECLINED),
        (Reply("accept", {"arguments": "not json"}), FailureCode.APPROVAL_NEEDED),
        (Reply("accept", {"arguments": "[1]"}), FailureCode.APPROVAL_NEEDED),
        (Reply("accept", {"arguments": '{"amount": "much"}'}), FailureCode.APPROVAL_NEEDED),
        (Reply("decline", {"arguments": '{"amount": 3}'}), FailureCode.DECLINED),
        (None, FailureCode.APPROVAL_NEEDED),
    ],
)
async def test_only_an_accepted_form_that_can_be_read_lets_a_call_run(
    tmp_path: Path, reply: Reply | None, outcome: FailureCode | None
) -> None:
    async def ask(message: str, schema: Mapping[str, Any], meta: Mapping[str, Any]) -> Reply | None:
        return reply

    source = bank()
    async with board(source, tmp_path) as found:
        call = Call(tool=ToolName("bank", "pay"), arguments={"amount": 10}, session=ANNA, ask=ask)
        assert code(await found.run(call)) is outcome
    assert len(source.handlers["pay"].calls) == (outcome is None)


async def test_edited_arguments_run_and_are_told(tmp_path: Path) -> None:
    edited = Decision(choice=Choice.ALLOW_ONCE, arguments={"amount": 5})
    async with board(bank(), tmp_path, Voice(edited)) as found:
        result = await found.call("bank.pay", {"amount": 10}, session=ANNA)
    assert result.value == {"amount": 5}
    assert result.report is not None
    assert "changed its arguments" in result.report.changes[0].message


@pytest.mark.parametrize("forbids", [{"when": "input.amount > 1000"}, {"when": "input.to == 'mallory'"}])
async def test_edited_arguments_are_no_way_around_what_the_board_never_allows(
    tmp_path: Path, forbids: dict[str, Any]
) -> None:
    edited = Decision(choice=Choice.ALLOW_ONCE, arguments={"amount": 5000, "to": "mallory"})
    rules = [{"action": "deny", "tools": ["bank.pay"], **forbids}, {"action": "ask", "tools": ["bank.pay"]}]
    source, person = bank(), Voice(edited)
    async with board(source, tmp_path, person, approval={"rules": rules}) as found:
        result = await found.call("bank.pay", {"amount": 10, "to": "ann"}, session=ANNA)
    assert code(result) is FailureCode.BLOCKED
    assert len(person.asked) == 1
    assert source.handlers["pay"].calls == []


@pytest.mark.parametrize("choice", [one for one in Choice if one.lasts])
async def test_a_remembered_answer_is_told_as_the_one_that_was_given(tmp_path: Path, choice: Choice) -> None:
    async with board(bank(), tmp_path, Voice(choice)) as found:
        await found.call("bank.pay", {"amount": 10}, session=ANNA)
        again = await found.call("bank.pay", {"amount": 11}, session=ANNA)
    told = again.report.data if again.ok and again.report is not None else {}
    told = told or (again.failure.details if again.failure is not None else {})
    assert told["approval"]["choice"] == choice.value


async def test_silence_ends_as_a_failure_that_says_so(tmp_path: Path) -> None:
    async def silent(_: Request) -> Decision:
        await anyio.sleep_forever()
        raise AssertionError

    async with board(bank(), tmp_path, silent, approval={"timeout": 0.05}) as found:
        result = await found.call("bank.pay", {"amount": 10}, session=ANNA)
        assert code(result) is FailureCode.APPROVAL_NEEDED
        assert result.failure is not None
        assert "Nobody answered within 0.05 s" in result.failure.message
        with pytest.raises(ApprovalError) as late:
            await found.desk.answer(result.failure.details["approval"]["id"], Decision(choice=Choice.ALLOW_ONCE))
        assert late.value.code is Fault.EXPIRED


async def test_a_denied_tool_is_blocked_without_a_question_and_a_preview_still_runs(tmp_path: Path) -> None:
    person = Voice(Choice.ALLOW_ONCE)
    async with board(bank(), tmp_path, person, approval={"deny": ["bank.pay"]}) as found:
        assert code(await found.call("bank.pay", {"amount": 1})) is FailureCode.BLOCKED
        assert (await found.call("bank.balance", {"amount": 1})).ok
    assert person.asked == []


@pytest.mark.requirement("R8.3")
async def test_a_dry_run_needs_no_yes_and_says_that_the_call_would(tmp_path: Path) -> None:
    async with board(bank(), tmp_path) as found:
        result = await found.call("bank.pay", {"amount": 1}, mode=Mode.DRY_RUN)
    assert result.ok
    assert result.report is not None
    assert result.report.data["dry_run"]["policy"] == "needs approval"
    assert "policy: needs approval" in result.content[0]["text"]


async def test_a_tool_call_through_the_meta_tool_is_judged_as_the_tool(tmp_path: Path) -> None:
    person = Voice(Choice.DENY)
    async with board(bank(), tmp_path, person) as found:
        arguments = {"name": "bank.pay", "arguments": {"amount": 1}, "requestReason": "the rent"}
        assert code(await found.call("tool_call", arguments, session=ANNA)) is FailureCode.DECLINED
    assert [(one.subject, one.reason) for one in person.asked] == [("bank.pay", "the rent")]


# Cases from failure-cases.jsonl (theme: approval), each with the report that it comes from.


async def test_always_is_kept_across_processes_for_that_tool_alone(tmp_path: Path) -> None:  # ap-01
    person = Voice(Choice.ALLOW_ALWAYS)
    tools = {"read": Effects.DESTRUCTIVE, "write": Effects.DESTRUCTIVE}
    for session in ("s1", "s2"):
        async with board(bank(**tools), tmp_path, person, store=tmp_path / "state") as found:
            who = Session(session, principal="anna")
            assert (await found.call("bank.read", {"amount": 1}, session=who)).ok
    assert len(person.asked) == 1
    async with board(bank(**tools), tmp_path, person, store=tmp_path / "state") as found:
        await found.call("bank.write", {"amount": 1}, session=ANNA)
    assert [one.subject for one in person.asked] == ["bank.read", "bank.write"]


async def test_always_covers_the_next_call_with_other_arguments(tmp_path: Path) -> None:  # ap-02
    person = Voice(Choice.ALLOW_ALWAYS)
    async with board(bank(), tmp_path, person) as found:
        for amount in (1, 2):
            assert (await found.call("bank.pay", {"amount": amount}, session=ANNA)).ok
    assert len(person.asked) == 1


async def test_a_yes_for_once_is_for_these_arguments_in_any_order_of_keys(tmp_path: Path) -> None:  # ap-05
    async with board(bank(), tmp_path) as found:
        first = await found.call("bank.pay", {"amount": 10, "to": "bob"}, session=ANNA)
        assert first.failure is not None
        await found.desk.answer(first.failure.details["approval"]["id"], Decision(choice=Choice.ALLOW_ONCE))
        other = await found.call("bank.pay", {"amount": 1000, "to": "bob"}, session=ANNA)
        assert code(other) is FailureCode.APPROVAL_NEEDED
        assert (await found.call("bank.pay", {"to": "bob", "amount": 10}, session=ANNA)).ok


async def test_of_two_parallel_calls_each_has_one_decision(tmp_path: Path) -> None:  # ap-06
    async with board(bank(), tmp_path) as found:
        results = [await found.call("bank.pay", {"amount": amount}, session=ANNA) for amount in (1, 2)]
        ids = [result.failure.details["approval"]["id"] for result in results if result.failure is not None]
        assert len(set(ids)) == 2
        for _ in range(3):  # a recovery that repeats itself
            await found.desk.answer(ids[0], Decision(choice=Choice.DENY))
        states = {entry.request.id: entry.decision for entry in found.desk.ledger.entries()}
        assert states[ids[1]] is None


async def test_a_tool_that_is_gone_when_its_call_was_allowed_is_said_to_be(tmp_path: Path) -> None:  # ap-08
    source = bank(export=Effects.DESTRUCTIVE)
    async with board(source, tmp_path) as found:
        first = await found.call("bank.export", {"amount": 1}, session=ANNA)
        assert first.failure is not None
        id = first.failure.details["approval"]["id"]
        await found.desk.answer(id, Decision(choice=Choice.ALLOW_ONCE))
        async with found.changes() as changes:
            source.drop("export")
            await changes.receive()
        again = await found.call("bank.export", {"amount": 1}, session=ANNA)
        assert code(again) is FailureCode.UNKNOWN_TOOL
        assert again.failure is not None
        assert "bank.export is no longer available" in again.failure.message
        entry = found.desk.ledger.entry(id)
        assert entry is not None
        assert (entry.void, entry.decision and entry.decision.choice) == ("the tool is gone", Choice.ALLOW_ONCE)


@pytest.mark.case("nm-12")
async def test_a_yes_stays_with_its_tool_where_names_look_alike(tmp_path: Path) -> None:  # nm-12
    person = Voice(Choice.ALLOW_ALWAYS)
    names = [("catalog", "query", "a"), ("", "catalog_query", "b"), ("", "catalog.query", "c")]
    for namespace, name, of in names:
        source = FakeSource(of, kind="mcp")
        source.put(name, spec=ToolSpec(name=ToolName(namespace, name), input=PAY, effects=Effects.DESTRUCTIVE))
        async with board(source, tmp_path, person, store=tmp_path / "state") as found:
            for amount in (1, 2):
                call = Call(tool=ToolName(namespace, name), arguments={"amount": amount}, session=ANNA)
                assert (await found.run(call)).ok
    assert [one.subject for one in person.asked] == ["catalog.query", "catalog_query", "catalog.query"]


async def test_a_definition_that_changes_while_a_person_thinks_voids_the_answer(tmp_path: Path) -> None:
    source = bank()

    async def person(_: Request) -> Decision:
        async with found.changes() as changes:
            source.put("pay", spec=ToolSpec(name=ToolName("bank", "pay"), input=PAY, effects=Effects.DESTRUCTIVE))
            await changes.receive()
        return Decision(choice=Choice.ALLOW_ALWAYS)

    async with board(source, tmp_path, person) as found:
        result = await found.call("bank.pay", {"amount": 1}, session=ANNA)
    assert code(result) is FailureCode.UNKNOWN_TOOL
    assert source.handlers["pay"].calls == []


# Tools made of tools


BATCH = {"batch": {"pay_all": {"tool": "bank.pay", "over": "amount", "retries": 0}}}


async def test_a_batch_asks_once_and_its_yes_covers_exactly_what_was_shown(tmp_path: Path) -> None:
    source, person = bank(), Voice(Choice.ALLOW_ONCE)
    async with board(source, tmp_path, person, **BATCH) as found:
        result = await found.call("pay_all", {"amount": [1, 2, 3]}, session=ANNA)
    assert result.ok
    [asked] = person.asked
    assert [item.tool for item in asked.items] == ["pay_all", "bank.pay", "bank.pay", "bank.pay"]
    assert [item.arguments for item in asked.items[1:]] == [{"amount": 1}, {"amount": 2}, {"amount": 3}]
    assert [call.arguments["amount"] for call in source.handlers["pay"].calls] == [1, 2, 3]


async def test_a_batch_that_is_declined_runs_nothing(tmp_path: Path) -> None:
    source = bank()
    async with board(source, tmp_path, Voice(Choice.DENY), **BATCH) as found:
        assert code(await found.call("pay_all", {"amount": [1, 2]}, session=ANNA)) is FailureCode.DECLINED
    assert source.handlers["pay"].calls == []


async def test_always_for_a_batch_is_for_these_items_and_not_for_the_tool(tmp_path: Path) -> None:
    person = Voice(Choice.ALLOW_ALWAYS)
    async with board(bank(), tmp_path, person, **BATCH) as found:
        for items in ([1, 2], [1, 2], [1, 3]):
            assert (await found.call("pay_all", {"amount": items}, session=ANNA)).ok
        await found.call("bank.pay", {"amount": 1}, session=ANNA)
    assert [len(one.items) for one in person.asked] == [3, 3, 1]


@pytest.mark.requirement("R8.4")
async def test_a_step_outside_of_what_was_shown_asks_again(tmp_path: Path) -> None:
    source = FakeSource("bank", kind="mcp")
    source.put("quote", {"amount": 7}, spec=ToolSpec(name=ToolName("bank", "quote"), effects=Effects.UNKNOWN))
    source.put("pay", spec=ToolSpec(name=ToolName("bank", "pay"), input=PAY, effects=Effects.DESTRUCTIVE))
    steps = [
        {"id": "first", "tool": "bank.pay", "args": {"amount": 1}},
        {"id": "quote", "tool": "bank.quote", "args": {}},
        {"id": "second", "tool": "bank.pay", "args": {"amount": "${quote.amount}"}},
    ]
    person = Voice(Choice.ALLOW_ONCE)
    bundle = {"bundle": {"settle": {"description": "Settle.", "steps": steps}}}
    async with board(source, tmp_path, person, **bundle) as found:
        result = await found.call("settle", {}, mode=Mode.EXECUTE, session=ANNA)
    assert result.ok, result.failure
    shown = [[(item.tool, dict(item.arguments)) for item in one.items] for one in person.asked]
    assert shown[0][:2] == [("settle", {}), ("bank.pay", {"amount": 1})]
    assert shown[1:] == [[("bank.pay", {"amount": 7})]]


async def test_a_composite_of_harmless_tools_asks_nobody(tmp_path: Path) -> None:
    person = Voice(Choice.DENY)
    tables = {"batch": {"balances": {"tool": "bank.balance", "over": "amount"}}}
    async with board(bank(), tmp_path, person, **tables) as found:
        assert (await found.call("balances", {"amount": [1, 2]}, session=ANNA)).ok
    assert person.asked == []


# Who may answer, and for whom


async def test_what_one_principal_was_allowed_another_is_not(tmp_path: Path) -> None:
    person = Voice(Choice.ALLOW_ALWAYS, Choice.DENY)
    async with board(bank(), tmp_path, person) as found:
        assert (await found.call("bank.pay", {"amount": 1}, session=ANNA)).ok
        eve = Session("s9", principal="eve")
        assert code(await found.call("bank.pay", {"amount": 1}, session=eve)) is FailureCode.DECLINED


async def test_an_answer_in_the_name_of_somebody_else_is_refused(tmp_path: Path) -> None:
    async with board(bank(), tmp_path) as found:
        first = await found.call("bank.pay", {"amount": 1}, session=ANNA)
        assert first.failure is not None
        with pytest.raises(ApprovalError) as refused:
            await found.desk.answer(
                first.failure.details["approval"]["id"], Decision(choice=Choice.ALLOW_ONCE), principal="eve"
            )
        assert refused.value.code is Fault.NOT_YOURS
