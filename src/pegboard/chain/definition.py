"""A chain as data: steps in a fixed order, in the syntax of bundles, whose runs are kept and can be resumed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pegboard.chain.file import is_given, with_file
from pegboard.chain.mapping import Mapped, mapped
from pegboard.chain.specification import FORMS, SPECIFICATION, SpecificationTool, specification_spec
from pegboard.chain.tool import ChainTool
from pegboard.compose.bundle import Bundle, composite_spec, moded
from pegboard.compose.steps import Step, read_steps
from pegboard.core import Handler, Hint, Tool, ToolName, ToolSpec, without_modes
from pegboard.core.draft import Unbound
from pegboard.errors import DefinitionError, nearest
from pegboard.schema.shorthand import read_object
from pegboard.schema.template import Template
from pegboard.schema.types import JsonObject, as_list, as_object, digest

_KEYS = ("description", "steps", "input", "output", "output_variable", "parameter_mapping", "category", "form")
_KEPT = (*_KEYS, "version")


@dataclass(frozen=True, kw_only=True)
class Chain:
    """The definition of a chain. Make it with `Chain.read`.

    Parameters:
        name: its name.
        body: its steps, input and output, as a bundle has them.
        output_variable: the step whose value it returns; None: the last one that was executed.
        parameter_mapping: the tool's parameters, each with the path in the chain's input that it fills.
        source: the definition as written, with its defaults left out.
    """

    name: ToolName
    body: Bundle
    output_variable: str | None = None
    parameter_mapping: Mapping[str, str] = field(default_factory=dict[str, str])
    source: JsonObject = field(default_factory=dict[str, Any])

    @classmethod
    def read(cls, name: str, table: JsonObject, where: str | None = None) -> "Chain":
        """A chain from a table of TOML, YAML or JSON.

        Parameters:
            name: its name; it may hold a namespace.
            table: `description`, `steps`, `input`, `output` or `output_variable`, `parameter_mapping`, `category`,
                `form`.
            where: what errors call the place, such as `chain.publish`.

        Raises:
            DefinitionError: it cannot work as it stands.
        """
        place = where or f"chain.{name}"
        source = {key: table[key] for key in _KEPT if is_given(table.get(key))}
        _check_keys(table, place)
        if _form(source, place) == FORMS[0]:
            source.pop("form", None)
        output, variable = source.get("output"), _variable(source, place)
        steps = read_steps(source.get("steps"), f"{place}.steps")
        if output is None and variable in [step.id for step in steps]:
            output = f"${{{variable}}}"
        body = Bundle(
            name=_named(name, source.get("version")),
            description=_text(source, "description", place),
            steps=steps,
            input=read_object(source.get("input"), f"{place}.input"),
            output=None if output is None else Template.parse(output),
            category=source.get("category"),
        )
        mapping = {str(key): str(path) for key, path in as_object(source.get("parameter_mapping")).items()}
        return cls(name=body.name, body=body, output_variable=variable, parameter_mapping=mapping, source=source)

    @property
    def steps(self) -> tuple[Step, ...]:
        """What it does, in order."""
        return self.body.steps

    @property
    def is_followed(self) -> bool:
        """Whether the agent calls the tools itself, step by step."""
        return self.source.get("form") == SPECIFICATION

    @property
    def uses(self) -> tuple[str, ...]:
        """The tools that it calls."""
        return self.body.uses

    @property
    def optional_uses(self) -> frozenset[str]:
        """The tools that only optional steps call."""
        return self.body.optional_uses

    def build(self, inner: Mapping[str, ToolSpec], run: Handler) -> Tool:
        """The tool, over what its names mean on a board.

        Raises:
            DefinitionError: a step gives an argument that its tool does not have, or lacks one that it needs.
        """
        known = _open(inner, self.steps) if self.is_followed else inner
        bare = without_modes(self.body.build(known, run).spec)
        shape = mapped(bare.input, self.parameter_mapping)
        # Its parts stay what agents call: a chain is for the process, and replaces no sequence of theirs.
        plain = replace(bare, input=shape.input, replaces=(), hints=tuple(map(_only_a_part, bare.hints)))
        spec = composite_spec(plain, {text: inner[text] for text in self.uses if text in inner}, kind="chain")
        return Tool(specification_spec(spec) if self.is_followed else spec, self.over(inner, run, shape))

    def over(self, inner: Mapping[str, ToolSpec], run: Handler, shape: Mapped | None = None) -> ChainTool:
        """What runs it, over what its names mean on a board."""
        steps = [
            moded(step, inner[step.tool]) if step.tool else step
            for step in self.steps
            if not step.tool or step.tool in inner
        ]
        if self.is_followed:  # trying again is the agent's
            steps = [replace(step, retries=0) for step in steps]
        frozen = self.frozen(inner)
        return (SpecificationTool if self.is_followed else ChainTool)(
            name=str(self.name),
            steps=tuple(steps),
            output=None if self.output_variable else self.body.output,
            variable=self.output_variable,
            frozen=frozen,
            digest=digest(frozen),
            shape=shape or Mapped({}, {}),
            inner=inner,
            run=run,
        )

    def frozen(self, inner: Mapping[str, ToolSpec]) -> JsonObject:
        """The definition as it is kept in a run, with the full names of its tools."""
        return {**self.source, "tools": {text: str(spec.name) for text, spec in inner.items()}}


def chain(name: str, *, description: str, steps: Sequence[JsonObject], **more: Any) -> Tool:
    """Define a chain in Python: a module that has it offers it as a tool.

    Parameters:
        name: its name.
        description: what the process is.
        steps: its steps, in the syntax of bundles (`pegboard.compose.steps`).
        more: `input`, `output` or `output_variable`, `parameter_mapping`, `category`, `form`.

    Raises:
        DefinitionError: it cannot work as it stands.
    """
    table = {"description": description, "steps": list(steps), **more}
    return Unbound.tool(Chain.read(name, table), description)


def _open(inner: Mapping[str, ToolSpec], steps: Sequence[Step]) -> Mapping[str, ToolSpec]:
    """The tools without needing what a step leaves to the agent to fill in."""
    found: dict[str, ToolSpec] = {}
    for text, spec in inner.items():
        given = [as_object(step.args.source) for step in steps if step.tool == text]
        needed = [name for name in spec.input.get("required", ()) if all(name in each for each in given)]
        found[text] = replace(spec, input={**spec.input, "required": needed})
    return found


def _named(name: str, version: str | None) -> ToolName:
    """The chain's name; one that is called `NAME@VERSION` stands beside the others of its name."""
    parsed = ToolName.parse(name)
    base = parsed.name.removesuffix(f"@{version}") if version else parsed.name
    return parsed if base == parsed.name else ToolName(parsed.namespace, base, version)


def _check_keys(table: JsonObject, where: str) -> None:
    for key in table:
        if key not in (*_KEPT, "tools", "file", "name", "origin"):
            near = nearest(key, _KEYS) or list(_KEYS)
            raise DefinitionError(f"A chain has no {key!r}.", where=where, next_step=f"Use {' or '.join(near)}.")
    if not isinstance(table.get("steps", []), list | tuple) or not as_list(list(table.get("steps") or [])):
        raise DefinitionError("A chain needs steps.", where=where, next_step="Add a list `steps`.")


def _form(source: JsonObject, where: str) -> str:
    form: Any = source.get("form", FORMS[0])
    if form not in FORMS:
        raise DefinitionError(
            f"A chain is not offered as {form!r}.", where=f"{where}.form", next_step=f"Use {' or '.join(FORMS)}."
        )
    return form


def _variable(source: JsonObject, where: str) -> str | None:
    name: Any = source.get("output_variable")
    if name is None:
        return None
    if "output" in source:
        raise DefinitionError(
            "A chain has `output` or `output_variable`, not both.", where=where, next_step="Take one of them out."
        )
    if not isinstance(name, str) or name.startswith("_") or not name.isidentifier():
        raise DefinitionError(
            f"{name!r} cannot be an output variable.",
            where=f"{where}.output_variable",
            next_step="Name a step; names that begin with _ are reserved.",
        )
    return name


def _text(source: JsonObject, key: str, where: str) -> str:
    value: Any = source.get(key)
    if not isinstance(value, str) or not value.strip():
        raise DefinitionError(f"The key {key!r} is missing.", where=where, next_step=f'Write {key} = "...".')
    return value


def _only_a_part(hint: Hint) -> Hint:
    return replace(hint, when="you need only this step of it")


def read_chains(tables: Mapping[str, JsonObject]) -> tuple[list[Chain], list[tuple[str, str]]]:
    """The chains of a config, and by the name of each that was set aside, what is wrong.

    Parameters:
        tables: the tables `[chain.NAME]` by name.
    """
    found: list[Chain] = []
    aside: list[tuple[str, str]] = []
    for name, table in tables.items():
        try:
            found.append(Chain.read(name, with_file(table)))
        except DefinitionError as error:
            aside.append((name, str(error)))
    return found, aside
