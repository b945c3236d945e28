"""Any rows of tools, any items of a model, any results: no surface crashes, and all that it makes can be sent."""

import json
from types import ModuleType
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.checkers.vendors import ENTRIES
from tests.property.schemas import any_json, broken_schemas

from pegboard.catalog import AliasTable, View
from pegboard.core import Failure, FailureCode, Result, SourceRef
from pegboard.normalise import normalise_all
from pegboard.surface import anthropic, gemini, openai_chat, openai_responses
from pegboard.surface.targets import offer

SETTINGS = settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
MODULES: dict[str, ModuleType] = {
    **dict.fromkeys(("openai-responses", "openai-responses-strict"), openai_responses),
    **dict.fromkeys(("openai-chat", "openai-chat-strict"), openai_chat),
    **dict.fromkeys(("anthropic", "anthropic-strict", "bedrock"), anthropic),
    **dict.fromkeys(("gemini", "gemini-json"), gemini),
}
names = st.text(min_size=1, max_size=8) | st.sampled_from(["tool_search", "a.b", "a__b", "web", "x" * 90, "\ud800"])
rows = st.fixed_dictionaries(
    {"name": names, "inputSchema": broken_schemas() | any_json},
    optional={
        "description": st.text(max_size=20) | any_json,
        "namespace": names,
        "outputSchema": any_json,
        "input_examples": st.lists(any_json, max_size=2),
        "annotations": any_json,
        "type": st.sampled_from(["function", "custom", "odd"]),
        "format": any_json,
        "_meta": any_json,
    },
)
blocks = st.fixed_dictionaries(
    {"type": st.sampled_from(["text", "image", "audio", "resource", "resource_link", "odd"])},
    optional={"text": any_json, "data": st.text(max_size=8), "mimeType": st.sampled_from(["image/png", "a/b", ""]),
              "resource": any_json, "uri": st.text(max_size=5), "name": st.text(max_size=5)},
)  # fmt: skip
words = st.none() | st.text(max_size=5)
failures = st.builds(Failure, st.sampled_from(FailureCode), st.text(max_size=5), next_step=words)
results = st.builds(
    Result, value=any_json, content=st.lists(blocks, max_size=3).map(tuple), failure=st.none() | failures
)


def view(found: list[Any], deferred: int) -> View:
    specs, _ = normalise_all(found, namespace="n", source=SourceRef("n", "mcp"), trusted=False)
    aliases = AliasTable().extend(spec.name for spec in specs)
    return View(tuple(specs[deferred:]), tuple(specs[:deferred]), aliases=aliases)


def sendable(value: Any) -> None:
    json.dumps(value, ensure_ascii=False, allow_nan=False).encode()


@pytest.mark.slow
@SETTINGS
@given(st.lists(rows, max_size=4), st.integers(0, 1))
def test_any_rows_become_requests_that_can_be_sent(found: list[Any], deferred: int) -> None:
    seen = view(found, deferred)
    for target, check in ENTRIES.items():
        options = {"search": "hosted"} if target.startswith("openai-responses") else {}
        made = offer(seen, target, **options)
        sendable(made.tools)
        check(made.tools)
        json.dumps(made.to_json(), default=str)


def items(module: ModuleType, name: str, arguments: Any) -> list[dict[str, Any]]:
    text = json.dumps(arguments)
    if module is openai_responses:
        return [
            {"type": "function_call", "call_id": "c", "name": name, "namespace": "n", "arguments": text},
            {"type": "custom_tool_call", "call_id": "c", "name": name, "input": text},
            {"type": "tool_search_call", "call_id": "c", "execution": "client", "arguments": arguments},
        ]
    if module is openai_chat:
        return [{"type": "function", "id": "c", "function": {"name": name, "arguments": text}}]
    if module is anthropic:
        return [{"type": "tool_use", "id": "c", "name": name, "input": arguments}]
    return [{"functionCall": {"name": name, "args": arguments}}]


@pytest.mark.slow
@SETTINGS
@given(rows, any_json, results)
def test_any_item_becomes_a_call_and_any_result_an_answer(row: Any, arguments: Any, result: Result) -> None:
    seen = view([row], 0)
    for target, module in MODULES.items():
        made = offer(seen, target)
        wire = next(iter(seen.aliases.full), "none")
        for name in (wire, "nobodys", ""):
            for item in items(module, name, arguments):
                call = module.call(item, made)
                assert call is not None
                sendable(module.output(item, result, made))
