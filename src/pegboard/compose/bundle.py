"""A bundle as data: a fixed sequence of steps that is one tool, named after its task."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from pegboard.compose.inner import combined_effects
from pegboard.compose.inputs import check_arguments, derived_input
from pegboard.compose.steprun import StepRun
from pegboard.compose.steps import Step
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
from pegboard.core.mode import mode_parameter, with_own_modes
from pegboard.errors import DefinitionError, nearest
from pegboard.schema.embed import Embedding, at_path
from pegboard.schema.expression import Expression
from pegboard.schema.template import Template, whole
from pegboard.schema.types import Json, Schema


@dataclass(frozen=True, kw_only=True)
class Bundle:
    """The definition of a bundle.

    Parameters:
        name: its name, after the task.
        description: what the task is.
        steps: what it does, in order.
        input: the JSON Schema of its arguments; None: made from what the steps read of `input`.
        output: what it returns, over `input` and the steps; None: the last step's value.
        category: what it is about.
        rung: its altitude.
        replaces: the tools that agents called one after the other before; none: those that it calls.
    """

    name: ToolName
    description: str
    steps: tuple[Step, ...]
    input: Schema | None = None
    output: Template | None = None
    category: str | None = None
    rung: Rung = Rung.HIGH
    replaces: tuple[str, ...] = ()

    @property
    def uses(self) -> tuple[str, ...]:
        """The tools that it calls."""
        return tuple(dict.fromkeys(step.tool for step in self.steps if step.tool))

    @property
    def optional_uses(self) -> frozenset[str]:
        """The tools that only optional steps call."""
        return frozenset(self.uses) - {step.tool for step in self.steps if not step.optional}

    def build(self, inner: Mapping[str, ToolSpec], run: Handler) -> Tool:
        """The tool, over what its names mean on a board.

        Raises:
            DefinitionError: a step gives an argument that its tool does not have, or lacks one that it needs.
        """
        steps = tuple(
            moded(step, inner[step.tool]) if step.tool else step
            for step in self.steps
            if not step.tool or step.tool in inner
        )
        for step in steps:
            if step.tool:
                check_arguments(step.args, without_modes(inner[step.tool]), f"step {step.id}: args")
        _check_input(self, steps)
        spec = _spec(self, steps, inner)
        return Tool(spec, StepRun(steps, self.output, inner, run))


def moded(step: Step, spec: ToolSpec) -> Step:
    """The step with the mode that stands among its arguments, where its tool takes one there, as its own.

    Raises:
        DefinitionError: that is no mode as it stands.
    """
    name = mode_parameter(spec)
    given = cast("Mapping[str, Json]", step.args.source)
    if name is None or name not in given:
        return step
    if given[name] not in set(Mode):
        raise DefinitionError(
            f"{given[name]!r} is no mode.",
            where=f"step {step.id}: args.{name}",
            next_step=f"Use {', '.join(Mode)}, or leave it out: the mode of the whole passes through.",
        )
    args = Template.parse({key: value for key, value in given.items() if key != name})
    return replace(step, args=args, mode=Mode(str(given[name])))


def composite_spec(
    spec: ToolSpec, inner: Mapping[str, ToolSpec], *, kind: str, own: Sequence[Mode] = (Mode.DRY_RUN,)
) -> ToolSpec:
    """Complete the spec of a tool that is made of others: effects, sign-in, hints, and modes that pass through.

    Parameters:
        spec: what the composite says of itself.
        inner: the specs of its parts, by the name that it uses for them.
        kind: `bundle`, `chain`, `scatter`.
        own: the modes that it answers itself, whatever its parts offer.
    """
    parts = {str(part.name): part for part in inner.values()}
    auth = dict.fromkeys(part.auth for part in parts.values() if part.auth)
    completed = replace(
        spec,
        effects=combined_effects(parts),
        costly=any(part.costly for part in parts.values()),
        auth=", ".join(auth) or None,
        meta={**spec.meta, "pegboard/composite": kind, "pegboard/uses": list(parts)},
        source=SourceRef("compose", kind),
    )
    hurts = completed.costly or completed.effects is Effects.DESTRUCTIVE
    if hurts or any(offers(part, Mode.PREVIEW) for part in parts.values()):
        return with_modes(completed, [*own, Mode.PREVIEW])
    return with_own_modes(completed, [*own, Mode.PREVIEW])


def _spec(bundle: Bundle, steps: Sequence[Step], inner: Mapping[str, ToolSpec]) -> ToolSpec:
    called = list(bundle.replaces or dict.fromkeys(str(inner[step.tool].name) for step in steps if step.tool))
    spec = ToolSpec(
        name=bundle.name,
        description=bundle.description.strip(),
        input=bundle.input if bundle.input is not None else _derived_input(bundle, steps, inner),
        output=_derived_output(bundle, steps, inner),
        rung=bundle.rung,
        category=bundle.category,
        replaces=tuple(called),
        hints=tuple(Hint(Relation.INSTEAD, name, "you need only this part of it") for name in called[:4]),
    )
    return composite_spec(spec, {step.tool: inner[step.tool] for step in steps if step.tool}, kind="bundle")


def _templates(bundle: Bundle, steps: Sequence[Step]) -> list[tuple[Step | None, Template]]:
    found: list[tuple[Step | None, Template]] = []
    for step in steps:
        found += [(step, part) for part in (step.args, step.default, step.set, step.stop, step.next_step) if part]
    return [*found, (None, bundle.output)] if bundle.output else found


def _expressions(bundle: Bundle, steps: Sequence[Step]) -> list[Expression]:
    conditions = [step.when for step in steps if step.when]
    return [*conditions, *(each for _, template in _templates(bundle, steps) for each in template.expressions)]


def _check_input(bundle: Bundle, steps: Sequence[Step]) -> None:
    known = cast("Mapping[str, Json]", (bundle.input or {}).get("properties", {}))
    for expression in _expressions(bundle, steps):
        for root, path in expression.paths:
            if root == "input" and bundle.input is not None and path and path[0] not in known:
                near = nearest(str(path[0]), known) or list(known)
                raise DefinitionError(
                    f"A step reads input.{path[0]}, which is not in `input`.",
                    where=f"${{{expression.text}}}",
                    next_step=f"Known: {', '.join(near)}." if near else "Add it to `input`.",
                )
    ids = [step.id for step in steps]
    for name in bundle.output.names if bundle.output else ():
        if name != "input" and name not in ids:
            near = nearest(name, ids) or ids
            raise DefinitionError(
                f"`output` reads {name!r}, which is no step.", where="output", next_step=f"Known: {', '.join(near)}."
            )


def _derived_input(bundle: Bundle, steps: Sequence[Step], inner: Mapping[str, ToolSpec]) -> Schema:
    calls = [(without_modes(inner[step.tool]), step.args) for step in steps if step.tool]
    return derived_input(calls, _expressions(bundle, steps))


def _derived_output(bundle: Bundle, steps: Sequence[Step], inner: Mapping[str, ToolSpec]) -> Schema | None:
    outputs = {step.id: inner[step.tool] for step in steps if step.tool}
    embedding = Embedding()
    if bundle.output is None:
        last = [step for step in steps if not step.stop][-1:]
        conditional = any(step.when or step.on_error != "stop" for step in last)
        source = outputs.get(last[0].id) if last else None
        if source is None or source.output is None or conditional:
            return None
        schema = embedding.take(source.output, source.output, source.name.name)
    else:
        schema = _schema_of(bundle.output.parsed, outputs, embedding)
    found = cast("dict[str, Json]", schema)
    return {**found, "$defs": embedding.defs} if embedding.defs else found or None


def _schema_of(parsed: Json, outputs: Mapping[str, ToolSpec], embedding: Embedding) -> Json:
    if isinstance(parsed, dict):
        parts = cast("dict[str, Json]", parsed)
        properties = {key: _schema_of(part, outputs, embedding) for key, part in parts.items()}
        return {"type": "object", "properties": properties, "required": list(parts)}
    expression = whole(parsed)
    if isinstance(parsed, tuple) and expression is None:
        return {"type": "string"}
    if expression is not None and len(expression.paths) == 1:
        root, path = expression.paths[0]
        spec = outputs.get(root)
        plain = expression.text.strip().replace("[", ".").replace("]", "") == ".".join(map(str, (root, *path)))
        found = at_path(spec.output, path) if plain and spec is not None and spec.output is not None else None
        if found is not None and spec is not None and spec.output is not None:
            return {**cast("Schema", embedding.take(found, spec.output, spec.name.name))}
    return {}
