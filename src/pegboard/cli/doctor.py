"""`pegboard doctor`: how every source is, and what was done to its tools."""

from collections.abc import Iterator, Mapping, Sequence

from pegboard.cli import shapes
from pegboard.cli.exit import Exit
from pegboard.cli.open import opened
from pegboard.cli.options import DEFAULT_CONFIG, AsJson, ConfigFile
from pegboard.cli.output import clean, document, say, table
from pegboard.core import Note, SourceState, SourceStatus
from pegboard.schema.types import JsonObject

_BAD = (SourceState.UNAVAILABLE, SourceState.DEGRADED)


async def doctor(*, config: ConfigFile = DEFAULT_CONFIG, json: AsJson = False) -> int:
    """Start every source, and say what is well, mended or missing.

    Ends with exit code 1 if a source is degraded or unavailable, or the store is not well.
    """
    async with opened(config) as board:
        await board.refresh()
        await board.openings.look()
        statuses = await board.statuses()
        warnings, advice = list(board.warnings), [*board.advice, *_slower()]
        tools = len(board.catalog)
        sandbox = sandbox_of(board.coding.listed, await board.coding.tested())
    if json:
        sources = [shapes.checked_source(status) for status in statuses]
        found = {"config": str(config), "tools": tools, "sources": sources, "warnings": warnings, "advice": advice}
        document({**found, "sandbox": sandbox})
    else:
        _show(statuses, [*warnings, *advice, *_told(sandbox)])
    unwell = any(status.state in _BAD for status in statuses) or warnings or not all(sandbox["starts"].values())
    return Exit.FINDING if unwell else Exit.OK


def _slower() -> Iterator[str]:
    """Why search is slower than it could be."""
    from pegboard.index import kernel

    if told := kernel.slower(kernel.compiled):
        yield told


def sandbox_of(configured: bool, tested: Mapping[str, str | None]) -> JsonObject:
    """What holds code in on this machine, and whether its sandboxes start.

    Parameters:
        configured: whether the board has code mode.
        tested: what each language's test came to: None, or what is wrong.
    """
    from pegboard.codemode.confine import protections

    return {
        "configured": configured,
        "protections": [{"name": one.name, "active": one.active, "about": one.about} for one in protections()],
        "starts": {language: problem is None for language, problem in tested.items()},
        "problems": {language: problem for language, problem in tested.items() if problem is not None},
    }


def _told(sandbox: JsonObject) -> Iterator[str]:
    if not sandbox["configured"]:
        return
    active = [row["name"] for row in sandbox["protections"] if row["active"]]
    yield f"code mode: {', '.join(sandbox['starts'])}; held in by: {', '.join(active)}."
    for row in sandbox["protections"]:
        if not row["active"]:
            yield f"code mode: {row['name']} is missing: {row['about']}."
    for language, problem in sandbox["problems"].items():
        yield clean(f"code mode: {language} does not start: {problem}")


def _show(statuses: Sequence[SourceStatus], remarks: Sequence[str]) -> None:
    rows = [
        (s.name, s.kind, s.state, s.tools, "" if s.start_seconds is None else f"{s.start_seconds:.1f} s", s.error)
        for s in statuses
    ]
    table(("source", "kind", "state", "tools", "start", "error"), rows)
    for line in (*_notes(statuses), *remarks):
        say(line)


def _notes(statuses: Sequence[SourceStatus]) -> Iterator[str]:
    """The notes, those that say the same of one source together."""
    for status in statuses:
        alike: dict[tuple[str, str], list[Note]] = {}
        for note in status.notes:
            alike.setdefault((note.kind.value.replace("_", " "), note.message), []).append(note)
        for (kind, message), notes in alike.items():
            yield clean(f"{status.name}{_places(notes)}: {kind}: {message}")


def _places(notes: Sequence[Note]) -> str:
    if len(notes) == 1:
        tool = f".{notes[0].tool}" if notes[0].tool else ""
        return f"{tool} at {notes[0].where}" if notes[0].where else tool
    tools = {note.tool for note in notes}
    return f" in {len(notes)} places of {len(tools)} {'tool' if len(tools) == 1 else 'tools'}"
