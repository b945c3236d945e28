"""`find_tool_by_intent`: which tools meet an intent, how surely, why, and how one would call them."""

import json
from collections.abc import Sequence
from typing import Any

from pegboard.catalog import View
from pegboard.core import Call, Failure, FailureCode, Hint, Mode, Relation, Result, ToolSpec, default_mode
from pegboard.core.mode import mode_parameter
from pegboard.discovery.answers import answer, one_line
from pegboard.discovery.category import category_of
from pegboard.discovery.define import meta_spec
from pegboard.discovery.desk import Desk
from pegboard.discovery.suggested import FITS, is_good, rows, told
from pegboard.index import Found, Hit, Prerequisite, Where
from pegboard.invoke.pool import selection_of
from pegboard.schema.example import example
from pegboard.schema.types import Json, JsonObject, as_object

SHOWN = 5
ECHO = 200
"""Characters of a request that its answer repeats."""
ALTERNATIVES = 5
SHARE = 0.1
"""A tool that is this much less likely than the best is no alternative to it."""

SPEC = meta_spec(
    "find_tool_by_intent",
    "Say what you want to achieve; answers with the tools that fit: how sure, why, an example call, and what to call"
    " before. It loads no definitions.",
    {"intent": {"type": "string", "description": "The goal, in a sentence."}},
    required=("intent",),
)


async def find_tool_by_intent(desk: Desk, call: Call) -> Result:
    """The tools that meet an intent, without their schemas; or that none does."""
    intent = str(call.arguments.get("intent") or "").strip()
    if not intent:
        return Result(failure=no_words("intent"))
    found = await desk.search(intent, SHOWN, Where(select=selection_of(call.session)))
    view = desk.view(call.session)
    offered = [] if is_good(found) else rows(await desk.openings.offers(intent, call.session))
    value: dict[str, Any] = {"intent": intent[:ECHO], "confidence": round(found.confidence, 2)}
    value |= {"discoverables": offered} if offered else {}
    if found.confidence < FITS and not is_good(found):
        value |= {"fits": False, "tools": [], "nearest": [view.wire_name(hit.name) for hit in found.hits]}
        return answer(value, _nothing(value, offered))
    best = found.hits[0].confidence
    hits = [hit for hit in found.hits if hit.confidence >= SHARE * best]
    tools = [_tool(hit, view, await desk.before(hit.name)) for hit in hits]
    others = [*(hit.name for hit in found.hits if hit not in hits), *found.next_names][:ALTERNATIVES]
    value |= {"fits": True, "tools": tools, "alternatives": [view.wire_name(name) for name in others]}
    return answer(value, _text(found, value, offered))


def no_words(key: str) -> Failure:
    """A request without words."""
    return Failure(
        FailureCode.INVALID_ARGUMENTS,
        f"The {key} is empty.",
        f"/{key}",
        "Say in a few words what the tool should do, or look around with list_available_tools.",
    )


def usage(spec: ToolSpec) -> JsonObject:
    """One example of a tool's arguments: the author's own, else one made of its schema; in the safest mode it has."""
    if spec.examples:
        return spec.examples[0]
    arguments = as_object(example(dict(spec.input)))
    name = mode_parameter(spec)
    safest = default_mode(spec)
    return {**arguments, **({name: safest.value} if name is not None and safest is not Mode.EXECUTE else {})}


def prerequisite(needed: Prerequisite, view: View) -> JsonObject:
    """A tool to call before, as plain data."""
    row: dict[str, Any] = {"tool": view.wire_name(needed.name), "because": needed.because}
    if needed.derived:
        row |= {"derived": True, "confidence": needed.confidence}
    return row


def _tool(hit: Hit, view: View, before: Sequence[Prerequisite]) -> JsonObject:
    spec = hit.spec
    row: dict[str, Any] = {
        "name": view.wire_name(hit.name),
        "confidence": round(hit.confidence, 2),
        "why": _why(hit),
        "summary": one_line(spec.description),
        "example": usage(spec),
        "call_first": [prerequisite(needed, view) for needed in before],
        "then": [str(hint) for hint in _hints(spec, Relation.THEN)],
        "instead": [str(hint) for hint in _hints(spec, Relation.INSTEAD)],
        "category": category_of(spec)[0],
        "auth": spec.auth,
        "effects": spec.effects.value,
        "deprecated": spec.deprecated,
    }
    return {key: value for key, value in row.items() if value not in (None, [], "")}


def _hints(spec: ToolSpec, relation: Relation) -> list[Hint]:
    return [hint for hint in spec.hints if hint.relation is relation]


def _why(hit: Hit) -> str:
    """The words that matched, by where they stand; where none did, its meaning was near."""
    parts = [f"{', '.join(words)} in its {field}" for field, words in hit.matched.items() if words]
    missed = f"; nothing of it says {', '.join(hit.unmatched)}" if hit.unmatched and parts else ""
    return ("; ".join(parts) or "its meaning is near") + missed


def _nothing(value: JsonObject, offered: Sequence[JsonObject]) -> str:
    near = f" The nearest, which hardly fit: {', '.join(value['nearest'])}." if value["nearest"] else ""
    return "\n\n".join([f"Nothing on this board fits {value['intent']!r}.{near}", *told(offered)])


def _text(found: Found, value: JsonObject, offered: Sequence[JsonObject]) -> str:
    sure = "" if is_good(found) else " It is not sure that any of them does."
    parts = [f"{len(value['tools'])} tools may fit, best first.{sure} Call by name, or see the definition first."]
    parts += [_entry(row) for row in value["tools"]]
    if value["alternatives"]:
        parts.append("Less likely: " + ", ".join(value["alternatives"]))
    return "\n\n".join([*parts, *told(offered)])


def _entry(row: JsonObject) -> str:
    lines = [f"### {row['name']} ({row['confidence']:.0%}): {row.get('summary', '')}", f"why: {row['why']}"]
    lines.append(f"example: {_compact(row['example'])}" if row.get("example") else "example: {}")
    lines += [f"first: {step['tool']} ({step['because']})" for step in row.get("call_first", ())]
    lines += [f"hint: {hint}" for hint in (*row.get("then", ()), *row.get("instead", ()))]
    lines += [f"{key}: {row[key]}" for key in ("auth", "deprecated") if key in row]
    return "\n".join(lines)


def _compact(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
