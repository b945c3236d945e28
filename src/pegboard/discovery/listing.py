"""`list_available_tools`: the whole board by name, one line a tool, a page at a time."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from pegboard.core import Call, Discoverable, Failure, FailureCode, Result, SourceState, SourceStatus, ToolSpec
from pegboard.discovery.answers import answer, one_line
from pegboard.discovery.define import meta_spec
from pegboard.discovery.desk import Desk
from pegboard.discovery.residency import Exposure
from pegboard.discovery.search import offered
from pegboard.schema.types import JsonObject

PAGE = 100

SPEC = meta_spec(
    "list_available_tools",
    "List the tools of this server by name, one line each, with the state of the source that each comes from. Use it"
    " to look around; to find a tool for a task, tool_search is better.",
    {
        "category": {"type": "string", "description": "Only tools of this category."},
        "namespace": {"type": "string", "description": "Only tools of this namespace."},
        "cursor": {"type": "string", "description": "The `next_cursor` of the last page."},
    },
)


async def list_available_tools(desk: Desk, call: Call) -> Result:
    """One page of the catalog, with the namespaces and the sources that are not well."""
    wanted = {key: call.arguments.get(key) for key in ("category", "namespace")}
    seen = [spec for spec in desk.catalog.specs if desk.exposure(spec.name)[0] is not Exposure.HIDDEN]
    specs = [spec for spec in seen if _matches(spec, wanted)]
    start = _start(call.arguments.get("cursor"), len(specs))
    if start is None:
        return Result(
            failure=Failure(
                FailureCode.INVALID_ARGUMENTS,
                "This cursor was not given out here.",
                "/cursor",
                "Start again without a cursor.",
            )  # fmt: skip
        )
    statuses = {status.name: status for status in await desk.statuses()}
    view = desk.view(call.session)
    direct = {spec.name for spec in (*view.direct, *view.loaded)}
    page = specs[start : start + PAGE]
    value: dict[str, Any] = {
        "total": len(specs),
        "namespaces": dict(Counter(spec.name.namespace for spec in seen)),
        "tools": [_row(spec, view.wire_name(spec.name), statuses, spec.name in direct) for spec in page],
        "sources": [_source(status) for status in statuses.values()],
    }
    if start + PAGE < len(specs):
        value["next_cursor"] = str(start + PAGE)
    elif more := [one for one in await desk.openings.discoverables() if _is_about(one, wanted)]:
        value["discoverables"] = [one.to_json() for one in more[:PAGE]]
        value["discoverables_total"] = len(more)
    return answer(value, _text(value))


def _matches(spec: ToolSpec, wanted: JsonObject) -> bool:
    return all(
        sought in (None, "", has)
        for sought, has in ((wanted["category"], spec.category), (wanted["namespace"], spec.name.namespace))
    )


def _is_about(one: Discoverable, wanted: JsonObject) -> bool:
    return not wanted["namespace"] and wanted["category"] in (None, "", *one.categories)


def _start(cursor: Any, total: int) -> int | None:
    if cursor in (None, ""):
        return 0
    return int(cursor) if isinstance(cursor, str) and cursor.isdecimal() and int(cursor) < total else None


def _row(spec: ToolSpec, name: str, statuses: dict[str, SourceStatus], direct: bool) -> JsonObject:
    status = statuses.get(spec.source.name)
    row = {
        "name": name,
        "summary": one_line(spec.description),
        "category": spec.category,
        "auth": spec.auth,
        "rung": spec.rung,
        "modes": list(spec.modes),
        "state": status.state.value if status else None,
        "loaded": direct,
    }
    return {key: value for key, value in row.items() if value}


def _source(status: SourceStatus) -> JsonObject:
    row = {"name": status.name, "state": status.state.value, "tools": status.tools, "error": status.error}
    return {key: value for key, value in row.items() if value is not None}


def _text(value: JsonObject) -> str:
    lines = [f"{row['name']}: {row.get('summary', '')}".rstrip(": ") for row in value["tools"]]
    lines += _unwell(value["sources"])
    if "next_cursor" in value:
        lines.append(f"{value['total']} tools in all; go on with cursor {value['next_cursor']!r}.")
    if "discoverables" in value:
        lines.append("Not on this server, and can be asked for (after a tool_search) with request_plugin_install:")
        lines += [offered(row) for row in value["discoverables"]]
    return "\n".join(lines) or "There are no such tools on this board."


def _unwell(sources: Sequence[JsonObject]) -> list[str]:
    bad = (SourceState.UNAVAILABLE, SourceState.DEGRADED)
    return [f"(source {s['name']} is {s['state']}: {s.get('error') or 'no reason given'})" for s in sources
            if s["state"] in bad]  # fmt: skip
