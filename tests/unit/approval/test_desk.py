"""The desk asks whoever can be asked, watches for answers from elsewhere, and waits no longer than it may."""

from pathlib import Path

import anyio
import pytest
from approval_kit import desk, item, ledger, nobody, request, says

from pegboard.approval import Choice, Decision, Request
from pegboard.approval.entry import State

pytestmark = pytest.mark.anyio


async def test_the_first_who_can_be_asked_decides() -> None:
    second = says(Choice.DENY)
    verdict = await desk(approvers=[second]).decide(request(), [nobody, says(Choice.ALLOW_ONCE)])
    assert verdict.decision is not None
    assert verdict.decision.choice is Choice.ALLOW_ONCE
    assert second.asked == []  # type: ignore[attr-defined]


async def test_a_broken_channel_costs_only_itself() -> None:
    async def broken(_: Request) -> Decision | None:
        raise ConnectionError("gone")

    verdict = await desk().decide(request(), [broken, says(Choice.DENY)])
    assert verdict.decision is not None
    assert verdict.decision.choice is Choice.DENY


async def test_where_nobody_can_be_asked_the_request_stays_and_the_call_comes_back_at_once() -> None:
    counter = desk()
    verdict = await counter.decide(request(), [nobody])
    assert (verdict.decision, verdict.asked) == (None, False)
    [entry] = counter.ledger.entries(waiting=True)
    assert entry.request == verdict.entry.request
    await counter.answer(entry.request.id, Decision(choice=Choice.ALLOW_ONCE))
    again = await counter.decide(request(), [nobody])
    assert again.decision is not None
    assert (await counter.decide(request(), [nobody])).decision is None


async def test_an_answer_from_another_process_ends_the_waiting(tmp_path: Path) -> None:
    counter, other, stored = desk(location=tmp_path, wait=30), ledger(tmp_path), anyio.Event()

    async def absent(_: Request) -> Decision | None:
        stored.set()
        return None

    async def answer_there() -> None:
        await stored.wait()
        [found] = other.entries(waiting=True)
        other.answer(found.request.id, Decision(choice=Choice.ALLOW_ONCE, by="cli"))

    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(answer_there)
            verdict = await counter.decide(request(), [absent])
    assert verdict.decision is not None
    assert verdict.decision.by == "cli"


async def test_an_answer_from_elsewhere_ends_the_asking(tmp_path: Path) -> None:
    counter = desk(location=tmp_path)
    withdrawn = anyio.Event()

    async def slow(asked: Request) -> Decision | None:
        ledger(tmp_path).answer(asked.id, Decision(choice=Choice.DENY, by="cli"))
        try:
            await anyio.sleep_forever()
        finally:
            withdrawn.set()
        return None

    with anyio.fail_after(60):
        verdict = await counter.decide(request(), [slow])
    assert verdict.decision is not None
    assert verdict.decision.by == "cli"
    assert withdrawn.is_set()


async def test_silence_is_a_timeout_and_leaves_the_request_expired() -> None:
    async def silent(_: Request) -> Decision | None:
        await anyio.sleep_forever()

    counter = desk()
    verdict = await counter.decide(request(lasts=0.02), [silent])
    assert (verdict.decision, verdict.asked) == (None, True)
    counter.clock.advance(1)  # type: ignore[attr-defined]
    assert verdict.entry.state(counter.clock()) is State.EXPIRED


async def test_of_two_equal_calls_one_yes_lets_one_pass() -> None:
    asked, both = list[str](), anyio.Event()

    async def once(found: Request) -> Decision | None:
        asked.append(found.id)
        if len(asked) == 1:
            await both.wait()
            return Decision(choice=Choice.ALLOW_ONCE)
        if len(asked) == 2:  # the person answers in the other window
            both.set()
            await anyio.sleep_forever()
        return Decision(choice=Choice.DENY)

    counter, choices = desk(), list[str]()

    async def ask() -> None:
        verdict = await counter.decide(request(), [once])
        assert verdict.decision is not None
        choices.append(verdict.decision.choice.value)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask)
        tasks.start_soon(ask)
    assert sorted(choices) == ["allow_once", "deny"]
    assert asked[0] == asked[1] != asked[2]


async def test_what_is_remembered_is_not_asked_again() -> None:
    counter, person = desk(), says(Choice.ALLOW_ALWAYS)
    for amount in (1, 2, 3):
        verdict = await counter.decide(request(item(amount=amount)), [person])
        assert verdict.decision is not None
        assert verdict.decision.allows
    assert len(person.asked) == 1  # type: ignore[attr-defined]


async def test_edited_arguments_that_do_not_fit_are_told_and_nothing_is_decided() -> None:
    counter = desk()
    verdict = await counter.decide(request(), [says(Choice.ALLOW_ONCE, arguments={"amount": "x"})])
    assert verdict.decision is None
    assert verdict.error is not None
    assert len(counter.ledger.entries(waiting=True)) == 1
