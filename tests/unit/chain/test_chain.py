"""A chain runs its steps in order, keeps a checkpoint before and after each, and is one tool."""

from pathlib import Path
from typing import Any

import pytest
from chain_kit import CHECKOUT, STEPS, Shop, board, read, refused, run_of, status_of

from pegboard.chain import ChainError, ChainFault, RunStatus, StepStatus, chain
from pegboard.chain.mapping import mapped
from pegboard.compose.inner import IDEMPOTENCY_KEY
from pegboard.core import FailureCode, Mode, Status, ToolName
from pegboard.errors import DefinitionError

pytestmark = pytest.mark.anyio
ARGS = {"name": "ann", "amount": 5}


@pytest.mark.requirement("C6.1", "C6.2", "C6.5", "R3.1", "R3.3")
async def test_a_chain_is_one_tool_that_hands_values_on_in_a_fixed_order(tmp_path: Path) -> None:
    shop = Shop()
    async with board(shop, tmp_path) as there:
        result = await there.call("checkout", ARGS)
    assert result.value == "sent r-c-ann"
    assert shop.effects == ["find", "charge", "mail"]
    assert result.report is not None
    assert [(step.id, step.status) for step in result.report.steps] == [
        ("who", Status.OK),
        ("paid", Status.OK),
        ("mailed", Status.OK),
    ]


@pytest.mark.requirement("C6.3")
async def test_each_step_has_a_checkpoint_and_the_definition_is_frozen(tmp_path: Path) -> None:
    async with board(Shop(), tmp_path) as there:
        result = await there.call("checkout", ARGS)
        run = await there.chains.show(run_of(result))
    assert (run.status, run.input, run.value) == (RunStatus.DONE, ARGS, "sent r-c-ann")
    assert [(p.step, p.status, p.value) for p in run.steps.values()] == [
        ("who", StepStatus.OK, {"id": "c-ann"}),
        ("paid", StepStatus.OK, {"receipt": "r-c-ann"}),
        ("mailed", StepStatus.OK, "sent r-c-ann"),
    ]
    assert run.definition["steps"] == STEPS
    assert run.definition["tools"] == {name: name for name in ("shop.find", "shop.charge", "shop.mail")}


@pytest.mark.requirement("C6.3")
async def test_a_failed_run_goes_on_from_the_step_that_failed(tmp_path: Path) -> None:
    shop = Shop()
    shop.failing["mail"] = refused(FailureCode.UPSTREAM, "the server is full")
    async with board(shop, tmp_path) as there:
        failed = await there.call("checkout", ARGS)
    assert failed.failure is not None
    assert f"pegboard chain resume {run_of(failed)}" in (failed.failure.next_step or "")
    shop.failing.clear()
    async with board(shop, tmp_path) as there:  # another board: what it knows is in the store
        result = await there.chains.resume(run_of(failed)[:8])
        again = await there.chains.resume(run_of(failed))
    assert (result.value, status_of(result), again.value) == ("sent r-c-ann", "done", "sent r-c-ann")
    assert shop.counts == {"find": 1, "charge": 1, "mail": 1}


async def test_a_run_goes_on_as_its_definition_was_when_it_began(tmp_path: Path) -> None:
    shop = Shop()
    shop.failing["mail"] = refused(FailureCode.UPSTREAM)
    async with board(shop, tmp_path) as there:
        failed = await there.call("checkout", ARGS)
    shop.failing.clear()
    other = {"description": "Another one.", "steps": STEPS[:1]}
    async with board(shop, tmp_path, checkout=other) as there:
        assert (await there.chains.resume(run_of(failed))).value == "sent r-c-ann"


@pytest.mark.requirement("C6.3")
async def test_what_may_have_taken_effect_waits_for_somebody_who_looks(tmp_path: Path) -> None:
    shop = Shop()
    shop.failing["charge"] = refused(FailureCode.OUTCOME_UNKNOWN, "the line broke")
    async with board(shop, tmp_path) as there:
        result = await there.call("checkout", ARGS)
        run = run_of(result)
        assert status_of(result) == "needs_operator"
        assert result.failure is not None
        assert "Done: who. Not known: paid. Not done: mailed." in result.failure.message
        shop.failing.clear()
        again = await there.chains.resume(run)
        assert (status_of(again), shop.counts) == ("needs_operator", {"find": 1})
        assert again.failure is not None
        assert "--redo paid" in (again.failure.next_step or "")
        assert "--skip paid" in (again.failure.next_step or "")
        skipped = await there.chains.resume(run, skip="paid", output={"receipt": "by hand"})
    assert (skipped.value, shop.counts) == ("sent by hand", {"find": 1, "mail": 1})


async def test_an_operator_can_have_a_step_run_again(tmp_path: Path) -> None:
    shop = Shop()
    shop.failing["charge"] = refused(FailureCode.TIMEOUT)
    async with board(shop, tmp_path) as there:
        run = run_of(await there.call("checkout", ARGS))
        shop.failing.clear()
        result = await there.chains.resume(run, redo="paid")
    assert (result.ok, shop.counts) == (True, {"find": 1, "charge": 1, "mail": 1})


@pytest.mark.parametrize(
    ("choice", "code"),
    [
        ({"redo": "piad"}, ChainFault.UNKNOWN_STEP),
        ({"redo": "who"}, ChainFault.CHOICE),
        ({"skip": "mailed"}, ChainFault.CHOICE),
        ({"redo": "paid", "skip": "paid"}, ChainFault.CHOICE),
    ],
)
async def test_a_choice_that_does_not_fit_changes_nothing(
    tmp_path: Path, choice: dict[str, Any], code: ChainFault
) -> None:
    shop = Shop()
    shop.failing["charge"] = refused(FailureCode.OUTCOME_UNKNOWN)
    async with board(shop, tmp_path) as there:
        run = run_of(await there.call("checkout", ARGS))
        before = await there.chains.show(run)
        with pytest.raises(ChainError) as found:
            await there.chains.resume(run, **choice)
        assert (found.value.code, await there.chains.show(run)) == (code, before)


async def test_a_fork_has_the_results_before_a_step_and_runs_from_there(tmp_path: Path) -> None:
    shop = Shop()
    async with board(shop, tmp_path) as there:
        first = run_of(await there.call("checkout", ARGS))
        result = await there.chains.fork(first, "mailed")
        forked = await there.chains.show(run_of(result))
        assert (forked.forked_from, forked.forked_at, result.value) == (first, "mailed", "sent r-c-ann")
        assert shop.counts == {"find": 1, "charge": 1, "mail": 2}
        with pytest.raises(ChainError, match="has no step 'mailde'.*mailed"):
            await there.chains.fork(first, "mailde")


async def test_a_cancelled_run_is_over(tmp_path: Path) -> None:
    shop = Shop()
    shop.failing["mail"] = refused(FailureCode.UPSTREAM)
    shop.failing["charge"] = refused(FailureCode.OUTCOME_UNKNOWN)
    async with board(shop, tmp_path) as there:
        run = run_of(await there.call("checkout", ARGS))
        assert (await there.chains.cancel(run)).status is RunStatus.CANCELLED
        for command in (there.chains.resume, there.chains.cancel):
            with pytest.raises(ChainError) as found:
                await command(run)
            assert found.value.code is ChainFault.RUN_OVER


async def test_a_step_carries_a_key_that_is_the_same_whenever_it_is_called_again(tmp_path: Path) -> None:
    shop = Shop()
    shop.failing["mail"] = refused(FailureCode.UPSTREAM)
    async with board(shop, tmp_path) as there:
        run = run_of(await there.call("checkout", ARGS))
        shop.failing.clear()
        await there.chains.resume(run)
    keys = [call.meta[IDEMPOTENCY_KEY] for call in shop.calls]
    assert keys == [f"{run}:who", f"{run}:paid", f"{run}:mailed", f"{run}:mailed"]


async def test_without_effect_nothing_is_kept(tmp_path: Path) -> None:
    shop = Shop()
    async with board(shop, tmp_path) as there:
        result = await there.call("checkout", ARGS, mode=Mode.DRY_RUN)
        assert (result.ok, shop.effects, await there.chains.runs()) == (True, [], [])


CASES: list[tuple[dict[str, Any], dict[str, Any], Any, list[str]]] = [
    ({"when": "false"}, {}, {"receipt": "r-c-ann"}, ["find", "charge"]),
    ({"on_error": "continue"}, {"mail": refused(FailureCode.UPSTREAM)}, None, ["find", "charge"]),
    ({"default": "later"}, {"mail": refused(FailureCode.UPSTREAM)}, "later", ["find", "charge"]),
]


@pytest.mark.requirement("R3.1", "R3.3")
@pytest.mark.parametrize(("more", "failing", "value", "effects"), CASES)
async def test_conditions_and_errors_are_a_steps_own(
    tmp_path: Path, more: dict[str, Any], failing: dict[str, Any], value: Any, effects: list[str]
) -> None:
    shop = Shop()
    shop.failing.update(failing)
    steps = [*STEPS[:2], {**STEPS[2], **more}]
    async with board(shop, tmp_path, checkout={**CHECKOUT, "steps": steps}) as there:
        result = await there.call("checkout", ARGS)
        resumed = await there.chains.resume(run_of(result))
    assert (result.value, shop.effects, resumed.value) == (value, effects, value)


@pytest.mark.requirement("R3.4")
async def test_the_output_variable_is_returned_in_place_of_the_last_value(tmp_path: Path) -> None:
    async with board(Shop(), tmp_path, checkout={**CHECKOUT, "output_variable": "paid"}) as there:
        assert (await there.call("checkout", ARGS)).value == {"receipt": "r-c-ann"}


@pytest.mark.requirement("R3.6")
@pytest.mark.parametrize("more", [{"output_variable": "piad"}, {"steps": [*STEPS[:2], {**STEPS[2], "when": "false"}]}])
async def test_a_call_fails_that_never_assigned_the_output_variable(tmp_path: Path, more: dict[str, Any]) -> None:
    table = {**CHECKOUT, "output_variable": "mailed", **more}
    async with board(Shop(), tmp_path, checkout=table) as there:
        result = await there.call("checkout", ARGS)
    assert result.failure is not None
    assert "was never assigned" in result.failure.message
    assert "paid" in (result.failure.next_step or "")


@pytest.mark.requirement("R3.5")
def test_an_output_variable_that_begins_with_an_underscore_is_refused() -> None:
    with pytest.raises(DefinitionError, match="'_paid' cannot be an output variable"):
        read(output_variable="_paid")


@pytest.mark.requirement("R3.2")
async def test_parameters_are_led_to_the_chains_input(tmp_path: Path) -> None:
    table = {**CHECKOUT, "parameter_mapping": {"customer": "name", "cents": "input.amount"}}
    async with board(Shop(), tmp_path, checkout=table) as there:
        assert list(there.catalog.tools[ToolName("", "checkout")].spec.properties) == ["customer", "cents"]
        result = await there.call("checkout", {"customer": "ann", "cents": 5})
        assert (await there.chains.show(run_of(result))).input == ARGS
    assert result.value == "sent r-c-ann"


def test_a_mapping_keeps_the_schema_of_the_place_that_it_fills() -> None:
    schema = {
        "type": "object",
        "properties": {"who": {"type": "object", "properties": {"id": {"type": "integer"}}}, "note": {}},
        "required": ["who"],
    }
    found = mapped(schema, {"user": "who.id"})
    assert found.input["properties"] == {"note": {}, "user": {"type": "integer"}}
    assert found.input["required"] == ["user"]
    assert found.into({"user": 7, "note": "x"}) == {"note": "x", "who": {"id": 7}}


@pytest.mark.parametrize("mapping", [{"a": "nmae"}, {"a": "name", "b": "name"}, {"amount": "name"}])
async def test_a_mapping_that_leads_nowhere_or_twice_is_refused(tmp_path: Path, mapping: dict[str, str]) -> None:
    async with board(Shop(), tmp_path, checkout={**CHECKOUT, "parameter_mapping": mapping}) as there:
        assert any("parameter_mapping" in warning for warning in there.warnings)
        assert (await there.call("shop.find", {"name": "ann"})).ok


@pytest.mark.requirement("R10.4")
async def test_an_unknown_tool_is_refused_when_the_chain_is_loaded(tmp_path: Path) -> None:
    steps: list[dict[str, Any]] = [{"id": "x", "tool": "shop.chrage", "args": {}}]
    async with board(Shop(), tmp_path, checkout={**CHECKOUT, "steps": steps}) as there:
        assert any("'shop.chrage'" in warning and "shop.charge" in warning for warning in there.warnings)
        assert (await there.call("checkout", {})).failure is not None


BROKEN: list[tuple[dict[str, Any], str]] = [
    ({"steps": []}, "needs steps"),
    ({"steps": [{"id": "a", "set": 1, "tool": "t"}]}, "exactly one of"),
    ({"steps": [{"id": "a", "tool": "t", "timeout": 0}]}, "timeout cannot be 0"),
    ({"steps": [{"id": "a", "tool": "t", "retries": -1}]}, "retries cannot be -1"),
    ({"steps": [{"id": "a", "set": "${b}"}]}, "no step before it makes"),
    ({"output": 1, "output_variable": "who"}, "not both"),
    ({"stpes": []}, "no 'stpes'"),
    ({"steps": [{"id": "a-b", "tool": "t"}]}, r"^chain.checkout.steps\[0\]: id: 'a-b' cannot be a step's id"),
    ({"description": " "}, "'description' is missing"),
]


@pytest.mark.parametrize(("more", "message"), BROKEN)
def test_what_cannot_work_is_said(more: dict[str, Any], message: str) -> None:
    with pytest.raises(DefinitionError, match=message):
        read(**more)


async def test_a_step_may_set_a_value(tmp_path: Path) -> None:
    steps = [*STEPS[:2], {"id": "told", "set": {"paid_by": "${who.id}", "with": "${paid.receipt}"}}]
    async with board(Shop(), tmp_path, checkout={**CHECKOUT, "steps": steps}) as there:
        result = await there.call("checkout", ARGS)
    assert result.value == {"paid_by": "c-ann", "with": "r-c-ann"}


@pytest.mark.parametrize("ending", ["toml", "yaml", "json"])
async def test_a_chain_may_stand_in_a_file_of_its_own(tmp_path: Path, ending: str) -> None:
    texts = {
        "toml": 'description = "d"\n[[steps]]\nid = "who"\ntool = "shop.find"\nargs = { name = "${input.name}" }\n',
        "yaml": "description: d\nsteps:\n- id: who\n  tool: shop.find\n  args: {name: '${input.name}'}\n",
        "json": '{"description": "d", "steps": [{"tool": "shop.find", "args": {"name": "${input.name}"}}]}',
    }
    (tmp_path / f"chain.{ending}").write_text(texts[ending])
    async with board(Shop(), tmp_path, checkout={"file": f"chain.{ending}"}) as there:
        assert (await there.call("checkout", {"name": "ann"})).value == {"id": "c-ann"}


def test_a_chain_may_be_defined_in_python() -> None:
    tool = chain("checkout", **CHECKOUT)
    assert str(tool.name) == "checkout"
