"""A batch: one tool for many items, with a status for each and a documented maximum."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from pegboard.compose.bind import tool_name
from pegboard.compose.fanout import Pace
from pegboard.compose.itemrun import ItemRun, Shape
from pegboard.compose.report import FAILURE_SCHEMA, REPORT_CHOICES, composite_output
from pegboard.compose.upstream import Function, Upstream, UpstreamFunction
from pegboard.core import (
    Effects,
    Handler,
    Hint,
    Mode,
    Relation,
    Rung,
    SourceRef,
    Tool,
    ToolName,
    ToolSpec,
    offers,
    with_modes,
    without_modes,
)
from pegboard.core.draft import Unbound
from pegboard.core.mode import with_own_modes
from pegboard.errors import DefinitionError, nearest
from pegboard.schema.embed import Embedding
from pegboard.schema.template import Template
from pegboard.schema.types import Json, Schema

Policy: TypeAlias = Literal["partial", "all_or_nothing"]


@dataclass(frozen=True, kw_only=True)
class Undo:
    """What takes one finished item back.

    Parameters:
        tool: the compensating tool.
        args: its arguments, as a template over `item` (the item's arguments) and `value` (what it came to).
    """

    tool: str
    args: Template


@dataclass(frozen=True, kw_only=True)
class Batch:
    """The definition of a batch form; `batch()` makes one in Python, `[batch.NAME]` in a config.

    Parameters:
        name: the batch tool's own name.
        tool: the name of the tool that runs once per item.
        over: the parameters in which items differ; one: the batch takes a list under that name; several, or none
            (all of them): it takes a list `items` of objects.
        description: what it does; empty: made from the tool's.
        limit: how many items a call may have.
        on_error: `partial` (each item for itself) or `all_or_nothing`.
        pace: concurrency, rate, retries, stop rules, time.
        duplicates: `once` (an equal item runs once, and all its places show the result) or `each`.
        upstream: where many items can go in one call: a function, or a tool that takes a list.
        undo: takes a finished item back, for `all_or_nothing`.
        optional_uses: none.
    """

    name: ToolName
    tool: str
    over: tuple[str, ...] = ()
    description: str = ""
    limit: int = 50
    on_error: Policy = "partial"
    pace: Pace = Pace()
    duplicates: Literal["once", "each"] = "once"
    upstream: Upstream | None = None
    undo: Undo | None = None
    optional_uses: frozenset[str] = frozenset()

    @property
    def uses(self) -> tuple[str, ...]:
        """The tools that it calls."""
        together = self.upstream.uses if self.upstream else ()
        undo = (self.undo.tool,) if self.undo else ()
        return (self.tool, *together, *undo)

    def build(self, inner: Mapping[str, ToolSpec], run: Handler) -> Tool:
        """The tool, over what its names mean on a board.

        Raises:
            DefinitionError: a parameter in `over` does not exist, or all-or-nothing cannot be kept.
        """
        target = without_modes(inner[self.tool])
        shape = _shape(self, target)
        self._check_policy(target)
        spec = _spec(self, inner[self.tool], target, shape)
        return Tool(spec, ItemRun(self, inner, shape, run))

    def _check_policy(self, target: ToolSpec) -> None:
        keepable = self.undo or self.upstream or target.effects is Effects.READ_ONLY
        if self.on_error == "all_or_nothing" and not keepable:
            raise DefinitionError(
                f"{self.tool} has effects and nothing takes them back, so all_or_nothing cannot be kept.",
                where=f"batch {self.name}",
                next_step="Name the tool that undoes one item (undo), give an upstream that is atomic, or use partial.",
            )


def batch(
    tool: object,
    *,
    over: str | Sequence[str] = (),
    name: str | None = None,
    description: str = "",
    limit: int = 50,
    on_error: Policy = "partial",
    upstream: Upstream | Function | None = None,
    undo: Undo | None = None,
    duplicates: Literal["once", "each"] = "once",
    **pace: Any,
) -> Tool:
    """The batch form of a tool, itself an ordinary tool once it stands on a board.

    Parameters:
        tool: a `@tool` function, a `Tool`, or a name on the board.
        over: the parameter, or parameters, in which items differ; none: items are whole argument objects.
        name: the batch tool's name; by default the tool's with `batch_` in front.
        description: what it does; by default made from the tool's own.
        limit: how many items a call may have.
        on_error: `partial` or `all_or_nothing`.
        upstream: runs many items in one go, where the API behind can.
        undo: takes a finished item back, for `all_or_nothing`.
        duplicates: whether equal items run once or each.
        pace: fields of `Pace`: concurrency, rate, retries, longest_wait, stop_after, timeout.

    Raises:
        DefinitionError: the tool has no such parameter, or the limit is not positive.
    """
    target = tool_name(tool)
    if limit < 1:
        raise DefinitionError("A batch takes at least one item.", where="limit", next_step="Give a limit of 1 or more.")
    composite = Batch(
        name=ToolName.parse(name) if name else ToolName("", f"batch_{target.rpartition('.')[2]}"),
        tool=target,
        over=(over,) if isinstance(over, str) else tuple(over),
        description=description,
        limit=limit,
        on_error=on_error,
        upstream=UpstreamFunction(function=upstream) if callable(upstream) else upstream,
        undo=undo,
        duplicates=duplicates,
        pace=Pace(**pace),
    )
    return Unbound.tool(composite, description or f"Many at once: {target}.")


def _shape(batch: Batch, target: ToolSpec) -> Shape:
    known = list(target.properties)
    for name in batch.over:
        if name not in target.properties:
            near = nearest(name, known) or known
            raise DefinitionError(
                f"{batch.tool} has no parameter {name!r}.",
                where=f"batch {batch.name}: over",
                next_step=f"It has: {', '.join(near)}." if near else "It has no parameters.",
            )
    varying = batch.over or tuple(known)
    shared = tuple(name for name in known if name not in varying)
    items = batch.over[0] if len(batch.over) == 1 else _free("items", shared)
    return Shape(items=items, single=len(batch.over) == 1, shared=shared, report=_free("report", (*shared, items)))


def _free(name: str, taken: Sequence[str]) -> str:
    return name if name not in taken else _free(f"batch_{name}", taken)


def _spec(batch: Batch, moded: ToolSpec, target: ToolSpec, shape: Shape) -> ToolSpec:
    embedding = Embedding()
    item = _item_schema(batch, target, shape, embedding)
    shared = {name: embedding.take(target.properties[name], target.input, target.name.name) for name in shape.shared}
    required = [name for name in target.input.get("required", ()) if name in shape.shared]
    many = {
        "type": "array",
        "items": item,
        "minItems": 1,
        "maxItems": batch.limit,
        "description": f"The items, {batch.limit} at most.",
    }
    choice = {
        "type": "string",
        "enum": list(REPORT_CHOICES),
        "default": "all",
        "description": "Which items the answer shows; counts and what to retry are always there.",
    }
    properties: dict[str, Json] = {shape.items: many, **shared, shape.report: choice}
    schema: dict[str, Json] = {"type": "object", "properties": properties, "required": [shape.items, *required]}
    if embedding.defs:
        schema["$defs"] = embedding.defs
    spec = ToolSpec(
        name=batch.name,
        description=_description(batch, target),
        input=schema,
        output=_output(target),
        effects=target.effects,
        costly=target.costly,
        rung=target.rung if target.rung is Rung.HIGH else Rung.MID,
        category=target.category,
        auth=target.auth,
        batch=batch.limit,
        hints=(Hint(Relation.INSTEAD, str(target.name), "you have one item only"),),
        replaces=(str(target.name),),
        meta={"pegboard/composite": "batch", "pegboard/uses": [str(target.name)]},
        source=SourceRef("compose", "batch"),
    )
    own = [mode for mode in Mode if mode is not Mode.SCHEMA and offers(moded, mode)]
    spec = with_modes(spec, [*own, Mode.DRY_RUN]) if moded.modes else with_own_modes(spec, [Mode.DRY_RUN])
    # Each item is checked by its own call, so that one bad item costs itself alone.
    return replace(spec, accepts=_loose(spec.input, shape))


def _item_schema(batch: Batch, target: ToolSpec, shape: Shape, embedding: Embedding) -> Json:
    owner = target.name.name
    if shape.single:
        return embedding.take(target.properties[shape.items], target.input, owner)
    varying = batch.over or tuple(target.properties)
    item = {
        **target.input,
        "properties": {name: target.properties[name] for name in varying},
        "required": [name for name in target.input.get("required", ()) if name in varying],
    }
    kept = {key: value for key, value in item.items() if key not in ("$defs", "definitions", "$schema", "$id")}
    return embedding.take(kept, target.input, owner)


def _loose(schema: Schema, shape: Shape) -> Schema:
    properties: dict[str, Json] = {**schema["properties"], shape.items: {}}
    return {**schema, "properties": properties, "required": []}


def _output(target: ToolSpec) -> Schema:
    embedding = Embedding()
    value: Json = embedding.take(target.output, target.output, target.name.name) if target.output else {}
    item = composite_output(
        {
            "index": {"type": "integer", "description": "The item's place in the input, from 0."},
            "status": {"type": "string", "enum": ["ok", "failed", "skipped", "timed_out", "cancelled"]},
            "input": {},
            "value": value,
            "error": FAILURE_SCHEMA,
        },
        ["index", "status"],
    )
    properties: dict[str, Json] = {
        "status": {"type": "string", "enum": ["ok", "partial", "failed"]},
        "counts": {"type": "object", "additionalProperties": {"type": "integer"}},
        "items": {"type": "array", "items": item},
        "failures": {"type": "array", "items": {"type": "object"}},
        "notes": {"type": "array", "items": {"type": "string"}},
        "retry": {"type": "object", "description": "The arguments of the call that runs what did not succeed."},
    }
    schema = dict(composite_output(properties, ["status", "counts"]))
    return {**schema, "$defs": embedding.defs} if embedding.defs else schema


def _description(batch: Batch, target: ToolSpec) -> str:
    what = batch.description.strip() or f"{target.description.strip() or target.name.name} For many items in one call."
    policy = {
        "partial": "Each item succeeds or fails for itself; the answer has a status for each, in the order given.",
        "all_or_nothing": "All or nothing: "
        + (
            "if one item fails, those that were done are taken back."
            if batch.undo
            else "if one item fails, none takes effect."
        ),
    }[batch.on_error]
    again = " Equal items run once." if batch.duplicates == "once" else ""
    return (
        f"{what}\nTakes up to {batch.limit} items; use it instead of calling {target.name} in a loop. {policy}{again}"
    )
