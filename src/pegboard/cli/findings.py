"""`pegboard insight list|show|apply|undo`: findings by their ids, from preview to undo."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import anyio
from cyclopts import Parameter

from pegboard.board.findings import Draft, Findings
from pegboard.cli.exit import Exit
from pegboard.cli.mined import read_findings, stored_offer
from pegboard.cli.open import connected
from pegboard.cli.options import DEFAULT_CONFIG, AsJson, ConfigFile
from pegboard.cli.output import data, document, guarded, one_line, say, table
from pegboard.config import load
from pegboard.schema.types import as_object

Flag = Parameter(negative="")


def list_findings(
    *,
    kind: str | None = None,
    applied: Annotated[bool, Flag] = False,
    config: ConfigFile = DEFAULT_CONFIG,
    json: AsJson = False,
) -> int:
    """List the findings of the last reports.

    Parameters
    ----------
    kind
        Only findings of this kind, such as bundle.
    applied
        Only those that were applied.
    """
    kept = Findings(load(config)).all()
    chosen = [each for each in kept if (not kind or each.row["kind"] == kind) and (each.applied or not applied)]
    if json:
        document({"findings": [{**each.row, "seen": each.seen, "applied": each.applied} for each in chosen]})
        return Exit.OK
    rows = [
        (
            each.id,
            one_line(" > ".join(each.row["tools"])),
            each.row.get("support_runs", 0),
            saved_calls(each.row) or "",
            each.applied.get("tool") or "yes" if each.applied else "",
        )
        for each in chosen
    ]
    table(("finding", "tools", "runs", "saves calls", "applied as"), rows)
    if not rows:
        say("No findings are kept. Find some: pegboard insight [SOURCES...]")
    return Exit.OK


def show(id: str, *, config: ConfigFile = DEFAULT_CONFIG, json: AsJson = False) -> int:
    """Show one finding: its reason, its evidence, and whether it was applied.

    Parameters
    ----------
    id
        Its id, or the beginning of it.
    """
    found = Findings(load(config)).find(id)
    if json:
        document({**found.row, "seen": found.seen, "sources": list(found.sources), "applied": found.applied})
        return Exit.OK
    say(f"{found.id}: {one_line(' > '.join(found.row['tools']))}")
    say(str(found.row["reason"]))
    skip = {"id", "tools", "reason", "kind"}
    table(("what", "value"), [(key, value) for key, value in found.row.items() if key not in skip])
    if found.applied:
        when = datetime.fromtimestamp(found.applied["when"], UTC).astimezone()
        say(f"Applied on {when:%Y-%m-%d %H:%M} as {found.applied.get('tool') or 'a hint'}.")
    else:
        say(f"Not applied. See what that would write: pegboard insight apply {found.id}")
    return Exit.OK


def apply(
    id: str,
    *,
    write: Annotated[bool, Flag] = False,
    python: Annotated[bool, Flag] = False,
    name: str | None = None,
    findings: Path | None = None,
    traces: Annotated[Sequence[Path], Parameter(consume_multiple=True)] = (),
    config: ConfigFile = DEFAULT_CONFIG,
    json: AsJson = False,
) -> int:
    """Show what a finding would add to the board; with --write, add it.

    Parameters
    ----------
    id
        The finding's id, or the beginning of it.
    write
        Write it. Without this, nothing is changed.
    python
        Write the tools as a Python module beside the config, to be changed by hand.
    name
        The new tool's name: say the task, not the steps.
    findings
        Take the finding from this file, which `pegboard insight --json` wrote, instead of the board's store.
    traces
        The traces that those findings were found in, for recorded cases.
    """
    with guarded():
        book = Findings(load(config))
        if findings is not None:
            book.keep(read_findings(findings), traces)
        found = book.find(id)
        draft = book.draft(found, stored_offer(config), name=name, python=python)
        written: list[str] = []
        warnings: list[str] = []
        if write and not draft.proposal.refused:
            written = book.apply(found, draft)
            warnings = anyio.run(_warnings, config, _new_tools(draft))
        if json:
            document({**_draft_json(draft), "written": written, "warnings": warnings})
        else:
            _show_draft(draft, written, warnings)
    return Exit.FINDING if draft.proposal.refused or warnings else Exit.OK


def undo(id: str, *, config: ConfigFile = DEFAULT_CONFIG, json: AsJson = False) -> int:
    """Take back what `apply --write` wrote for a finding.

    Parameters
    ----------
    id
        The finding's id, or the beginning of it.
    """
    findings = Findings(load(config))
    found = findings.find(id)
    left = findings.undo(found)
    if json:
        document({"id": found.id, "left": left})
    else:
        say(f"Took back {found.id}.")
        for line in left:
            say(f"Not taken back: {line}")
    return Exit.FINDING if left else Exit.OK


def saved_calls(row: Mapping[str, Any]) -> int:
    """How many calls a finding would have saved."""
    return int(as_object(row.get("saving")).get("calls") or 0)


def _new_tools(draft: Draft) -> list[str]:
    return [piece.name for piece in draft.proposal.pieces if piece.makes_a_tool]


async def _warnings(config: Any, wanted: list[str]) -> list[str]:
    """What the board says against the new tools, if anything."""
    async with connected(config) as board:
        here = {str(spec.name) for spec in board.catalog.specs}
        missing = [name for name in wanted if name not in here]
        return [line for line in board.warnings if any(name in line for name in missing)] or [
            f"{name} is not on the board." for name in missing
        ]


def _draft_json(draft: Draft) -> dict[str, Any]:
    proposal = draft.proposal
    return {
        "id": proposal.finding,
        "tool": proposal.tool,
        "replaces": [list(chain) for chain in proposal.replaces],
        "tables": [{"kind": piece.kind, "name": piece.name, "table": piece.table} for piece in proposal.pieces],
        "config": draft.config,
        "files": dict(draft.files),
        "cases": [case.to_json() for case in draft.cases],
        "notes": list(proposal.notes),
        "refused": proposal.refused,
    }


def _show_draft(draft: Draft, written: list[str], warnings: list[str]) -> None:
    proposal = draft.proposal
    if proposal.refused:
        say(proposal.refused)
        return
    data(draft.config.rstrip("\n"))
    for path, text in draft.files.items():
        if path.endswith(".py"):
            data(f"\n# {path}\n{text.rstrip()}")
    for note in proposal.notes:
        say(f"- {note}")
    if proposal.tool:
        say(f"{len(draft.cases)} recorded cases; run them with: pegboard test {proposal.tool}")
    if written:
        say(f"Wrote {', '.join(written)}. Take it back with: pegboard insight undo {proposal.finding}")
    else:
        say(f"Nothing is written yet. Write it with: pegboard insight apply {proposal.finding} --write")
    for line in warnings:
        say(f"pegboard: {one_line(line)}")
