"""A call has a time, a place in the queue and a size; past them it ends with a code and a next step."""

import json
from typing import Any

import anyio
import pytest

from pegboard.config.tables import BOARD
from pegboard.core import Call, Effects, FailureCode, Handler, Mode, Result, ToolName, ToolSpec, pipeline
from pegboard.errors import StoreError
from pegboard.invoke.concurrency import concurrency
from pegboard.invoke.size import BINARY_LIMIT, Kept, size
from pegboard.invoke.timeout import timeout
from pegboard.testing import RecordingHandler

pytestmark = pytest.mark.anyio

NAME = ToolName("a", "b")


def spec_with(effects: Effects) -> ToolSpec:
    return ToolSpec(name=NAME, effects=effects)


@pytest.mark.parametrize(
    ("effects", "mode", "code"),
    [
        (Effects.READ_ONLY, None, FailureCode.TIMEOUT),
        (Effects.IDEMPOTENT, None, FailureCode.TIMEOUT),
        (Effects.UNKNOWN, None, FailureCode.OUTCOME_UNKNOWN),
        (Effects.DESTRUCTIVE, Mode.EXECUTE, FailureCode.OUTCOME_UNKNOWN),
        (Effects.DESTRUCTIVE, Mode.PREVIEW, FailureCode.TIMEOUT),
    ],
)
async def test_a_call_past_its_time_says_whether_it_may_have_taken_effect(
    effects: Effects, mode: Mode | None, code: FailureCode
) -> None:
    handler = pipeline(
        RecordingHandler(gate=anyio.Event()), timeout(lambda name: spec_with(effects), lambda spec: 0.01)
    )
    failure = (await handler(Call(tool=NAME, arguments={}, mode=mode))).failure
    assert failure is not None
    assert failure.code == code
    assert failure.retryable is (code == FailureCode.TIMEOUT)
    assert failure.next_step


@pytest.mark.parametrize("seconds", [10, None])
async def test_a_call_within_its_time_and_one_without_a_time_pass(seconds: float | None) -> None:
    handler = pipeline(RecordingHandler(), timeout(lambda name: spec_with(Effects.UNKNOWN), lambda spec: seconds))
    assert (await handler(Call(tool=NAME, arguments={"n": 1}))).value == {"n": 1}


class Counting:
    """A handler that knows how many calls run at once."""

    def __init__(self) -> None:
        self.running = self.most = 0
        self.gate = anyio.Event()

    async def __call__(self, call: Call) -> Result:
        self.running += 1
        self.most = max(self.most, self.running)
        await self.gate.wait()
        self.running -= 1
        return Result(value=1)


async def test_no_more_calls_run_at_once_than_may() -> None:
    inner = Counting()
    handler = pipeline(
        inner, concurrency(lambda name: spec_with(Effects.UNKNOWN), lambda spec: [("tool", 3), ("source", 2)])
    )
    async with anyio.create_task_group() as tasks:
        for _ in range(10):
            tasks.start_soon(handler, Call(tool=NAME, arguments={}))
        await anyio.wait_all_tasks_blocked()
        assert inner.running == 2
        inner.gate.set()
    assert inner.most == 2


async def test_a_call_that_never_gets_its_turn_fails_and_did_nothing() -> None:
    inner = RecordingHandler(gate=anyio.Event())
    handler = pipeline(
        inner, concurrency(lambda name: spec_with(Effects.UNKNOWN), lambda spec: [("tool", 1)], patience=0.01)
    )
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(handler, Call(tool=NAME, arguments={}))
        await inner.started.wait()
        failure = (await handler(Call(tool=NAME, arguments={}))).failure
        tasks.cancel_scope.cancel()
    assert failure is not None
    assert (failure.code, failure.retryable) == (FailureCode.UNAVAILABLE, True)
    assert len(inner.calls) == 1


async def test_a_call_inside_of_another_does_not_wait_for_the_outer_ones_place() -> None:
    async def outer(call: Call) -> Result:
        return Result(value=1) if call.parent else await handler(Call(tool=NAME, arguments={}, parent="outer"))

    handler: Handler = pipeline(
        outer, concurrency(lambda name: spec_with(Effects.UNKNOWN), lambda spec: [("source", 1)], patience=5)
    )
    assert (await handler(Call(tool=NAME, arguments={}))).ok
    assert (await handler(Call(tool=NAME, arguments={}))).ok


class Shelf:
    """Keeps whole answers."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    async def __call__(self, call: Call, text: str) -> Kept:
        self.texts.append(text)
        return Kept("r_1", 'Read the rest with result_read, id "r_1".')


async def sized(result: Result, limit: int, shelf: Any = None) -> Result:
    handler = pipeline(RecordingHandler(result), size(shelf, limit_of=lambda call: limit))
    return await handler(Call(tool=NAME, arguments={}))


def text_bytes(result: Result) -> int:
    return sum(len(str(block.get("text", "")).encode()) for block in result.content)


def text(body: str) -> dict[str, Any]:
    return {"type": "text", "text": body}


async def test_a_small_answer_passes_as_the_same_object() -> None:
    result = Result(value={"a": 1}, content=(text("a"),))
    assert await sized(result, 100) is result


@pytest.mark.case("px-18")
async def test_a_huge_text_is_cut_with_its_mark_inside_the_limit_and_kept_whole() -> None:
    # The case px-18.
    shelf = Shelf()
    body = "".join(f"line {number}\n" for number in range(250_000))
    result = await sized(Result(content=(text(body),)), 50_000, shelf)
    assert 49_000 < text_bytes(result) <= 50_000
    assert body.startswith(str(result.content[0]["text"]))
    mark = str(result.content[-1]["text"])
    assert str(len(body)) in mark
    assert "result_read" in mark
    assert shelf.texts == [body]
    assert result.report is not None
    assert [(change.kind, change.where) for change in result.report.changes] == [("cut", "/content/0")]
    assert result.assets == ("r_1",)


@pytest.mark.parametrize("limit", [*range(100, 160), 200, 399, 400])
@pytest.mark.case("px-19")
async def test_the_mark_never_pushes_an_answer_over_the_limit_and_no_character_is_split(limit: int) -> None:
    # The case px-19.
    result = await sized(Result(content=(text("ü" * 300),)), limit)
    assert text_bytes(result) <= limit
    assert set(str(result.content[0]["text"])) <= set("ü[Cut: 0123456789of bytes are shown. The rest was not kept.]")
    assert "Cut" in str(result.content[-1]["text"])


async def test_a_text_that_is_json_stays_json() -> None:
    body = json.dumps([{"id": number} for number in range(1000)], indent=2)
    result = await sized(Result(content=(text(body),)), 1000)
    assert json.loads(str(result.content[0]["text"]))[0] == {"id": 0}
    assert text_bytes(result) <= 1000


async def test_a_large_value_stays_valid_and_tells_the_model() -> None:
    value = {"rows": [{"id": number, "text": "x" * 40} for number in range(1000)], "count": 1000}
    result = await sized(Result(value=value), 2000)
    assert len(json.dumps(result.value, separators=(",", ":"))) <= 2000
    assert result.value["count"] == 1000
    assert result.value["rows"][0] == {"id": 0, "text": "x" * 40}
    assert json.loads(str(result.content[0]["text"])) == result.value
    assert text_bytes(result) <= 2000
    assert result.report is not None
    assert result.report.changes[0].where == "/rows"


async def test_where_the_whole_cannot_be_kept_the_mark_says_so() -> None:
    async def broken(call: Call, whole: str) -> Kept:
        raise StoreError("The disk is full.")

    result = await sized(Result(content=(text("x" * 1000),)), 500, broken)
    assert "not kept" in str(result.content[-1]["text"])


async def test_a_picture_does_not_count_as_text() -> None:
    picture = {"type": "image", "data": "A" * 5000, "mimeType": "image/png"}
    result = Result(content=(picture, text("a picture")))
    assert await sized(result, 100) is result


def test_the_config_reference_names_the_limit_of_blocks_that_holds() -> None:
    [key] = [key for key in BOARD.keys if key.name == "max_result"]
    assert f"{BINARY_LIMIT:,}" in key.doc


async def test_base64_in_a_text_or_a_value_counts_as_text() -> None:
    data = "A" * 5000
    for result in (Result(content=(text(data),)), Result(value={"data": data})):
        assert await sized(result, 100) is not result


async def test_a_picture_beyond_all_measure_is_left_out_and_said() -> None:
    picture = {"type": "image", "data": "A" * (BINARY_LIMIT + 1), "mimeType": "image/png"}
    result = await sized(Result(content=(picture, text("a picture"))), 1000)
    assert [block["type"] for block in result.content] == ["text", "text"]
    assert result.report is not None
    assert result.report.changes[0].where == "/content/0"


async def test_a_failure_of_any_length_fits() -> None:
    result = await sized(Result.failed(FailureCode.UPSTREAM, "no " * 10_000), 500)
    assert result.failure is not None
    assert len(result.failure.message) <= 500


@pytest.mark.case("px-22")
async def test_base64_that_is_a_block_is_not_sent_again_as_text() -> None:
    # The case px-22.
    picture = {"type": "image", "data": "AAAA", "mimeType": "image/png"}
    result = await sized(Result(value={"result": [picture], "note": "AAAA"}, content=(picture,)), 1000)
    assert result.content == (picture,)
    assert result.value["result"][0]["data"] == "[content block 0]"
    assert result.value["note"] == "AAAA"
    assert result.report is not None
    assert [(change.kind, change.where) for change in result.report.changes] == [("moved", "/result/0/data")]
