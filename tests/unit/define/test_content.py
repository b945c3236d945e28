"""Pictures, sounds, files and links are content; all else is JSON."""

from base64 import b64encode
from typing import Any

import pytest
from mcp_types import ImageContent, TextContent

from pegboard import Audio, Call, File, Image, Link, Result, Text, tool

pytestmark = pytest.mark.anyio

PNG = b"\x89PNG\r\n\x1a\n...."
ENCODED = b64encode(PNG).decode()


async def returned(value: Any) -> Result:
    @tool
    async def f() -> Any:
        return value

    return await f.tool.handler(Call(tool=f.name, arguments={}))


@pytest.mark.parametrize(
    ("value", "blocks"),
    [
        (PNG, [{"type": "image", "data": ENCODED, "mimeType": "image/png"}]),
        (Image(PNG), [{"type": "image", "data": ENCODED, "mimeType": "image/png"}]),
        (Image(b"?", "image/x"), [{"type": "image", "data": "Pw==", "mimeType": "image/x"}]),
        (Audio(b"?"), [{"type": "audio", "data": "Pw==", "mimeType": "audio/wav"}]),
        (
            b"?",
            [
                {
                    "type": "resource",
                    "resource": {"uri": "pegboard://result", "mimeType": "application/octet-stream", "blob": "Pw=="},
                }
            ],
        ),
        (
            File("file:///a.csv", "x,y"),
            [{"type": "resource", "resource": {"uri": "file:///a.csv", "mimeType": "text/csv", "text": "x,y"}}],
        ),
        (
            Link("file:///a", "a", description="An a."),
            [{"type": "resource_link", "uri": "file:///a", "name": "a", "description": "An a."}],
        ),
        (
            [Text("hello"), "plain", {"a": 1}],
            [
                {"type": "text", "text": "hello"},
                {"type": "text", "text": "plain"},
                {"type": "text", "text": '{"a":1}'},
            ],
        ),
        (TextContent(text="from the SDK"), [{"type": "text", "text": "from the SDK"}]),
        (
            [ImageContent(data="AAAA", mime_type="image/png")],
            [{"type": "image", "data": "AAAA", "mimeType": "image/png"}],
        ),
    ],
)
async def test_content_becomes_blocks(value: Any, blocks: list[Any]) -> None:
    result = await returned(value)
    assert list(result.content) == blocks
    assert result.value is None


@pytest.mark.parametrize("value", ["text", 1, {"type": "text", "text": "data of ours"}, [], None, [1, "a"]])
async def test_plain_data_is_a_value(value: Any) -> None:
    result = await returned(value)
    assert result.value == value
    assert result.content == ()


async def test_a_tool_that_returns_content_declares_no_output() -> None:
    @tool
    def one() -> Image:
        return Image(b"")

    @tool
    def several() -> list[Image | Text]:
        return []

    assert one.spec.output is None
    assert several.spec.output is None
