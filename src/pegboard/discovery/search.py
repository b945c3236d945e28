"""`tool_search`: finds tools by what they do and loads their definitions."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pegboard.core import Call, Result, ToolSpec
from pegboard.discovery.answers import answer, definition, described
from pegboard.discovery.define import meta_spec
from pegboard.discovery.desk import Desk
from pegboard.discovery.intent import ECHO, no_words
from pegboard.discovery.suggested import FITS, is_good, told
from pegboard.discovery.suggested import rows as rows_of
from pegboard.index import Found, Where
from pegboard.invoke.pool import selection_of
from pegboard.schema.types import Json, JsonObject

DEFAULT_LIMIT, MOST = 8, 50

_SHOWN = meta_spec(
    "tool_search",
    "Find tools by what they do. Most tools of this server are not in your list: search in a few words, or by name."
    " Answers with full definitions; what is found can be called by its own name at once, or through tool_call. Search"
    " before you say that something cannot be done.",
    {
        "query": {"type": "string", "description": "What the tool should do, or its name."},
        "limit": {
            "type": "number",
            "default": DEFAULT_LIMIT,
            "description": f"How many to load, up to {MOST}.",
        },
    },
    required=("query",),
)

SPEC = replace(_SHOWN, accepts={**_SHOWN.input, "properties": {"query": _SHOWN.properties["query"]}})
"""A limit is clamped, whatever a model writes there; it is no reason to refuse a search."""


async def tool_search(desk: Desk, call: Call) -> Result:
    """Search, load what was found for the session, and answer with the definitions."""
    query = str(call.arguments.get("query") or "").strip()
    if not query:
        return Result(failure=no_words("query"))
    pool = Where(select=selection_of(call.session))
    found = await desk.search(query, clamp(call.arguments.get("limit")), pool)
    view = desk.view(call.session)
    known = {spec.name for spec in (*view.direct, *view.loaded)}
    rows = [(hit.spec, definition(hit.spec, view)) for hit in found.hits]
    desk.load(call.session, [hit.name for hit in found.hits])
    new = [(spec, row) for spec, row in rows if spec.name not in known]
    value: dict[str, Any] = {
        "query": found.query[:ECHO],
        "confidence": round(found.confidence, 2),
        "namespaces": _grouped(rows, known),
        "next": [view.wire_name(name) for name in found.next_names],
        "unmatched_terms": list(found.unknown_terms),
        "did_you_mean": list(found.did_you_mean),
        "tokens_saved": max(0, desk.deferred_bytes() - sum(_size(row) for _, row in new)) // 4,
    }
    if not is_good(found):
        offered = await desk.openings.offers(found.query, call.session)
        value |= {"discoverables": rows_of(offered)} if offered else {}
    return answer(value, _text(found, value))


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
    parts += told(value.get("discoverables", ()))
    return "\n\n".join(parts)


def _headline(found: Found) -> str:
    if not found.hits:
        return f"No tool matches {found.query[:ECHO]!r}. Try other words, or list_available_tools."
    noun = "tool" if len(found.hits) == 1 else "tools"
    unsure = " None of them fits well." if found.confidence < FITS else ""
    return (
        f"{len(found.hits)} {noun} for {found.query[:ECHO]!r}, best first in each namespace.{unsure} Call them by name."
    )


def _entry(row: JsonObject) -> str:
    return (
        f"### {row['name']}\n(already loaded; tool_describe shows it again)"
        if row.get("already_loaded")
        else described(row)
    )
