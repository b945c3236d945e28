"""`pegboard versions`: what was published, how versions differ, which one is used, and who still calls old tools."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cyclopts import App

from pegboard.board.issued import AGENT, agent_content, chain_content
from pegboard.board.passage import traces_of
from pegboard.board.published import LIVE, thaw, unknown
from pegboard.catalog.compare import ToolDifference, compare
from pegboard.cli.exit import Exit
from pegboard.cli.open import opened
from pegboard.cli.options import DEFAULT_CONFIG, AsJson, ConfigFile
from pegboard.cli.output import counted, document, one_line, say, table
from pegboard.cli.publish import shape
from pegboard.cli.when import moment
from pegboard.config import load
from pegboard.core import ToolSpec
from pegboard.errors import PegboardError
from pegboard.invoke.deprecation import ended, today
from pegboard.schema.compare import differences
from pegboard.schema.diff import Weight
from pegboard.schema.types import JsonObject
from pegboard.store import Store
from pegboard.store.published import BOARD, Published, Reference
from pegboard.trace.store import RunFilter
from pegboard.trace.uses import Uses, uses

app = App(name="versions", help="Look at published versions, compare them, and choose one.")


@app.command(name="list")
def list_versions(*, kind: str | None = None, config: ConfigFile = DEFAULT_CONFIG, json: AsJson = False) -> int:
    """List the published versions, the oldest first.

    Parameters
    ----------
    kind
        Only versions of this kind: board, chain or agent.
    """
    with _store(config) as store:
        found = store.versions(kind)
        used = {(one.kind, one.name): store.chosen(one.kind, one.name) for one in found}
    if json:
        document({"versions": [{**shape(one), "used": used[one.kind, one.name] == one.version} for one in found]})
        return Exit.OK
    rows = [(one.label, _time(one.published), _mark(one, used[one.kind, one.name]), one.note) for one in found]
    table(("version", "published", "", "note"), rows)
    if not found:
        say("Nothing is published yet. Do it with: pegboard publish board NAME")
    return Exit.OK


@app.command
def show(version: str, *, config: ConfigFile = DEFAULT_CONFIG, json: AsJson = False) -> int:
    """Show what a published version holds: each definition with its digest.

    Parameters
    ----------
    version
        Which: v1 for the board's, chain/NAME@v1 or agent/NAME@v1 for others.
    """
    with _store(config) as store:
        found = _found(store, version)
    if json:
        document({**shape(found), "content": found.content})
        return Exit.OK
    say(f"{found.label}, published {_time(found.published)}, digest {found.digest[:12]}. {found.note}".strip())
    if found.kind != BOARD:
        document(found.content)
        return Exit.OK
    specs = thaw(found, version, ()).specs
    table(("tool", "digest", "what it does"), [(spec.name, spec.digest[:12], spec.description) for spec in specs])
    return Exit.OK


@app.command
async def diff(before: str, after: str = LIVE, *, config: ConfigFile = DEFAULT_CONFIG, json: AsJson = False) -> int:
    """Compare two versions: what breaks callers, what does not, and where only the words changed.

    Ends with exit code 1 where something breaks.

    Parameters
    ----------
    before
        The older version.
    after
        The newer one; live is what the board has now.
    """
    if Reference.parse(before).kind != BOARD:
        return await _diff_content(config, before, after, as_json=json)
    found = compare(await _specs(config, before), await _specs(config, after))
    if json:
        document({"before": before, "after": after, "tools": [_difference(one) for one in found]})
    else:
        table(("weight", "tool", "what changed"), [row for one in found for row in _rows(one)])
        counts = {weight: sum(1 for one in found if one.weight is weight) for weight in Weight}
        told = ", ".join(f"{count} {weight}" for weight, count in counts.items() if count)
        say(f"{counted(len(found), 'tool')} changed: {told}." if found else "Nothing differs.")
    return Exit.FINDING if any(one.weight is Weight.BREAKING for one in found) else Exit.OK


@app.command
async def tools(*, since: str = "30d", config: ConfigFile = DEFAULT_CONFIG, json: AsJson = False) -> int:
    """List tools that have versions or are deprecated, with their traffic: what nobody calls can go.

    Parameters
    ----------
    since
        Count the calls since then: 90m, 12h, 7d, or a date such as 2026-05-31.
    """
    async with opened(config) as board:
        specs = _with_versions(board.catalog.specs)
        assert board.config is not None, "it was opened from one"
        traces = traces_of(board.config)
    start = moment(since)
    counted_uses = uses(traces.scan(RunFilter(since=start)), start) if traces is not None else {}
    rows = [_version_of(spec, counted_uses.get(str(spec.name), Uses())) for spec in specs]
    if json:
        document({"tools": rows})
        return Exit.OK
    columns = ("tool", "state", "successor", "sunset", "calls", "last", "agents")
    table(columns, [[_cell(row[column]) for column in columns] for row in rows])
    if not rows:
        say("No tool has a version or is deprecated.")
    return Exit.OK


@app.command
def use(version: str, *, config: ConfigFile = DEFAULT_CONFIG, json: AsJson = False) -> int:
    """Choose the version that is used from the next start on: an older one rolls back, live follows the config again.

    Parameters
    ----------
    version
        Which: v1 for the board's, chain/NAME@v1 or agent/NAME@v1 for others; live, or chain/NAME@live.
    """
    meant = Reference.parse(version)
    with _store(config) as store:
        before = store.chosen(meant.kind, meant.name)
        after = None if meant.version == LIVE else _found(store, version).version
        store.choose(after, meant.kind, meant.name)
        if store.chosen(meant.kind, meant.name) != after:
            raise PegboardError("The choice could not be kept.", next_step="See `pegboard doctor` for the reason.")
    if json:
        document({"before": before or LIVE, "after": after or LIVE})
    else:
        say(f"Used from the next start on: {after or LIVE}. Before: {before or LIVE}.")
    return Exit.OK


def _store(config: Path) -> Store:
    return Store.open(load(config).board.store)


def _found(store: Store, text: str) -> Published:
    meant = Reference.parse(text)
    found = store.version(meant) if meant.version or meant.kind != BOARD else None
    if found is None:
        raise unknown(text, [one.label for one in store.versions()])
    return found


async def _specs(config: Path, version: str) -> Sequence[ToolSpec]:
    if version == LIVE:
        async with opened(config, version=LIVE) as board:
            return board.catalog.specs
    with _store(config) as store:
        found = _found(store, version)
    return thaw(found, version, ()).specs


async def _diff_content(config: Path, before: str, after: str, *, as_json: bool) -> int:
    with _store(config) as store:
        old = _found(store, before)
        new = None if after == LIVE else _found(store, after).content
    found = differences(old.content, new or await _content(config, old))
    if as_json:
        places = [{"where": where, "before": old, "after": new} for where, old, new in found]
        document({"before": before, "after": after, "places": places})
    else:
        table(("where", "before", "after"), found)
        say(f"{counted(len(found), 'place')} changed." if found else "Nothing differs.")
    return Exit.FINDING if found else Exit.OK


async def _content(config: Path, of: Published) -> JsonObject:
    """What a version of the same chain or agent would hold that was published now."""
    tables = load(config).tables["agent"]
    async with opened(config, version=LIVE) as board:
        if of.kind == AGENT:
            return agent_content(of.name, tables, board.catalog)
        return chain_content(of.name, board.catalog)


def _difference(one: ToolDifference) -> dict[str, object]:
    places = [
        {"weight": d.weight.value, "where": d.pointer, "message": d.message, "before": d.before, "after": d.after}
        for d in one.differences
    ]
    return {"tool": one.tool, "weight": one.weight.value, "change": one.change, "differences": places}


def _rows(one: ToolDifference) -> Iterable[Sequence[object]]:
    if not one.differences:
        yield one.weight.value, one.tool, one.change
    for place in one.differences:
        yield place.weight.value, one.tool, f"{place.pointer or '/'}: {place.message}"


def _with_versions(specs: Sequence[ToolSpec]) -> list[ToolSpec]:
    """The tools that have a version, are deprecated, or succeed one that is."""
    successors = {spec.successor for spec in specs if spec.successor}
    return [spec for spec in specs if spec.name.version or spec.deprecated is not None or str(spec.name) in successors]


def _version_of(spec: ToolSpec, one: Uses) -> dict[str, Any]:
    state = "current" if spec.deprecated is None else "ended" if ended(spec, today()) else "deprecated"
    return {
        "tool": str(spec.name),
        "version": spec.name.version,
        "state": state,
        "successor": spec.successor,
        "sunset": spec.sunset,
        "digest": spec.digest,
        "calls": one.calls,
        "failed": one.failed,
        "agents": list(one.agents),
        "last": one.last,
    }


def _cell(value: Any) -> object:
    if isinstance(value, float):
        return _time(value)
    return one_line(", ".join(value)) if isinstance(value, list) else value  # pyright: ignore[reportUnknownArgumentType]


def _mark(one: Published, chosen: str | None) -> str:
    return "used" if chosen == one.version else ""


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).astimezone().strftime("%Y-%m-%d %H:%M:%S")
