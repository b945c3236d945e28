"""What a call brings back, whatever the server sends: raw, complete, and never at the session's cost."""

from collections.abc import Callable
from typing import Any

import anyio
import pytest
from fault_kit import HttpServer, Journal, call, names, until, words

from pegboard.core import FailureCode, Listing, Result, Session
from pegboard.sources.mcp import McpSource

pytestmark = pytest.mark.anyio
FAMILIES = pytest.mark.parametrize("family", ["handshake", "modern"])


async def once(source: McpSource, name: str, **more: Any) -> Result:
    async with source.session():
        return await call(source, await source.listing(), name, **more)


@pytest.mark.requirement("C12.1")
@FAMILIES
async def test_every_kind_of_block_and_unknown_fields_come_back_as_they_were(
    stdio: Callable[..., McpSource], family: str
) -> None:
    result = await once(stdio(family=family), "blocks")
    kinds = [block["type"] for block in result.content]
    assert kinds == ["text", "image", "audio", "resource_link", "resource", "hologram"]
    assert result.content[0]["futureField"] == 1
    assert result.meta == {"_meta": {"trace": "t"}, "newField": {"kept": True}}


@FAMILIES
@pytest.mark.case("px-10")
async def test_px_10_an_error_result_is_a_failure_that_keeps_its_text(
    stdio: Callable[..., McpSource], family: str
) -> None:
    """px-10: isError survives, with the server's own words."""
    result = await once(stdio(family=family), "fail")
    assert result.failure is not None and result.failure.code is FailureCode.FAILED
    assert result.failure.message == "quota exceeded" and words(result) == "quota exceeded"


async def test_secrets_that_a_server_repeats_in_an_error_are_taken_out(stdio: Callable[..., McpSource]) -> None:
    result = await once(stdio(env={"HINT": "try less"}), "error")
    assert result.failure is not None and result.failure.details["data"] == {"hint": "***"}


async def test_a_protocol_error_is_a_failure_with_its_code_and_data(stdio: Callable[..., McpSource]) -> None:
    result = await once(stdio(), "error")
    assert result.failure is not None and result.failure.code is FailureCode.UPSTREAM
    assert result.failure.details == {"code": -32603, "data": {"hint": "try less"}}


@pytest.mark.parametrize(("tool", "wrong"), [("unstructured", "nothing structured"), ("unfit", "output schema: /id")])
@pytest.mark.case("px-12")
async def test_px_12_a_broken_promise_is_noted_or_fails_the_call_by_a_setting(
    stdio: Callable[..., McpSource], tool: str, wrong: str
) -> None:
    """px-12: lenient forwards and records the violation, strict fails; what keeps its promise is left alone."""
    lenient, strict = await once(stdio(), tool), await once(stdio(strict_output=True), tool)
    assert lenient.ok and lenient.report is not None and wrong in lenient.report.notes[0]
    assert strict.failure is not None and strict.failure.code is FailureCode.UPSTREAM
    assert wrong in strict.failure.message and strict.content == lenient.content
    kept = await once(stdio(strict_output=True), "structured")
    assert kept.value == {"id": "1"} and kept.report is None


async def test_content_that_is_no_block_is_shown_as_text_and_reported(stdio: Callable[..., McpSource]) -> None:
    result = await once(stdio(), "odd_content")
    assert [block["type"] for block in result.content] == ["text", "hologram", "text"]
    assert result.report is not None and [change.where for change in result.report.changes] == [
        "/content/0",
        "/content/2",
    ]


async def test_a_request_for_input_that_nobody_can_meet_is_a_failure(stdio: Callable[..., McpSource]) -> None:
    result = await once(stdio(family="modern"), "input_required")
    assert result.failure is not None and result.failure.code is FailureCode.UPSTREAM
    assert result.meta["requestState"] == "s"


@FAMILIES
async def test_progress_and_log_messages_reach_the_caller(stdio: Callable[..., McpSource], family: str) -> None:
    steps: list[tuple[float, float | None, str | None]] = []
    logs: list[Any] = []
    logged = anyio.Event()

    async def on_progress(progress: float, total: float | None = None, message: str | None = None) -> None:
        steps.append((progress, total, message))

    async def on_log(level: str, data: Any, logger: str | None = None) -> None:
        logs.append((level, data, logger))
        logged.set()

    source = stdio(family=family)
    async with source.session():
        listing = await source.listing()
        await call(source, listing, "progress", progress=on_progress)
        await call(source, listing, "log", log=on_log)
        with anyio.fail_after(60):
            await logged.wait()
    assert steps == [(1, 3, "step 1"), (2, 3, "step 2"), (3, 3, "step 3")]
    assert logs == [("warning", {"slow": 3}, "db")]


async def test_a_log_message_is_heard_once_by_each_session_with_a_call_under_way(
    stdio: Callable[..., McpSource],
) -> None:
    heard: list[str] = []
    source = stdio()

    def listener(name: str) -> Any:
        async def on_log(level: str, data: Any, logger: str | None = None) -> None:
            heard.append(name)

        return on_log

    async with source.session():
        listing = await source.listing()
        async with anyio.create_task_group() as tasks:
            for name in ("a", "a", "b"):
                more = {"log": listener(name), "session": Session(id=name)}
                tasks.start_soon(lambda more: call(source, listing, "hang", **more), more)
            await call(source, listing, "log")
            await until(lambda: len(heard) >= 2)
            tasks.cancel_scope.cancel()
    assert sorted(heard) == ["a", "b"]


@FAMILIES
async def test_meta_of_the_caller_is_handed_on_without_what_belongs_to_its_own_connection(
    stdio: Callable[..., McpSource], family: str
) -> None:
    meta = {"traceparent": "00-1", "progressToken": 5, "io.modelcontextprotocol/clientInfo": {"name": "theirs"}}
    result = await once(stdio(family=family), "echo", meta=meta)
    seen = result.value["meta"]
    assert seen["traceparent"] == "00-1" and "progressToken" not in seen
    assert seen.get("io.modelcontextprotocol/clientInfo", {"name": "pegboard"})["name"] == "pegboard"
    assert ("io.modelcontextprotocol/protocolVersion" in seen) is (family == "modern")


@pytest.mark.parametrize("method", ["sampling/createMessage", "elicitation/create", "roots/list"])
@pytest.mark.case("px-17")
async def test_px_17_a_request_of_the_server_that_was_not_declared_is_refused_at_once_and_noted(
    stdio: Callable[..., McpSource], journal: Journal, method: str
) -> None:
    """px-17: a JSON-RPC error at once, a note with server and method, and no such capability declared."""
    source = stdio(family="handshake")
    async with source.session():
        with anyio.fail_after(60):
            result = await call(source, await source.listing(), "ask", arguments={"method": method})
        notes = (await source.listing()).notes
    assert '"code": -32601' in words(result)
    assert any(method in note.message for note in notes)
    assert journal.of("initialize")[0]["params"]["capabilities"] == {}


@FAMILIES
@pytest.mark.case("px-14")
async def test_px_14_cancelling_the_caller_cancels_the_call_upstream_by_its_own_id(
    stdio: Callable[..., McpSource], journal: Journal, family: str
) -> None:
    """px-14 over stdio: notifications/cancelled with the upstream's request id."""
    source = stdio(family=family)
    async with source.session():
        listing = await source.listing()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(call, source, listing, "hang")
            await until(lambda: journal.calls("hang"))
            tasks.cancel_scope.cancel()
        await until(lambda: journal.of("notifications/cancelled"))
        assert (await call(source, listing, "echo")).ok
    sent = next(frame for frame in journal.of("tools/call") if frame["params"]["name"] == "hang")
    assert journal.of("notifications/cancelled")[0]["params"]["requestId"] == sent["id"]


@FAMILIES
@pytest.mark.case("px-14")
async def test_px_14_over_http_the_cancellation_has_the_form_of_the_family(
    http: Callable[..., HttpServer], journal: Journal, family: str
) -> None:
    """px-14 over HTTP: closing the response stream in 2026-07-28, a notification with the id before it."""
    source = McpSource("faulty", http().url, family=family)
    async with source.session():
        listing = await source.listing()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(call, source, listing, "hang")
            await until(lambda: journal.calls("hang"))
            tasks.cancel_scope.cancel()
        if family == "modern":
            await until(lambda: any("closed" in frame for frame in journal.frames))
        else:
            await until(lambda: journal.of("notifications/cancelled"))
        assert (await call(source, listing, "echo")).ok
    sent = next(frame for frame in journal.of("tools/call") if frame["params"]["name"] == "hang")
    told = [frame["params"]["requestId"] for frame in journal.of("notifications/cancelled")]
    assert told == ([] if family == "modern" else [sent["id"]])


async def test_a_call_without_an_answer_times_out_and_the_server_is_told(
    stdio: Callable[..., McpSource], journal: Journal
) -> None:
    source = stdio(call_timeout=0.2)
    async with source.session():
        listing = await source.listing()
        result = await call(source, listing, "hang")
        await until(lambda: journal.of("notifications/cancelled"))
        names_again = names(await source.listing())
    assert result.failure is not None and result.failure.code is FailureCode.TIMEOUT and result.failure.next_step
    assert names_again == names(listing) and len(journal.of("server/discover")) == 1


@pytest.mark.parametrize(("tool", "expected"), [("twice", "first"), ("wrong_id", "for you")])
async def test_double_and_foreign_answers_do_not_break_the_session(
    stdio: Callable[..., McpSource], tool: str, expected: str
) -> None:
    source = stdio()
    async with source.session():
        listing = await source.listing()
        assert words(await call(source, listing, tool)) == expected
        assert (await call(source, listing, "echo")).ok


async def test_an_answer_with_a_broken_envelope_fails_its_own_call_at_once(stdio: Callable[..., McpSource]) -> None:
    source = stdio()
    async with source.session():
        listing = await source.listing()
        with anyio.fail_after(60):
            result = await call(source, listing, "garble")
        assert (await call(source, listing, "echo")).ok
    assert result.failure is not None and result.failure.code is FailureCode.UPSTREAM


@pytest.mark.requirement("R7.1")
async def test_many_calls_share_one_process(stdio: Callable[..., McpSource]) -> None:
    source = stdio()
    seen: list[str] = []
    async with source.session():
        listing = await source.listing()

        async def count() -> None:
            seen.append(words(await call(source, listing, "count")).split()[0])

        async with anyio.create_task_group() as tasks:
            for _ in range(50):
                tasks.start_soon(count)
    assert len(seen) == 50 and len(set(seen)) == 1


async def test_calling_outside_of_the_session_is_a_failure_not_a_crash(stdio: Callable[..., McpSource]) -> None:
    source = stdio()
    async with source.session():
        listing = await source.listing()
    result = await call(source, listing, "echo")
    assert isinstance(listing, Listing)
    assert result.failure is not None and result.failure.code is FailureCode.UNAVAILABLE
