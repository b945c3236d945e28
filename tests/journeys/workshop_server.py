"""A real upstream with one tool of each kind that a gateway can get wrong. Runs over stdio, or `--http` for HTTP."""

import os
import sys
from base64 import b64decode, b64encode
from hashlib import sha256
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
from mcp.server.lowlevel.server import NotificationOptions, Server
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
PHOTO = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20
"""The head of a picture and as many bytes as make it large; nobody decodes it."""
ANY: dict[str, Any] = {"type": "object", "properties": {}}
TEXT: dict[str, Any] = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
DIARY = Path(os.environ.get("WORKSHOP_DIARY", os.devnull))

grown: list[str] = []
BUS = InMemorySubscriptionBus()


def text(words: str) -> types.TextContent:
    return types.TextContent(type="text", text=words)


def answer(*content: types.ContentBlock, **more: Any) -> types.CallToolResult:
    return types.CallToolResult(content=list(content), **more)


async def echo(_ctx: Any, arguments: dict[str, Any]) -> types.CallToolResult:
    return answer(text(arguments["text"]), structured_content={"text": arguments["text"]})


async def picture(_ctx: Any, _arguments: Any) -> types.CallToolResult:
    return answer(types.ImageContent(type="image", data=PIXEL, mime_type="image/png"))


async def sound(_ctx: Any, _arguments: Any) -> types.CallToolResult:
    return answer(types.AudioContent(type="audio", data="UklGRg==", mime_type="audio/wav"))


async def photo(_ctx: Any, _arguments: Any) -> types.CallToolResult:
    return answer(types.ImageContent(type="image", data=b64encode(PHOTO).decode(), mime_type="image/png"))


async def frame(_ctx: Any, arguments: dict[str, Any]) -> types.CallToolResult:
    return answer(text(f"{sha256(b64decode(arguments['photo'])).hexdigest()} {arguments['label']}"))


async def link(_ctx: Any, _arguments: Any) -> types.CallToolResult:
    return answer(types.ResourceLink(type="resource_link", uri="file:///report.txt", name="report"))


async def embedded(_ctx: Any, _arguments: Any) -> types.CallToolResult:
    inner = types.TextResourceContents(uri="file:///notes.txt", text="noted", mime_type="text/plain")
    return answer(types.EmbeddedResource(type="resource", resource=inner))


async def refuse(_ctx: Any, _arguments: Any) -> types.CallToolResult:
    return answer(text("The quota is used up."), is_error=True)


async def tagged(_ctx: Any, _arguments: Any) -> types.CallToolResult:
    return answer(text("tagged"), _meta={"example/colour": "green"})


async def steps(ctx: Any, _arguments: Any) -> types.CallToolResult:
    for step in (1, 2, 3):
        await ctx.session.report_progress(step, 3, f"step {step}")
    return answer(text("done"))


async def speak(ctx: Any, _arguments: Any) -> types.CallToolResult:
    for level in ("debug", "warning"):
        await ctx.session.send_log_message(level, f"at {level}", "workshop", ctx.request_id)
    return answer(text("spoken"))


async def wait(_ctx: Any, _arguments: Any) -> types.CallToolResult:
    DIARY.write_text("waiting")
    try:
        await anyio.sleep_forever()
    finally:
        DIARY.write_text("cancelled")
    raise AssertionError


async def grow(ctx: Any, _arguments: Any) -> types.CallToolResult:
    grown.append(f"grown_{len(grown) + 1}")
    await ctx.session.send_tool_list_changed()
    await BUS.publish(ToolsListChanged())
    return answer(text(grown[-1]))


async def big(_ctx: Any, arguments: dict[str, Any]) -> types.CallToolResult:
    return answer(text("ü" * (int(arguments["bytes"]) // 2)))


async def table(_ctx: Any, arguments: dict[str, Any]) -> types.CallToolResult:
    rows = [{"id": number, "note": "ü" * 50} for number in range(arguments["rows"])]
    return answer(structured_content={"rows": rows})


async def die(_ctx: Any, _arguments: Any) -> types.CallToolResult:
    os._exit(3)


async def pid(_ctx: Any, _arguments: Any) -> types.CallToolResult:
    return answer(text(str(os.getpid())))


TOOLS = {
    echo: ("Say a text back, as structured content too.", TEXT),
    picture: ("Draw a picture of one pixel.", ANY),
    photo: ("Take a photo of some kilobytes.", ANY),
    frame: (
        "Frame a photo, and say which.",
        {
            "type": "object",
            "properties": {"photo": {"type": "string", "contentEncoding": "base64"}, "label": {"type": "string"}},
            "required": ["photo", "label"],
        },
    ),
    sound: ("Play a short sound.", ANY),
    link: ("Give a link to a resource.", ANY),
    embedded: ("Give a resource, embedded.", ANY),
    refuse: ("Fail, as a tool fails.", ANY),
    tagged: ("Answer with metadata of its own.", ANY),
    steps: ("Report progress three times.", ANY),
    speak: ("Write log messages of two levels.", ANY),
    wait: ("Wait until cancelled, and write that into the diary.", ANY),
    grow: ("Offer one more tool, and say so.", ANY),
    big: ("Answer with many bytes.", {"type": "object", "properties": {"bytes": {"type": "integer"}}}),
    table: ("Answer with many rows.", {"type": "object", "properties": {"rows": {"type": "integer"}}}),
    die: ("End the process in the middle of the call.", ANY),
    pid: ("Tell the process id.", ANY),
}
HANDLERS = {handler.__name__: handler for handler in TOOLS}
READERS = ("echo", "pid")


async def list_tools(_ctx: Any, _params: Any) -> types.ListToolsResult:
    rows = [
        types.Tool(
            name=handler.__name__,
            description=description,
            input_schema=schema,
            annotations=types.ToolAnnotations(read_only_hint=True) if handler.__name__ in READERS else None,
            output_schema=TEXT if handler is echo else None,
        )
        for handler, (description, schema) in TOOLS.items()
    ]
    rows += [types.Tool(name=name, description=f"Grown: {name}.", input_schema=ANY) for name in grown]
    return types.ListToolsResult(tools=rows)


async def call_tool(ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
    handler = HANDLERS.get(params.name)
    if handler is not None:
        return await handler(ctx, params.arguments or {})
    if params.name in grown:
        return answer(text(f"I am {params.name}"))
    return answer(text(f"Unknown tool: {params.name}"), is_error=True)


async def set_level(_ctx: Any, _params: Any) -> types.EmptyResult:
    return types.EmptyResult()


def server() -> Server[Any]:
    made = Server("workshop", on_list_tools=list_tools, on_call_tool=call_tool)
    made.add_request_handler("subscriptions/listen", types.SubscriptionsListenRequestParams, ListenHandler(BUS))
    made.add_request_handler("logging/setLevel", types.SetLevelRequestParams, set_level)
    return made


async def main() -> None:
    made = server()
    options = made.create_initialization_options(NotificationOptions(tools_changed=True))
    async with stdio_server() as (read, write):
        await made.run(read, write, options)


def main_http() -> None:
    import socket

    import uvicorn

    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.bind(("127.0.0.1", int(sys.argv[2]) if len(sys.argv) > 2 else 0))
    listening.listen()
    sys.stdout.write(f"http://127.0.0.1:{listening.getsockname()[1]}/mcp\n")
    sys.stdout.flush()
    uvicorn.Server(uvicorn.Config(server().streamable_http_app(), log_level="error")).run(sockets=[listening])


if __name__ == "__main__":
    main_http() if "--http" in sys.argv else anyio.run(main)
