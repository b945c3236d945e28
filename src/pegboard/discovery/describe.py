"""`tool_describe`: everything about tools that a model knows by name."""

from typing import Any, cast

from pegboard.catalog import Unknown, View
from pegboard.core import Call, Result, ToolSpec
from pegboard.discovery.answers import answer, definition, described
from pegboard.discovery.define import meta_spec
from pegboard.discovery.desk import Desk
from pegboard.discovery.hidden import withheld
from pegboard.discovery.intent import prerequisite
from pegboard.schema.types import JsonObject

SPEC = meta_spec(
    "tool_describe",
    "Show the full definition of tools that you know by name: arguments, result, effects, hints, examples. Without"
    " names: all that you have loaded so far, for when you no longer see their definitions.",
    {"names": {"type": "array", "items": {"type": "string"}, "description": "Names of tools, in any spelling."}},
)


async def tool_describe(desk: Desk, call: Call) -> Result:
    """The definitions of the named tools, which are then loaded for the session; without names of all loaded ones.

    What a session has loaded is the board's to know: a client that has compacted its history gets it back here.
    """
    sent: Any = call.arguments.get("names") or []
    names = [sent] if isinstance(sent, str) else [str(name) for name in cast("list[Any]", sent)]
    loaded = [spec.name for spec in desk.view(call.session).loaded]
    meant = [desk.resolve(name) for name in names] if names else loaded
    if not meant:
        return answer({"tools": [], "unknown": []}, "Nothing is loaded yet. Find tools with tool_search.")
    view = desk.view(call.session)
    own = {spec.name: spec for spec in view.meta}
    failures = [failure for name in meant if (failure := withheld(desk, name)) is not None]
    found = [name for name in meant if not isinstance(name, Unknown) and withheld(desk, name) is None]
    if failures and not found:
        return Result(failure=failures[0])
    desk.load(call.session, [name for name in found if name in desk.catalog])
    specs = [desk.catalog.tools[name].spec if name in desk.catalog else own.get(name) for name in found]
    rows = [await _whole(desk, spec, view) for spec in specs if spec is not None]
    text = [*map(_text, rows), *map(str, failures)]
    return answer({"tools": rows, "unknown": [failure.to_json() for failure in failures]}, "\n\n".join(text))


def full(spec: ToolSpec, view: View) -> JsonObject:
    """A definition with what the MCP form has no place for."""
    more = {
        "full_name": str(spec.name),
        "effects": spec.effects.value,
        "hints": [str(hint) for hint in spec.hints],
        "examples": [dict(example) for example in spec.examples],
        "modes": list(spec.modes),
        "category": spec.category,
        "auth": spec.auth,
        "deprecated": spec.deprecation,
        "successor": spec.successor,
        "sunset": spec.sunset,
        "source": {"name": spec.source.name, "kind": spec.source.kind},
    }
    return {**definition(spec, view), **{key: value for key, value in more.items() if value}}


async def _whole(desk: Desk, spec: ToolSpec, view: View) -> JsonObject:
    """Everything of a tool, with where it is for a model and what schemas say is to be called before."""
    exposure, reason = desk.exposure(spec.name)
    placed = {**full(spec, view), "exposure": exposure.value, "exposure_reason": reason}
    derived = [one for one in await desk.before(spec.name) if one.derived and one.before == spec.name]
    return placed | ({"call_first": [prerequisite(one, view) for one in derived]} if derived else {})


def _text(row: JsonObject) -> str:
    lines = [described(row), f"effects: {row['effects']}"]
    lines += [f"{key}: {row[key]}" for key in ("auth", "deprecated") if key in row]
    lines += [f"hint: {hint}" for hint in row.get("hints", ())]
    lines += [f"perhaps first: {step['tool']} {step['because']}" for step in row.get("call_first", ())]
    return "\n".join(lines)
