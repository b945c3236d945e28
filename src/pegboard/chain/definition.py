"""A chain as data: steps in a fixed order, in the syntax of bundles, whose runs are kept and can be resumed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pegboard.chain.file import is_given, with_file
from pegboard.chain.mapping import Mapped, mapped
from pegboard.chain.tool import ChainTool
from pegboard.compose.bundle import Bundle, composite_spec, moded
from pegboard.compose.steps import Step, read_steps
from pegboard.core import Handler, Hint, Tool, ToolName, ToolSpec, without_modes
from pegboard.core.draft import Unbound
from pegboard.errors import DefinitionError, nearest
from pegboard.schema.shorthand import read_object
from pegboard.schema.template import Template
from pegboard.schema.types import JsonObject, as_list, as_object, digest

_KEYS = ("description", "steps", "input", "output", "output_variable", "parameter_mapping", "category")
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
            table: `description`, `steps`, `input`, `output` or `output_variable`, `parameter_mapping`, `category`.
            where: what errors call the place, such as `chain.publish`.

        Raises:
            DefinitionError: it cannot work as it stands.
        """
        place = where or f"chain.{name}"
        source = {key: table[key] for key in _KEPT if is_given(table.get(key))}
        _check_keys(table, place)
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
        bare = without_modes(self.body.build(inner, run).spec)
        shape = mapped(bare.input, self.parameter_mapping)
        # Its parts stay what agents call: a chain is for the process, and replaces no sequence of theirs.
        plain = replace(bare, input=shape.input, replaces=(), hints=tuple(map(_only_a_part, bare.hints)))
        spec = composite_spec(plain, {text: inner[text] for text in self.uses if text in inner}, kind="chain")
        return Tool(spec, self.over(inner, run, shape))

    def over(self, inner: Mapping[str, ToolSpec], run: Handler, shape: Mapped | None = None) -> ChainTool:
        """What runs it, over what its names mean on a board."""
        steps = [
            moded(step, inner[step.tool]) if step.tool else step
            for step in self.steps
            if not step.tool or step.tool in inner
        ]
        frozen = self.frozen(inner)
        return ChainTool(
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
        more: `input`, `output` or `output_variable`, `parameter_mapping`, `category`.

    Raises:
        DefinitionError: it cannot work as it stands.
    """
    table = {"description": description, "steps": list(steps), **more}
    return Unbound.tool(Chain.read(name, table), description)


def _named(name: str, version: str | None) -> ToolName:
    """The chain's name; one that is called `NAME@VERSION` stands beside the others of its name."""
    parsed = ToolName.parse(name)
    base = parsed.name.removesuffix(f"@{version}") if version else parsed.name
    return parsed if base == parsed.name else ToolName(parsed.namespace, base, version)


def _check_keys(table: JsonObject, where: str) -> None:
    for key in table:
        if key not in (*_KEPT, "tools", "file", "name"):
            near = nearest(key, _KEYS) or list(_KEYS)
            raise DefinitionError(f"A chain has no {key!r}.", where=where, next_step=f"Use {' or '.join(near)}.")
    if not isinstance(table.get("steps", []), list | tuple) or not as_list(list(table.get("steps") or [])):
        raise DefinitionError("A chain needs steps.", where=where, next_step="Add a list `steps`.")


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
