"""The wire format of Anthropic's Messages API, and of Anthropic's models on Bedrock.

Source: the types of the `anthropic` package, `anthropic.types`, and Anthropic's pages on tool use and tool search.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

from pegboard.catalog import View
from pegboard.core import Call, Result, Selection, Session, ToolName, ToolSpec
from pegboard.schema.raise_ import lower_value
from pegboard.schema.repair.intake import Intake
from pegboard.schema.types import JsonObject
from pegboard.schema.validate import validator
from pegboard.surface.definition import Definition, define, define_all
from pegboard.surface.describing import Cap, Move
from pegboard.surface.offer import REPLACED, SEARCH, Offer, hits, read_arguments, without
from pegboard.surface.parts import IMAGES, PDF, Kind, Part, parts_of, plain, told_to_program

Search = Literal["client", "bm25", "regex", "tools"]

HOSTED = {
    "bm25": {"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"},
    "regex": {"type": "tool_search_tool_regex_20251119", "name": "tool_search_tool_regex"},
}
"""The provider's own searches."""

CODE = "code_execution_20260120"
"""The code execution tool whose programs may call tools."""

MOST = 10_000
"""Tools of one request with tool search."""


def tools(
    view: View,
    *,
    to: str = "anthropic",
    search: Search = "client",
    programs: Sequence[str] = (),
    cap: Cap | None = None,
    budget: int | None = None,
    total: int | None = None,
) -> Offer:
    """The tools of a request.

    Every definition is sent with every request; deferred ones are not in the prompt until they are referred to.

    Parameters:
        view: what the model sees.
        to: the dialect: `anthropic`, with `-strict`, or `bedrock`, which has no deferred tools.
        search: how deferred tools are found: `client`: through the board's own `tool_search`, which answers with
            references; `bm25` or `regex`: the provider searches; `tools`: through the meta-tools alone.
        programs: selectors of tools that programs of the model may call too (programmatic tool calling).
        cap: the most that a description may take.
        budget: bytes that each definition may take.
        total: bytes that all definitions may take together.

    Raises:
        DefinitionError: there is no such dialect.
    """
    deferring = bool(view.deferred) and search != "tools" and to != "bedrock"
    specs = _chosen(view, search) if deferring else view.listed
    found = define_all(specs, to, aliases=view.aliases, cap=cap, budget=budget, total=total)
    callers = Selection.parse(programs)
    found = [_loose(one, callers, cap, budget) for one in found]
    found = _late(found, view) if deferring else [_with_examples(one) for one in found]
    entries = [one.tool for one in found if one.tool is not None]
    if deferring and search in HOSTED:
        entries.insert(0, dict(HOSTED[search]))
    if programs:
        entries.append({"type": CODE, "name": "code_execution"})
    return Offer(to, entries, tuple(found), view, cap=cap, budget=budget, notes=view.notes)


def _chosen(view: View, search: Search) -> tuple[ToolSpec, ...]:
    """The tools in an order that stays while a session loads some: those of the list, then the deferred ones."""
    gone = REPLACED - {SEARCH} if search == "client" else REPLACED
    kept = without((*view.meta, *view.loaded), {*gone, *(spec.name for spec in view.deferred)})
    return (*view.direct, *kept, *view.deferred)


def _loose(one: Definition, callers: Selection, cap: Cap | None, budget: int | None) -> Definition:
    """A tool that programs may call is not strict: the API takes no strict ones there."""
    if one.spec is None or one.tool is None or one.spec not in callers:
        return one
    plain_ = define(one.spec, one.name, "anthropic", cap=cap, budget=budget) if one.strict else one
    return replace(plain_, tool={**(plain_.tool or {}), "allowed_callers": ["direct", CODE]})


def _late(found: list[Definition], view: View) -> list[Definition]:
    """The deferred ones marked so; one tool at least stays in the prompt, for the API wants that."""
    late = {spec.name for spec in view.deferred}
    if all(one.spec is not None and one.spec.name in late for one in found if one.tool):
        late -= {next((one.spec.name for one in found if one.spec and one.tool), ToolName("", ""))}
    marked: list[Definition] = []
    room = MOST
    for one in found:
        if one.tool is not None and room <= 0:
            one = replace(one, tool=None, refused=f"one request takes at most {MOST} tools")
        room -= one.tool is not None
        marked.append(_deferred(one, late))
    return marked


def _deferred(one: Definition, late: set[ToolName]) -> Definition:
    if one.tool is None or one.spec is None:
        return one
    tool = {**one.tool, "defer_loading": True} if one.spec.name in late else one.tool
    moves = [Move("example", str(len(one.spec.examples)), "tool_describe")] if one.spec.examples else []
    return replace(one, tool=tool, moves=(*one.moves, *moves))


def _with_examples(one: Definition) -> Definition:
    """The definition with its author's examples in the shape that the model sees; tool search takes none."""
    if one.tool is None or one.spec is None or one.lowered is None or not one.spec.examples:
        return one
    judge = validator(one.tool["input_schema"])
    shown = [lower_value(one.lowered, Intake().copy(dict(example))) for example in one.spec.examples]
    fitting = [example for example in shown if judge.is_valid(example)]
    return replace(one, tool={**one.tool, "input_examples": fitting}) if fitting else one


def call(item: Any, offer: Offer, *, session: Session | None = None, group: str | None = None) -> Call | None:
    """The call that a block of the model's message asks for; None where it asks for none of the board's.

    Parameters:
        item: a `tool_use` block, as data or as the SDK's object.
        offer: what the request offered.
        session: who calls.
        group: calls of one message share it.
    """
    row = plain(item)
    if row.get("type") != "tool_use":
        return None
    caller: JsonObject = row.get("caller") or {}
    name, arguments = offer.find(str(row.get("name") or "")), read_arguments(row.get("input"))
    return offer.call(
        name,
        arguments,
        session or Session(),
        id=row.get("id"),
        parent=caller.get("tool_id"),
        group=group,
        marks={"caller": row.get("caller")},
    )


def output(item: Any, result: Result, offer: Offer) -> dict[str, Any]:
    """The `tool_result` block that answers a call; a search answers with references to what it found.

    Parameters:
        item: the `tool_use` block that asked for the call.
        result: what the call came to.
        offer: what the request offered.
    """
    row = plain(item)
    name = offer.find(str(row.get("name") or ""))
    references = _references(result, offer) if name == SEARCH else []
    caller: JsonObject = row.get("caller") or {}
    direct = caller.get("type", "direct") == "direct"
    said = None if direct else told_to_program(result, offer.spec(name))
    answer: dict[str, Any] = {
        "type": "tool_result",
        "tool_use_id": row.get("id"),
        "content": references or (_content(parts_of(result, offer.spec(name))) if said is None else said),
    }
    if result.failure is not None:
        answer["is_error"] = True
    if row.get("toolset_name"):
        answer["toolset_name"] = row["toolset_name"]
    return answer


def _references(result: Result, offer: Offer) -> list[dict[str, Any]]:
    """Where tools were sent deferred, references to those of them that a search found; the API takes no others."""
    if not any(tool.get("defer_loading") for tool in offer.tools):
        return []
    sent = {tool["name"] for tool in offer.tools}
    names = [one.name for name in hits(result.value, offer) if (one := offer.definition(name)) is not None]
    return [{"type": "tool_reference", "tool_name": name} for name in names if name in sent]


def _content(parts: Sequence[Part]) -> str | list[dict[str, Any]]:
    """One text, or blocks where there is more than one."""
    if len(parts) == 1 and parts[0].kind is Kind.TEXT:
        return parts[0].text
    return [_block(part) for part in parts if part.text]


def _block(part: Part) -> dict[str, Any]:
    if part.kind is Kind.IMAGE and part.mime in IMAGES:
        return {"type": "image", "source": {"type": "base64", "media_type": part.mime, "data": part.data}}
    if part.kind is Kind.FILE and part.mime == PDF:
        source = {"type": "base64", "media_type": PDF, "data": part.data}
        return {"type": "document", "source": source, "title": part.name}
    return {"type": "text", "text": part.text}
