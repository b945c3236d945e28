"""A chain that the agent follows: it calls the tools itself, and only the next step's is let through."""

from pathlib import Path
from typing import Any

import anyio
import pytest
from chain_kit import CHECKOUT, STEPS, Shop, board, refused, run_of, status_of

from pegboard.board import Board
from pegboard.chain import RunStatus
from pegboard.core import Effects, FailureCode, Result, Session
from pegboard.errors import DefinitionError

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("C6.4")]
ARGS = {"name": "ann", "amount": 5}
FOLLOWED: dict[str, Any] = {**CHECKOUT, "form": "specification"}
ME = Session("me")


class Agent:
    """Calls tools in one session."""

    def __init__(self, there: Board, session: Session = ME) -> None:
        self.board, self.session = there, session

    async def __call__(self, name: str, arguments: dict[str, Any], **more: Any) -> Result:
        return await self.board.call(name, arguments, session=self.session, **more)

    async def begin(self) -> dict[str, Any]:
        result = await self("checkout", ARGS)
        assert result.ok, result.failure
        return result.value


def next_of(result: Result) -> dict[str, Any]:
    assert result.report is not None
    return result.report.data["chain_run"].get("next", {})


async def test_a_call_returns_the_steps_in_order_and_the_agent_calls_the_tools_itself(tmp_path: Path) -> None:
    shop = Shop()
    async with board(shop, tmp_path, checkout=FOLLOWED) as there:
        agent = Agent(there)
        begun = await agent.begin()
        assert shop.counts == {}
        assert [(row["id"], row["tool"], row["status"]) for row in begun["steps"]] == [
            ("who", "shop.find", "open"),
            ("paid", "shop.charge", "open"),
            ("mailed", "shop.mail", "open"),
        ]
        assert begun["next"] == {"step": "who", "tool": "shop.find", "arguments": {"name": "ann"}}
        found = await agent("shop.find", begun["next"]["arguments"])
        assert (found.value, next_of(found)["arguments"]) == ({"id": "c-ann"}, {"id": "c-ann", "amount": 5})
        paid = await agent("shop.charge", next_of(found)["arguments"])
        sent = await agent("shop.mail", next_of(paid)["arguments"])
        assert (sent.value, status_of(sent), run_of(sent)) == ("sent r-c-ann", "done", begun["execution"])
        assert sent.report is not None
        assert "Steps: who ok, paid ok, mailed ok." in sent.report.notes
        run = await there.chains.show(begun["execution"])
        assert (run.status, run.value) == (RunStatus.DONE, "sent r-c-ann")
        assert (await agent("shop.charge", {"id": "x", "amount": 1})).ok  # nothing is enforced any more
    assert shop.counts == {"find": 1, "charge": 2, "mail": 1}


async def test_what_is_not_next_is_refused_with_what_is(tmp_path: Path) -> None:
    shop = Shop()
    async with board(shop, tmp_path, checkout=FOLLOWED) as there:
        agent = Agent(there)
        id = (await agent.begin())["execution"]
        for name, given in (("shop.mail", {"receipt": "r"}), ("checkout", ARGS)):
            result = await agent(name, given)
            assert result.failure is not None
            assert result.failure.code is FailureCode.PREREQUISITE
            assert "is not next in the chain checkout" in result.failure.message
            assert 'Next is step who: call shop.find with {"name": "ann"}.' in (result.failure.next_step or "")
            assert result.failure.details["next"]["step"] == "who"
        await agent("shop.find", {"name": "ann"})
        again = await agent("shop.find", {"name": "ann"})
        assert again.failure is not None
        assert again.failure.details["next"]["step"] == "paid"
        assert (await Agent(there, Session("other"))("shop.mail", {"receipt": "r"})).ok  # another session is free
        assert (await there.chains.show(id)).status is RunStatus.WAITING_AGENT
    assert shop.counts == {"find": 1, "mail": 1}


async def test_an_execution_survives_restarts_and_goes_on_in_the_same_session_or_another(tmp_path: Path) -> None:
    shop = Shop()
    async with board(shop, tmp_path, checkout=FOLLOWED) as there:
        id = (await Agent(there).begin())["execution"]
        await Agent(there)("shop.find", {"name": "ann"})
    async with board(shop, tmp_path, checkout=FOLLOWED) as there:
        assert not (await Agent(there)("shop.mail", {"receipt": "r"})).ok
        late = Agent(there, Session("tomorrow"))
        shown = await late("chain_progress", {"execution": id})
        assert [row["status"] for row in shown.value["steps"]] == ["done", "open", "open"]
        assert shown.value["next"]["tool"] == "shop.charge"
        assert not (await late("shop.mail", {"receipt": "r"})).ok
        assert (await Agent(there)("shop.mail", {"receipt": "r"})).ok  # it is the other session's now
        assert (await late("shop.charge", {"id": "c-ann", "amount": 5})).ok
    async with board(shop, tmp_path, checkout=FOLLOWED) as there:
        done = await Agent(there, Session("tomorrow"))("shop.mail", {"receipt": "r-c-ann"})
    assert status_of(done) == "done"
    assert shop.counts == {"find": 1, "charge": 1, "mail": 2}


async def test_a_step_that_fails_stays_next_and_an_optional_one_does_not(tmp_path: Path) -> None:
    shop = Shop()
    steps = [{**STEPS[0]}, {**STEPS[1], "on_error": "continue"}, {**STEPS[2], "args": {"receipt": "r"}, "when": "paid"}]
    async with board(shop, tmp_path, checkout={**FOLLOWED, "steps": steps}) as there:
        agent = Agent(there)
        await agent.begin()
        shop.failing["find"] = refused(FailureCode.FAILED, "no such customer")
        failed = await agent("shop.find", {"name": "bob"})
        assert failed.failure is not None
        assert failed.failure.message == "no such customer"
        assert "Step who of the chain is still next" in (failed.failure.next_step or "")
        shop.failing = {"charge": refused(FailureCode.FAILED, "no credit")}
        found = await agent("shop.find", {"name": "ann"})
        assert next_of(found)["step"] == "paid"
        over = await agent("shop.charge", {"id": "c-ann", "amount": 5})
        assert (over.failure is not None, status_of(over)) == (True, "done")  # the last step's condition is not met
    assert shop.counts == {"find": 1}


async def test_what_a_step_leaves_open_the_agent_fills_in(tmp_path: Path) -> None:
    shop = Shop()
    steps = [STEPS[0], {**STEPS[1], "args": {"id": "${who.id}"}}]
    async with board(shop, tmp_path, checkout={**FOLLOWED, "steps": steps}) as there:
        agent = Agent(there)
        begun = (await agent("checkout", {"name": "ann"})).value
        assert begun["next"] == {"step": "who", "tool": "shop.find", "arguments": {"name": "ann"}}
        next_ = next_of(await agent("shop.find", {"name": "ann"}))
        assert next_["fill_in"] == ["amount"]
        assert status_of(await agent("shop.charge", {"id": "c-ann", "amount": 9})) == "done"


async def test_a_chain_of_skipped_steps_comes_to_its_end_by_itself(tmp_path: Path) -> None:
    steps = [{"id": "big", "set": "${input.amount > 9}"}, {**STEPS[0], "when": "big"}]
    async with board(Shop(), tmp_path, checkout={**FOLLOWED, "steps": steps}) as there:
        begun = await Agent(there)("checkout", ARGS)
        assert status_of(begun) == "done"


async def test_what_the_agent_says_otherwise_is_kept_and_told(tmp_path: Path) -> None:
    shop = Shop()
    async with board(shop, tmp_path, checkout=FOLLOWED) as there:
        agent = Agent(there)
        await agent.begin()
        found = await agent("shop.find", {"name": "Ann"})
        assert found.report is not None
        assert "Other than step who proposes: name." in found.report.notes
        assert next_of(found)["arguments"]["id"] == "c-Ann"


async def test_an_execution_can_be_left_and_another_begun(tmp_path: Path) -> None:
    shop = Shop()
    async with board(shop, tmp_path, checkout=FOLLOWED) as there:
        agent = Agent(there)
        first = (await agent.begin())["execution"]
        stranger = Agent(there, Session("you", principal="you"))
        assert not (await stranger("chain_progress", {"execution": first, "end": True})).ok
        ended = await agent("chain_progress", {"execution": first, "end": True})
        assert ended.value["status"] == "cancelled"
        assert (await agent.begin())["execution"] != first
        await there.chains.cancel((await there.chains.runs())[0].id)  # an operator ends it
        assert (await agent("shop.mail", {"receipt": "r"})).ok


async def test_a_step_of_which_nobody_knows_is_not_called_twice(tmp_path: Path) -> None:
    shop = Shop()
    async with board(shop, tmp_path, checkout=FOLLOWED) as there:
        agent = Agent(there)
        id = (await agent.begin())["execution"]
        await agent("shop.find", {"name": "ann"})
        shop.failing["charge"] = refused(FailureCode.OUTCOME_UNKNOWN, "lost")
        lost = await agent("shop.charge", {"id": "c-ann", "amount": 5})
        assert status_of(lost) == "needs_operator"
        shop.failing.clear()
        again = await agent("shop.charge", {"id": "c-ann", "amount": 5})
        assert again.failure is not None
        assert f"pegboard chain resume {id} --redo paid" in (again.failure.next_step or "")
        assert shop.counts == {"find": 1}
        told = await there.chains.resume(id, skip="paid", output={"receipt": "r-1"})
        assert told.value["next"] == {"step": "mailed", "tool": "shop.mail", "arguments": {"receipt": "r-1"}}
        assert status_of(await agent("shop.mail", {"receipt": "r-1"})) == "done"


async def test_a_call_through_tool_call_is_the_agents_own_and_parts_of_a_step_are_not(tmp_path: Path) -> None:
    shop = Shop()
    bundle = {"description": "Find and mail.", "steps": [STEPS[0], {**STEPS[2], "args": {"receipt": "${who.id}"}}]}
    steps = [{"id": "both", "tool": "both", "args": {"name": "${input.name}"}}, {**STEPS[1], "args": {"id": "${both}"}}]
    more = {"bundle": {"both": bundle}}
    async with board(shop, tmp_path, more=more, checkout={**FOLLOWED, "steps": steps}) as there:
        agent = Agent(there)
        assert (await agent("checkout", {"name": "ann"})).ok
        refusal = await agent("tool_call", {"name": "shop.mail", "arguments": {"receipt": "r"}})
        assert refusal.failure is not None
        assert refusal.failure.code is FailureCode.PREREQUISITE
        done = await agent("tool_call", {"name": "both", "arguments": {"name": "ann"}})
        assert (done.value, next_of(done)["step"]) == ("sent c-ann", "paid")
    assert shop.counts == {"find": 1, "mail": 1}


async def test_calls_made_at_once_cannot_take_one_step_twice(tmp_path: Path) -> None:
    shop = Shop()
    async with board(shop, tmp_path, checkout=FOLLOWED) as there:
        agent = Agent(there)
        await agent.begin()
        results: list[Result] = []

        async def one() -> None:
            results.append(await agent("shop.find", {"name": "ann"}))

        async with anyio.create_task_group() as tasks:
            for _ in range(5):
                tasks.start_soon(one)
    assert sorted(result.ok for result in results) == [False] * 4 + [True]
    assert shop.counts == {"find": 1}


async def test_beginning_needs_no_yes_but_the_steps_do_and_previews_pass(tmp_path: Path) -> None:
    shop = Shop()
    asking = {"approval": {"wait": 0, "require": ["shop.find"]}}
    async with board(shop, tmp_path, more=asking, checkout=FOLLOWED) as there:
        agent = Agent(there)
        spec = there.spec(there.resolve("checkout"))  # type: ignore[arg-type]
        assert spec is not None
        assert (spec.effects, spec.output) == (Effects.READ_ONLY, None)
        await agent.begin()
        waiting = await agent("shop.find", {"name": "ann"})
        assert waiting.failure is not None
        assert (waiting.failure.code, status_of(waiting)) == (FailureCode.APPROVAL_NEEDED, "waiting_agent")
        assert (await agent("shop.mail", {"receipt": "r"}, mode="dry_run")).ok
    assert shop.counts == {}


async def test_the_tool_for_progress_is_there_only_where_a_chain_is_followed(tmp_path: Path) -> None:
    async with board(Shop(), tmp_path / "one") as there:
        assert "chain_progress" not in [spec.name.name for spec in there.catalog.specs]
    async with board(Shop(), tmp_path / "two", checkout=FOLLOWED) as there:
        assert "chain_progress" in [spec.name.name for spec in there.catalog.specs]


async def test_only_an_agent_with_a_session_follows(tmp_path: Path) -> None:
    bundle = {"description": "All.", "steps": [{"tool": "checkout", "args": ARGS}]}
    async with board(Shop(), tmp_path, more={"bundle": {"all": bundle}}, checkout=FOLLOWED) as there:
        inside = await Agent(there)("all", {})
        nobody = await Agent(there, Session(""))("checkout", ARGS)
    for result, said in ((inside, "no other tool can call it"), (nobody, "belongs to no session")):
        assert result.failure is not None
        assert said in result.failure.message


def test_a_form_that_there_is_not_is_refused() -> None:
    from chain_kit import read

    with pytest.raises(DefinitionError, match="not offered as 'spec'"):
        read(form="spec")
    assert "form" not in read(form="tool").source
