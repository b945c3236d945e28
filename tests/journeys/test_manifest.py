"""The example manifest of document 000, as it stands: read, lowered to every dialect, deferred, found, called by models
that speak four APIs."""

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from anthropic import AsyncAnthropic
from google import genai
from model_kit import Model, serving
from openai import AsyncOpenAI
from tests.checkers.dialects import faults

from pegboard.board import Board
from pegboard.config import parse
from pegboard.core import FailureCode, Session, ToolName
from pegboard.schema.lower import DIALECTS, lower
from pegboard.schema.raise_ import raise_arguments
from pegboard.surface import anthropic, gemini, openai_chat, openai_responses

pytestmark = pytest.mark.anyio

STATES = ["running", "paused", "failed", "all"]
MANIFEST: dict[str, Any] = {
    "name": "list_pipelines",
    "description": "List all data pipelines in the warehouse, optionally filtered by status.",
    "input_schema": {
        "type": "object",
        "properties": {"status": {"type": "string", "enum": STATES, "default": "all"}},
        "required": [],
    },
    "defer_loading": True,
}
OTHERS = [
    {"name": "pause_pipeline", "description": "Pause one data pipeline.", "python": "warehouse:pause"},
    {"name": "list_tables", "description": "List the tables of the warehouse.", "python": "warehouse:tables"},
]
MODULE = """
CALLS = []

def pipelines(status: str = "all") -> list[str]:
    CALLS.append(status)
    return ["invoices"] if status == "failed" else ["invoices", "orders"]

def pause() -> None: ...
def tables() -> None: ...
"""


def board(folder: Path, *rows: dict[str, Any], **settings: Any) -> Board:
    (folder / "warehouse.py").write_text(MODULE)
    (folder / "tools.json").write_text(json.dumps(rows))
    config = {"board": {"store": ":memory:", **settings}, "sources": {"warehouse": {"manifest": "tools.json"}}}
    return Board.open(parse(config, folder=folder))


async def test_it_is_read_as_it_stands_and_says_that_it_is_bound_to_nothing(tmp_path: Path) -> None:
    async with board(tmp_path, MANIFEST) as held:
        [spec] = held.catalog.specs
        assert (spec.name, spec.description) == (ToolName("warehouse", "list_pipelines"), MANIFEST["description"])
        assert spec.input == MANIFEST["input_schema"]
        assert spec.defer is True
        result = await held.call("list_pipelines")
        assert result.failure is not None
        assert result.failure.code is FailureCode.UNAVAILABLE
        assert "manifest" in (result.failure.next_step or "")


@pytest.mark.parametrize("dialect", [name for name in DIALECTS if name != "codex"])
def test_every_provider_takes_it_and_the_default_comes_back_as_absence(dialect: str) -> None:
    found = lower(MANIFEST["input_schema"], dialect)
    assert (found.refused, found.losses) == (None, ())
    assert faults(dialect, found.schema, strict=found.strict) == []
    assert found.strict is dialect.endswith("strict")
    if dialect.startswith("openai") and found.strict:
        assert found.schema is not None
        assert found.schema["required"] == ["status"]
        assert raise_arguments(found, {"status": None}).value == {}
    assert raise_arguments(found, {}).value == {}
    assert raise_arguments(found, {"status": "failed"}).value == {"status": "failed"}
    assert [one.pointer for one in raise_arguments(found, {"status": "odd"}).violations] == ["/status"]


async def ask_responses(offered: Callable[[], Any], answer: Callable[..., Any]) -> str:
    items: list[Any] = [{"role": "user", "content": "?"}]
    while True:
        offer = offered()
        reply = await AsyncOpenAI().responses.create(model="m", input=items, tools=offer.tools)
        items += reply.output
        found = [done for item in reply.output if (done := await answer(item, offer)) is not None]
        if not found:
            return reply.output_text
        items += found


async def ask_chat(offered: Callable[[], Any], answer: Callable[..., Any]) -> str:
    messages: list[Any] = [{"role": "user", "content": "?"}]
    while True:
        offer = offered()
        reply = await AsyncOpenAI().chat.completions.create(model="m", messages=messages, tools=offer.tools)
        message = reply.choices[0].message
        messages.append(message)
        if not message.tool_calls:
            return str(message.content)
        messages += [await answer(item, offer) for item in message.tool_calls]


async def ask_anthropic(offered: Callable[[], Any], answer: Callable[..., Any]) -> str:
    messages: list[Any] = [{"role": "user", "content": "?"}]
    while True:
        offer = offered()
        reply = await AsyncAnthropic().messages.create(model="m", max_tokens=9, messages=messages, tools=offer.tools)
        messages.append({"role": "assistant", "content": reply.content})
        found = [done for item in reply.content if (done := await answer(item, offer)) is not None]
        if not found:
            return str(reply.content[-1].text)  # type: ignore[union-attr]
        messages.append({"role": "user", "content": found})


async def ask_gemini(offered: Callable[[], Any], answer: Callable[..., Any]) -> str:
    contents: list[Any] = [{"role": "user", "parts": [{"text": "?"}]}]
    while True:
        offer = offered()
        config: Any = {"tools": offer.tools}
        reply = await genai.Client().aio.models.generate_content(model="m", contents=contents, config=config)
        content = reply.candidates[0].content  # type: ignore[index]
        contents.append(content)
        found = [done for part in content.parts if (done := await answer(part, offer)) is not None]  # type: ignore[union-attr]
        if not found:
            return str(reply.text)
        contents.append({"role": "user", "parts": found})


WAYS: list[tuple[str, ModuleType, Callable[..., Any], dict[str, Any]]] = [
    ("openai-responses", openai_responses, ask_responses, {}),
    ("openai-responses-strict", openai_responses, ask_responses, {}),
    ("openai-responses", openai_responses, ask_responses, {"search": "tools", "namespaces": False}),
    ("openai-chat", openai_chat, ask_chat, {}),
    ("openai-chat-strict", openai_chat, ask_chat, {}),
    ("anthropic", anthropic, ask_anthropic, {}),
    ("anthropic-strict", anthropic, ask_anthropic, {}),
    ("bedrock", anthropic, ask_anthropic, {}),
    ("gemini", gemini, ask_gemini, {}),
    ("gemini-json", gemini, ask_gemini, {}),
]


@pytest.mark.slow
@pytest.mark.requirement("D0.1", "D5.1", "D5.3", "D11.2")
@pytest.mark.parametrize(("to", "surface", "ask", "options"), WAYS, ids=[f"{w[0]}-{'-'.join(w[3])}" for w in WAYS])
async def test_a_model_finds_it_by_what_it_does_and_calls_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, to: str, surface: Any, ask: Any, options: dict[str, Any]
) -> None:
    session = Session("s")
    rows = [{**MANIFEST, "python": "warehouse:pipelines"}, *OTHERS]
    model = Model("list_pipelines", "failed pipelines", {"status": "failed"})
    with serving(model):
        for name, value in model.environment.items():
            monkeypatch.setenv(name, value)
        async with board(tmp_path, *rows, search="on") as held:

            async def answer(item: Any, offer: Any) -> Any:
                call = surface.call(item, offer, session=session)
                return None if call is None else surface.output(item, await held.run(call), offer)

            text = await ask(lambda: surface.tools(held.view(session), to=to, **options), answer)
    assert "invoices" in text
    assert "orders" not in text
    first = json.dumps(model.requests[0].get("tools"))
    assert ("list_pipelines" in first) is (to.startswith("anthropic"))  # there it goes along, deferred
    assert len(model.requests) == 3
