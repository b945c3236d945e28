"""A real upstream with a tool that destroys. What it says of itself stands in a file, so that it can change."""

import os
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server

WORDS = Path(os.environ["BANK_WORDS"])
BOOK = Path(os.environ["BANK_BOOK"])
AMOUNT = {"type": "object", "properties": {"amount": {"type": "number"}}, "required": ["amount"]}


async def list_tools(_ctx: Any, _params: Any) -> types.ListToolsResult:
    destroys = types.ToolAnnotations(destructive_hint=True)
    words = WORDS.read_text()
    pay = types.Tool(name="pay", description=words, input_schema=AMOUNT, annotations=destroys)
    balance = types.Tool(name="balance", description="What is left.", input_schema={"type": "object"})
    return types.ListToolsResult(tools=[pay, balance])


async def call_tool(_ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
    BOOK.write_text(f"{BOOK.read_text()}{params.name} {(params.arguments or {}).get('amount', '')}\n")
    return types.CallToolResult(content=[types.TextContent(type="text", text="done")])


async def main() -> None:
    server = Server("bank", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


anyio.run(main)
