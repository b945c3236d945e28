"""`pegboard connect`: point a client at the board."""

import sys
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

from cyclopts import Parameter

from pegboard.cli.exit import Exit
from pegboard.cli.options import DEFAULT_CONFIG, AsJson, ConfigFile
from pegboard.cli.output import data, document, say
from pegboard.config import load
from pegboard.config.clients import Attachment, Machine, entry
from pegboard.config.clients import client as known_client
from pegboard.errors import ConfigError, PegboardError
from pegboard.schema.types import JsonObject

Flag = Parameter(negative="")


def connect(
    client: str,
    *,
    write: Annotated[bool, Flag] = False,
    undo: Annotated[bool, Flag] = False,
    http: str | None = None,
    scope: str = "user",
    name: str = "pegboard",
    board_version: str | None = None,
    config: ConfigFile = DEFAULT_CONFIG,
    json: AsJson = False,
) -> int:
    """Point an MCP client at the board: prints the entry for its config, or edits the config with --write.

    Everything else in the client's config stays as it is, comments included. The client starts the board itself, unless
    --http names a running one. Ends with exit code 1 if there is nothing to undo.

    Parameters
    ----------
    client
        One of claude-desktop, claude-code, cursor, vscode, windsurf, gemini, zed, codex.
    write
        Edit the client's config; the file as it was is kept beside it, with the ending .before-pegboard.
    undo
        Take the entry out again; the file is as before then, to the byte, if nobody else has changed it meanwhile.
    http
        The address of a board that runs already, such as http://127.0.0.1:8321/mcp.
    scope
        Which config: that of the user, or of the project in this folder.
    name
        What the client calls the board.
    board_version
        The published version that this client gets, whatever others get.
    """
    if write and undo:
        raise ConfigError("--write and --undo exclude each other.", next_step="Leave one of them out.")
    known = known_client(client)
    place = Attachment.of(known, scope, name, Machine.here())
    command = () if http else _command(config, board_version)
    value: JsonObject = {} if undo else entry(known, command=command, url=_address(http))
    try:
        changed = place.undo() if undo else write and place.write(value)
    except OSError as problem:
        raise PegboardError(
            f"It cannot be written: {problem.strerror}.", where=str(place.file), next_step="Correct its permissions."
        ) from problem
    if json:
        document(_shape(place, value, changed))
    else:
        _show(place, value, write=write, undo=undo, changed=changed)
    return Exit.FINDING if undo and not changed else Exit.OK


def _show(place: Attachment, value: JsonObject, *, write: bool, undo: bool, changed: bool) -> None:
    if undo:
        say(f"Taken out of {place.file}." if changed else f"{place.file} has no entry {place.name}.")
    elif write:
        kept = f" The file as it was is {place.backup}." if place.backup.exists() else ""
        say(f"Written to {place.file}.{kept} Restart the client." if changed else f"{place.file} has it already.")
    else:
        data(place.shown(value).rstrip("\r\n"))
        say(f"For {place.file}: do it with --write.")


def _shape(place: Attachment, value: JsonObject, changed: bool) -> JsonObject:
    backup = str(place.backup) if place.backup.exists() else None
    return {"file": str(place.file), "name": place.name, "entry": value, "changed": changed, "backup": backup}


def _command(config: Path, version: str | None) -> list[str]:
    """The program that serves this board, by absolute paths: clients have another PATH and folder."""
    path = load(config).path or config
    script = Path(sys.executable).with_name("pegboard.exe" if sys.platform == "win32" else "pegboard")
    program = [str(script)] if script.exists() else [sys.executable, "-m", "pegboard"]
    pinned = ["--board-version", version] if version else []
    return [*program, "serve", "--stdio", "--config", str(path.resolve()), *pinned]


def _address(http: str | None) -> str | None:
    if http is None or (urlsplit(http).scheme in ("http", "https") and urlsplit(http).netloc):
        return http
    raise ConfigError(f"{http!r} is no http(s) address.", where="--http", next_step="Write http://127.0.0.1:8321/mcp.")
