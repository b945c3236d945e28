"""How soon a gateway answers when its servers are slow: 30 of them, 5 seconds each, from a stored catalog.

    python bench/coldstart.py [--rounds 5] [--servers 30] [--seconds 5]

A client starts the process over stdio, connects, and asks: a bare SDK server with one tool `tool_search`, and
`pegboard serve --stdio` on a board of slow servers whose catalog was stored by an earlier run. The time is from the
start of the process to the first answer of `tool_search`. Rounds are interleaved. Goal: within 0.5 s.
"""

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path

import anyio
from mcp import Client
from mcp.client.stdio import StdioServerParameters

BARE = """
import anyio, mcp_types as types
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server
SCHEMA = {"type": "object", "properties": {"query": {"type": "string"}}}
async def list_tools(ctx, params):
    return types.ListToolsResult(tools=[types.Tool(name="tool_search", input_schema=SCHEMA)])
async def call_tool(ctx, params):
    return types.CallToolResult(content=[types.TextContent(type="text", text="nothing")])
async def main():
    server = Server("bare", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())
anyio.run(main)
"""

SLOW = """
import sys, time
time.sleep(float(sys.argv[2]))
import anyio, mcp_types as types
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server
NOUNS = "issue invoice message event file order ticket contact".split()
async def list_tools(ctx, params):
    return types.ListToolsResult(tools=[
        types.Tool(name=f"{verb}_{noun}", description=f"{verb.capitalize()} the {noun} of server {sys.argv[1]}.",
                   input_schema={"type": "object", "properties": {f"{noun}_id": {"type": "string"}}})
        for noun in NOUNS[:4] for verb in ("create", "list")])
async def call_tool(ctx, params):
    return types.CallToolResult(content=[types.TextContent(type="text", text="done")])
async def main():
    async with stdio_server() as (read, write):
        server = Server("slow", on_list_tools=list_tools, on_call_tool=call_tool)
        await server.run(read, write, server.create_initialization_options())
anyio.run(main)
"""


def write_board(folder: Path, servers: int, seconds: float) -> Path:
    """A board of slow servers."""
    script = folder / "slow.py"
    script.write_text(SLOW)
    tables = [
        f'[sources.server{number}]\nmcp = ["{sys.executable}", "{script}", "{number}", "{seconds}"]'
        for number in range(servers)
    ]
    config = folder / "pegboard.toml"
    config.write_text("\n\n".join(tables))
    return config


async def first_answer(command: list[str], mode: str) -> float:
    """Seconds from the start of a process to its first answer of `tool_search`."""
    begun = time.perf_counter()
    target = StdioServerParameters(command=command[0], args=command[1:])
    async with Client(target, mode=mode) as client:
        await client.session.call_tool("tool_search", {"query": "list the open invoices"})
        return time.perf_counter() - begun


async def main(options: argparse.Namespace) -> None:
    """Store the catalog, then measure both in turn."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        bare = folder / "bare.py"
        bare.write_text(BARE)
        config = write_board(folder, options.servers, 0)
        pegboard = [sys.executable, "-m", "pegboard"]
        await anyio.run_process([*pegboard, "list", "--config", str(config)])
        # The stored catalog stays valid for the same commands: the servers become slow without a word.
        (folder / "slow.py").write_text(SLOW.replace("float(sys.argv[2])", str(options.seconds)))
        commands = {
            "bare SDK server": [sys.executable, str(bare)],
            "Pegboard": [*pegboard, "serve", "--stdio", "--config", str(config)],
        }
        found: dict[tuple[str, str], list[float]] = {}
        for _ in range(options.rounds):
            for mode in ("legacy", "auto"):
                for path, command in commands.items():
                    found.setdefault((path, mode), []).append(await first_answer(command, mode))
    print(f"{options.servers} servers of {options.seconds:g} s each; seconds to the first answer (median, least)")
    for (path, mode), seconds in found.items():
        line = f"{path:18}{mode:8}{statistics.median(seconds):8.2f}{min(seconds):8.2f}"
        if path == "Pegboard":
            base = found["bare SDK server", mode]
            later = statistics.median(a - b for a, b in zip(seconds, base, strict=True))
            line += f"   later by {later:.2f} (goal < 0.5)"
        print(line)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--servers", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=5.0)
    anyio.run(main, parser.parse_args())
