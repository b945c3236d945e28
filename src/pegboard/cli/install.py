"""`pegboard install`, `enable`, `disable`, `uninstall`: what an agent may ask for, done by hand."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from pegboard.board.supply import Supply
from pegboard.cli.discoverables import known
from pegboard.cli.exit import Exit
from pegboard.cli.open import opened
from pegboard.cli.options import DEFAULT_CONFIG, AsJson, ConfigFile
from pegboard.cli.output import clean, counted, document, say
from pegboard.config import FILE_NAME
from pegboard.config.clients import Imported, extended
from pegboard.core import Discoverable, DiscoverableType
from pegboard.directory.offering import Standing
from pegboard.discovery.asking import Brought
from pegboard.errors import ConfigError
from pegboard.schema.types import JsonObject


async def install(
    id: str,
    *,
    type: DiscoverableType | None = None,
    into_config: Annotated[bool, Parameter(negative="")] = False,
    config: ConfigFile = DEFAULT_CONFIG,
    json: AsJson = False,
) -> int:
    """Install a connector or plugin of a directory: it is fetched, started, and its tools are listed.

    It is kept in the board's state beside the config; nothing is left of one that does not start. Ends with exit code 1
    if its tools are not there.

    Parameters
    ----------
    id
        Its id, as `pegboard discoverables list` shows it.
    type
        connector or plugin, where the id is both.
    into_config
        Write its source into the config instead.
    """
    async with _supply(config) as supply:
        standing = _one(known(await supply.standings(), supply.aside, id), id, type)
        if standing.state != "available":
            verb = "enable" if standing.state == "disabled" else "uninstall"
            raise ConfigError(
                f"{id} is on the board already ({standing.state}).", next_step=f"For example: pegboard {verb} {id}"
            )
        for line in standing.one.permissions:
            say(f"pegboard: it {clean(line)}")
        brought = await supply.bring(standing.one, _tell)
        written = await _into(config, supply, standing.one) if into_config and brought.completed else None
    return _report(_shape(standing.one, brought, written), brought, as_json=json)


async def enable(name: str, *, config: ConfigFile = DEFAULT_CONFIG, json: AsJson = False) -> int:
    """Switch on a source that is switched off, installed or of the config; its tools are listed.

    It stays off if it does not start, and the exit code is 1.

    Parameters
    ----------
    name
        The source's name, or the id that it was installed by.
    """
    return await _switch(name, off=False, config=config, as_json=json)


async def disable(name: str, *, config: ConfigFile = DEFAULT_CONFIG, json: AsJson = False) -> int:
    """Switch a source off, installed or of the config, without losing it.

    Parameters
    ----------
    name
        The source's name, or the id that it was installed by.
    """
    return await _switch(name, off=True, config=config, as_json=json)


async def uninstall(id: str, *, config: ConfigFile = DEFAULT_CONFIG, json: AsJson = False) -> int:
    """Take something that was installed off the board and off the disk.

    Parameters
    ----------
    id
        Its id, or the name of its source.
    """
    async with _supply(config) as supply:
        gone = await supply.uninstall(id)
    if json:
        document({"id": id, "uninstalled": gone})
    else:
        say(f"{', '.join(gone)}: gone from the board.")
    return Exit.OK


async def _switch(name: str, *, off: bool, config: Path, as_json: bool) -> int:
    async with _supply(config) as supply:
        names = supply.names(name)
        results = [await supply.switch(each, off=off, tell=_tell) for each in names]
    failed = next((brought for brought in results if not brought.completed), None)
    tools = [tool for brought in results for tool in brought.tools]
    brought = failed or Brought(True, tuple(tools))
    row = {"id": name, "sources": names, "disabled": off if failed is None else True, **_outcome(brought)}
    if off and not as_json:
        say(f"{', '.join(names)}: switched off.")
        return Exit.OK
    return _report(row, brought, as_json=as_json)


def _report(row: JsonObject, brought: Brought, *, as_json: bool) -> int:
    if as_json:
        document(row)
    elif brought.completed:
        shown = ", ".join(brought.tools[:8]) + (", ..." if len(brought.tools) > 8 else "")
        say(f"{row['id']} is there, with {counted(len(brought.tools), 'tool')}: {clean(shown)}".rstrip(": "))
    else:
        say(f"pegboard: {clean(brought.message)}")
    if brought.next_step and not as_json:
        say(f"pegboard: {clean(brought.next_step)}")
    return Exit.OK if brought.completed else Exit.FINDING


def _outcome(brought: Brought) -> JsonObject:
    return {
        "completed": brought.completed,
        "kept": brought.kept or brought.completed,
        "tools": list(brought.tools),
        "message": brought.message,
        "next_step": brought.next_step,
    }


def _shape(one: Discoverable, brought: Brought, written: str | None) -> JsonObject:
    return {"id": one.id, "type": one.type.value, **_outcome(brought), "written": written}


def _one(standings: list[Standing], id: str, type: DiscoverableType | None) -> Standing:
    found = [each for each in standings if type in (None, each.one.type)]
    if len(found) == 1:
        return found[0]
    told = "connector and plugin" if found else f"no {type}"
    raise ConfigError(f"{id} is {told}.", where="--type", next_step="Write --type connector or --type plugin.")


async def _into(config: Path, supply: Supply, one: Discoverable) -> str:
    """Write the sources into the config, at its end; nothing else in it changes."""
    path = config / FILE_NAME if config.is_dir() else config
    text = path.read_bytes().decode("utf-8")
    mine = await supply.release(one)
    sources = [
        Imported(each.name, each.table, [f"{each.directory}: {each.tool_id}"], []) for each in mine if each.table
    ]
    path.write_bytes(extended(text, sources, path.resolve().parent).encode())
    return str(path)


async def _tell(message: str) -> None:
    say(f"pegboard: {clean(message)} ...")


@asynccontextmanager
async def _supply(config: Path) -> AsyncGenerator[Supply]:
    async with opened(config, refresh=False) as board:
        yield board.openings.supply
