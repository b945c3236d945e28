"""What a gateway adds to a call: direct, bare relay, Pegboard, and FastMCP's two proxies, side by side.

    python bench/gateway.py [--memory | --http] [--calls 1500] [--rounds 7]

Every path serves the same upstream (an SDK low-level server with one echo tool) to the same SDK client. The rounds
are interleaved, so that the machine's moods reach all paths alike; figures are medians over all calls of a path,
ratios are medians of the ratios within each round.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import anyio
import mcp_types as types
from mcp import Client
from mcp.server.lowlevel.server import Server
from mcp.server.mcpserver import MCPServer

SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
TEXT = "x" * 200
Once = Callable[[], Awaitable[object]]


def upstream() -> Server:
    """The server behind all paths."""

    async def list_tools(_ctx: object, _params: object) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[types.Tool(name="echo", description="Echo a text.", input_schema=SCHEMA)])

    async def call_tool(_ctx: object, params: types.CallToolRequestParams) -> types.CallToolResult:
        text = (params.arguments or {})["text"]
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=text)], structured_content={"text": text}
        )

    return Server("upstream", on_list_tools=list_tools, on_call_tool=call_tool)


def relay(client: Client) -> Server:
    """The least that a relay can be: an SDK server that forwards to an SDK client."""

    async def list_tools(_ctx: object, _params: object) -> types.ListToolsResult:
        return await client.list_tools()

    async def call_tool(_ctx: object, params: types.CallToolRequestParams) -> types.CallToolResult:
        return await client.call_tool(params.name, params.arguments)

    return Server("relay", on_list_tools=list_tools, on_call_tool=call_tool)


def shell(server: Server) -> MCPServer:
    """The same low-level server in the shape that FastMCP takes for an in-memory target."""
    wrapped = MCPServer(server.name)
    wrapped._lowlevel_server = server
    return wrapped


def fastmcp_proxy(target: object, mount: bool) -> Server:
    """FastMCP's proxy of a target, as it is or mounted under a namespace (its documented way to join servers)."""
    from fastmcp import FastMCP
    from fastmcp.server import create_proxy

    proxy = create_proxy(target)
    if mount:
        outer = FastMCP("outer")
        outer.mount(proxy, namespace="up")
        proxy = outer
    return proxy._mcp_server


@asynccontextmanager
async def board_over(target: object) -> AsyncIterator[object]:
    """Pegboard over a target: a server object or an address, with a store and traces as in real use."""
    from pegboard.board import Board
    from pegboard.board.gateway import served
    from pegboard.config import parse
    from pegboard.sources.mcp import McpSource

    with tempfile.TemporaryDirectory() as folder:
        sources = {"up": {"mcp": target}} if isinstance(target, str) else {}
        config = parse({"sources": sources, "board": {"store": folder}}, folder=Path(folder))
        board = Board.open(config, beside=[] if sources else [McpSource("up", target)])
        async with board, served(board) as server:
            yield server


async def paths_in_memory(stack: AsyncExitStack) -> dict[str, tuple[Client, str]]:
    """Each path's client and the name of the tool there."""
    behind = await stack.enter_async_context(Client(upstream()))
    return {
        "direct": (await stack.enter_async_context(Client(upstream())), "echo"),
        "bare relay": (await stack.enter_async_context(Client(relay(behind))), "echo"),
        "Pegboard": (
            await stack.enter_async_context(Client(await stack.enter_async_context(board_over(upstream())))),
            "up__echo",
        ),
        "FastMCP create_proxy": (
            await stack.enter_async_context(Client(fastmcp_proxy(shell(upstream()), mount=False))),
            "echo",
        ),
        "FastMCP mount(create_proxy)": (
            await stack.enter_async_context(Client(fastmcp_proxy(shell(upstream()), mount=True))),
            "up_echo",
        ),
    }


async def paths_over_http(stack: AsyncExitStack) -> dict[str, tuple[Client, str]]:
    """The same over HTTP: client, gateway and upstream are a process each."""
    address = process(stack, "upstream")
    gateways = {
        "bare relay": ("relay", "echo"),
        "Pegboard": ("pegboard", "up__echo"),
        "FastMCP create_proxy": ("fastmcp", "echo"),
        "FastMCP mount(create_proxy)": ("mounted", "up_echo"),
    }
    found = {"direct": (await stack.enter_async_context(Client(address)), "echo")}
    for path, (role, tool) in gateways.items():
        found[path] = (await stack.enter_async_context(Client(process(stack, role, address))), tool)
    return found


def process(stack: AsyncExitStack, *arguments: str) -> str:
    """Start this script in another role; returns the address that it serves at."""
    child = subprocess.Popen([sys.executable, __file__, "--role", *arguments], stdout=subprocess.PIPE, text=True)
    stack.callback(child.wait)
    stack.callback(child.terminate)
    assert child.stdout is not None
    return json.loads(child.stdout.readline())["address"]


async def serve(role: str, address: str | None) -> None:
    """Be one of the processes until told to stop."""
    async with AsyncExitStack() as stack:
        if role == "pegboard":
            await serve_board(stack, address)
            return
        if role == "upstream":
            server = upstream()
        elif role == "relay":
            server = relay(await stack.enter_async_context(Client(address)))
        else:
            from fastmcp import FastMCP
            from fastmcp.server import create_proxy

            proxy = create_proxy(address)
            if role == "mounted":
                outer = FastMCP("outer")
                outer.mount(proxy, namespace="up")
                proxy = outer
            await run_app(proxy.http_app(path="/mcp"))
            return
        await run_app(server.streamable_http_app())


async def serve_board(stack: AsyncExitStack, address: str | None) -> None:
    """Be the Pegboard gateway."""
    from pegboard.wire.server import http

    server = await stack.enter_async_context(board_over(address))
    await http.serve(server, port=0, ready=announce)


async def run_app(app: object) -> None:
    """Serve an ASGI application on a free port."""
    import socket

    import uvicorn

    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # named: no Nagle's delay
    listening.bind(("127.0.0.1", 0))
    listening.listen()
    announce(f"http://127.0.0.1:{listening.getsockname()[1]}/mcp")
    await uvicorn.Server(uvicorn.Config(app, log_level="error", access_log=False)).serve(sockets=[listening])


def announce(address: str) -> None:
    """Tell the measuring process where this one serves."""
    print(json.dumps({"address": address}), flush=True)


async def timed(client: Client, tool: str, calls: int) -> list[float]:
    """Seconds of so many calls, one after another."""
    seconds = []
    for _ in range(calls):
        begun = time.perf_counter()
        await client.call_tool(tool, {"text": TEXT})
        seconds.append(time.perf_counter() - begun)
    return seconds


async def measure(title: str, paths: dict[str, tuple[Client, str]], calls: int, rounds: int) -> None:
    """Run the rounds and print the table."""
    for client, tool in paths.values():
        answer = await client.call_tool(tool, {"text": TEXT})
        assert answer.structured_content == {"text": TEXT}, answer
        await timed(client, tool, 20)
    seconds: dict[str, list[list[float]]] = {path: [] for path in paths}
    for number in range(rounds):
        order = list(paths) if number % 2 == 0 else list(reversed(paths))
        for path in order:
            share = calls if not path.startswith("FastMCP") else max(10, calls // 10)
            seconds[path].append(await timed(*paths[path], share))
    report(title, seconds)


def report(title: str, seconds: dict[str, list[list[float]]]) -> None:
    """Print medians and ratios, with the goal beside each."""
    medians = {path: [statistics.median(batch) for batch in batches] for path, batches in seconds.items()}

    def ratio(path: str, base: str) -> float:
        return statistics.median(a / b for a, b in zip(medians[path], medians[base], strict=True))

    over = title == "in memory"
    goals = {
        "Pegboard": ("Pegboard", "bare relay", f"<= {1.25 if over else 1.2} x relay"),
        "FastMCP create_proxy": ("FastMCP create_proxy", "Pegboard", f">= {8 if over else 3} x Pegboard"),
        "FastMCP mount(create_proxy)": ("FastMCP mount(create_proxy)", "Pegboard", f">= {8 if over else 3} x Pegboard"),
    }
    print(f"\n{title}\n{'path':30}{'median ms':>10}{'p10 ms':>9}{'x direct':>10}   {'goal':20}{'measured':>9}")
    for path, batches in seconds.items():
        every = sorted(second for batch in batches for second in batch)
        line = f"{path:30}{statistics.median(every) * 1e3:10.3f}{every[len(every) // 10] * 1e3:9.3f}"
        line += f"{ratio(path, 'direct'):10.2f}"
        if path in goals:
            subject, base, goal = goals[path]
            line += f"   {goal:20}{ratio(subject, base):9.2f}"
        print(line)


async def main(options: argparse.Namespace) -> None:
    """Measure what was asked for."""
    if options.memory or not options.http:
        async with AsyncExitStack() as stack:
            await measure("in memory", await paths_in_memory(stack), options.calls, options.rounds)
    if options.http or not options.memory:
        async with AsyncExitStack() as stack:
            calls = max(50, options.calls // 15)
            await measure("over HTTP", await paths_over_http(stack), calls, options.rounds)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--http", action="store_true")
    parser.add_argument("--calls", type=int, default=1500)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--role", nargs="+", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.role:
        anyio.run(serve, arguments.role[0], arguments.role[1] if len(arguments.role) > 1 else None)
    else:
        anyio.run(main, arguments)
