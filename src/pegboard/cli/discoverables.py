"""`pegboard discoverables`: what could be on the board."""

from collections.abc import Sequence
from pathlib import Path

from cyclopts import App

from pegboard.cli.exit import Exit
from pegboard.cli.options import DEFAULT_CONFIG, AsJson, ConfigFile
from pegboard.cli.output import clean, counted, data, document, foreign, one_line, say, table
from pegboard.config import load
from pegboard.directory.merge import with_state
from pegboard.directory.offering import Offering, Standing, named
from pegboard.directory.reading import Aside
from pegboard.directory.shelf import Discoverables
from pegboard.directory.skill import body_of
from pegboard.directory.state import StateFile
from pegboard.errors import ConfigError, nearest
from pegboard.schema.types import JsonObject

app = App(name="discoverables", help="Look at connectors and plugins that could be on the board.")


@app.command(name="list")
async def list_(*, category: str | None = None, config: ConfigFile = DEFAULT_CONFIG, json: AsJson = False) -> int:
    """List what the directories offer, what of it is installed, and what is switched off.

    Ends with exit code 1 if an entry or a directory had to be set aside.

    Parameters
    ----------
    category
        Only of this category.
    """
    standings, aside = await _read(config)
    chosen = [each for each in standings if category is None or category in each.one.categories]
    _print(chosen, aside, as_json=json)
    return Exit.FINDING if aside else Exit.OK


@app.command
async def search(
    query: str,
    *,
    limit: int = 8,
    category: str | None = None,
    config: ConfigFile = DEFAULT_CONFIG,
    json: AsJson = False,
) -> int:
    """Find connectors and plugins by what they do. Ends with exit code 1 if nothing fits.

    Parameters
    ----------
    query
        What it should do, in words.
    limit
        How many to show.
    category
        Only of this category.
    """
    standings, aside = await _read(config)
    by_key = {each.one.key: each for each in standings}
    found = Discoverables(each.one for each in standings).search(query, limit, category)
    _print([by_key[one.key] for one in found], aside, as_json=json)
    return Exit.OK if found else Exit.FINDING


@app.command
async def show(id: str, *, topic: str | None = None, config: ConfigFile = DEFAULT_CONFIG, json: AsJson = False) -> int:
    """Show everything about one connector or plugin: what it brings, needs and may do, and what speaks for it.

    Parameters
    ----------
    id
        Its id, or the name of its source.
    topic
        Print this documentation topic of it instead.
    """
    standings, aside = await _read(config)
    found = known(standings, aside, id)
    if topic is not None:
        foreign(_topic(found, topic))
    elif json:
        document({"discoverables": [shape(each, whole=True) for each in found]})
    else:
        for each in found:
            _show(each)
    return Exit.OK


def known(standings: Sequence[Standing], aside: Sequence[Aside], id: str) -> list[Standing]:
    """What an id means.

    Raises:
        ConfigError: nothing, or an entry that was set aside.
    """
    found = named(standings, id)
    if found:
        return found
    lost = next((each for each in aside if each.entry == id), None)
    if lost is not None:
        message = f"{id!r} is set aside. {lost.message}"
        raise ConfigError(message, where=f"directories.{lost.directory}", next_step=lost.next_step)
    ids = [each.one.id for each in standings]
    near = nearest(id, ids, limit=1) or [each for each in ids if each.endswith(f"/{id}")][:1]
    step = f"Did you mean {near[0]}?" if near else "See them with: pegboard discoverables list"
    raise ConfigError(f"There is no connector or plugin {id!r}.", next_step=step)


def shape(standing: Standing, *, whole: bool = False) -> JsonObject:
    """A discoverable as JSON."""
    one = standing.one
    row: JsonObject = {
        "id": one.id,
        "type": one.type.value,
        "action": one.action.value,
        "state": standing.state,
        "name": one.name,
        "description": one.description,
        "directory": one.directory,
        "categories": list(one.categories),
        "auth": one.auth,
        "permissions": list(one.permissions),
        "publisher": one.trust.publisher,
        "version": one.trust.version,
        "pinned": one.trust.pinned,
        "sources": [source.name for source in standing.sources],
    }
    if not whole:
        return row
    return {
        **row,
        "sha256": one.trust.sha256,
        "digest": one.digest,
        "tools": list(one.tools),
        "needs": [{"variable": n.variable, "description": n.description, "required": n.required} for n in one.needs],
        "topics": [{"name": t.name, "description": t.description, **t.front} for t in one.topics],
        "parts": [{"name": part.name, "table": part.table} for part in one.parts],
    }


async def _read(config: Path) -> tuple[list[Standing], tuple[Aside, ...]]:
    settings = load(config)
    store = settings.board.store if isinstance(settings.board.store, Path) else None
    offering = Offering(settings, None if store is None else store / "directories")
    merged = with_state(settings, StateFile(store).read())
    return await offering.standings(merged.sources), offering.aside


def _topic(found: Sequence[Standing], name: str) -> str:
    topics = {topic.name: topic for each in found for topic in each.one.topics}
    if name not in topics:
        told = f"There are {', '.join(topics)}." if topics else "It has none."
        raise ConfigError(f"There is no topic {name!r}.", where="--topic", next_step=told)
    return body_of(topics[name])


def _print(found: Sequence[Standing], aside: Sequence[Aside], *, as_json: bool) -> None:
    if as_json:
        rows = [
            {"directory": a.directory, "entry": a.entry, "message": a.message, "next_step": a.next_step} for a in aside
        ]
        document({"discoverables": [shape(each) for each in found], "set_aside": rows})
        return
    cells = [
        (each.one.id, each.one.type.value, each.state, each.one.auth or "", each.one.description) for each in found
    ]
    table(("id", "type", "state", "sign-in", "what it does"), cells)
    say(f"{counted(len(found), 'discoverable')}. Put one on the board with: pegboard install ID")
    for each in aside:
        say(f"pegboard: {clean(each)}")


def _show(standing: Standing) -> None:
    one = standing.one
    rows = {
        "what": f"{one.type.value}, {standing.state}, from {one.directory}",
        "does": one.description,
        "categories": ", ".join(one.categories),
        "sign-in": one.auth,
        "needs": ", ".join(f"${need.variable}" for need in one.needs if need.required),
        "may": "; ".join(one.permissions),
        "publisher": one.trust.publisher,
        "version": one.trust.version,
        "sha256": one.trust.sha256,
        "tools": ", ".join(one.tools),
        "topics": ", ".join(topic.name for topic in one.topics),
        "sources": ", ".join(source.name for source in standing.sources),
    }
    data(clean(f"{one.id} ({one.name})"))
    for key, value in rows.items():
        if value:
            data(f"  {key:<11} {one_line(value)}")
