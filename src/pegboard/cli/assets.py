"""`pegboard assets`: what is kept of files and large results: list, show, read, remove."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter

from pegboard.board import Board
from pegboard.board.shelf import Assets
from pegboard.cli.exit import Exit
from pegboard.cli.open import opened
from pegboard.cli.options import DEFAULT_CONFIG, AsJson, ConfigFile
from pegboard.cli.output import counted, document, foreign, say, table
from pegboard.core import Asset, Failure
from pegboard.errors import PegboardError
from pegboard.schema.types import Json

if TYPE_CHECKING:
    from pegboard.store.asset import Owned

app = App(name="assets", help="List, show, read and remove files and large results that are kept.")
Owner = Annotated[str, Parameter(help="Whose: a principal. You are local.")]
LOCAL = "local"


@app.command(name="list")
async def list_assets(*, owner: str | None = None, config: ConfigFile = DEFAULT_CONFIG, json: AsJson = False) -> int:
    """List the assets, the one that is kept longest first, and how much they take.

    Parameters
    ----------
    owner
        Only those of this principal.
    """
    async with opened(config, refresh=False) as board:
        shelf = _shelf(board)
        found = await shelf.listed(owner)
        rows = [_row(one, shelf) for one in found]
    kept = [one for one in found if not one.gone]
    size = sum({one.asset.id: one.asset.size for one in kept}.values())
    if json:
        document({"assets": rows, "bytes": size})
        return Exit.OK
    table(
        ("handle", "type", "bytes", "owner", "kept until"),
        [(row["handle"], row["media_type"], row["size"], row["owner"], row["expires"] or "gone") for row in rows],
    )
    say(f"{counted(len(kept), 'asset')}, {size} bytes.")
    return Exit.OK


@app.command
async def show(handle: str, *, owner: Owner = LOCAL, config: ConfigFile = DEFAULT_CONFIG, json: AsJson = False) -> int:
    """Show what an asset is, without its bytes.

    Parameters
    ----------
    handle
        Its handle, as a result gave it.
    """
    async with opened(config, refresh=False) as board:
        shelf = _shelf(board)
        asset, _ = _had(await shelf.get(handle, owner))
        row = {**asset.to_json(shelf.scheme), "owner": owner}
    if json:
        document(row)
    else:
        table(("", ""), list(row.items()))
    return Exit.OK


@app.command
async def read(
    handle: str,
    *,
    output: Path | None = None,
    owner: Owner = LOCAL,
    config: ConfigFile = DEFAULT_CONFIG,
    json: AsJson = False,
) -> int:
    """Read an asset: a text to the terminal, anything into a file.

    Parameters
    ----------
    handle
        Its handle, as a result gave it.
    output
        The file to write it to; it must not be there yet. Without it a text is printed, and bytes go to a pipe only.
    """
    async with opened(config, refresh=False) as board:
        shelf = _shelf(board)
        asset, data = _had(await shelf.get(handle, owner))
        row = asset.to_json(shelf.scheme)
    if output is not None:
        _write(output, data)
        say(f"Wrote {len(data)} bytes to {output}.")
        if json:
            document({**row, "file": str(output)})
    elif json:
        document({**row, "text": _text(asset, data)})
    elif asset.is_text:
        foreign(_text(asset, data) or "")
    else:
        _pipe(asset, data)
    return Exit.OK


@app.command
async def remove(*handles: str, owner: Owner = LOCAL, config: ConfigFile = DEFAULT_CONFIG, json: AsJson = False) -> int:
    """Remove assets for good; whoever still uses a handle of one is told that there is none.

    Parameters
    ----------
    handles
        Their handles. One that is not there does not keep the others from being removed.
    """
    if not handles:
        raise PegboardError("It needs the handle of an asset.", next_step="See them with: pegboard assets list")
    async with opened(config, refresh=False) as board:
        shelf = _shelf(board)
        failures = {handle: await shelf.remove(handle, owner) for handle in dict.fromkeys(handles)}
    missing = {handle: failure for handle, failure in failures.items() if failure is not None}
    if json:
        document(
            {
                "removed": [handle for handle in failures if handle not in missing],
                "failed": {handle: failure.to_json() for handle, failure in missing.items()},
            }
        )
    for failure in missing.values():
        say(f"pegboard: {failure}")
    if not json:
        say(f"Removed {counted(len(failures) - len(missing), 'asset')}.")
    return Exit.FINDING if missing else Exit.OK


def _shelf(board: Board) -> Assets:
    if board.assets is None:
        raise PegboardError("The board keeps no assets.", next_step="Give it a store: [board] store.")
    return board.assets


def _row(one: "Owned", shelf: Assets) -> dict[str, Json]:
    row = {**one.asset.to_json(shelf.scheme), "owner": one.owner}
    return {**row, "expires": None} if one.gone else row


def _had(found: tuple[Asset, bytes] | Failure) -> tuple[Asset, bytes]:
    if isinstance(found, Failure):
        raise PegboardError(f"{found.code}: {found.message}", next_step="See what is kept with: pegboard assets list")
    return found


def _text(asset: Asset, data: bytes) -> str | None:
    return data.decode("utf-8", "replace") if asset.is_text else None


def _write(path: Path, data: bytes) -> None:
    try:
        with path.open("xb") as file:
            file.write(data)
    except OSError as problem:
        raise PegboardError(
            f"{path} cannot be written: {problem.strerror}.", next_step="Name a new file in a folder that is there."
        ) from problem


def _pipe(asset: Asset, data: bytes) -> None:
    if sys.stdout.isatty():
        raise PegboardError(
            f"It is {asset.media_type} of {len(data)} bytes, not text.", next_step="Name a file: --output FILE."
        )
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
