"""What meta-tools answer with: definitions, one-line summaries, and the failure for a name that means no tool."""

import json
from collections.abc import Mapping
from typing import Any

from pegboard.catalog import Unknown, View
from pegboard.core import Failure, FailureCode, Result, ToolSpec
from pegboard.schema.types import JsonObject
from pegboard.surface import mcp

LINE = 160
"""Characters of a one-line summary."""


def definition(spec: ToolSpec, view: View) -> JsonObject:
    """The full definition of a tool under the name that it is called by."""
    return mcp.tool(spec, view.wire_name(spec.name))


def one_line(text: str) -> str:
    """The first sentence or line of a description, cut to `LINE` characters."""
    first = " ".join(text.strip().split("\n\n", 1)[0].split())
    sentence, stop, _ = first.partition(". ")
    short = sentence + "." if stop else first
    return short if len(short) <= LINE else short[: LINE - 1].rstrip() + "…"


def described(row: JsonObject) -> str:
    """A definition as readable text."""
    parts = [f"### {row['name']}", str(row.get("description") or "").strip()]
    parts.append("arguments: " + json.dumps(row["inputSchema"], ensure_ascii=False, separators=(",", ":")))
    return "\n".join(part for part in parts if part)


def answer(value: Mapping[str, Any], text: str) -> Result:
    """A result with a structured value and the same as readable text."""
    return Result(value=dict(value), content=(mcp.text_block(text),))


def unknown_failure(missing: Unknown) -> Failure:
    """Says which names are near, or which tools share the bare name."""
    names = ", ".join(missing.candidates)
    if missing.ambiguous:
        message, step = f"Several tools are called {missing.text!r}.", f"Use one of: {names}."
    else:
        message = f"There is no tool {missing.text!r}."
        step = f"Did you mean {names}?" if names else "Find the tool with tool_search."
    return Failure(FailureCode.UNKNOWN_TOOL, message, next_step=step, details={"candidates": list(missing.candidates)})
