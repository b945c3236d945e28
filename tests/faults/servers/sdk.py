"""A well-behaved server on the public SDK: `python sdk.py stdio|http|sse`; over HTTP it prints its port first."""

import socket
import sys
from typing import Any

import anyio
import mcp_types as types
import uvicorn
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.sse import SseServerTransport
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Mount, Route

TOOLS: list[str] = ["echo", "picture", "grow", "slow"]
BUS = InMemorySubscriptionBus()


async def list_tools(_context: Any, _params: Any) -> types.ListToolsResult:
    tools = [types.Tool(name=name, input_schema={"type": "object"}) for name in TOOLS]
    return types.ListToolsResult(tools=tools)


async def call_tool(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
    if params.name == "picture":
        return types.CallToolResult(content=[types.ImageContent(type="image", data="AAAA", mime_type="image/png")])
    if params.name == "grow":
        TOOLS.append(f"new{len(TOOLS)}")
        await context.session.send_tool_list_changed()
        await BUS.publish(ToolsListChanged())
    if params.name == "slow":
        for step in range(3):
            await context.session.report_progress(step, 3)
    text = types.TextContent(type="text", text=str(params.arguments))
    return types.CallToolResult(content=[text], structured_content={"seen": params.arguments})


class Announcing(Server[Any]):
    """A server that says in both families that its list may change."""

    def create_initialization_options(self, *_: Any, **__: Any) -> Any:
        return super().create_initialization_options(NotificationOptions(tools_changed=True))


SERVER = Announcing("sdk", on_list_tools=list_tools, on_call_tool=call_tool)
SERVER.add_request_handler("subscriptions/listen", types.SubscriptionsListenRequestParams, ListenHandler(BUS))


def sse_app() -> Starlette:
    transport = SseServerTransport("/messages/")

    async def connect(request: Any) -> Response:
        async with transport.connect_sse(request.scope, request.receive, request._send) as streams:
            await SERVER.run(*streams, SERVER.create_initialization_options())
        return Response()

    return Starlette(routes=[Route("/sse", connect), Mount("/messages/", transport.handle_post_message)])


async def over_stdio() -> None:
    async with stdio_server() as streams:
        await SERVER.run(*streams, SERVER.create_initialization_options())


def main() -> None:
    if sys.argv[1] == "stdio":
        anyio.run(over_stdio)
        return
    app = SERVER.streamable_http_app() if sys.argv[1] == "http" else sse_app()
    # The protocol is named, for asyncio turns off Nagle's delay only where it is.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    print(listener.getsockname()[1], flush=True)  # noqa: T201
    uvicorn.Server(uvicorn.Config(app, log_level="error")).run(sockets=[listener])


if __name__ == "__main__":
    main()
