"""A proposal as Python: the same tools as functions, to be changed by hand."""

import json
import keyword
import re
from collections.abc import Iterable, Mapping
from typing import Any, cast

from pegboard.insight.propose.proposal import Piece, Proposal
from pegboard.schema.types import as_object

_TYPES = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "array": "list", "object": "dict"}


def python_source(proposal: Proposal, comment: Iterable[str]) -> str:
    """A module with a proposal's tools.

    Parameters:
        proposal: what is proposed; hints have no form in Python and are left out.
        comment: lines that say why it is there.
    """
    said = "\n".join(comment)
    parts = [_RENDERERS[piece.kind](piece) for piece in proposal.pieces if piece.kind in _RENDERERS]
    names = sorted({name for piece in proposal.pieces for name in _IMPORTS.get(piece.kind, ())}, key=_import_order)
    types = "from typing import Any\n\n" if any(piece.kind == "bundle" for piece in proposal.pieces) else ""
    head = f'"""{_doc(said)}"""\n\n{types}from pegboard.compose import {", ".join(names)}\n\n'
    return head + "\n\n".join(parts)


_IMPORTS = {"batch": ("batch",), "bundle": ("Step", "arguments", "bundle", "fill"), "scatter": ("scatter",)}


def _import_order(name: str) -> tuple[bool, str]:
    return name[:1].islower(), name


def _batch(piece: Piece) -> str:
    table = piece.table
    return (
        f"{_bare(piece.name)} = batch(\n    {table['tool']!r},\n    over={table['over']!r},\n    name={piece.name!r},\n"
        f"    description={table['description']!r},\n    limit={table['limit']!r},\n)\n"
    )


def _scatter(piece: Piece) -> str:
    table = piece.table
    return (
        f"{_bare(piece.name)} = scatter(\n    {piece.name!r},\n    {table['sources']!r},\n"
        f"    description={table['description']!r},\n)\n"
    )


def _bundle(piece: Piece) -> str:
    table = piece.table
    steps = cast("list[dict[str, Any]]", table["steps"])
    called = list(dict.fromkeys(step["tool"] for step in steps if "tool" in step))
    replaced = list(table.get("replaces") or called)
    uses = [tool for tool in called if tool not in replaced]
    inputs = cast("Mapping[str, Any]", table.get("input", {}))
    lines = [
        f"@bundle(\n    name={piece.name!r},\n    replaces={replaced!r},\n    uses={uses!r},\n)",
        f"async def {_bare(piece.name)}(\n    step: Step,\n{''.join(_parameters(inputs))}) -> Any:",
        f'    """{_doc(table["description"])}{_arguments(inputs)}"""',
        f"    given = {{{', '.join(f'{name!r}: {name}' for name in map(_name, inputs))}}}",
        '    found: dict[str, Any] = {"input": {name: value for name, value in given.items() if value is not None}}',
        *(line for each in steps for line in _step(each)),
        f"    return fill({_literal(table['output'])}, found)" if table.get("output") else "    return None",
    ]
    return "\n".join(lines) + "\n"


def _parameters(inputs: Mapping[str, Any]) -> list[str]:
    ordered = sorted(inputs.items(), key=lambda item: item[0].endswith("?"))
    return [
        f"    {_name(key)}: {_type(schema)} | None = None,\n"
        if key.endswith("?")
        else f"    {_name(key)}: {_type(schema)},\n"
        for key, schema in ordered
    ]


def _type(schema: Any) -> str:
    kind = schema if isinstance(schema, str) else as_object(schema).get("type")
    return _TYPES.get(kind, "Any") if isinstance(kind, str) else "Any"


def _arguments(inputs: Mapping[str, Any]) -> str:
    told = [
        f"        {_name(key)}: {_doc(str(cast('Mapping[str, Any]', schema)['description']))}\n"
        for key, schema in inputs.items()
        if isinstance(schema, Mapping) and "description" in schema
    ]
    return f"\n\n    Args:\n{''.join(told)}    " if told else ""


def _step(step: Mapping[str, Any]) -> list[str]:
    id, when = step["id"], step.get("when")
    lines = [f"    found[{id!r}] = None"] if when and "tool" in step else []
    inner = "        " if when else "    "
    if when:
        lines.append(f"    if fill({_literal('${' + when + '}')}, found):")
    if "tool" in step:
        args = f"arguments({_literal(step['args'])}, found)"
        lines.append(f"{inner}found[{id!r}] = await step.on(id={id!r}).by_name({step['tool']!r}, **{args})")
    else:
        told = f"fill({_literal(step['stop'])}, found)"
        lines.append(f"{inner}return step.stop({told}, next_step=fill({_literal(step.get('next_step', ''))}, found))")
    return lines


def _literal(value: Any) -> str:
    return repr(json.loads(json.dumps(value)))


def _name(key: str) -> str:
    return key.removesuffix("?")


def _bare(name: str) -> str:
    """The name of the function that makes a tool."""
    plain = re.sub(r"\W", "_", name.rpartition(".")[2])
    return plain if plain.isidentifier() and not keyword.iskeyword(plain) else f"tool_{plain}"


def _doc(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')


_RENDERERS = {"batch": _batch, "bundle": _bundle, "scatter": _scatter}
