"""A tool as one provider takes it: name, description and schema in its dialect, and what that took."""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from pegboard.catalog import AliasTable
from pegboard.core import ToolName, ToolSpec, mode_parameter
from pegboard.schema.lower import Loss, Lowered, dialect, lower_once
from pegboard.schema.repair import SchemaChange
from pegboard.schema.repair.intake import utf8
from pegboard.schema.types import Json, JsonObject, as_object
from pegboard.surface.describing import Cap, Move, describe, described_schema

Shape = Callable[[str, str, Json, bool], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Definition:
    """One tool in one dialect.

    Parameters:
        name: its wire name.
        spec: the tool; None where the row it came from was none.
        tool: the wire definition; None where the provider can take none.
        lowered: the lowering of its arguments, for raising; None where there was none.
        changes: what was rewritten with its meaning kept.
        losses: what the provider no longer enforces.
        moves: what the description says elsewhere, or does not have from its author.
        refused: why there is no definition.
    """

    name: str
    spec: ToolSpec | None = None
    tool: dict[str, Any] | None = None
    lowered: Lowered | None = None
    changes: tuple[SchemaChange, ...] = ()
    losses: tuple[Loss, ...] = ()
    moves: tuple[Move, ...] = ()
    refused: str | None = None

    @property
    def strict(self) -> bool:
        """Whether the provider holds the model to the schema."""
        return self.lowered is not None and self.lowered.strict

    def to_json(self) -> dict[str, Json]:
        """As `pegboard lower` prints it."""
        row: dict[str, Json] = {
            "name": self.spec.name.name if self.spec else None,
            "tool": self.tool,
            "changes": [{"pointer": change.pointer, "message": change.message} for change in self.changes],
            "losses": [_loss(loss) for loss in self.losses],
            "moves": [{"what": move.what, "text": move.text, "to": move.to} for move in self.moves],
            "refused": self.refused,
        }
        if self.lowered is not None and self.lowered.obstacles:
            row["not_strict"] = list(self.lowered.obstacles)
        return row


def _loss(loss: Loss) -> dict[str, Json]:
    return {"tool": loss.tool, "pointer": loss.pointer, "keyword": loss.keyword, "said": loss.said, "went": loss.went}


def define(spec: ToolSpec, name: str, to: str, *, cap: Cap | None = None, budget: int | None = None) -> Definition:
    """Define one tool for a provider.

    Parameters:
        spec: the tool.
        name: its wire name.
        to: the dialect.
        cap: the most that its description may take.
        budget: bytes that the compact JSON of the whole definition may take.

    Raises:
        DefinitionError: there is no such dialect.
    """
    source = author_schema(spec)
    found = _defined(spec, name, to, lower_once(source, to), cap)
    if budget is None or found.tool is None or _bytes(found.tool) <= budget:
        return found
    parameters = 0 if found.lowered is None or found.lowered.schema is None else _bytes(found.lowered.schema)
    around = _bytes(found.tool) - parameters
    if around > budget * 2 // 5:  # the description alone takes more than its part
        cap = Cap(max(64, budget * 2 // 5 - 160), "bytes")
        found = _defined(spec, name, to, lower_once(source, to), cap)
        around = _bytes(cast("dict[str, Any]", found.tool)) - parameters
    return _defined(spec, name, to, lower_once(source, to, budget=max(0, budget - around - 2)), cap)


def author_schema(spec: ToolSpec) -> Json:
    """The schema that is lowered: as it came, so that its repairs are told; with the parameter that chooses a mode."""
    return spec.input if spec.original_input is None or mode_parameter(spec) else spec.original_input


def _bytes(value: Json) -> int:
    return len(json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "replace"))


def _defined(spec: ToolSpec, name: str, to: str, lowered: Lowered, cap: Cap | None) -> Definition:
    losses = tuple(replace(loss, tool=str(spec.name)) for loss in lowered.losses)
    if lowered.refused is not None:
        return Definition(name, spec, None, lowered, lowered.changes, losses, (), lowered.refused)
    schema, rule = _without_rule(lowered.schema, to)
    said = describe(spec, rule=rule, cap=cap)
    schema = None if schema is None else dict(described_schema(schema, said))
    tool = shape_of(to)(name, said.text, schema, lowered.strict)
    if spec.freeform is not None:
        tool = _freeform(spec, name, said.text, to) or tool
    if to == "mcp":
        tool |= _mcp_extras(spec)
    return Definition(name, spec, tool, lowered, lowered.changes, losses, said.moves)


def _without_rule(schema: dict[str, Any] | None, to: str) -> tuple[dict[str, Any] | None, str]:
    """The schema without what it says of the arguments as a whole, which the tool's description says."""
    if schema is None or to in ("codex", "mcp") or not isinstance(schema.get("description"), str):
        return schema, ""
    return {key: value for key, value in schema.items() if key != "description"}, schema["description"]


def _openai(name: str, description: str, schema: Json, strict: bool) -> dict[str, Any]:
    return {"type": "function", "name": name, "description": description, "parameters": schema, "strict": strict}


def _chat(name: str, description: str, schema: Json, strict: bool) -> dict[str, Any]:
    body = {"name": name, "description": description, "parameters": schema, "strict": strict}
    return {"type": "function", "function": body}


def _anthropic(name: str, description: str, schema: Json, strict: bool) -> dict[str, Any]:
    tool = {"name": name, "description": description, "input_schema": schema}
    return {**tool, "strict": True} if strict else tool


def _gemini(name: str, description: str, schema: Json, strict: bool) -> dict[str, Any]:
    tool = {"name": name, "description": description}
    return tool if schema is None else {**tool, "parameters": schema}


def _gemini_json(name: str, description: str, schema: Json, strict: bool) -> dict[str, Any]:
    tool = {"name": name, "description": description}
    return tool if schema is None else {**tool, "parametersJsonSchema": schema}


def _mcp(name: str, description: str, schema: Json, strict: bool) -> dict[str, Any]:
    return {"name": name, "description": description, "inputSchema": schema}


_SHAPES: Mapping[str, Shape] = {
    "openai-chat": _chat,
    "openai-responses": _openai,
    "codex": _openai,
    "anthropic": _anthropic,
    "bedrock": _anthropic,
    "gemini": _gemini,
    "gemini-json": _gemini_json,
    "mcp": _mcp,
}


def shape_of(to: str) -> Shape:
    """How a dialect's provider writes a tool."""
    return _SHAPES[dialect(to).name.removesuffix("-strict")]


def _freeform(spec: ToolSpec, name: str, description: str, to: str) -> dict[str, Any] | None:
    """A tool that takes one text, where the API has such; elsewhere it takes one string `input`.

    So does one with modes, which are chosen by a parameter beside the text.
    """
    form = spec.freeform
    if form is None or not to.startswith("openai") or mode_parameter(spec) is not None:
        return None
    flat: dict[str, Any] = {"type": "text"}
    if form.syntax in ("lark", "regex") and form.definition:
        flat = {"type": "grammar", "syntax": form.syntax, "definition": utf8(form.definition)}
    if to.startswith("openai-responses"):
        return {"type": "custom", "name": name, "description": description, "format": flat}
    grammar = {key: value for key, value in flat.items() if key != "type"}
    nested = {"type": "grammar", "grammar": grammar} if grammar else flat
    return {"type": "custom", "custom": {"name": name, "description": description, "format": nested}}


def _mcp_extras(spec: ToolSpec) -> JsonObject:
    extras = {
        "title": spec.title,
        "outputSchema": spec.output,
        "annotations": spec.annotations,
        "icons": list(spec.icons),
    }
    return {key: value for key, value in extras.items() if value}


def define_all(
    specs: Iterable[ToolSpec],
    to: str,
    *,
    aliases: AliasTable | None = None,
    cap: Cap | None = None,
    budget: int | None = None,
    total: int | None = None,
    counted: bool = True,
) -> list[Definition]:
    """Define many tools for one request of a provider, each on its own, within the request's limits.

    Parameters:
        specs: the tools, in the order of the request.
        to: the dialect.
        aliases: their wire names; made where there are none.
        cap: the most that each description may take.
        budget: bytes that each definition may take.
        total: bytes that all definitions together may take; the large ones are compacted to one size.
        counted: whether the tools beyond the number that one request may hold are refused.

    Raises:
        DefinitionError: there is no such dialect.
    """
    listed = list(specs)
    names = (aliases or AliasTable()).extend(spec.name for spec in listed)
    found = [define(spec, wire_name(spec.name, names, to), to, cap=cap, budget=budget) for spec in listed]
    if total is not None:
        found = _within_total(found, to, cap, total)
    if to == "anthropic-strict":
        found = _within_strict_limits(found, cap, budget)
    return _within_number(found, to) if counted else found


def wire_name(name: ToolName, aliases: AliasTable, to: str) -> str:
    """The name of a tool in a dialect: its own for MCP where that is legal, else its wire name."""
    legal = dialect(to).name_pattern
    own = to == "mcp" and not name.namespace and re.fullmatch(legal, name.name)
    return name.name if own else aliases.wire.get(name, name.name)


def _within_total(found: list[Definition], to: str, cap: Cap | None, total: int) -> list[Definition]:
    """Compact the largest definitions to one size with which all fit."""
    sizes = sorted(_bytes(one.tool) for one in found if one.tool is not None)
    left = total - 2 - max(0, len(sizes) - 1)
    if sum(sizes) <= left:
        return found
    level = 0
    for index, size in enumerate(sizes):
        share = left // (len(sizes) - index)
        if size > share:
            level = share
            break
        left -= size
    return [
        define(one.spec, one.name, to, cap=cap, budget=level)
        if one.spec is not None and one.tool is not None and _bytes(one.tool) > level
        else one
        for one in found
    ]


STRICT_TOOLS, STRICT_OPTIONAL, STRICT_UNIONS = 20, 24, 16
"""What one Anthropic request may hold of strict tools, and of their optional and union-typed parameters."""


def _within_number(found: list[Definition], to: str) -> list[Definition]:
    most = dialect(to).tools_limit
    if most is None:
        return found
    room, kept = most, list[Definition]()
    for one in found:
        if one.tool is not None and room <= 0:
            one = replace(one, tool=None, refused=f"{to} takes at most {most} tools in one request")
        room -= one.tool is not None
        kept.append(one)
    return kept


def _within_strict_limits(found: list[Definition], cap: Cap | None, budget: int | None) -> list[Definition]:
    """Let the widest tools be non-strict until the rest fits what one request may hold."""
    strict = [one for one in found if one.strict]
    loose: dict[str, str] = {}
    for measure, most, what in (
        (_optional, STRICT_OPTIONAL, "optional parameters of strict tools"),
        (_unions, STRICT_UNIONS, "union-typed parameters of strict tools"),
        (_one, STRICT_TOOLS, "strict tools"),
    ):
        staying = [one for one in strict if one.name not in loose]
        over = sum(map(measure, staying)) - most
        for one in sorted(staying, key=lambda one: (-measure(one), -_optional(one), staying.index(one))):
            if over <= 0:
                break
            over -= measure(one)
            loose[one.name] = f"one request may hold {most} {what}"
    return [_loosened(one, loose[one.name], cap, budget) if one.name in loose else one for one in found]


def _loosened(one: Definition, reason: str, cap: Cap | None, budget: int | None) -> Definition:
    assert one.spec is not None and one.lowered is not None, "a strict tool has both"
    plain = define(one.spec, one.name, "anthropic", cap=cap, budget=budget)
    assert plain.lowered is not None, "what can be strict can be plain"
    change = SchemaChange("", f"not strict: {reason}")
    return replace(plain, lowered=replace(plain.lowered, obstacles=(reason,)), changes=(*plain.changes, change))


def _one(one: Definition) -> int:
    return 1


def _nodes(schema: Json) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    stack: list[Json] = [schema]
    while stack:
        value = stack.pop()
        if isinstance(value, dict):
            node = cast("dict[str, Any]", value)
            found.append(node)
            stack.extend(node.values())
        elif isinstance(value, list):
            stack.extend(cast("list[Json]", value))
    return found


def _optional(one: Definition) -> int:
    schema = one.lowered.schema if one.lowered else None
    return sum(
        len(as_object(node.get("properties")).keys() - set(node.get("required", ()) or ()))
        for node in _nodes(schema)
        if isinstance(node.get("properties"), dict) and node.get("type") == "object"
    )


def _unions(one: Definition) -> int:
    schema = one.lowered.schema if one.lowered else None
    return sum(isinstance(node.get("anyOf"), list) or isinstance(node.get("type"), list) for node in _nodes(schema))
