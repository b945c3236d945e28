"""A run of code waits for a yes, goes on from its journal, and calls nothing twice that must not be."""

import shutil
from collections import Counter
from contextlib import suppress
from itertools import count
from pathlib import Path
from threading import Lock
from typing import Any

import anyio
import pytest

from pegboard.approval import Choice, Decision
from pegboard.board import Board
from pegboard.codemode.fault import CodeError, CodeFault
from pegboard.codemode.ledger import Ledger
from pegboard.codemode.record import CodeStatus, EntryStatus
from pegboard.config.load import parse
from pegboard.core import Call, Effects, FailureCode, Result, Session, ToolName, ToolSpec
from pegboard.errors import StoreError
from pegboard.schema.types import digest
from pegboard.testing import FakeSource

pytestmark = pytest.mark.anyio
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
JS, PY = "javascript", "python"
BOTH = pytest.mark.parametrize("language", [JS, PY])
EFFECTS = {"read": Effects.READ_ONLY, "add": Effects.ADDITIVE, "drop": Effects.DESTRUCTIVE}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Shop:
    """Tools that count what they did, over a board whose store outlives it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.done = folder, Counter[str]()
        self.before: Any = None
        self.keys: list[str] = []

    def board(self, **tables: Any) -> Board:
        """A board: calls of shop.drop need a yes, and wait for it in no process."""
        source = FakeSource("shop")
        for name, effects in EFFECTS.items():
            spec = ToolSpec(name=ToolName("shop", name), input=TEXT, effects=effects, description=name)
            source.put(name, self._does(name), spec=spec)
        document = {
            "board": {"store": str(self.folder / "store")},
            "approval": {"require": ["shop.drop"], "wait": 0},
            "codemode": {"tools": ["shop.*"], "timeout_ms": 60_000},
            **tables,
        }
        return Board.open(parse(document, folder=self.folder), beside=[source])

    def _does(self, name: str) -> Any:
        async def handler(call: Call) -> Result:
            self.keys.append(str(call.meta["idempotency_key"]))
            if self.before is not None:
                await self.before(name, call)
            self.done[f"{name} {call.arguments['text']}"] += 1
            return Result(value=f"{name} {call.arguments['text']} {self.done.total()}")

        return handler


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path)


async def code(board: Board, text: str, language: str = JS, session: Session | None = None) -> Result:
    return await board.call("run_code", {"code": text, "language": language}, session=session)


async def allow(board: Board, choice: Choice = Choice.ALLOW_ONCE) -> None:
    """Answer everything that waits."""
    assert board.desk is not None
    for entry in board.desk.ledger.entries(waiting=True):
        await board.desk.answer(entry.request.id, Decision(choice=choice))


WAITING = {
    JS: "const a = await tools.shop.read({ text: 'a' }); const b = await tools.shop.add({ text: a });\n"
    "const c = await tools.shop.drop({ text: b }); return [a, b, c, await tools.shop.read({ text: 'z' })]",
    PY: "a = shop__read(text='a')\nb = shop__add(text=a)\nc = shop__drop(text=b)\n[a, b, c, shop__read(text='z')]",
}
CAME_TO = ["read a 1", "add read a 1 2", "drop add read a 1 2 3", "read z 4"]


@BOTH
async def test_a_run_waits_for_a_yes_and_the_same_call_goes_on_with_it(shop: Shop, language: str) -> None:
    async with shop.board() as board:
        waits = await code(board, WAITING[language], language)
        assert waits.failure is not None
        assert waits.failure.code is FailureCode.APPROVAL_NEEDED
        assert "pegboard approvals allow ap_" in (waits.failure.next_step or "")
        [run] = await board.coding.runs.runs()
        assert run.status is CodeStatus.WAITING_APPROVAL
        again = await code(board, WAITING[language], language)
        assert again.failure is not None  # still no yes
        assert [each.id for each in await board.coding.runs.runs()] == [run.id]
        await allow(board)
    async with shop.board() as board:  # as after a restart
        result = await code(board, WAITING[language], language, Session("another"))
        assert result.value["value"] == CAME_TO
        assert [each.status for each in await board.coding.runs.runs()] == [CodeStatus.DONE]
    assert set(shop.done.values()) == {1}


@BOTH
async def test_a_run_that_waits_goes_on_by_its_id(shop: Shop, language: str) -> None:
    async with shop.board() as board:
        waits = await code(board, WAITING[language], language)
        assert waits.failure is not None
        await allow(board)
        outcome = await board.coding.resume(waits.failure.details["error"]["run"][:6], board.coding.limits)
        assert outcome.value == CAME_TO
        assert [made.tool for made in outcome.calls] == ["shop.read", "shop.add", "shop.drop", "shop.read"]
        run = waits.failure.details["error"]["run"]
        assert shop.keys == [f"{run}:{number}" for number in (1, 2, 3, 4)]
    assert set(shop.done.values()) == {1}


@BOTH
async def test_a_no_is_thrown_in_the_code_and_remembered_by_the_journal(shop: Shop, language: str) -> None:
    text = {
        JS: "let r; try { await tools.shop.drop({ text: 'a' }) } catch (e) { r = e.message.slice(0, 8) }\n"
        "await tools.shop.drop({ text: 'b' }); return r",
        PY: "try:\n    shop__drop(text='a')\nexcept Exception as e:\n    r = str(e)[:8]\nshop__drop(text='b')\nr",
    }[language]
    async with shop.board() as board:
        await code(board, text, language)
        await allow(board, Choice.DENY)
        second = await code(board, text, language)
        assert second.failure is not None  # waits for the yes to b
        await allow(board)
        assert (await code(board, text, language)).value["value"] == "declined"
    assert shop.done == {"drop b": 1}


PARALLEL = {
    JS: "const all = ['a', 'b', 'c', 'd'].map((text) => tools.shop.add({ text }));\n"
    "const seen = []; await Promise.all(all.map((one, at) => one.then(async (v) => {"
    " seen.push(await tools.shop.read({ text: v })) })));\n"
    "await tools.shop.drop({ text: seen.join() }); return seen.map((one) => one.slice(0, 10))",
    PY: "import asyncio\nseen = []\nasync def one(text):\n    v = await shop__add(text=text)\n"
    "    seen.append(await shop__read(text=v))\nawait asyncio.gather(*[one(t) for t in 'abcd'])\n"
    "await shop__drop(text=','.join(seen))\n[s[:10] for s in seen]",
}


@BOTH
async def test_answers_come_in_the_order_in_which_they_came_before(shop: Shop, language: str) -> None:
    order = ["c", "a", "d", "b"]
    arrived = {name: anyio.Event() for name in order}

    async def hold_back(name: str, call: Call) -> None:
        text = str(call.arguments["text"])
        if name == "read" and "add" in text:
            next_ = order[order.index(text.split()[1]) + 1 :][:1]
            arrived[next_[0]].set() if next_ else None
        elif name == "add" and text != order[0]:
            await arrived[text].wait()

    shop.before = hold_back
    async with shop.board() as board:
        assert (await code(board, PARALLEL[language], language)).failure is not None
        await allow(board)
        result = await code(board, PARALLEL[language], language)
        assert result.ok, result.failure
        assert [one[9:] for one in result.value["value"]] == ["c", "a", "d", "b"]
    assert set(shop.done.values()) == {1}


@BOTH
@pytest.mark.parametrize("order", ["hgfedcba", "dbhfgeca"])
async def test_answers_that_come_together_go_on_in_the_order_in_which_they_came(
    shop: Shop, language: str, order: str
) -> None:
    text = {
        JS: "const seen = []; await Promise.all([...'abcdefgh'].map(async (text) => {"
        " await tools.shop.read({ text }); seen.push(text) })); return seen.join('')",
        PY: "import asyncio\nseen = []\nasync def one(text):\n    await shop__read(text=text)\n    seen.append(text)\n"
        "await asyncio.gather(*[one(t) for t in 'abcdefgh'])\n''.join(seen)",
    }[language]
    turns = {name: anyio.Event() for name in order}

    async def in_turn(_: str, call: Call) -> None:
        name = str(call.arguments["text"])
        if name == "h":  # the last that is called: all the others wait by now
            turns[order[0]].set()
        await turns[name].wait()
        for later in order[order.index(name) + 1 :][:1]:
            turns[later].set()

    shop.before = in_turn
    async with shop.board() as board:
        result = await code(board, text, language)
        assert result.ok, result.failure
        assert result.value["value"] == order


async def test_sleeping_code_sleeps_once_and_goes_on_in_the_same_order(shop: Shop) -> None:
    text = (
        "import asyncio\nseen = []\nasync def one(text, seconds):\n    await asyncio.sleep(seconds)\n"
        "    seen.append(await shop__read(text=text))\n"
        "await asyncio.gather(one('a', 0.02), one('b', 0.01), one('c', 0))\n"
        "await shop__drop(text=str(seen))\n[s[5] for s in seen]"
    )
    async with shop.board() as board:
        assert (await code(board, text, PY)).failure is not None
        await allow(board)
        result = await code(board, text, PY)
        assert result.ok, result.failure
        assert sorted(result.value["value"]) == ["a", "b", "c"]
    assert set(shop.done.values()) == {1}


@BOTH
async def test_time_and_chance_are_the_same_in_a_replay(shop: Shop, language: str) -> None:
    text = {
        JS: "const a = await tools.shop.add({ text: `${Math.random()} ${Date.now()} ${new Date().getTime()}` });\n"
        "await tools.shop.drop({ text: `${Math.random()} ${Date.now()} ${Date()}` });\n"
        "return [new Date(0).toISOString(), new Date() instanceof Date, Date.UTC(1970, 0, 1)]",
        PY: "import random, time, datetime\n"
        "shop__add(text=f'{random.random()} {time.time()} {datetime.datetime.now()} {datetime.date.today()}')\n"
        "shop__drop(text=f'{random.random()} {time.time()}')\n[time.time() > 1.7e9, time.monotonic() > 0]",
    }[language]
    async with shop.board() as board:
        assert (await code(board, text, language)).failure is not None
        await allow(board)
        result = await code(board, text, language)
        assert result.ok, result.failure
        expected = ["1970-01-01T00:00:00.000Z", True, 0] if language == JS else [True, True]
        assert result.value["value"] == expected
    assert set(shop.done.values()) == {1}


@BOTH
async def test_code_that_does_something_else_in_a_replay_is_refused(shop: Shop, language: str) -> None:
    """The journal is changed here, since the code cannot easily be made to differ."""
    async with shop.board() as board:
        waits = await code(board, WAITING[language], language)
        assert waits.failure is not None
        await allow(board)
        board._memory.store.statement("UPDATE code_calls SET digest = 'x' WHERE number = ?", [2])  # pyright: ignore
        result = await code(board, WAITING[language], language)
        assert result.failure is not None
        assert result.failure.details["error"]["code"] == "diverged"
        assert "call 2 was shop" in result.failure.message
        assert [run.status for run in await board.coding.runs.runs()] == [CodeStatus.FAILED]
    assert shop.done["add read a 1"] == 1
    assert not [name for name in shop.done if name.startswith("drop")]


@BOTH
async def test_a_call_in_flight_when_the_process_ended_is_never_made_again_by_itself(shop: Shop, language: str) -> None:
    async with shop.board() as board:
        runs = board.coding.runs
        assert runs is not None
        hold = await runs.begun(WAITING[language], language, Session("s"))
        await hold.write([], CodeStatus.RUNNING)
        store = board._memory.store  # pyright: ignore
        for number, (name, text, status) in enumerate([("read", "a", "ok"), ("add", "read a 1", "started")], 1):
            called = f"shop.{name}" if language == JS else f"shop__{name}"
            store.statement(
                "INSERT INTO code_calls VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)",
                [hold.run.id, number, called, digest({"text": text}), status, *((1, 1) if number == 1 else (0, 0)),
                 1.0, '"read a 1"' if number == 1 else None],
            )  # fmt: skip
        store.statement("UPDATE code_runs SET owner = ''", [])
        result = await code(board, WAITING[language], language)
        assert result.failure is not None
        assert result.failure.code is FailureCode.OUTCOME_UNKNOWN
        assert result.failure.details["choices"] == ["redo", "skip"]
        assert not shop.done
        [run] = await runs.runs(status=CodeStatus.NEEDS_OPERATOR)
        with pytest.raises(CodeError, match="nothing to choose"):
            await board.coding.resume(run.id, board.coding.limits, redo=1)
        outcome = await board.coding.resume(run.id, board.coding.limits, skip=2, output="done by hand")
        assert outcome.error is not None  # it waits now
        await allow(board)
        done = await code(board, WAITING[language], language)
        assert done.value["value"][:2] == ["read a 1", "done by hand"]
    assert "add read a 1" not in shop.done


async def test_nothing_that_takes_effect_is_called_where_that_cannot_be_written_down(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise StoreError("The disk is full.", next_step="Make room.")

    async with shop.board() as board:
        monkeypatch.setattr(Ledger, "open", full)
        text = (
            "try { await tools.shop.add({ text: 'a' }) }"
            "catch (e) { return [e.code, await tools.shop.read({ text: 'b' })] }"
        )
        assert (await code(board, text)).value["value"] == ["unavailable", "read b 1"]


async def test_code_that_only_reads_leaves_nothing_in_the_store(shop: Shop) -> None:
    async with shop.board() as board:
        await code(board, "return await tools.shop.read({ text: 'a' })")
        assert await board.coding.runs.runs() == []


async def test_a_run_can_be_cancelled_and_is_then_over(shop: Shop) -> None:
    async with shop.board() as board:
        await code(board, WAITING[JS])
        [run] = await board.coding.runs.runs()
        assert (await board.coding.runs.cancel(run.id)).status is CodeStatus.CANCELLED
        with pytest.raises(CodeError) as problem:
            await board.coding.resume(run.id, board.coding.limits)
        assert problem.value.code is CodeFault.RUN_OVER
        with pytest.raises(CodeError, match="no run 'zzz'"):
            await board.coding.resume("zzz", board.coding.limits)


async def test_a_caller_that_goes_away_leaves_the_run_waiting(shop: Shop) -> None:
    async with shop.board(approval={"require": ["shop.drop"], "wait": 30}) as board:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(code, board, WAITING[JS])
            while not await board.coding.runs.runs(status=CodeStatus.WAITING_APPROVAL):
                await anyio.lowlevel.checkpoint()
            tasks.cancel_scope.cancel()
        [run] = await board.coding.runs.runs()
        assert (run.status, run.owner) == (CodeStatus.WAITING_APPROVAL, "")
        shown = await board.coding.runs.show(run.id)
        assert [each.status for each in shown.entries.values()] == [EntryStatus.OK, EntryStatus.OK, EntryStatus.WAITING]
        await allow(board)
        assert (await code(board, WAITING[JS])).value["value"] == CAME_TO
    assert set(shop.done.values()) == {1}


TWO = {
    JS: "const all = await Promise.allSettled(['a', 'b'].map((text) => tools.shop.drop({ text })));\n"
    "return all.map((one) => one.status)",
    PY: "import asyncio\nasync def one(text):\n    try:\n        await shop__drop(text=text)\n"
    "        return 'fulfilled'\n    except Exception:\n        return 'rejected'\n"
    "await asyncio.gather(one('a'), one('b'))",
}


@BOTH
async def test_a_yes_and_a_no_that_come_while_the_run_waits_reach_the_code_that_still_runs(
    shop: Shop, language: str
) -> None:
    results: list[Result] = []

    async def work(board: Board) -> None:
        results.append(await code(board, TWO[language], language))

    async with shop.board(approval={"require": ["shop.drop"], "wait": 30}) as board:
        assert board.desk is not None
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(work, board)
            while len(entries := board.desk.ledger.entries(waiting=True)) < 2:
                await anyio.lowlevel.checkpoint()
            for entry in entries:
                yes = entry.request.items[0].arguments["text"] == "b"
                choice = Choice.ALLOW_ONCE if yes else Choice.DENY
                await board.desk.answer(entry.request.id, Decision(choice=choice))
        assert results[0].value["value"] == ["rejected", "fulfilled"]
        assert [run.status for run in await board.coding.runs.runs()] == [CodeStatus.DONE]
    assert shop.done == {"drop b": 1}


@BOTH
async def test_of_two_that_wait_each_goes_on_with_its_own_answer(shop: Shop, language: str) -> None:
    async with shop.board() as board:
        waits = await code(board, TWO[language], language)
        assert waits.failure is not None
        assert (waits.failure.next_step or "").count("pegboard approvals allow ap_") == 2
        assert board.desk is not None
        first, second = board.desk.ledger.entries(waiting=True)
        await board.desk.answer(first.request.id, Decision(choice=Choice.ALLOW_ONCE))
        assert (await code(board, TWO[language], language)).failure is not None  # the other one still waits
        await board.desk.answer(second.request.id, Decision(choice=Choice.DENY))
        result = await code(board, TWO[language], language)
        assert sorted(result.value["value"]) == ["fulfilled", "rejected"]
    assert shop.done.total() == 1


async def test_another_principal_does_not_go_on_with_a_run(shop: Shop) -> None:
    async with shop.board() as board:
        await code(board, WAITING[JS], session=Session("s", principal="anna"))
        await code(board, WAITING[JS], session=Session("t", principal="bert"))
        assert len(await board.coding.runs.runs()) == 2


CRASHING = {
    JS: "const a = await tools.shop.read({ text: 'a' });\n"
    "const [b, c] = await Promise.all([tools.shop.add({ text: 'b' }), tools.shop.add({ text: 'c' })]);\n"
    "return [a, await tools.shop.read({ text: b }), await tools.shop.add({ text: 'd' })].length",
    PY: "import asyncio\na = await shop__read(text='a')\n"
    "b, c = await asyncio.gather(shop__add(text='b'), shop__add(text='c'))\n"
    "r = [a, await shop__read(text=b), await shop__add(text='d')]\nlen(r)",
}


@pytest.mark.slow
@BOTH
async def test_wherever_the_process_ends_nothing_that_takes_effect_is_done_twice(
    tmp_path: Path, language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At each moment the store is copied, as a kill would leave it; then the same code is called over each copy."""
    shop = Shop(tmp_path / "first")
    left: list[tuple[Path, Counter[str]]] = []

    copying, numbers = Lock(), count()

    def copied(source: str, target: str) -> None:
        with suppress(FileNotFoundError):  # what the store takes away meanwhile is gone after a kill too
            shutil.copy2(source, target)

    def moment() -> None:
        with copying:  # the ledger writes in threads
            target = tmp_path / f"left-{next(numbers)}"
            shutil.copytree(shop.folder, target, copy_function=copied)
            left.append((target, Counter(shop.done)))

    async def between(name: str, call: Call) -> None:
        moment()

    for method in ("open", "write", "put"):
        wrote = getattr(Ledger, method)

        def told(*given: Any, wrote: Any = wrote) -> Any:
            moment()
            done = wrote(*given)
            moment()
            return done

        monkeypatch.setattr(Ledger, method, told)
    shop.folder.mkdir()
    shop.before = between
    async with shop.board() as board:
        whole = await code(board, CRASHING[language], language)
        assert whole.ok, whole.failure
        assert whole.value["value"] == 3
    monkeypatch.undo()
    assert len(left) > 15
    doubtful = 0
    for folder, done in left:
        again = Shop(folder)
        async with again.board() as board:
            board._memory.store.statement("UPDATE code_runs SET owner = ''", ())  # pyright: ignore
            result = await code(board, CRASHING[language], language)
        effects = Counter({name: n for name, n in (done + again.done).items() if name.startswith("add")})
        assert max(effects.values(), default=0) <= 1, folder
        if result.failure is not None:
            assert result.failure.code is FailureCode.OUTCOME_UNKNOWN, result.failure
            doubtful += 1
        else:
            assert effects == {"add b": 1, "add c": 1, "add d": 1}
    assert 0 < doubtful < len(left)
