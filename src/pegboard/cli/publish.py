"""`pegboard publish`: freeze what there is now under the name of a version."""

from typing import Annotated, Any

from cyclopts import App, Parameter

from pegboard.board.issued import AGENT, CHAIN, Issue, agent_content, chain_content, issue
from pegboard.board.published import LIVE
from pegboard.cli.exit import Exit
from pegboard.cli.open import opened
from pegboard.cli.options import DEFAULT_CONFIG, AsJson, ConfigFile
from pegboard.cli.output import counted, document, one_line, say, table
from pegboard.config import load
from pegboard.core import SourceState, SourceStatus
from pegboard.errors import PegboardError
from pegboard.schema.types import JsonObject, canonical
from pegboard.store import Store
from pegboard.store.published import Published

app = App(name="publish", help="Freeze what there is now as a version.")
As = Annotated[str | None, Parameter(name="--as")]
_CELL = 60
_AWAY = (SourceState.UNAVAILABLE, SourceState.DEGRADED)


@app.command
async def board(name: str, *, note: str = "", config: ConfigFile = DEFAULT_CONFIG, json: AsJson = False) -> int:
    """Freeze the definitions of all tools of the board, with their digests, as a version that never changes.

    It can be compared (`versions diff`), served (`serve --board-version`) and gone back to (`versions use`).

    Parameters
    ----------
    name
        What the version is called, such as v1 or 2027-01.
    note
        What is new in it.
    """
    async with opened(config, refresh=True, version=LIVE) as opened_board:
        for status in await opened_board.statuses():
            if status.state in _AWAY:
                say(_absent(status))
        now = opened_board.draft(name, note)
        kept = await opened_board.publish(name, note)
        tools = len(opened_board.catalog)
    if kept.digest != now.digest:
        raise PegboardError(
            f"There is a version {name!r} already, and it holds something else.",
            next_step=f"Take another name; see what differs with: pegboard versions diff {name} {LIVE}",
        )
    if json:
        document(shape(kept))
    else:
        say(f"Published {kept.label}: {counted(tools, 'tool')}, digest {kept.digest[:12]}.")
        say(f"Serve it with: pegboard serve --board-version {name}; for everybody: pegboard versions use {name}")
    return Exit.OK


@app.command
async def chain(
    name: str, *, version: As = None, note: str = "", config: ConfigFile = DEFAULT_CONFIG, json: AsJson = False
) -> int:
    """Freeze a chain as a version that never changes; run it with `chain run NAME@VERSION`.

    What the latest version holds already is not published again.

    Parameters
    ----------
    name
        The chain.
    version
        What the version is called; the next number if left out.
    note
        What is new in it, and what its callers have to change.
    """
    async with opened(config, version=LIVE) as board:
        content = chain_content(name, board.catalog)
    return _issue(config, CHAIN, name, content, version, note, json)


@app.command
async def agent(
    name: str, *, version: As = None, note: str = "", config: ConfigFile = DEFAULT_CONFIG, json: AsJson = False
) -> int:
    """Freeze an agent of the config as a version that never changes; run it with `agent run NAME@VERSION`.

    What the latest version holds already is not published again.

    Parameters
    ----------
    name
        The agent.
    version
        What the version is called; the next number if left out.
    note
        What is new in it.
    """
    tables = load(config).tables["agent"]
    async with opened(config, version=LIVE) as board:
        content = agent_content(name, tables, board.catalog)
    return _issue(config, AGENT, name, content, version, note, json)


def _issue(
    config: ConfigFile, kind: str, name: str, content: JsonObject, version: str | None, note: str, json: bool
) -> int:
    with Store.open(load(config).board.store) as store:
        issued = issue(store, kind, name, content, version=version, note=note)
    if json:
        document(issue_shape(issued))
        return Exit.OK
    kept = issued.kept
    if not issued.fresh:
        say(f"Nothing new: {kept.label} holds the same.")
        return Exit.OK
    say(f"Published {kept.label}, digest {kept.digest[:12]}.")
    places = [(where, _short(old), _short(new)) for where, old, new in issued.changes]
    table(("where", "before", "after"), places)
    for one in issued.migration:
        for place in one.differences:
            say(f"{place.weight} for its callers: {place.pointer or '/'}: {place.message}")
    say(f"Run it with: pegboard {kind} run {name}@{kept.version}; for everybody: pegboard versions use {kept.label}")
    return Exit.OK


def issue_shape(issued: Issue) -> dict[str, Any]:
    """What was published, as commands print it."""
    migration = [
        {"weight": place.weight.value, "pointer": place.pointer, "message": place.message}
        for one in issued.migration
        for place in one.differences
    ]
    return {
        **shape(issued.kept),
        "new": issued.fresh,
        "changes": [{"where": where, "before": old, "after": new} for where, old, new in issued.changes],
        "migration": migration,
    }


def _short(value: Any) -> str:
    text = one_line(value if isinstance(value, str) else canonical(value))
    return text if len(text) <= _CELL else text[: _CELL - 1] + "…"


def shape(one: Published) -> dict[str, object]:
    """A published version, as commands print it."""
    return {
        "version": one.label,
        "kind": one.kind,
        "name": one.name,
        "digest": one.digest,
        "published": one.published,
        "note": one.note,
    }


def _absent(status: SourceStatus) -> str:
    known = f"the {status.tools} tools that it listed last are in the version" if status.tools else "its tools are not"
    return f"pegboard: {status.name} is {status.state}: {known}."
