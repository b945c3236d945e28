"""Servers that ask reach the client that can answer, in each family and across, and nobody else."""

import json
from collections.abc import AsyncGenerator, Collection
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp_types import CreateMessageResult, ElicitResult, ErrorData, ListRootsResult, Root, TextContent

from pegboard.board import Board
from pegboard.board.gateway import served
from pegboard.sources.mcp import McpSource

from .asking_server import Asking

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.parametrize("behind", ["handshake", "modern"]),
    pytest.mark.parametrize("before", ["legacy", "auto"]),
]
ALL = ("elicitation", "sampling", "roots")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Person:
    """A client's callbacks, and what they were asked."""

    def __init__(self, **answers: Any) -> None:
        self.answers = answers
        self.asked: list[Any] = []

    async def elicit(self, context: Any, params: Any) -> Any:
        self.asked.append(params)
        found = self.answers["elicit"]
        return found[min(len(self.asked), len(found)) - 1] if isinstance(found, list) else found

    async def sample(self, context: Any, params: Any) -> Any:
        self.asked.append(params)
        return self.answers["sample"]

    async def roots(self, context: Any) -> Any:
        self.asked.append("roots")
        return ListRootsResult(roots=[Root(uri="file:///work", name="work")])

    def callbacks(self) -> dict[str, Any]:
        known = {"elicit": "elicitation_callback", "sample": "sampling_callback", "roots": "list_roots_callback"}
        return {known[name]: getattr(self, name) for name in self.answers}


@asynccontextmanager
async def bridged(
    server: Asking, before: str, behind: Any, person: Person, may_ask: Collection[str] = ALL, **options: Any
) -> AsyncGenerator[Client]:
    source = McpSource("shop", server.server, family=behind, may_ask=may_ask, **options)
    async with (
        Board.of(source) as board,
        served(board) as gateway,
        Client(gateway, mode=before, **person.callbacks()) as client,
    ):
        yield client


def said(result: Any) -> Any:
    assert not result.is_error, result.content
    return json.loads(result.content[0].text)


def code(result: Any) -> str:
    assert result.is_error
    return result.meta["pegboard/failure"]["code"]


def yes(**content: Any) -> ElicitResult:
    return ElicitResult(action="accept", content=content)


async def test_a_form_is_shown_and_its_answer_travels_back(before: str, behind: str) -> None:
    server, person = Asking(), Person(elicit=yes(name="Ann", age=3))
    async with bridged(server, before, behind, person) as client:
        answer = said(await client.call_tool("shop__form", {}))
    assert answer == {"action": "accept", "content": {"name": "Ann", "age": 3}}
    [question] = person.asked
    assert question.message == "shop asks: Who are you?"
    assert question.meta["pegboard/source"] == "shop"
    assert server.runs == 1


@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_a_no_travels_back_too(before: str, behind: str, action: Any) -> None:
    async with bridged(Asking(), before, behind, Person(elicit=ElicitResult(action=action))) as client:
        assert said(await client.call_tool("shop__form", {})) == {"action": action}


async def test_a_sample_and_roots_travel_back(before: str, behind: str) -> None:
    sample = CreateMessageResult(role="assistant", content=TextContent(text="hi"), model="m", stop_reason="endTurn")
    server, person = Asking(), Person(sample=sample, roots=True)
    async with bridged(server, before, behind, person) as client:
        assert said(await client.call_tool("shop__sample", {}))["content"]["text"] == "hi"
        assert said(await client.call_tool("shop__roots", {}))["roots"] == [{"name": "work", "uri": "file:///work"}]
    assert "'shop'" in person.asked[0].system_prompt


async def test_what_is_declared_to_the_server_is_what_the_client_declared(before: str, behind: str) -> None:
    server, person = Asking(), Person(elicit=yes(name="Ann"), roots=True)
    async with bridged(server, before, behind, person) as client:
        await client.call_tool("shop__form", {})
    assert server.seen
    for declared in server.seen:
        assert set(declared) == {"elicitation", "roots"}


async def test_an_address_is_shown_with_the_name_of_who_asks(before: str, behind: str) -> None:
    server, person = Asking(), Person(elicit=ElicitResult(action="accept"))
    async with bridged(server, before, behind, person) as client:
        assert said(await client.call_tool("shop__page", {})) == {"action": "accept"}
    [question] = person.asked
    assert (question.mode, question.url) == ("url", "https://example.com/in")
    assert question.message == "shop asks: Sign in."


async def test_an_address_that_is_no_page_is_never_shown(before: str, behind: str) -> None:
    server, person = Asking(), Person(elicit=ElicitResult(action="accept"))
    async with bridged(server, before, behind, person) as client:
        result = await client.call_tool("shop__evil_page", {})
    assert result.is_error
    assert "http(s) address" in result.content[0].text
    assert person.asked == []


async def test_a_form_filled_in_wrongly_is_put_again_with_what_is_wrong(before: str, behind: str) -> None:
    server, person = Asking(), Person(elicit=[yes(name="A"), yes(name="Ann")])
    async with bridged(server, before, behind, person) as client:
        assert said(await client.call_tool("shop__form", {}))["content"] == {"name": "Ann"}
    assert "/name" in person.asked[1].message
    assert server.runs == 1


async def test_who_never_fills_a_form_in_rightly_gets_a_failure_that_says_so(before: str, behind: str) -> None:
    server, person = Asking(), Person(elicit=yes(name="A"))
    async with bridged(server, before, behind, person) as client:
        result = await client.call_tool("shop__form", {})
    assert result.is_error
    assert "/name" in result.content[0].text
    assert len(person.asked) == 3


async def test_a_client_that_cannot_be_asked_gets_a_failure_with_a_next_step(before: str, behind: str) -> None:
    server = Asking()
    async with bridged(server, before, behind, Person()) as client:
        with anyio.fail_after(60):
            result = await client.call_tool("shop__form", {})
    assert result.is_error
    assert server.seen[-1] == {}
    if behind == "modern":
        assert code(result) == "upstream"
        assert "may_ask" in result.meta["pegboard/failure"]["next_step"]
    else:
        assert "elicitation/create" in result.content[0].text


async def test_what_the_config_does_not_let_a_server_ask_it_may_not(before: str, behind: str) -> None:
    sample = CreateMessageResult(role="assistant", content=TextContent(text="hi"), model="m")
    server, person = Asking(), Person(elicit=yes(name="Ann"), sample=sample)
    async with bridged(server, before, behind, person, may_ask=["elicitation"]) as client:
        assert (await client.call_tool("shop__sample", {})).is_error
        assert set(server.seen[-1]) == {"elicitation"}
    assert person.asked == []


async def test_sampling_is_off_where_the_config_says_nothing(before: str, behind: Any) -> None:
    sample = CreateMessageResult(role="assistant", content=TextContent(text="hi"), model="m")
    server, person = Asking(), Person(sample=sample, roots=True)
    source = McpSource("shop", server.server, family=behind)
    async with (
        Board.of(source) as board,
        served(board) as gateway,
        Client(gateway, mode=before, **person.callbacks()) as client,
    ):
        assert (await client.call_tool("shop__sample", {})).is_error
        assert said(await client.call_tool("shop__roots", {}))["roots"]


async def test_a_client_that_refuses_ends_the_call_and_not_the_connection(before: str, behind: str) -> None:
    if before == "auto":
        pytest.skip("a client of the stateless family ends such a call by itself")
    server, person = Asking(), Person(sample=ErrorData(code=-1, message="User rejected sampling"))
    async with bridged(server, before, behind, person) as client:
        with anyio.fail_after(60):
            result = await client.call_tool("shop__sample", {})
        assert "User rejected sampling" in result.content[0].text
        if behind == "modern":
            assert code(result) == "declined"


async def test_a_call_that_nobody_answers_ends_with_its_time(before: str, behind: str) -> None:
    class Silent(Person):
        async def elicit(self, context: Any, params: Any) -> Any:
            await anyio.sleep_forever()

    server = Asking()
    async with bridged(server, before, behind, Silent(elicit=True), call_timeout=1) as client:
        with anyio.fail_after(60):
            if before == "legacy":
                assert code(await client.call_tool("shop__form", {})) == "timeout"
                return
            first = await client.session.call_tool("shop__form", {}, allow_input_required=True)
            await anyio.sleep(1.2)
            late = await client.session.call_tool(
                "shop__form",
                {},
                request_state=first.request_state,
                input_responses={next(iter(first.input_requests)): yes()},
            )
            assert code(late) == "timeout"
    assert server.runs == 1


async def test_who_stops_a_call_stops_what_it_asked(before: str, behind: str) -> None:
    shown, withdrawn = anyio.Event(), anyio.Event()

    class Slow(Person):
        async def elicit(self, context: Any, params: Any) -> Any:
            shown.set()
            try:
                await anyio.sleep_forever()
            finally:
                withdrawn.set()

    server = Asking()
    async with bridged(server, before, behind, Slow(elicit=True)) as client:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.call_tool, "shop__form", {})
            with anyio.fail_after(60):
                await shown.wait()
            tasks.cancel_scope.cancel()
        with anyio.fail_after(60):
            await withdrawn.wait()
            if behind == "handshake" and before == "legacy":
                await server.cancelled.wait()


async def test_many_calls_wait_side_by_side_and_each_gets_its_own_answer(before: str, behind: str) -> None:
    class Crowd(Person):
        def __init__(self) -> None:
            super().__init__(elicit=True)
            self.all = anyio.Event()

        async def elicit(self, context: Any, params: Any) -> Any:
            self.asked.append(params)
            number = len(self.asked)
            if number == 100:
                self.all.set()
            await self.all.wait()
            return yes(name=f"name {number}")

    server, person, answers = Asking(), Crowd(), list[Any]()
    async with bridged(server, before, behind, person) as client:

        async def one() -> None:
            answers.append(said(await client.call_tool("shop__form", {}))["content"]["name"])

        with anyio.fail_after(60):
            async with anyio.create_task_group() as callers:
                for _ in range(100):
                    callers.start_soon(one)
    assert len(set(answers)) == server.runs == 100
