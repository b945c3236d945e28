"""What the vendors' own SDKs take: their types for a request's tools and for answers, as checks."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from anthropic.types import ToolResultBlockParam, ToolUnionParam
from anthropic.types.tool_result_block_param import Content
from google.genai import types as genai
from openai.types.chat import ChatCompletionToolUnionParam
from openai.types.responses import ToolParam
from pydantic import BaseModel, TypeAdapter

_adapter = lru_cache(TypeAdapter)


def taken(kind: Any, value: Any) -> None:
    """The vendor's type takes the value and knows every key of it, and each block inside of it likewise."""
    found = _adapter(kind).validate_python(value)
    if isinstance(found, BaseModel):
        assert found.model_extra in (None, {})
        return
    assert set(found) == set(value)
    inside = {ToolResultBlockParam: (Content, "content"), ToolParam: (ToolParam, "tools")}.get(kind)
    for block in value.get(inside[1], ()) if inside else ():
        if isinstance(block, dict):
            taken(inside[0], block)  # the SDK's own list is lazy, and validates nothing before it is read


def _each(kind: Any) -> Callable[[list[dict[str, Any]]], None]:
    return lambda entries: [taken(kind, entry) for entry in entries] and None


def _gemini(entries: list[dict[str, Any]]) -> None:
    for entry in entries:
        found = genai.Tool.model_validate(entry)
        assert found.model_dump(exclude_none=True, by_alias=True, mode="json") == entry


ENTRIES: dict[str, Callable[[list[dict[str, Any]]], None]] = {
    "openai-responses": _each(ToolParam),
    "openai-responses-strict": _each(ToolParam),
    "openai-chat": _each(ChatCompletionToolUnionParam),
    "openai-chat-strict": _each(ChatCompletionToolUnionParam),
    "anthropic": _each(ToolUnionParam),
    "anthropic-strict": _each(ToolUnionParam),
    "bedrock": _each(ToolUnionParam),
    "gemini": _gemini,
    "gemini-json": _gemini,
}
"""Checks the entries of a request's `tools`, by dialect."""
