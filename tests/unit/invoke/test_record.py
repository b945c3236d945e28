"""Every call is recorded, however it ends, without its secrets."""

from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import pytest

from pegboard.core import (
    Call,
    Effects,
    FailureCode,
    Handler,
    Mode,
    Result,
    Session,
    SourceRef,
    ToolName,
    ToolSpec,
    pipeline,
)
from pegboard.invoke.record import record
from pegboard.testing import FixedClock, MemoryTraces, RecordingHandler
from pegboard.trace import CallRecord, Recorder, Recording, Redactor
from pegboard.trace.shape import Shaper

pytestmark = pytest.mark.anyio

SPEC = ToolSpec(name=ToolName("mail", "send"), source=SourceRef("mail", "mcp"), effects=Effects.ADDITIVE)
Inner = Callable[[Call], Awaitable[Result]]


class Scene:
    """A pipeline that records, and what it recorded."""

    def __init__(self, handler: Inner, policy: Recording | None = None, secrets: tuple[str, ...] = ()) -> None:
        self.store = MemoryTraces()
        self.recorder = Recorder(self.store)
        self.clock = FixedClock()
        shaper = Shaper(Redactor(secrets), policy or Recording())
        recording = record({SPEC.name: SPEC}.get, self.recorder, shaper, clock=self.clock)
        self.handler: Handler = pipeline(handler, recording)

    async def call(self, **more: Any) -> Result:
        return await self.handler(Call(**({"tool": SPEC.name, "arguments": {}} | more)))

    def records(self) -> list[CallRecord]:
        self.recorder.flush(10)
        return [entry.record for entry in self.store.entries]


async def test_a_record_says_what_happened() -> None:
    scene = Scene(RecordingHandler(Result(value={"id": 1}, mode=Mode.PREVIEW)))
    session = Session(id="s", principal="ann", agent="coder", run="r")
    await scene.call(arguments={"to": "x"}, session=session, id="client-7")
    [one] = scene.records()
    assert (one.tool, one.arguments, one.result, one.ok) == ("mail.send", {"to": "x"}, {"id": 1}, True)
    assert (one.source, one.principal, one.mode, one.digest) == ("mail", "ann", "preview", SPEC.digest)
    assert (one.started, one.turn) == (scene.clock.now, 0)
    assert one.seconds is not None
    assert one.meta == {"argument_bytes": 10, "result_bytes": 8, "call_id": "client-7"}
    assert one.tokens == 4
    assert [(entry.run, entry.agent) for entry in scene.store.entries] == [("r", "coder")]


async def test_a_failure_is_recorded_with_its_code() -> None:
    scene = Scene(RecordingHandler(Result.failed(FailureCode.UPSTREAM, "it said no")))
    await scene.call()
    [one] = scene.records()
    assert (one.ok, one.failure, one.error) == (False, "upstream", "it said no")


async def test_a_call_of_an_unknown_tool_is_recorded() -> None:
    scene = Scene(RecordingHandler(Result.failed(FailureCode.UNKNOWN_TOOL, "there is none")))
    await scene.call(tool=ToolName("no", "where"))
    [one] = scene.records()
    assert (one.tool, one.source, one.digest, one.failure) == ("no.where", None, None, "unknown_tool")


async def test_a_cancelled_call_is_recorded_and_stays_cancelled() -> None:
    handler = RecordingHandler(gate=anyio.Event())
    scene = Scene(handler)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(scene.call)
        await handler.started.wait()
        tasks.cancel_scope.cancel()
    [one] = scene.records()
    assert (one.ok, one.failure) == (False, "cancelled")


async def test_a_handler_that_raises_is_recorded_and_still_raises() -> None:
    scene = Scene(RecordingHandler(ValueError("odd")))
    with pytest.raises(ValueError, match="odd"):
        await scene.call()
    [one] = scene.records()
    assert (one.failure, one.error) == ("failed", "ValueError: odd")


async def test_inner_calls_name_their_parent_and_have_no_turn() -> None:
    async def outer(call: Call) -> Result:
        if call.parent is None:
            await scene.call(parent=call.id, session=call.session)
        return Result(value=1)

    scene = Scene(outer)
    await scene.call()
    inner, top = scene.records()
    assert (inner.parent, inner.turn, top.parent, top.turn) == (top.id, None, None, 0)


async def test_calls_that_overlap_were_made_in_one_turn() -> None:
    gate = anyio.Event()
    handler = RecordingHandler(gate=gate)
    scene = Scene(handler)
    async with anyio.create_task_group() as tasks:
        for _ in range(2):
            tasks.start_soon(scene.call)
        await anyio.wait_all_tasks_blocked()
        gate.set()
    await scene.call()
    await scene.call(session=Session(id="other"))
    records = scene.records()
    assert [one.turn for one in records] == [0, 0, 1, 0]
    assert records[0].group == records[1].group != records[2].group


async def test_the_callers_own_groups_decide_the_turns() -> None:
    scene = Scene(RecordingHandler())
    for group in ("a", "a", "b"):
        await scene.call(group=group)
    assert [(one.group, one.turn) for one in scene.records()] == [("a", 0), ("a", 0), ("b", 1)]


async def test_secrets_are_masked_before_anything_is_kept() -> None:
    scene = Scene(
        RecordingHandler(Result(value={"echo": "hunter22", "token": "t"}, failure=None)), secrets=("hunter22",)
    )
    await scene.call(arguments={"password": "p", "text": "say hunter22"})
    [one] = scene.records()
    assert one.arguments == {"password": "[redacted]", "text": "say [redacted]"}
    assert one.result == {"echo": "[redacted]", "token": "[redacted]"}


async def test_policy_keeps_arguments_and_results_out() -> None:
    scene = Scene(RecordingHandler(), Recording(arguments=False, results=False))
    await scene.call(arguments={"a": 1})
    [one] = scene.records()
    assert (one.arguments, one.result) == (None, None)
    assert one.meta["argument_bytes"] == 7


async def test_a_large_result_is_cut_and_its_scalars_stay_for_data_flow() -> None:
    rows = [{"id": number, "text": "x" * 50} for number in range(500)]
    scene = Scene(RecordingHandler(Result(value=rows)), Recording(max_bytes=1000))
    await scene.call()
    [one] = scene.records()
    assert len(str(one.result)) < 1100
    assert one.values is not None
    assert one.values[-2:] == (499, "x" * 50)
    assert one.meta["recorded_cut"] == ["result"]


async def test_texts_and_pictures_are_recorded_as_what_a_model_reads() -> None:
    content = ({"type": "text", "text": "hello"}, {"type": "image", "data": "AAAA", "mimeType": "image/png"})
    scene = Scene(RecordingHandler(Result(content=content)))
    await scene.call()
    assert scene.records()[0].result == ["hello", "[image image/png, 4 characters]"]
