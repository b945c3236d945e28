"""The wire format of OpenAI's Responses API: functions, custom tools, namespaces, tool search, calls from programs.

Source: the types of the `openai` package, `openai.types.responses`, and OpenAI's guides to function calling and
tool search.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from pegboard.catalog import AliasTable, View
from pegboard.core import Call, Result, Selection, Session, ToolName, ToolSpec, mode_parameter
from pegboard.core.spec import DOCUMENTED_OUTPUT
from pegboard.errors import DefinitionError
from pegboard.schema.types import JsonObject
from pegboard.surface.definition import Definition, define, define_all
from pegboard.surface.describing import Cap, describe_namespace
from pegboard.surface.offer import REPLACED, SEARCH, Offer, hits, inner_prefix, read_arguments, without
from pegboard.surface.parts import IMAGES, PDF, Kind, Part, joined, parts_of, plain, told_to_program

DEFAULT = "functions"
"""The namespace in which a search loads tools that have none."""

RESERVED = (DEFAULT, "web", "tool_search", "multi_tool_use")
"""Names that mean something else where a namespace stands."""

Search = Literal["client", "hosted", "tools"]


def tools(
    view: View,
    *,
    to: str = "openai-responses",
    search: Search = "client",
    namespaces: bool = True,
    programs: Sequence[str] = (),
    cap: Cap | None = None,
    budget: int | None = None,
    total: int | None = None,
) -> Offer:
    """The tools of a request.

    Parameters:
        view: what the model sees.
        to: the dialect: `openai-responses`, or with `-strict`.
        search: how deferred tools are found: `client`: the model asks, and the board's search answers; `hosted`: the
            provider searches in definitions that are all sent, deferred; `tools`: through the meta-tools, as
            functions, for models without tool search.
        namespaces: whether tools of a namespace stand in one entry; else each stands for itself under its wire name.
        programs: selectors of tools that programs of the model may call too (programmatic tool calling).
        cap: the most that a description may take.
        budget: bytes that each definition may take.
        total: bytes that the definitions of all tools that are not deferred may take together.

    Raises:
        DefinitionError: there is no such dialect.
    """
    listed, deferred = _chosen(view, search)
    found = define_all(listed, to, aliases=view.aliases, cap=cap, budget=budget, total=total)
    found += [define(spec, view.wire_name(spec.name), to, cap=cap, budget=budget) for spec in deferred]
    late, callers = {spec.name for spec in deferred}, Selection.parse(programs)
    found = [_marked(one, late, callers) for one in found]
    groups = _groups(view)
    entries = _grouped(found, view, groups if namespaces else {}, cap)
    if deferred and any(one.tool for one in found[len(listed) :]):
        entries.append({"type": "tool_search"})
    elif search == "client" and view.deferred:
        entries.append(_search_tool(view, to))
    if programs:
        entries.append({"type": "programmatic_tool_calling"})
    return Offer(to, entries, tuple(found), view, groups, cap, budget, view.notes)


def _chosen(view: View, search: Search) -> tuple[tuple[ToolSpec, ...], tuple[ToolSpec, ...]]:
    """The tools of the list, and those that go along deferred.

    What a session has loaded is in its conversation, so the list stays as it is, and with it the prompt's cache.
    """
    if search == "tools" or not view.deferred:
        return view.listed, ()
    kept = (*view.direct, *without((*view.meta, *view.loaded), {*REPLACED, *(s.name for s in view.deferred)}))
    return kept, view.deferred if search == "hosted" else ()


def _marked(one: Definition, late: set[ToolName], callers: Selection) -> Definition:
    """The definition with what this API has fields for: who may call it, what comes back, and when it is loaded."""
    if one.tool is None or one.spec is None:
        return one
    tool = dict(one.tool)
    if one.spec in callers:
        tool["allowed_callers"] = ["direct", "programmatic"]
        if one.spec.output is not None and _promises(one.spec) and tool["type"] == "function":
            tool["output_schema"] = dict(one.spec.output)
    if one.spec.name in late:
        tool["defer_loading"] = True
    return replace(one, tool=tool)


def _promises(spec: ToolSpec) -> bool:
    """Whether every answer of the tool has its output schema: not where a mode answers in another shape."""
    return DOCUMENTED_OUTPUT not in spec.meta and mode_parameter(spec) is None


def _groups(view: View) -> dict[str, str]:
    """Each namespace by its wire name, and the one of tools that have none."""
    own = dict.fromkeys(name.namespace for name in view.tools if name.namespace)
    table = AliasTable().extend((ToolName("", namespace) for namespace in own), reserved=RESERVED)
    return {DEFAULT: "", **{table[ToolName("", namespace)]: namespace for namespace in own}}


def _grouped(
    found: Iterable[Definition], view: View, groups: Mapping[str, str], cap: Cap | None, *, nameless: bool = False
) -> list[dict[str, Any]]:
    """The entries: tools of a namespace in one, where its first tool stands.

    Parameters:
        found: the definitions.
        view: what says of a namespace what it is.
        groups: the namespaces; empty for entries of their own.
        cap: the most that a description may take.
        nameless: whether tools of no namespace stand in one, too.
    """
    wired = {namespace: group for group, namespace in groups.items()}
    entries: list[dict[str, Any]] = []
    filled: dict[str, list[dict[str, Any]]] = {}
    for one in found:
        if one.tool is None or one.spec is None:
            continue
        own = one.spec.name.namespace
        if own not in wired or not (own or nameless):
            entries.append(one.tool)
            continue
        if own not in filled:
            about = describe_namespace(own, instructions=view.about.get(own, ""), cap=cap).text
            filled[own] = []
            entries.append({"type": "namespace", "name": wired[own], "description": about, "tools": filled[own]})
        filled[own].append({**one.tool, "name": one.name.removeprefix(inner_prefix(own))})
    return entries


def _search_tool(view: View, to: str) -> dict[str, Any]:
    spec = next((spec for spec in view.meta if spec.name == SEARCH), None)
    if spec is None:
        step = "Take the view from a board, or choose search='hosted'."
        raise DefinitionError("The view has deferred tools, and no tool_search to find them by.", next_step=step)
    made = define(spec, SEARCH.name, to.removesuffix("-strict")).tool
    assert made is not None, "the search's own schema is plain"
    parameters, description = made["parameters"], made["description"]
    return {"type": "tool_search", "execution": "client", "description": description, "parameters": parameters}


def call(item: Any, offer: Offer, *, session: Session | None = None, group: str | None = None) -> Call | None:
    """The call that an item of the model's output asks for; None where it asks for none of the board's.

    Parameters:
        item: a `function_call`, `custom_tool_call` or `tool_search_call`, as data or as the SDK's object.
        offer: what the request offered.
        session: who calls.
        group: calls of one response share it.
    """
    row = plain(item)
    whose = session or Session()
    match row.get("type"):
        case "function_call":
            arguments, name = read_arguments(row.get("arguments")), offer.find(_name(row), row.get("namespace"))
        case "custom_tool_call":
            arguments, name = {"input": row.get("input", "")}, offer.find(_name(row), row.get("namespace"))
        case "tool_search_call" if row.get("execution") == "client":
            arguments, name = read_arguments(row.get("arguments") or {}), SEARCH
        case _:
            return None
    caller: JsonObject = row.get("caller") or {}
    marks = {"namespace": row.get("namespace"), "caller": row.get("caller")}
    id, parent = row.get("call_id"), caller.get("caller_id")
    return offer.call(name, arguments, whose, id=id, parent=parent, group=group, marks=marks)


def _name(row: JsonObject) -> str:
    return str(row.get("name") or "")


def output(item: Any, result: Result, offer: Offer) -> dict[str, Any]:
    """The item that answers a call.

    Parameters:
        item: the item that asked for the call; in the next request it stands before this one, as it came.
        result: what the call came to.
        offer: what the request offered.
    """
    row = plain(item)
    if row.get("type") == "tool_search_call":
        return _found(row, result, offer)
    custom = row.get("type") == "custom_tool_call"
    spec = offer.spec(offer.find(_name(row), row.get("namespace")))
    answer: dict[str, Any] = {
        "type": "custom_tool_call_output" if custom else "function_call_output",
        "call_id": row.get("call_id"),
        "output": _said(result, spec),
    }
    if row.get("caller"):
        answer["caller"] = row["caller"]
        if row["caller"].get("type") == "program":
            said = told_to_program(result, spec)
            answer["output"] = answer["output"] if said is None else said
    if row.get("namespace") and not custom:
        answer |= {"name": _name(row), "namespace": row["namespace"]}
    return answer


def _found(row: JsonObject, result: Result, offer: Offer) -> dict[str, Any]:
    """The definitions that a search found, each in its namespace; those of the list are there already."""
    direct = {spec.name for spec in offer.view.direct}
    definitions = [offer.definition(name) for name in hits(result.value, offer) if name not in direct]
    loaded = [one for one in definitions if one is not None and one.spec is not None]
    marked = [_marked(one, {one.spec.name}, Selection.parse(())) for one in loaded if one.spec is not None]
    return {
        "type": "tool_search_output",
        "call_id": row.get("call_id"),
        "status": "completed" if result.ok else "incomplete",
        "execution": "client",
        "tools": _grouped(marked, offer.view, offer.groups, offer.cap, nameless=True),
    }


def _said(result: Result, spec: ToolSpec | None) -> str | list[dict[str, Any]]:
    """One text, or a list where there is a picture or a file; this API has no mark for an error but words."""
    parts = parts_of(result, spec)
    if not any(_native(part) for part in parts):
        return _failed(joined(parts), result)
    blocks = [_block(part) for part in parts]
    return [{"type": "input_text", "text": "Error:"}, *blocks] if result.failure else blocks


def _failed(text: str, result: Result) -> str:
    return text if result.ok or text.casefold().startswith("error") else f"Error: {text}"


def _native(part: Part) -> bool:
    return part.kind is not Kind.TEXT and (part.mime in IMAGES or part.mime == PDF)


def _block(part: Part) -> dict[str, Any]:
    if not _native(part):
        return {"type": "input_text", "text": part.text}
    if part.kind is Kind.IMAGE:
        return {"type": "input_image", "image_url": part.url, "detail": "auto"}
    return {"type": "input_file", "filename": part.name, "file_data": part.url}
