"""`pegboard import`: take over the servers that other clients have."""

import json as jsonlib
import shutil
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from pegboard.cli.exit import Exit
from pegboard.cli.options import DEFAULT_CONFIG, AsJson, ConfigFile
from pegboard.cli.output import clean, counted, document, foreign, say
from pegboard.config import FILE_NAME, load
from pegboard.config.clients import Haul, Machine, extended, gather, source_table
from pegboard.errors import ConfigError, PegboardError
from pegboard.schema.types import JsonObject

_BOM = "\ufeff"


def import_(
    *wanted: str,
    config: ConfigFile = DEFAULT_CONFIG,
    write: Annotated[bool, Parameter(negative="")] = False,
    json: AsJson = False,
) -> int:
    """Take over the servers that MCP clients have: prints the sources, or adds them to the board with --write.

    Sources that the board has are never changed. Secrets become references to environment variables, which are named.
    Ends with exit code 1 if nothing was found.

    Parameters
    ----------
    wanted
        Files, or clients: claude-desktop, claude-code, cursor, vscode, windsurf, gemini, zed, codex. Without any,
        every client is looked for in its usual places, for this user and this folder.
    write
        Add the sources to the config; the file as it was is kept beside it, with the ending .bak.
    """
    _check(wanted)
    path = config / FILE_NAME if config.is_dir() else config
    text = _text(path)
    haul = gather(wanted, Machine.here(), tomllib.loads(text.removeprefix(_BOM)).get("sources", {}))
    whole = extended(text, haul.sources, path.resolve().parent)
    backup = _write(path, whole) if write and haul.sources else None
    if json:
        document(_shape(haul, path, backup, written=write and bool(haul.sources)))
    else:
        _show(haul, path, backup, write)
    return Exit.OK if haul.sources or any(item.name for item in haul.skipped) else Exit.FINDING


def _check(wanted: Sequence[str]) -> None:
    """Whoever names a flow or an agent of Runtype means another command."""
    from pegboard.config.runtype.agent import is_agent
    from pegboard.config.runtype.flow import is_flow

    for name in wanted:
        if not name.endswith(".json") or not Path(name).is_file():
            continue
        try:
            found = jsonlib.loads(Path(name).read_text("utf-8-sig"))
        except (OSError, ValueError, RecursionError):
            continue
        verb = "chain" if is_flow(found) else "agent" if is_agent(found) else None
        if verb is not None:
            raise ConfigError(
                "This is no client's config, but one of Runtype's definitions.",
                where=name,
                next_step=f"Take it over with: pegboard {verb} import {name}",
            )


def _text(path: Path) -> str:
    """The config as it is, if it is there and valid."""
    if not path.exists():
        return ""
    load(path)
    return path.read_bytes().decode("utf-8")


def _write(path: Path, text: str) -> Path | None:
    backup = path.with_name(f"{path.name}.bak") if path.exists() else None
    try:
        if backup is not None:
            shutil.copy2(path, backup)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    except OSError as problem:
        raise PegboardError(
            f"It cannot be written: {problem.strerror}.", where=str(path), next_step="Name another place with --config."
        ) from problem
    return backup


def _show(haul: Haul, path: Path, backup: Path | None, write: bool) -> None:
    for source in haul.sources:
        foreign(source_table(source))
    for source in haul.sources:
        for note in source.notes:
            say(clean(f"{source.name}: {note}."))
    for item in haul.skipped:
        say(clean(f"Not taken over: {item.name or 'the file'} of {item.origin}: {item.reason}."))
    for name, users in haul.variables.items():
        say(clean(f"Set ${name} before you serve (for {', '.join(users)})."))
    kept = f"; the file as it was is {backup}" if backup else ""
    end = f"written to {path}{kept}." if write else f"to add to {path}: do it with --write."
    say(f"{counted(len(haul.sources), 'source')} {end}" if haul.sources else _nothing(haul))


def _nothing(haul: Haul) -> str:
    looked = counted(len(haul.files), "file")
    return f"Nothing new in {looked}." if haul.files else "No client's config is in its usual place. Name a file."


def _shape(haul: Haul, path: Path, backup: Path | None, *, written: bool) -> JsonObject:
    sources: list[Any] = [
        {"name": s.name, "table": s.table, "origins": s.origins, "notes": s.notes} for s in haul.sources
    ]
    return {
        "config": str(path),
        "written": written,
        "backup": None if backup is None else str(backup),
        "files": haul.files,
        "sources": sources,
        "skipped": [{"name": s.name, "origin": s.origin, "reason": s.reason} for s in haul.skipped],
        "variables": haul.variables,
    }
