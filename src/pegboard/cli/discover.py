"""`pegboard discover`: what a server offers, without adding it."""

import json as jsonlib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from pegboard.check.finding import Finding, Severity
from pegboard.cli import shapes
from pegboard.cli.exit import Exit
from pegboard.cli.options import AsJson
from pegboard.cli.output import clean, counted, document, guarded, say, table
from pegboard.cli.target import endpoint, environment, header_lines, listed
from pegboard.core import Listing, NoteKind, ToolName, ToolSpec, definition
from pegboard.errors import ConfigError, PegboardError
from pegboard.schema.types import JsonObject

BYTES_PER_TOKEN = 4
"""About how many bytes of JSON a model's tokenizer takes for one token."""


async def discover(
    *target: str,
    env: tuple[str, ...] = (),
    header: tuple[str, ...] = (),
    sse: Annotated[bool, Parameter(negative="")] = False,
    timeout: float = 30,
    record: Path | None = None,
    json: AsJson = False,
) -> int:
    """Show what an MCP server offers, without adding it: tools, repairs, cost in tokens, and what `check` says of them.

    Ends with exit code 1 if the server cannot be listed, or if a tool of it had to be set aside.

    Parameters
    ----------
    target
        The program with its arguments (after --, where they begin with a dash), or an http(s) address.
    env
        A variable for the program: NAME=VALUE, or NAME to pass on the one that is set here.
    header
        An HTTP header for an address: "NAME: VALUE".
    sse
        Speak the HTTP+SSE transport of 2024-11-05.
    timeout
        Seconds until it must have answered.
    record
        Save its tools as a tools/list answer; the file serves as a source (recorded = "FILE").
    """
    if not target:
        raise ConfigError("There is no server to look at.", next_step="Write a command or an address after discover.")
    with guarded():
        listing, seconds = await listed(endpoint(target), environment(env), header_lines(header), sse, timeout)
    specs = [tool.spec for tool in listing.tools]
    findings = _judged(listing, specs)
    if record is not None:
        _save(record, specs)
    if json:
        document({**_shape(listing, specs, seconds), "findings": [finding.to_json() for finding in findings]})
    else:
        _show(listing, specs, record)
        _show_findings(findings)
    aside = any(note.kind is NoteKind.SET_ASIDE for note in listing.notes)
    return Exit.FINDING if aside else Exit.OK


def tokens(row: JsonObject) -> int:
    """About what a tool's definition costs a model: a quarter of its bytes as compact JSON, rounded up."""
    size = len(jsonlib.dumps(row, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace"))
    return -(-size // BYTES_PER_TOKEN)


def shown(spec: ToolSpec) -> JsonObject:
    """A tool as a model sees it."""
    return {"name": spec.name.name, "description": spec.description, "inputSchema": spec.input}


def recorded(spec: ToolSpec) -> JsonObject:
    """A tool as its server listed it, with everything that no field of ours holds."""
    row = {key: value for key, value in definition(spec).items() if key != "effects"}
    return {**row, **({"icons": list(spec.icons)} if spec.icons else {}), **spec.meta}


def _judged(listing: Listing, specs: Sequence[ToolSpec]) -> tuple[Finding, ...]:
    """What the rules say of a server's tools, in a namespace as on a board."""
    from pegboard.check.run import Chosen, run
    from pegboard.check.toolset import Toolset

    named = tuple(replace(spec, name=ToolName("server", spec.name.name, spec.name.version)) for spec in specs)
    return run(Toolset(named, {"server": listing.notes}), Chosen())


def _show_findings(findings: Sequence[Finding]) -> None:
    """Errors and warnings; notes are counted."""
    from pegboard.check.report import lines, total

    for line in lines([finding for finding in findings if finding.severity is not Severity.INFO]):
        say(clean(line))
    if findings:
        say(f"{total(findings)} `pegboard check` shows all, `--explain CODE` says why.")


def _save(path: Path, specs: Iterable[ToolSpec]) -> None:
    text = jsonlib.dumps({"tools": [recorded(spec) for spec in specs]}, indent=2, ensure_ascii=False)
    try:
        path.write_text(text + "\n", encoding="utf-8")
    except OSError as problem:
        raise PegboardError(
            f"It cannot be written: {problem.strerror}.", where=str(path), next_step="Name another place."
        ) from problem


def _show(listing: Listing, specs: list[ToolSpec], record: Path | None) -> None:
    costs = [tokens(shown(spec)) for spec in specs]
    rows = [(s.name.name, cost, s.effects, s.title or s.description) for s, cost in zip(specs, costs, strict=True)]
    table(("tool", "tokens", "effects", "what it does"), rows)
    for note in listing.notes:
        say(clean(f"{note.tool or 'the server'} at {note.where or '/'}: {note.kind.replace('_', ' ')}: {note.message}"))
    say(f"{counted(len(specs), 'tool')}, about {counted(sum(costs), 'token')} of definitions.")
    if record is not None:
        say(f'Saved; as a source: recorded = "{record}".')


def _shape(listing: Listing, specs: list[ToolSpec], seconds: float | None) -> JsonObject:
    rows: list[Any] = [
        {**shown(s), "outputSchema": s.output, "effects": s.effects.value, "tokens": tokens(shown(s))} for s in specs
    ]
    return {
        "tools": rows,
        "tokens": sum(row["tokens"] for row in rows),
        "notes": [shapes.note(note) for note in listing.notes],
        "instructions": listing.instructions,
        "start_seconds": seconds,
    }
