"""`pegboard lower` and `pegboard raise`: tool definitions in a provider's dialect, and arguments back from it."""

import json as jsonlib
import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from pegboard.cli.exit import Exit
from pegboard.cli.output import document, row, say
from pegboard.core import NoteKind, SourceRef, ToolName, ToolSpec
from pegboard.errors import ConfigError, SourceError, nearest
from pegboard.schema.types import Json
from pegboard.surface.definition import Definition
from pegboard.surface.describing import CAPS, Cap

Target = Annotated[str, Parameter(name="--target", help="The dialect, such as openai-responses-strict.")]
"""Whose dialect."""

Stdin = Annotated[str, Parameter(allow_leading_hyphen=True)]
"""A file, or `-` for standard input."""

_FILE_SOURCE = SourceRef("", "file")


def lower(
    file: Stdin = "-",
    *,
    target: Target,
    budget: Annotated[int | None, Parameter(validator=Number(gte=1))] = None,
    total: Annotated[int | None, Parameter(validator=Number(gte=1))] = None,
    cap: str | None = None,
    sorted: Annotated[bool, Parameter(negative=())] = False,
    schema: Annotated[bool, Parameter(negative=())] = False,
) -> int:
    """Bring tool definitions into a provider's dialect, and say what that took.

    Prints JSON Lines, one for each tool that was read: its own name, the wire definition, changes, losses, moves of
    its description, and why it was refused.

    Parameters
    ----------
    file
        One tool, a list of tools, an MCP listing, or JSON Lines of tools, plain or .gz; `-` reads standard input.
    budget
        Bytes of compact JSON that one definition may take.
    total
        Bytes that all of them together may take.
    cap
        The most that a description may take: agent-plugin, openai-legacy, runtype, a number of characters, or a
        number of bytes such as 1000b.
    sorted
        Sort the keys of every object.
    schema
        Each value that is read is the schema of a tool's arguments, not a tool.
    """
    from pegboard.schema.lower import dialect
    from pegboard.sources.rows import each_row, each_value
    from pegboard.surface.definition import define_all

    read = each_value if schema else each_row
    given = [_read_row(value, fault, bare=schema) for value, fault in read(_text(file))]
    specs = [one for one in given if isinstance(one, ToolSpec)]
    defined = iter(define_all(_distinct(specs), target, cap=cap_of(cap), budget=budget, total=total, counted=False))
    found = [next(defined) if isinstance(one, ToolSpec) else one for one in given]
    most, made = dialect(target).tools_limit, sum(one.tool is not None for one in found)
    if most is not None and made > most:
        say(f"{target} takes at most {most} tools in one request; these are {made}.")
    for one in found:
        row(one.to_json(), sort_keys=sorted)
    return Exit.FINDING if any(one.refused for one in found) else Exit.OK


def raise_(file: Stdin = "-", *, target: Target, tool: Path) -> int:
    """Turn a model's arguments back into what a tool's own schema wants, and check them against it.

    Prints the raised arguments, or the violations.

    Parameters
    ----------
    file
        The arguments, as JSON; `-` reads them from standard input.
    tool
        The tool, as `pegboard lower` reads it.
    """
    from pegboard.schema.lower import lower as lower_schema
    from pegboard.schema.raise_ import raise_arguments
    from pegboard.sources.rows import each_row

    rows = list(each_row(_text(str(tool))))
    if len(rows) > 1:
        raise ConfigError(f"It holds {len(rows)} tools.", where=str(tool), next_step="Give the file of one.")
    spec = _read_row(rows[0][0], rows[0][1], bare=False) if rows else None
    if not isinstance(spec, ToolSpec):
        raise ConfigError(spec.refused or "It is no tool." if spec else "It is empty.", where=str(tool))
    source = spec.input if spec.original_input is None else spec.original_input
    raised = raise_arguments(lower_schema(source, target), _json(_text(file), file))
    if not raised.violations:
        document(raised.value)
        return Exit.OK
    for violation in raised.violations:
        say(f"{violation.pointer or 'the arguments'}: {violation.message}")
    document({"violations": [{"pointer": one.pointer, "message": one.message} for one in raised.violations]})
    return Exit.FINDING


def _text(file: str) -> str:
    from pegboard.sources.recorded import read_text

    try:
        text = sys.stdin.read() if file == "-" else read_text(Path(file))
    except SourceError as error:
        raise ConfigError(str(error.args[0]), where=file) from error
    if "\ufffd" in text:
        say(f"{file}: U+FFFD stands in it, as for bytes that are no UTF-8; it is kept.")
    return text


def _json(text: str, where: str) -> Json:
    try:
        return jsonlib.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"It is no JSON: {error}", where=where) from error


def _read_row(row: Json, fault: str, *, bare: bool) -> ToolSpec | Definition:
    """The tool of a row, or the definition that says why there is none."""
    from pegboard.normalise import normalise

    if fault:
        return Definition("", refused=fault)
    if bare:
        return ToolSpec(name=ToolName("", "tool"), input={}, original_input=row, source=_FILE_SOURCE)
    found = normalise(row, namespace="", source=_FILE_SOURCE, trusted=False)
    if found.spec is None:
        reasons = [note.message for note in found.notes if note.kind is NoteKind.SET_ASIDE]
        return Definition("", refused=" ".join(reasons) or "It is no tool.")
    return found.spec


def _distinct(specs: list[ToolSpec]) -> list[ToolSpec]:
    """The tools with names of their own: a name that comes again gets a number as its version."""
    from dataclasses import replace

    seen: dict[ToolName, int] = {}
    found: list[ToolSpec] = []
    for spec in specs:
        count = seen[spec.name] = seen.get(spec.name, 0) + 1
        found.append(spec if count == 1 else replace(spec, name=replace(spec.name, version=str(count))))
    return found


def cap_of(text: str | None) -> Cap | None:
    """The cap that an option names.

    Raises:
        ConfigError: it names none.
    """
    if text is None or text in CAPS:
        return CAPS[text] if text else None
    number, unit = (text[:-1], "bytes") if text.endswith("b") else (text, "characters")
    if not number.isdecimal() or int(number) < 1:
        near = nearest(text, CAPS) or list(CAPS)
        raise ConfigError(f"{text!r} is no cap.", where="--cap", next_step=f"Write {', '.join(near)}, 1024 or 1000b.")
    return Cap(int(number), unit)
