"""`list_available_tools`: the whole board by name, one line a tool, a page at a time; and what could be on it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from pegboard.core import Call, Discoverable, Failure, FailureCode, Result, SourceState, SourceStatus, ToolSpec
from pegboard.discovery.answers import answer, one_line
from pegboard.discovery.category import category_of
from pegboard.discovery.define import meta_spec
from pegboard.discovery.desk import Desk
from pegboard.discovery.residency import Exposure
from pegboard.discovery.suggested import rows, told
from pegboard.errors import nearest
from pegboard.invoke.pool import selection_of
from pegboard.schema.types import JsonObject

PAGE = 100

SPEC = meta_spec(
    "list_available_tools",
    "List the tools of this server, one line each: name, category, sign-in, state of its source. To find a tool for a"
    " task, tool_search is better.",
    {
        "category": {"type": "string", "description": "Only tools of this category."},
        "namespace": {"type": "string", "description": "Only tools of this namespace."},
        "cursor": {"type": "string", "description": "The `next_cursor` of the last page."},
    },
)


async def list_available_tools(desk: Desk, call: Call) -> Result:
    """One page of the catalog, with the namespaces, the categories, and the sources that are not well."""
    pool = selection_of(call.session)
    shown = [spec for spec in desk.catalog.specs if pool is None or spec in pool]
    seen = [spec for spec in shown if desk.exposure(spec.name)[0] is not Exposure.HIDDEN]
    category, namespace = (str(call.arguments.get(key) or "") for key in ("category", "namespace"))
    categories = Counter(category_of(spec)[0] for spec in seen)
    namespaces = Counter(spec.name.namespace for spec in seen)
    could = await _could_be(desk, category, namespace)
    for key, sought, known in (("category", category, categories), ("namespace", namespace, namespaces)):
        if sought and sought not in known and not could:
            return Result(failure=_no_such(key, sought, known))
    specs = [spec for spec in seen if _matches(spec, category, namespace)]
    start = _start(call.arguments.get("cursor"), specs)
    if start is None:
        return Result(failure=_WRONG_CURSOR)
    page = specs[start : start + PAGE]
    statuses = {status.name: status for status in desk.summaries()}
    value: dict[str, Any] = {
        "total": len(specs),
        "namespaces": dict(namespaces),
        "categories": dict(sorted(categories.items())),
        "tools": _page(desk, call, page, statuses),
        "sources": [_source(status) for status in statuses.values()],
    }
    if start + PAGE < len(specs):
        value["next_cursor"] = str(page[-1].name)
    elif could:
        value["discoverables"] = rows(could[:PAGE])
        value["discoverables_total"] = len(could)
    return answer(value, _text(value))


def _page(desk: Desk, call: Call, page: Sequence[ToolSpec], statuses: Mapping[str, SourceStatus]) -> list[JsonObject]:
    view = desk.view(call.session)
    direct = {spec.name for spec in (*view.direct, *view.loaded)}
    return [_row(desk, spec, view.wire_name(spec.name), statuses, spec.name in direct) for spec in page]


async def _could_be(desk: Desk, category: str, namespace: str) -> list[Discoverable]:
    """What could be on the board, of the category that is asked for; a namespace has only what is there."""
    if namespace:
        return []
    return [one for one in await desk.openings.discoverables() if not category or category in one.categories]


def _no_such(key: str, sought: str, known: Mapping[str, int]) -> Failure:
    names = sorted(name for name in known if name)
    near = nearest(sought, names) or names[:20]
    step = f"Use one of {', '.join(near)}." if near else "The board has no tools yet."
    return Failure(FailureCode.INVALID_ARGUMENTS, f"No tool has the {key} {sought!r}.", f"/{key}", step)


def _matches(spec: ToolSpec, category: str, namespace: str) -> bool:
    return namespace in ("", spec.name.namespace) and category in ("", category_of(spec)[0])


_WRONG_CURSOR = Failure(
    FailureCode.INVALID_ARGUMENTS,
    "This cursor is not valid (any more): the tool that it names is not in this list.",
    "/cursor",
    "Start again without a cursor.",
)


def _start(cursor: Any, specs: Sequence[ToolSpec]) -> int | None:
    """Where the page behind a cursor begins. A cursor is the last tool's name, so that changes elsewhere do no harm."""
    if cursor in (None, ""):
        return 0
    return next((place + 1 for place, spec in enumerate(specs) if str(spec.name) == cursor), None)


def _row(desk: Desk, spec: ToolSpec, name: str, statuses: Mapping[str, SourceStatus], direct: bool) -> JsonObject:
    status = statuses.get(spec.source.name)
    category, declared = category_of(spec)
    row: dict[str, Any] = {
        "name": name,
        "summary": one_line(spec.description),
        "category": category,
        "classified": not declared,
        "auth": spec.auth or "none declared",
        "rung": spec.rung,
        "modes": list(spec.modes),
        "state": status.state.value if status else None,
        "loaded": direct,
    }
    met = desk.auth_met(spec)
    return {key: value for key, value in row.items() if value} | ({} if met is None else {"auth_met": met})


def _source(status: SourceStatus) -> JsonObject:
    row = {"name": status.name, "state": status.state.value, "tools": status.tools, "error": status.error}
    return {key: value for key, value in row.items() if value is not None}


def _text(value: JsonObject) -> str:
    lines = [_line(row) for row in value["tools"]]
    lines += _unwell(value["sources"])
    if "next_cursor" in value:
        lines.append(f"{value['total']} tools in all; go on with cursor {value['next_cursor']!r}.")
    if "discoverables" in value:
        lines += told(value["discoverables"], "Not on this server, and can be asked for (after a tool_search)")
    return "\n".join(lines) or "There are no such tools on this board."


def _line(row: JsonObject) -> str:
    marks = [str(row["category"])]
    if row["auth"] != "none declared":
        met = row.get("auth_met")
        marks.append(f"needs {row['auth']}" + ("" if met is None else ", given" if met else ", missing"))
    marks += [f"source {row['state']}"] if row.get("state") in _BAD else []
    return f"{row['name']} [{'; '.join(marks)}]: {row.get('summary', '')}".rstrip(": ")


_BAD = (SourceState.UNAVAILABLE.value, SourceState.DEGRADED.value, SourceState.DISABLED.value)


def _unwell(sources: Sequence[JsonObject]) -> list[str]:
    return [
        f"(source {source['name']} is {source['state']}: {source.get('error') or 'no reason given'})"
        for source in sources
        if source["state"] in _BAD
    ]
