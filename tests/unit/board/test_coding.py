"""Code mode on a board: listed where it is configured, and held to pool, approval, budget and size like every call."""

import json
from pathlib import Path
from typing import Any

import anyio
import pytest

from pegboard.approval import Choice, Decision, Request
from pegboard.board import Board
from pegboard.config.load import parse
from pegboard.core import Budget, Call, Effects, FailureCode, Mode, Result, Session, ToolName, ToolSpec
from pegboard.core.mode import with_modes
from pegboard.testing import FakeSource
from pegboard.trace.sqlite import SqliteTraces

pytestmark = pytest.mark.anyio
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def source(name: str, kind: str = "python", effects: Effects = Effects.READ_ONLY) -> FakeSource:
    found = FakeSource(name, kind=kind)
    for tool in ("echo", "other"):
        found.put(
            tool,
            Result(value={"said": tool}),
            spec=ToolSpec(name=ToolName(name, tool), input=TEXT, effects=effects, description=f"{tool} it."),
        )
    return found


def board(folder: Path, *sources: FakeSource, approvers: Any = (), store: str = ":memory:", **tables: Any) -> Board:
    document = {"board": {"store": store}, "approval": {"wait": 0}, **tables}
    return Board.open(parse(document, folder=folder), beside=sources, approvers=approvers)


async def code(over: Board, text: str, session: Session | None = None, language: str = "javascript") -> Result:
    return await over.call("run_code", {"code": text, "language": language}, session=session)


@pytest.mark.requirement("R4.1")
async def test_run_code_is_listed_only_where_it_is_configured(tmp_path: Path) -> None:
    async with board(tmp_path, source("ops")) as plain:
        assert "run_code" not in [str(spec.name) for spec in plain.view().direct]
        assert (await code(plain, "return 1")).failure is not None
    async with board(tmp_path, source("ops"), codemode={"tools": ["ops.*"]}) as coding:
        assert "run_code" in [str(spec.name) for spec in coding.view().direct]
        assert coding.spec(ToolName("", "run_code")) is not None


async def test_run_code_is_in_the_list_of_a_large_board(tmp_path: Path) -> None:
    many = [source(f"s{number}") for number in range(40)]
    async with board(tmp_path, *many, codemode={"tools": ["*.*"]}) as coding:
        assert "run_code" in [str(spec.name) for spec in coding.view().direct]


@pytest.mark.requirement("R4.2")
@pytest.mark.parametrize("language", ["javascript", "python"])
async def test_code_calls_the_tools_of_the_pool_and_no_others(tmp_path: Path, language: str) -> None:
    remote, local, closed = source("remote", "mcp"), source("local"), source("closed")
    tools = ["mcp:*", "local.*", "!*.other"]
    async with board(tmp_path, remote, local, closed, codemode={"tools": tools}) as over:
        for name, runs in (
            ("remote.echo", True),
            ("local.echo", True),
            ("closed.echo", False),
            ("local.other", False),
            ("run_code", False),
        ):
            call = (
                name.replace(".", "__") + "(text='x')"
                if language == "python"
                else f"return tools.{name}({{text: 'x'}})"
            )
            result = await code(over, call, language=language)
            assert result.ok is runs, (name, result.failure)
            if runs:
                assert result.value["value"] == {"said": "echo"}


async def test_a_call_inside_of_code_waits_for_a_yes(tmp_path: Path) -> None:
    asked: list[str] = []

    async def person(request: Request) -> Decision | None:
        asked.extend(item.tool for item in request.items)
        return Decision(choice=Choice.ALLOW_ONCE if len(asked) == 1 else Choice.DENY)

    files = source("files", effects=Effects.DESTRUCTIVE)
    tables = {"codemode": {"tools": ["*.*"]}, "approval": {"require": ["files.*"]}}
    async with board(tmp_path, files, approvers=[person], **tables) as over:
        text = (
            "const r = [await tools.files.echo({ text: 'a' })];"
            "try { await tools.files.echo({ text: 'b' }) } catch (e) { r.push(e.code) } return r"
        )
        result = await code(over, text)
        assert result.value["value"] == [{"said": "echo"}, "declined"]
        assert asked == ["files.echo", "files.echo"]


@pytest.mark.slow
async def test_the_time_in_which_a_person_is_asked_does_not_count(tmp_path: Path) -> None:
    async def person(request: Request) -> Decision | None:
        await anyio.sleep(2.2)
        return Decision(choice=Choice.ALLOW_ONCE)

    tables = {"codemode": {"tools": ["*.*"], "timeout_ms": 2000}, "approval": {"require": ["files.*"]}}
    async with board(tmp_path, source("files"), approvers=[person], **tables) as over:
        result = await code(over, "return await tools.files.echo({ text: 'a' })")
        assert result.ok, result.failure
        late = await code(over, "for (;;) {}")
        assert late.failure is not None
        assert late.failure.code is FailureCode.TIMEOUT


@pytest.mark.parametrize("language", ["javascript", "python"])
async def test_a_tool_runs_in_the_mode_that_a_direct_call_has(tmp_path: Path, language: str) -> None:
    seen: list[Mode | None] = []

    async def drop(call: Call) -> Result:
        seen.append(call.mode)
        return Result(value=str(call.mode))

    shop = FakeSource("shop")
    spec = ToolSpec(name=ToolName("shop", "drop"), input=TEXT, effects=Effects.DESTRUCTIVE)
    shop.put("drop", drop, spec=with_modes(spec, [Mode.PREVIEW]))
    texts = {
        "javascript": "await tools.shop.drop({ text: 'x' });"
        "return await tools.shop.drop({ text: 'x', mode: 'execute' })",
        "python": "shop__drop(text='x')\nshop__drop(text='x', mode='execute')",
    }
    async with board(tmp_path, shop, codemode={"tools": ["*.*"]}) as over:
        result = await code(over, texts[language], language=language)
        assert result.ok, result.failure
        assert seen == [Mode.PREVIEW, Mode.EXECUTE]


async def test_a_run_that_was_stopped_after_an_effect_leaves_its_outcome_open(tmp_path: Path) -> None:
    tables = {"codemode": {"tools": ["*.*"], "timeout_ms": 400}}
    async with board(tmp_path, source("files", effects=Effects.ADDITIVE), **tables) as over:
        result = await code(over, "await tools.files.echo({ text: 'a' }); for (;;) {}")
        assert result.failure is not None
        assert result.failure.code is FailureCode.OUTCOME_UNKNOWN


async def test_the_calls_of_code_are_counted_inside_of_one_call_of_the_model(tmp_path: Path) -> None:
    session = Session("s", budget=Budget(max_tool_calls=1, max_inner_calls=2))
    text = (
        "const r = []; for (let i = 0; i < 3; i++) {"
        "try { await tools.ops.echo({ text: 'x' }); r.push('ok') } catch (e) { r.push(e.code) } } return r"
    )
    async with board(tmp_path, source("ops"), codemode={"tools": ["*.*"]}) as over:
        result = await code(over, text, session)
        assert result.value["value"] == ["ok", "ok", "budget"]
        second = await code(over, text, session)
        assert second.failure is not None
        assert second.failure.code is FailureCode.BUDGET


async def test_the_calls_of_code_are_its_children_in_the_trace(tmp_path: Path) -> None:
    async with board(tmp_path, source("ops"), store=str(tmp_path / "s"), codemode={"tools": ["*.*"]}) as over:
        await over.run(
            Call(
                tool=ToolName("", "run_code"),
                arguments={"code": "return await tools.ops.echo({ text: 'x' })"},
                session=Session("r"),
                id="outer",
            )
        )
    traces = SqliteTraces(tmp_path / "s" / "traces.db")
    run = traces.run("r")
    assert run is not None
    calls = {str(one.tool): one for one in run.calls}
    assert set(calls) == {"run_code", "ops.echo"}
    assert calls["ops.echo"].parent == calls["run_code"].id
    traces.close()


@pytest.mark.requirement("R4.5")
async def test_only_the_value_and_the_end_of_the_log_come_back(tmp_path: Path) -> None:
    async with board(tmp_path, source("ops"), codemode={"tools": ["*.*"], "log_tail": 4}) as over:
        result = await code(over, "await tools.ops.echo({ text: 'x' }); console.log('only the end'); return 7")
        assert result.value["value"] == 7
        assert result.value["logs"] == " end"
        assert "said" not in json.dumps([result.value, *result.content])


@pytest.mark.requirement("R4.5")
async def test_a_large_value_is_cut_and_kept_whole_as_an_asset(tmp_path: Path) -> None:
    tables = {"codemode": {"tools": ["*.*"], "max_shown": 1000}}
    async with board(tmp_path, source("ops"), store=str(tmp_path / "s"), **tables) as over:
        result = await code(over, "return Array.from({ length: 5000 }, (_, i) => i)")
        assert len(json.dumps(result.value["value"])) < 2000
        [handle] = result.assets
        assert result.value["cut"]["asset"] == handle
        read = await over.read_asset(handle, 0, 30, Session())
        assert read.content[0]["text"].startswith("[0,1,2,3,4,5,6,7,8,9,10,11,12,")


async def test_code_that_throws_is_a_failure_with_a_next_step(tmp_path: Path) -> None:
    async with board(tmp_path, source("ops"), codemode={"tools": ["*.*"]}) as over:
        result = await code(over, "await tools.ops.echo({ text: 'x' });\nnull.x")
        assert result.failure is not None
        assert result.failure.code is FailureCode.FAILED
        assert result.failure.where == "line 2"
        assert "Calls that succeeded before: 1." in result.failure.message
        assert result.failure.next_step


async def test_code_finds_tools_of_its_pool_alone(tmp_path: Path) -> None:
    sources = [source("ops"), source("closed")]
    async with board(tmp_path, *sources, codemode={"tools": ["ops.*"]}) as over:
        result = await code(over, "return (await tools.search('echo it', 5)).map((one) => one.name)")
        assert "ops.echo" in result.value["value"]
        assert not [name for name in result.value["value"] if name.startswith("closed")]
