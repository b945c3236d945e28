"""What an author may say of a tool beside its function, and the spec that comes of both."""

from collections.abc import Mapping, Sequence
from datetime import date
from enum import StrEnum
from typing import Any, Protocol, TypedDict, TypeVar

from pegboard.core import Effects, Freeform, Hint, Mode, Rung, SourceRef, ToolName, ToolSpec
from pegboard.errors import DefinitionError, nearest
from pegboard.schema.infer import Inferred
from pegboard.schema.types import JsonObject, Schema
from pegboard.schema.validate import validator


class Named(Protocol):
    """Anything that is a tool and knows its name."""

    @property
    def name(self) -> ToolName:
        """The full name."""
        ...


class Options(TypedDict, total=False):
    """The keywords of `@tool`. Those that are not explained here mean what they mean in `core.ToolSpec`."""

    name: str
    """By default the function's own."""
    namespace: str
    """By default the name of the source that the module is."""
    version: str
    title: str
    description: str
    """By default the docstring's."""
    effects: Effects | str
    costly: bool
    defer: bool
    rung: Rung | str
    category: str
    auth: str
    hints: Sequence[Hint]
    examples: Sequence[JsonObject]
    aliases: Sequence[str]
    replaces: Sequence[str | Named]
    deprecated: str
    """By default, where there is a successor, nothing but its name."""
    successor: str | Named
    sunset: str | date
    freeform: Freeform | bool
    """The function takes one text, not arguments."""
    default_mode: Mode | str
    """By default preview where there is one and the effects are destructive or costly."""
    meta: Mapping[str, Any]


def name_in(options: Options, function_name: str) -> ToolName:
    """The tool's full name."""
    return ToolName(options.get("namespace", ""), options.get("name", function_name), options.get("version"))


def spec_of(options: Options, function_name: str, inferred: Inferred) -> ToolSpec:
    """The spec of a function with these options.

    Raises:
        DefinitionError: an option names what does not exist, an example is not valid, or a freeform tool does not
            take exactly one text.
    """
    freeform = options.get("freeform") or None
    rung, successor = options.get("rung"), options.get("successor")
    spec = ToolSpec(
        name=name_in(options, function_name),
        title=options.get("title"),
        description=options.get("description", _told(inferred)),
        input=freeform_input(inferred, function_name) if freeform else inferred.input,
        output=inferred.output,
        freeform=Freeform() if freeform is True else freeform,
        effects=member(Effects, options.get("effects", Effects.UNKNOWN), function_name),
        costly=options.get("costly", False),
        defer=options.get("defer"),
        rung=None if rung is None else member(Rung, rung, function_name),
        category=options.get("category"),
        auth=options.get("auth"),
        hints=tuple(options.get("hints", ())),
        examples=tuple(options.get("examples", ())),
        aliases=tuple(options.get("aliases", ())),
        replaces=tuple(one if isinstance(one, str) else str(one.name) for one in options.get("replaces", ())),
        deprecated=options.get("deprecated", "" if successor or "sunset" in options else None),
        successor=successor if successor is None or isinstance(successor, str) else str(successor.name),
        sunset=_day(options["sunset"], function_name) if "sunset" in options else None,
        meta=dict(options.get("meta", {})),
        source=SourceRef("", "python"),
    )
    _check_examples(spec)
    return spec


def _told(inferred: Inferred) -> str:
    """The docstring's text; what it says of the result stands here only where there is no schema to hold it."""
    said = inferred.docstring
    if said.returns and inferred.output is None:
        return f"{said.description}\n\nReturns: {said.returns}".strip()
    return said.description


def _day(value: str | date, tool: str) -> str:
    try:
        return (date.fromisoformat(value) if isinstance(value, str) else value).isoformat()
    except ValueError:
        raise DefinitionError(
            f"The tool {tool!r} has the sunset {value!r}, which is no day.", next_step="Write it as 2027-01-31."
        ) from None


S = TypeVar("S", bound=StrEnum)


def member(kind: type[S], value: S | str, tool: str) -> S:
    """The member of an enumeration that a text names.

    Raises:
        DefinitionError: there is none.
    """
    try:
        return kind(value)
    except ValueError:
        known = nearest(str(value), list(kind)) or [one.value for one in kind]
        raise DefinitionError(
            f"The tool {tool!r} has the {kind.__name__.lower()} {value!r}, which does not exist.",
            next_step=f"Use {' or '.join(known)}.",
        ) from None


def freeform_input(inferred: Inferred, function_name: str) -> Schema:
    """The input of a freeform tool: the function's only parameter, a text, under the name `input`.

    Raises:
        DefinitionError: the function does not take exactly one text.
    """
    properties = list(inferred.input["properties"].values())
    if len(properties) != 1 or properties[0].get("type") != "string":
        raise DefinitionError(
            f"The freeform tool {function_name!r} must take exactly one text.",
            next_step="Give it one parameter of type str.",
        )
    return {
        "type": "object",
        "properties": {"input": properties[0]},
        "required": ["input"],
        "additionalProperties": False,
    }


def _check_examples(spec: ToolSpec) -> None:
    for index, example in enumerate(spec.examples):
        faults = validator(spec.input).violations(example)
        if faults:
            raise DefinitionError(
                f"Example {index} of the tool {str(spec.name)!r} is not valid: {faults[0]}.",
                next_step="Correct the example, or the signature.",
            )
