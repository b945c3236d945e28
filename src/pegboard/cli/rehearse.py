"""`serve --check`: the board talks to itself through a real client, and says what it saw."""

import json
from typing import Any

from pegboard.board import Board
from pegboard.cli.exit import Exit
from pegboard.cli.output import one_line, say
from pegboard.core import Effects, ToolSpec
from pegboard.schema.types import JsonObject

QUERY = "show what changed in the repository"


async def talk(board: Board, address: str, token: str | None) -> Exit:
    """List, search and call through the gateway at an address, in both protocol families.

    Returns:
        OK if every answer was right.
    """
    from pegboard.wire.probe import probe

    faults: list[str] = []
    for legacy in (False, True):
        async with probe(address, token=token, legacy=legacy) as client:
            say(f"As a client, in protocol {client.protocol} with {client.server}:")
            faults += await _talk(board, client)
    for fault in faults:
        say(f"  ! {fault}")
    say("The check failed." if faults else "The check passed.")
    return Exit.FINDING if faults else Exit.OK


async def _talk(board: Board, client: Any) -> list[str]:
    names = [row["name"] for row in await client.tools()]
    say(f"  list    {len(names)} entries: {', '.join(names[:4])}{' ...' if len(names) > 4 else ''}")
    faults = [] if names else ["The list is empty."]
    if "tool_search" in names:
        faults += await _search(client)
    for spec in _harmless(board):
        faults += await _call(client, board.aliases[spec.name])
    return faults


async def _search(client: Any) -> list[str]:
    answer = await client.call("tool_search", {"query": QUERY})
    structured: JsonObject = answer.get("structuredContent") or {}
    groups: list[Any] = structured.get("namespaces", [])
    found = [row["name"] for group in groups for row in group["tools"]]
    say(f"  search  {QUERY!r}: {', '.join(found[:3]) or 'nothing'}")
    return ["The search failed."] if answer.get("isError") or not groups else []


async def _call(client: Any, name: str) -> list[str]:
    answer = await client.call(name, {})
    say(f"  call    {name}: {_shown(answer)}")
    return [f"The call of {name} failed."] if answer.get("isError") else []


def _shown(answer: JsonObject) -> str:
    blocks: list[JsonObject] = answer.get("content") or [{}]
    text = one_line(blocks[0].get("text") or json.dumps(answer.get("structuredContent")))
    return text if len(text) <= 90 else text[:89] + "…"


def _harmless(board: Board) -> list[ToolSpec]:
    """One tool of each namespace that only reads and needs no arguments."""
    found: dict[str, ToolSpec] = {}
    for spec in board.catalog.specs:
        reads = spec.effects is Effects.READ_ONLY or spec.annotations.get("readOnlyHint") is True
        if reads and not spec.input.get("required") and spec.source.kind != "recorded":
            found.setdefault(spec.name.namespace, spec)
    return list(found.values())
