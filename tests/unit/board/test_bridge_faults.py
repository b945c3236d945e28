"""What goes wrong while a server waits for an answer: each ends with a code, and nothing else suffers."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from mcp import Client, MCPError
from mcp_types import CallToolResult, CreateMessageResult, ElicitResult, Implementation, TextContent

from pegboard.board import Board
from pegboard.board.gateway import served
from pegboard.sources.mcp import McpSource
from pegboard.wire.server.rounds import Rounds
from pegboard.wire.server.state import Seal

from .asking_server import QUESTIONS, Asking

pytestmark = pytest.mark.anyio
BEFORE = pytest.mark.parametrize("before", ["legacy", "auto"])
BEHIND = pytest.mark.parametrize("behind", ["handshake", "modern"])


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def accept(context: Any, params: Any) -> ElicitResult:
    return ElicitResult(action="accept", content={"name": "Ann"})


def yes() -> ElicitResult:
    return ElicitResult(action="accept", content={"name": "Ann"})


@asynccontextmanager
async def gateway(server: Any, behind: Any, **options: Any) -> AsyncGenerator[Any]:
    source = McpSource("shop", server, family=behind, may_ask=["elicitation", "sampling"], **options)
    async with Board.of(source) as board, served(board) as made:
        yield made


async def first_round(client: Client) -> Any:
    return await client.session.call_tool("shop__form", {}, allow_input_required=True)


async def retry(client: Client, state: str, answers: Any, name: str = "shop__form") -> Any:
    return await client.session.call_tool(
        name, {}, request_state=state, input_responses=answers, allow_input_required=True
    )


def answers_to(asked: Any) -> dict[str, Any]:
    return {key: yes() for key in asked.input_requests}


@BEHIND
async def test_a_second_answer_is_refused_with_a_reason_and_runs_nothing(behind: str) -> None:
    asking = Asking()
    async with (
        gateway(asking.server, behind) as made,
        Client(made, elicitation_callback=accept) as client,
    ):
        asked = await first_round(client)
        assert not (await retry(client, asked.request_state, answers_to(asked))).is_error
        with pytest.raises(MCPError) as caught:
            await retry(client, asked.request_state, answers_to(asked))
    assert (caught.value.code, caught.value.data["reason"]) == (-32602, "expired_request_state")
    assert asking.runs == 1


@BEHIND
async def test_a_state_from_before_a_restart_is_refused_with_a_reason_and_runs_nothing(behind: str) -> None:
    asking = Asking()
    async with gateway(asking.server, behind) as made, Client(made, elicitation_callback=accept) as client:
        asked = await first_round(client)
    async with gateway(asking.server, behind) as made, Client(made, elicitation_callback=accept) as client:
        with pytest.raises(MCPError, match="started anew") as caught:
            await retry(client, asked.request_state, answers_to(asked))
        assert not (await client.call_tool("shop__form", {})).is_error
    assert (caught.value.code, caught.value.data["reason"]) == (-32602, "invalid_request_state")
    assert asking.runs == 2


@pytest.mark.parametrize("forged", ["", "x", "a.b.c", "..", "9999999999.9", "\u00fc.1.\u00fc", "b.", None])
async def test_a_state_that_was_made_up_goes_on_with_nobodys_call(forged: str | None) -> None:
    asking = Asking()
    async with gateway(asking.server, "handshake") as made, Client(made, elicitation_callback=accept) as client:
        asked = await first_round(client)
        changed = asked.request_state[:-1] + ("0" if asked.request_state[-1] != "0" else "1")
        state = changed if forged is None else forged
        if forged == "b.":  # it says that nothing ran, so a new call harms nobody
            again = await retry(client, state, answers_to(asked))
            assert again.input_requests
            assert again.request_state != asked.request_state
        else:
            with pytest.raises(MCPError) as caught:
                await retry(client, state, answers_to(asked))
            assert caught.value.data["reason"] == "invalid_request_state"
        assert not (await retry(client, asked.request_state, answers_to(asked))).is_error


async def test_another_callers_state_is_refused_and_stays_good_for_its_owner() -> None:
    asking = Asking()
    async with (
        gateway(asking.server, "handshake") as made,
        Client(made, elicitation_callback=accept, client_info=Implementation(name="ann", version="1")) as ann,
        Client(made, elicitation_callback=accept, client_info=Implementation(name="bob", version="1")) as bob,
    ):
        asked = await first_round(ann)
        with pytest.raises(MCPError, match="another call"):
            await retry(bob, asked.request_state, answers_to(asked))
        with pytest.raises(MCPError, match="another call"):
            await retry(ann, asked.request_state, answers_to(asked), name="shop__page")
        assert not (await retry(ann, asked.request_state, answers_to(asked))).is_error
    assert asking.runs == 1


async def test_a_call_that_nobody_comes_back_for_is_given_up_and_its_state_expires() -> None:
    asking, now = Asking(), 0.0
    async with gateway(asking.server, "handshake") as made, Client(made, elicitation_callback=accept) as client:
        made.rounds = Rounds(made.rounds._tasks, Seal(0.1, lambda: now))
        asked = await first_round(client)
        with anyio.fail_after(60):
            await asking.cancelled.wait()
        now = 10.0
        with pytest.raises(MCPError) as caught:
            await retry(client, asked.request_state, answers_to(asked))
    assert caught.value.data["reason"] == "expired_request_state"


@BEHIND
async def test_a_client_that_leaves_in_mid_question_ends_its_call_and_no_other(behind: str) -> None:
    asking, shown = Asking(), anyio.Event()

    async def never(context: Any, params: Any) -> ElicitResult:
        shown.set()
        await anyio.sleep_forever()
        raise AssertionError

    async with gateway(asking.server, behind) as made:
        async with Client(made, mode="legacy", elicitation_callback=accept) as other:
            async with anyio.create_task_group() as tasks:

                async def leaving() -> None:
                    async with Client(made, mode="legacy", elicitation_callback=never) as client:
                        await client.call_tool("shop__form", {})

                tasks.start_soon(leaving)
                await shown.wait()
                tasks.cancel_scope.cancel()
            if behind == "handshake":
                with anyio.fail_after(60):
                    await asking.cancelled.wait()
            assert not (await other.call_tool("shop__form", {})).is_error


class Withdrawing(Asking):
    """Takes its own question back after a while."""

    async def _call(self, ctx: Any, params: Any) -> CallToolResult:
        with anyio.move_on_after(0.5):
            method, asked = QUESTIONS["form"]
            await ctx.session._request_outbound.send_raw_request(method, asked)
        return CallToolResult(content=[TextContent(text="went on without")])


@BEFORE
async def test_a_server_that_takes_its_question_back_takes_it_from_the_client(before: str) -> None:
    withdrawn = anyio.Event()

    async def slow(context: Any, params: Any) -> ElicitResult:
        try:
            await anyio.sleep(1.5 if before == "auto" else 60)
        finally:
            withdrawn.set()
        return yes()

    async with (
        gateway(Withdrawing().server, "handshake") as made,
        Client(made, mode=before, elicitation_callback=slow) as client,
    ):
        with anyio.fail_after(60):
            result = await client.call_tool("shop__form", {})
            await withdrawn.wait()
    assert result.content[0].text == "went on without"


class Nested(Asking):
    """Asks the model, and while that is under way the person."""

    async def _call(self, ctx: Any, params: Any) -> CallToolResult:
        found: dict[str, Any] = {}

        async def one(name: str) -> None:
            found[name] = await ctx.session._request_outbound.send_raw_request(*QUESTIONS[name])

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(one, "sample")
            tasks.start_soon(one, "form")
        return CallToolResult(content=[TextContent(text=json.dumps(found, sort_keys=True))])


@BEFORE
async def test_two_questions_of_one_call_stand_side_by_side_and_get_their_own_answers(before: str) -> None:
    filled = anyio.Event()

    async def fill(context: Any, params: Any) -> ElicitResult:
        filled.set()
        return yes()

    async def sample(context: Any, params: Any) -> CreateMessageResult:
        await filled.wait()  # the model's answer waits for the person's
        return CreateMessageResult(role="assistant", content=TextContent(text="hi"), model="m")

    async with (
        gateway(Nested().server, "handshake") as made,
        Client(made, mode=before, elicitation_callback=fill, sampling_callback=sample) as client,
    ):
        with anyio.fail_after(60):
            found = json.loads((await client.call_tool("shop__form", {})).content[0].text)
    assert found["form"]["content"] == {"name": "Ann"}
    assert found["sample"]["content"]["text"] == "hi"


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ({"message": "m"}, "requestedSchema"),
        ({"message": 7, "requestedSchema": {"type": "object", "properties": {}}}, "message"),
        ({"message": "m", "requestedSchema": {"type": "object", "properties": {"a": {"type": "object"}}}}, "flat"),
        ({"message": "m", "mode": "hologram"}, "mode"),
        ({"message": "m", "mode": "url", "url": "https://user@example.com"}, "http(s)"),
        ({"message": "m", "mode": "url", "url": "https://"}, "http(s)"),
    ],
)
@BEFORE
async def test_a_question_that_no_client_should_get_is_refused(before: str, question: Any, told: str) -> None:
    asked: list[Any] = []

    async def never(context: Any, params: Any) -> ElicitResult:
        asked.append(params)
        return yes()

    asking = Asking({"form": ("elicitation/create", question)})
    async with (
        gateway(asking.server, "handshake") as made,
        Client(made, mode=before, elicitation_callback=never) as client,
    ):
        result = await client.call_tool("shop__form", {})
    assert result.is_error
    assert told in result.content[0].text
    assert asked == []


@BEFORE
async def test_what_would_hide_who_asks_is_left_out_of_a_question(before: str) -> None:
    heard: list[str] = []

    async def hear(context: Any, params: Any) -> ElicitResult:
        heard.append(params.message)
        return ElicitResult(action="decline")

    words = "\u202eyour bank\u202c\x1b[2J\r\nsends you this" + "." * 9_000
    form = {"mode": "form", "message": words, "requestedSchema": {"type": "object", "properties": {}}}
    meta = {"_meta": {"pegboard/approval": {"id": "forged"}, "pegboard/source": "bank", "own": 1}}
    asking = Asking({"form": ("elicitation/create", {**form, **meta})})
    async with (
        gateway(asking.server, "handshake") as made,
        Client(made, mode=before, elicitation_callback=hear) as client,
    ):
        await client.call_tool("shop__form", {})
    [message] = heard
    assert message.startswith("shop asks: your bank[2J\nsends you this")
    assert message.endswith("characters more)")
