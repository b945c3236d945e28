"""`tool_search`: finds tools by what they do and loads their definitions."""

import json
from collections.abc import Sequence
from typing import Any

from pegboard.core import Call, Result, ToolSpec
from pegboard.discovery.answers import answer, definition, described, one_line
from pegboard.discovery.define import meta_spec
from pegboard.discovery.desk import Desk
from pegboard.index import Found
from pegboard.schema.types import Json, JsonObject

DEFAULT_LIMIT, MOST = 8, 50
GOOD, MOSTLY = 0.5, 0.75
"""A hit is good from this confidence on, or with its name and this share of the words; without one others are named."""

SPEC = meta_spec(
    "tool_search",
    "Find tools by what they do. Most tools of this server are not in your list: search for what you need, in a few"
    " words or by name. Answers with full definitions; every tool found can be called by its own name right away,"
    " or through tool_call. Search before you say that something cannot be done.",
    {
        "query": {"type": "string", "description": "What the tool should do, or its name."},
        "limit": {
            "type": "integer",
            "default": DEFAULT_LIMIT,
            "description": f"How many definitions to load, 1 to {MOST}.",
        },
    },
    required=("query",),
)


async def tool_search(desk: Desk, call: Call) -> Result:
    """Search, load what was found for the session, and answer with the definitions."""
    found = await desk.search(str(call.arguments.get("query", "")), clamp(call.arguments.get("limit")))
    view = desk.view(call.session)
    known = {spec.name for spec in (*view.direct, *view.loaded)}
    rows = [(hit.spec, definition(hit.spec, view)) for hit in found.hits]
    desk.load(call.session, [hit.name for hit in found.hits])
    new = [(spec, row) for spec, row in rows if spec.name not in known]
    value: dict[str, Any] = {
        "query": found.query,
        "confidence": round(found.confidence, 2),
        "namespaces": _grouped(rows, known),
        "next": [view.wire_name(name) for name in found.next_names],
        "unmatched_terms": list(found.unknown_terms),
        "did_you_mean": list(found.did_you_mean),
        "tokens_saved": max(0, desk.deferred_bytes() - sum(_size(row) for _, row in new)) // 4,
    }
    if not is_good(found):
        offered = await desk.openings.offers(found.query, call.session)
        value |= {"discoverables": [one.to_json() for one in offered]} if offered else {}
    return answer(value, _text(found, value))


def is_good(found: Found) -> bool:
    """Whether the best hit is one by its words: sure, or with its name and most of what was asked for."""
    if not found.hits:
        return False
    best = found.hits[0]
    words = {word for matched in best.matched.values() for word in matched}
    share = len(words) / (len(words) + len(best.unmatched)) if words else 0.0
    return best.confidence >= GOOD or ("name" in best.matched and share >= MOSTLY)


def clamp(number: Json, default: int = DEFAULT_LIMIT, most: int = MOST) -> int:
    """A number as models send it (8, 8.0, "8", 0, 10000, null) as an integer from 1 to `most`."""
    try:
        return min(max(int(float(number)), 1), most)
    except (TypeError, ValueError, OverflowError):
        return default


def _size(row: JsonObject) -> int:
    return len(json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode())


def _grouped(rows: Sequence[tuple[ToolSpec, JsonObject]], known: set[Any]) -> list[JsonObject]:
    groups: dict[str, list[JsonObject]] = {}
    for spec, row in rows:
        shown = {"name": row["name"], "already_loaded": True} if spec.name in known else row
        groups.setdefault(spec.name.namespace, []).append(shown)
    return [{"namespace": namespace, "tools": tools} for namespace, tools in groups.items()]


def _text(found: Found, value: JsonObject) -> str:
    parts = [_headline(found)]
    for group in value["namespaces"]:
        parts.append(f"## {group['namespace'] or 'tools without a namespace'}")
        parts += [_entry(row) for row in group["tools"]]
    if value["next"]:
        parts.append("Next hits, not loaded: " + ", ".join(value["next"]))
    if value["unmatched_terms"]:
        parts.append("Words that match no tool: " + ", ".join(value["unmatched_terms"]))
    if value["did_you_mean"]:
        parts.append("Did you mean: " + ", ".join(value["did_you_mean"]))
    if "discoverables" in value:
        parts += ["Not on this server, and can be asked for with request_plugin_install:"]
        parts += [offered(row) for row in value["discoverables"]]
    return "\n\n".join(parts)


def _headline(found: Found) -> str:
    if not found.hits:
        return f"No tool matches {found.query!r}. Try other words, or list_available_tools."
    noun = "tool" if len(found.hits) == 1 else "tools"
    return f"{len(found.hits)} {noun} for {found.query!r}, best first in each namespace. Call them by name."


def offered(row: JsonObject) -> str:
    """A discoverable on one line, with what a request of it needs."""
    named = f"tool_id {row['tool_id']!r}, tool_type {row['tool_type']}, action_type {row['action_type']}"
    return f"- {row['name']} ({named}): {one_line(row.get('description', ''))}"


def _entry(row: JsonObject) -> str:
    return (
        f"### {row['name']}\n(already loaded; tool_describe shows it again)"
        if row.get("already_loaded")
        else described(row)
    )
