"""What a model reads of a tool: its description within a cap, and where the rest of what is to be said goes."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pegboard.core import Hint, Relation, ToolSpec
from pegboard.core.spec import OWN_META
from pegboard.schema.repair.intake import utf8
from pegboard.schema.text import shorten, size
from pegboard.schema.types import Schema, as_object


@dataclass(frozen=True, slots=True)
class Cap:
    """The most that a description may take.

    Parameters:
        limit: how much.
        unit: `bytes` of UTF-8, or `characters`.
    """

    limit: int
    unit: str = "characters"


CAPS = {
    "agent-plugin": Cap(1000, "bytes"),
    "openai-legacy": Cap(1024, "characters"),
    "runtype": Cap(500, "characters"),
}
"""Caps that platforms have, by name."""


@dataclass(frozen=True, slots=True)
class Move:
    """Something that is said elsewhere than in the description, or is not the author's.

    Parameters:
        what: `hint`, `version`, `replaces`, `deprecated`, `rule`, `description`.
        text: what is said.
        to: where: `parameter:NAME`, `tool_describe`, `shortened`, or `filled from ...`.
    """

    what: str
    text: str
    to: str


@dataclass(frozen=True, slots=True)
class Described:
    """A description, and what became of the rest.

    Parameters:
        text: the description; never empty.
        moves: what is said elsewhere.
        parameters: what is to be said of single parameters, by their name.
    """

    text: str
    moves: tuple[Move, ...] = ()
    parameters: tuple[tuple[str, str], ...] = ()


def describe(spec: ToolSpec, *, rule: str = "", cap: Cap | None = None) -> Described:
    """The description of a tool for a model.

    The author's text comes first; a rule of the arguments, hints, replacement and deprecation notes follow while
    there is room. A hint about a parameter is said of that parameter in any case. What else has no room is left to
    `tool_describe` and to the text of errors, where hints stand anyway.

    Parameters:
        spec: the tool.
        rule: what the arguments' schema says of them as a whole.
        cap: the most that the description may take.
    """
    own, filled = _own_text(spec)
    own, moves = utf8(own), list(filled)
    if cap is not None and size(own, cap.unit) > cap.limit:
        moves.append(Move("description", own, "shortened"))
        own = shorten(own, cap.limit, cap.unit)
    text, parameters = own, list[tuple[str, str]]()
    for what, said, parameter in ((what, utf8(said), at) for what, said, at in _notes(spec, rule)):
        if parameter is not None and parameter in spec.properties:
            parameters.append((parameter, _of_parameter(said, parameter)))
        if said.casefold() in text.casefold():
            continue
        longer = f"{said}\n{text}" if what == "deprecated" else f"{text}\n{said}"
        if cap is None or size(longer, cap.unit) <= cap.limit:
            text = longer
        elif parameter is not None and parameter in spec.properties:
            moves.append(Move(what, said, f"parameter:{parameter}"))
        else:
            moves.append(Move(what, said, "tool_describe"))
    return Described(text, tuple(moves), tuple(parameters))


def _own_text(spec: ToolSpec) -> tuple[str, list[Move]]:
    """The author's description, or one made from title, schema or name, marked as such."""
    own = spec.description.strip()
    if own:
        return _named(spec, own), []
    title = (spec.title or "").strip()
    schema = spec.input.get("description")
    if title:
        text, origin = _sentence(title), "the title"
    elif isinstance(schema, str) and schema.strip():
        text, origin = schema.strip(), "the schema"
    else:
        text, origin = _sentence(humanised(spec.name.name)), "the name"
    return text, [Move("description", text, f"filled from {origin}")]


def _named(spec: ToolSpec, own: str) -> str:
    """The text, with the tool's own name where its wire name can hardly show it."""
    name = spec.name.name
    plain = re.fullmatch(r"[\w./:-]+", name, re.ASCII) is not None
    return own if plain or name in own else f"{spec.title or name}: {own}"


def _sentence(text: str) -> str:
    return text if text[-1:] in ".!?。" else f"{text}."


def humanised(name: str) -> str:
    """A name as words: `listOpen_issues` as `List open issues`."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", re.sub(r"[\s_./:-]+", " ", name)).strip()
    return words[:1].upper() + words[1:].lower() if words else "A tool"


def _notes(spec: ToolSpec, rule: str) -> list[tuple[str, str, str | None]]:
    """What is to be said besides: its kind, the words, and the parameter that it is about."""
    notes: list[tuple[str, str, str | None]] = []
    if spec.deprecation is not None:
        notes.append(("deprecated", f"Deprecated: {spec.deprecation}".rstrip(": "), None))
    if spec.name.version:
        notes.append(("version", f"Version {spec.name.version}.", None))
    if rule:
        notes.append(("rule", rule, None))
    if spec.replaces:
        notes.append(("replaces", _replaced(spec), None))
    return notes + [("hint", _hint(hint), hint.parameter) for hint in _joined(spec.hints)]


def _joined(hints: Iterable[Hint]) -> list[Hint]:
    """The hints, those that say the same of several tools as one."""
    found: dict[tuple[Relation, str, str | None], list[str]] = {}
    for hint in hints:
        found.setdefault((hint.relation, hint.when, hint.parameter), []).append(hint.tool)
    return [Hint(relation, _either(tools), when, parameter) for (relation, when, parameter), tools in found.items()]


def _either(tools: Sequence[str]) -> str:
    return tools[0] if len(tools) == 1 else f"{', '.join(tools[:-1])} or {tools[-1]}"


def _replaced(spec: ToolSpec) -> str:
    """What a tool replaces; of a composed one, in which order it calls its parts."""
    kind = spec.meta.get(f"{OWN_META}composite")
    if kind in ("bundle", "chain"):
        bare = (name.rpartition(".")[2] for name in spec.replaces)
        return f"Replaces the sequence {' then '.join(bare)}; one call does all of it."
    return f"Replaces {', '.join(spec.replaces)}."


def _of_parameter(said: str, parameter: str) -> str:
    """A hint in its parameter's own description, which need not name it."""
    text = said[len(parameter) + 2 :] if said.casefold().startswith(f"{parameter}: ".casefold()) else said
    return text[:1].upper() + text[1:]


def described_schema(schema: Schema, said: Described) -> Schema:
    """The schema with what is to be said of single parameters in their descriptions; what stands there stays.

    A parameter that is a reference or a choice keeps its form, because some readers take no description beside it.
    """
    if not said.parameters:
        return schema
    table = dict(as_object(schema.get("properties")))
    for name, text in said.parameters:
        node = as_object(table.get(name))
        own = str(node.get("description") or "")
        if node and "anyOf" not in node and "$ref" not in node and text.casefold() not in own.casefold():
            table[name] = {**node, "description": f"{own}\n{text}" if own else text}
    return {**schema, "properties": table}


def _hint(hint: Hint) -> str:
    text = str(hint)
    text = text if hint.parameter else text[:1].upper() + text[1:]
    return text if text.endswith(".") else text + "."


def describe_namespace(namespace: str, *, instructions: str = "", cap: Cap | None = None) -> Described:
    """The description of a group of tools: what its server says of itself, or a default that is marked as one.

    Parameters:
        namespace: the group's name.
        instructions: what its server says of itself.
        cap: the most that it may take.
    """
    text = utf8(instructions.strip())
    moves: list[Move] = []
    if not text:
        text = f"Tools of {humanised(namespace).lower()}." if namespace else "Tools of no group."
        text = utf8(text)
        moves.append(Move("description", text, "filled from the name"))
    if cap is not None and size(text, cap.unit) > cap.limit:
        moves.append(Move("description", text, "shortened"))
        text = shorten(text, cap.limit, cap.unit)
    return Described(text, tuple(moves))
