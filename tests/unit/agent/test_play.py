"""A model works on a task until it is done or its budget is spent; over real HTTP on loopback."""

import json
import threading
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from pegboard.agent.model import Reply, ToolCall
from pegboard.agent.openai import OpenAiModel
from pegboard.agent.play import Answered, play
from pegboard.agent.suite import suite_of
from pegboard.board import Board
from pegboard.board.rehearsal import rehearse
from pegboard.errors import SourceError
from pegboard.testing import FakeSource

pytestmark = pytest.mark.anyio


class Scripted:
    """A model that says what it was told to."""

    def __init__(self, *replies: Reply) -> None:
        self.replies = list(replies)
        self.seen: list[tuple[list[Any], list[Any]]] = []

    async def __call__(self, messages: Sequence[Any], tools: Sequence[Any]) -> Reply:
        self.seen.append((list(messages), list(tools)))
        return self.replies.pop(0) if self.replies else Reply(text="done")


class Echo:
    """A kit with one tool that answers with its arguments."""

    def tools(self) -> list[Any]:
        return [{"type": "function", "function": {"name": "echo", "parameters": {"type": "object"}}}]

    async def call(self, call: ToolCall, group: str) -> Answered:
        message = {"role": "tool", "tool_call_id": call.id, "content": call.arguments}
        return Answered(tool="echo", arguments=json.loads(call.arguments), ok=True, message=message)


def ask(*names: str) -> Reply:
    return Reply(calls=tuple(ToolCall(id=f"c{at}", name=name, arguments="{}") for at, name in enumerate(names)))


async def test_a_run_ends_when_the_model_asks_for_nothing_more() -> None:
    model = Scripted(ask("echo", "echo"), ask("echo"))
    run = await play("do it", model, Echo(), run="r", task="t")
    assert [(call.tool, call.turn, call.group) for call in run.calls] == [
        ("echo", 0, "turn-0"),
        ("echo", 0, "turn-0"),
        ("echo", 1, None),
    ]
    assert (run.meta["stop_reason"], run.meta["output"], run.user_messages) == ("end_turn", "done", ("do it",))
    assert [message["role"] for message in model.seen[1][0]] == ["user", "assistant", "tool", "tool"]


async def test_the_budget_ends_a_run_even_in_the_middle_of_a_message() -> None:
    run = await play("do it", Scripted(ask("echo", "echo", "echo")), Echo(), run="r", budget=2)
    assert (len(run.calls), run.meta["stop_reason"]) == (2, "max_tool_calls")


@pytest.fixture
def endpoint() -> Iterator[Any]:
    """An OpenAI-compatible server on loopback that answers with the next of its answers."""
    answers: list[tuple[int, Any]] = []
    asked: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            asked.append({"path": self.path, "key": self.headers.get("Authorization"), **json.loads(body)})
            status, answer = answers.pop(0)
            text = answer.encode() if isinstance(answer, str) else json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_: Any) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/v1", answers, asked
        server.shutdown()
        thread.join()


def says(text: str = "", *names: str) -> tuple[int, Any]:
    calls = [
        {"id": f"c{at}", "type": "function", "function": {"name": name, "arguments": '{"q": "x"}'}}
        for at, name in enumerate(names)
    ]
    return 200, {"choices": [{"message": {"content": text or None, "tool_calls": calls}}], "usage": {"total_tokens": 7}}


async def test_a_suite_is_run_with_a_model_behind_http_and_judged(endpoint: Any) -> None:
    url, answers, asked = endpoint
    answers += [says("", "crm__find"), says("found"), says("", "crm__delete"), says("gone")]
    suite = suite_of(
        [
            {"id": "good", "prompt": "find x", "must_use": ["crm.find"], "at_most": 1},
            {"id": "bad", "prompt": "find y", "must_not_use": ["crm.delete"]},
        ],
        where="s",
        name="s",
    )
    async with Board.of(FakeSource("crm", {"find": "it", "delete": "done"})) as board:
        came_to = await rehearse(board, suite, OpenAiModel("m", url, key="k"))
    assert [outcome.verdict.passed for outcome in came_to.outcomes] == [True, False]
    assert {row["path"] for row in asked} == {"/v1/chat/completions"}
    assert (asked[0]["key"], asked[0]["model"]) == ("Bearer k", "m")
    assert {tool["function"]["name"] for tool in asked[0]["tools"]} == {"crm__find", "crm__delete"}
    assert asked[1]["messages"][-1]["content"] == "it"


@pytest.mark.parametrize(
    ("status", "answer", "says_"),
    [(500, "broken", "refuses with 500"), (200, "no json", "no JSON"), (200, {"choices": []}, "no message")],
)
async def test_a_model_that_answers_nonsense_is_an_error_with_its_address(
    endpoint: Any, status: int, answer: Any, says_: str
) -> None:
    url, answers, _ = endpoint
    answers.append((status, answer))
    with pytest.raises(SourceError, match=says_):
        await OpenAiModel("m", url)([], [])


async def test_a_model_that_is_not_there_is_an_error() -> None:
    with pytest.raises(SourceError, match="cannot be reached"):
        await OpenAiModel("m", "http://127.0.0.1:9/v1", timeout=2)([], [])
