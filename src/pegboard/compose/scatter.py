"""Scatter-gather: several sources asked at once, merged into one shape; a source that fails degrades the answer."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from pegboard.compose.bind import tool_name
from pegboard.compose.bundle import composite_spec
from pegboard.compose.gather import Branch, ScatterRun
from pegboard.compose.inputs import check_arguments, derived_input
from pegboard.compose.merge import CONFLICTS, SOURCES, Merge
from pegboard.compose.report import FAILURE_SCHEMA, composite_output
from pegboard.core import Handler, Rung, Tool, ToolName, ToolSpec, without_modes
from pegboard.core.draft import Unbound
from pegboard.core.spec import MODEL
from pegboard.errors import DefinitionError
from pegboard.schema.embed import Embedding
from pegboard.schema.expression import Expression
from pegboard.schema.template import Template
from pegboard.schema.types import Json, Schema, as_list, as_object


@dataclass(frozen=True, kw_only=True)
class Scatter:
    """The definition of a scatter-gather; `scatter()` makes one in Python, `[scatter.NAME]` in a config.

    Parameters:
        name: its name.
        description: what it finds out.
        branches: the sources by name, in the order in which they stand when they disagree.
        merge: how their records become one list.
        timeout: seconds after which a source counts as late.
        quorum: how many sources must answer; with fewer it fails.
        input: the JSON Schema of its arguments; None: made from the branches.
        record: the JSON Schema of a merged record; None: made from the tools' own.
        category: what it is about.
        degrades: whether it is built without the sources of which nothing is on the board; they count as failed.
    """

    name: ToolName
    description: str
    branches: Mapping[str, Branch]
    merge: Merge = Merge()
    timeout: float | None = 10.0
    quorum: int = 1
    input: Schema | None = None
    record: Schema | None = None
    category: str | None = None
    optional_uses: frozenset[str] = frozenset()
    degrades: bool = True

    @property
    def uses(self) -> tuple[str, ...]:
        """The tools that it calls."""
        return tuple(dict.fromkeys(branch.tool for branch in self.branches.values()))

    def build(self, inner: Mapping[str, ToolSpec], run: Handler) -> Tool:
        """The tool, over what its names mean on a board.

        Raises:
            DefinitionError: a branch gives an argument that its tool does not have, or the quorum cannot be met.
        """
        if not 1 <= self.quorum <= len(self.branches):
            raise DefinitionError(
                f"A quorum of {self.quorum} cannot be met by {len(self.branches)} sources.", where="quorum"
            )
        present = {name: branch for name, branch in self.branches.items() if branch.tool in inner}
        if len(present) < self.quorum:
            raise DefinitionError(f"{len(present)} of its sources are there, and {self.quorum} must answer.")
        specs = {name: without_modes(inner[branch.tool]) for name, branch in present.items()}
        for name, branch in present.items():
            if branch.args is not None:
                check_arguments(branch.args, specs[name], f"sources.{name}: args")
        spec = _spec(replace(self, branches=present), specs, inner)
        return Tool(spec, ScatterRun(self, inner, run))


def scatter(
    name: str,
    branches: Mapping[str, object],
    *,
    merge: Merge | None = None,
    timeout: float | None = 10.0,
    quorum: int = 1,
    description: str = "",
    fields: Mapping[str, Mapping[str, str]] | None = None,
    **more: Any,
) -> Tool:
    """A tool that asks several tools at once and merges what they say.

    Parameters:
        name: its name.
        branches: a tool (function, `Tool`, name) or a `Branch` by source.
        merge: how records become one list: `union(by=...)`, `key(by=...)`, `rank(...)`.
        timeout: seconds after which a source counts as late.
        quorum: how many sources must answer.
        description: what it finds out.
        fields: by source, the expression over `record` for each field of the common shape.
        more: further fields of `Scatter`.
    """
    shapes = fields or {}
    read = {
        source: branch
        if isinstance(branch, Branch)
        else Branch(
            tool=tool_name(branch),
            fields={key: Expression.parse(text) for key, text in shapes.get(source, {}).items()},
        )
        for source, branch in branches.items()
    }
    definition = Scatter(
        name=ToolName.parse(name),
        description=description,
        branches=read,
        merge=merge or Merge(),
        timeout=timeout,
        quorum=quorum,
        **more,
    )
    return Unbound.tool(definition, description)


def _args(branch: Branch, spec: ToolSpec) -> Template:
    if branch.args is not None:
        return branch.args
    return Template.parse({name: f"${{input.{name}}}" for name in spec.properties if name.isidentifier()})


def _spec(scatter: Scatter, specs: Mapping[str, ToolSpec], inner: Mapping[str, ToolSpec]) -> ToolSpec:
    calls = [(specs[name], _args(branch, specs[name])) for name, branch in scatter.branches.items()]
    expressions = [expression for _, args in calls for expression in args.expressions]
    late = f" A source that has not answered after {scatter.timeout:g} s is left out." if scatter.timeout else ""
    needed = f" At least {scatter.quorum} must answer." if scatter.quorum > 1 else ""
    says = scatter.description.strip() or f"Ask {' and '.join(scatter.branches)} at once."
    spec = ToolSpec(
        name=scatter.name,
        description=(
            f"{says}\nAsks {', '.join(scatter.branches)} at the same time and merges the answers; the result tells "
            f"how each source did.{late}{needed}{_model(scatter, specs)}"
        ),
        input=scatter.input if scatter.input is not None else derived_input(calls, expressions),
        output=_output(scatter, specs),
        rung=Rung.HIGH,
        category=scatter.category,
        replaces=tuple(str(spec.name) for spec in specs.values()),
    )
    return composite_spec(spec, inner, kind="scatter")


def _output(scatter: Scatter, specs: Mapping[str, ToolSpec]) -> Schema:
    embedding = Embedding()
    record: dict[str, Json] = dict(scatter.record or _record_schema(scatter, specs, embedding))
    provenance = {
        SOURCES: {"type": "array", "items": {"type": "string"}},
        CONFLICTS: {"type": "object", "description": "Fields on which the sources disagree, with what each says."},
    }
    record["properties"] = {**record.get("properties", {}), **provenance}
    status = composite_output(
        {
            "status": {"type": "string"},
            "count": {"type": ["integer", "null"]},
            "seconds": {"type": ["number", "null"]},
            "error": FAILURE_SCHEMA,
        },
        ["status"],
    )
    schema = dict(
        composite_output(
            {
                "records": {"type": "array", "items": {"type": "object", **record}},
                "complete": {"type": "boolean", "description": "Whether every source answered."},
                "sources": {"type": "object", "additionalProperties": status},
                "notes": {"type": "array", "items": {"type": "string"}},
            },
            ["records", "complete", "sources"],
        )
    )
    return {**schema, "$defs": embedding.defs} if embedding.defs else schema


def _record_of(output: Schema) -> Schema:
    """What a tool's records are, whether it answers one, a list of them, or either."""
    either = (as_object(part).get("items") for part in as_list(output.get("anyOf")))
    listed = next((items for items in either if items is not None), None)
    return cast("Schema", listed if listed is not None else output.get("items", output))


def _model(scatter: Scatter, specs: Mapping[str, ToolSpec]) -> str:
    """Which canonical model all branches answer, if it is one, as a sentence."""
    plain = not any(branch.fields for branch in scatter.branches.values())
    models = {specs[name].meta.get(MODEL) for name in scatter.branches}
    model = models.pop() if plain and len(models) == 1 else None
    return f" Each record is a {model} (the canonical model)." if isinstance(model, str) else ""


def _record_schema(scatter: Scatter, specs: Mapping[str, ToolSpec], embedding: Embedding) -> Schema:
    properties: dict[str, Json] = {}
    for name, branch in scatter.branches.items():
        output = specs[name].output or {}
        found: Json = _record_of(output) if branch.records is None and not branch.fields else {}
        known = cast("dict[str, Json]", found.get("properties", {}))
        for key in branch.fields:
            properties.setdefault(key, {})
        for key, piece in known.items():
            properties.setdefault(key, embedding.take(piece, output, specs[name].name.name))
    return {"type": "object", "properties": properties}
