"""`pegboard publish`: freeze what there is now under the name of a version."""

from cyclopts import App

from pegboard.board.published import LIVE
from pegboard.cli.exit import Exit
from pegboard.cli.open import opened
from pegboard.cli.options import DEFAULT_CONFIG, AsJson, ConfigFile
from pegboard.cli.output import counted, document, say
from pegboard.core import SourceState, SourceStatus
from pegboard.errors import PegboardError
from pegboard.store.published import Published

app = App(name="publish", help="Freeze what there is now as a version.")
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
