"""Versions of single chains and agents: what they hold, and a config in which they stand in the place of what it says.

A version of a chain or an agent is its table as it was, with the digests of the tools that it had then.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from pegboard.agent.definition import Delegation
from pegboard.board.published import LIVE, check_name, unknown
from pegboard.catalog.compare import ToolDifference, compare
from pegboard.catalog.frozen import plain
from pegboard.catalog.plain import spec_from_json, spec_to_json
from pegboard.config import Config
from pegboard.core import Selection, Tool, ToolSpec
from pegboard.errors import PegboardError, nearest
from pegboard.schema.compare import differences
from pegboard.schema.types import Json, JsonObject, as_object, digest
from pegboard.store.glance import chosen_versions
from pegboard.store.published import Published, Reference

if TYPE_CHECKING:
    from pegboard.store import Store

CHAIN, AGENT = "chain", "agent"
KINDS = (CHAIN, AGENT)
_OUTSIDE = ("version", "origin")
"""Keys of an agent's table that are none of its behaviour."""


@dataclass(frozen=True, slots=True)
class Issue:
    """What was published.

    Parameters:
        kept: the version.
        before: the one before it; None for the first.
        fresh: whether it was published now; else the latest version holds the same already.
    """

    kept: Published
    before: Published | None
    fresh: bool

    @property
    def changes(self) -> list[tuple[str, Json, Json]]:
        """Where its definition differs from the one before: JSON Pointer, old, new."""
        return [] if self.before is None else differences(self.before.content["table"], self.kept.content["table"])

    @property
    def migration(self) -> tuple[ToolDifference, ...]:
        """What its callers must know: how the tool that it is differs from the one before."""
        return () if self.before is None else compare(_spec_of(self.before), _spec_of(self.kept))


def chain_content(name: str, tools: Iterable[Tool]) -> JsonObject:
    """What a version of a chain holds.

    Parameters:
        name: the chain.
        tools: the tools of the board.

    Raises:
        PegboardError: the board has no such chain.
    """
    from pegboard.chain.tool import ChainTool

    all_tools = list(tools)
    chains = {str(tool.name): tool for tool in all_tools if isinstance(tool.handler, ChainTool)}
    if name not in chains:
        raise _absent("chain", name, chains, "Write one as [chain.NAME] in the config.")
    tool = chains[name]
    frozen = cast("ChainTool", tool.handler).frozen
    used = as_object(frozen["tools"])
    table = {key: value for key, value in frozen.items() if key not in ("tools", "version")}
    table["steps"] = [_full(step, used) for step in table["steps"]]
    digests = {str(each.name): each.spec.digest for each in all_tools if str(each.name) in used.values()}
    return plain({"table": table, "tools": digests, "spec": spec_to_json(tool.spec)})


def agent_content(name: str, tables: Mapping[str, Mapping[str, Any]], tools: Iterable[Tool]) -> JsonObject:
    """What a version of an agent holds.

    Parameters:
        name: the agent.
        tables: the config's `[agent.NAME]`.
        tools: the tools of the board.

    Raises:
        PegboardError: the config has no such agent.
    """
    if name not in tables:
        raise _absent("agent", name, tables, f"Write [agent.{name}] with a model.")
    table = {key: value for key, value in tables[name].items() if value is not None and key not in _OUTSIDE}
    if isinstance(table.get("subagents"), Delegation):
        table["subagents"] = {key: value for key, value in asdict(table["subagents"]).items() if value is not None}
    picked = None if table.get("tools") is None else Selection.parse(table["tools"])
    digests = {str(tool.name): tool.spec.digest for tool in tools if picked is None or tool.spec in picked}
    return plain({"table": table, "tools": digests})


def issue(
    store: "Store", kind: str, name: str, content: JsonObject, *, version: str | None = None, note: str = ""
) -> Issue:
    """Keep a version for good. What the latest version holds already is not kept twice.

    Parameters:
        store: where versions are kept.
        kind: `chain` or `agent`.
        name: whose.
        content: what it holds.
        version: what it is called; None for the next number.
        note: what is new in it.

    Raises:
        PegboardError: the name cannot be a version's, or is taken by one that holds something else.
        StoreError: nothing outlives this process.
    """
    draft = drafted(store, kind, name, content, version=version, note=note)
    if not draft.fresh:
        return draft
    kept = store.publish(draft.kept)
    if kept.digest != draft.kept.digest:
        raise PegboardError(
            f"There is a version {kept.label} already, and it holds something else.",
            next_step=f"Take another name; see what differs with: pegboard versions diff {kept.label} {LIVE}",
        )
    return replace(draft, kept=kept)


def drafted(
    store: "Store", kind: str, name: str, content: JsonObject, *, version: str | None = None, note: str = ""
) -> Issue:
    """What `issue` would keep, unkept. Raises `PegboardError` where the name cannot be a version's."""
    known = store.versions(kind, name)
    before = store.version(Reference(kind, name, known[-1].version)) if known else None
    identity = digest(content["table"])
    if before is not None and before.digest == identity and version in (None, before.version):
        return Issue(before, before, fresh=False)
    number = version or _next(one.version for one in known)
    check_name(number)
    new = Published(kind=kind, name=name, version=number, digest=identity, note=note, content=content)
    return Issue(new, before, fresh=True)


def moved(config: Config, issued: Iterable[str], specs: Iterable[ToolSpec]) -> list[str]:
    """What has changed since versions were published: a sentence for each tool of them that is gone or another now.

    Parameters:
        config: the config, for its store.
        issued: the versions, as `chain/NAME@VERSION`.
        specs: the tools that there are now.
    """
    wanted = [Reference.parse(text) for text in issued]
    if not wanted:
        return []
    from pegboard.store import Store

    now = {str(spec.name): spec.digest for spec in specs}
    with Store.open(config.board.store) as store:
        return [line for one in wanted for line in _moved(found_version(store, one), now)]


def _moved(found: Published, now: Mapping[str, str]) -> list[str]:
    then: Mapping[str, str] = as_object(found.content.get("tools"))
    gone = [f"{name} is gone since {found.label} was published." for name in then if name not in now]
    others = [name for name, before in then.items() if now.get(name, before) != before]
    return [*gone, *(f"{name} has changed since {found.label} was published." for name in others)]


def with_versions(config: Config, wanted: Iterable[str] = (), *, live: bool = False) -> Config:
    """A config with the chosen versions of its chains and agents in the place of what it says of them.

    Parameters:
        config: the config.
        wanted: versions to add beside, as `chain/NAME@VERSION`: they are then called `NAME@VERSION`.
        live: leave what the config says, whatever is chosen.

    Raises:
        PegboardError: a version is not there.
    """
    rows = [] if live else chosen_versions(config.board.store)
    chosen = [Reference(kind, name, version) for kind, name, version in rows]
    beside = [Reference.parse(text) for text in wanted]
    due = [one for one in chosen if one.kind in KINDS and not _stands(config, one)]
    if not due and not beside:
        return config
    from pegboard.store import Store

    tables = {kind: dict(config.tables[kind]) for kind in KINDS}
    with Store.open(config.board.store) as store:
        for one in due:
            tables[one.kind][one.name] = table_of(found_version(store, one))
        for one in beside:
            found = found_version(store, one)
            tables[one.kind][f"{found.name}@{found.version}"] = table_of(found)
    return replace(config, tables={**config.tables, **tables})


def found_version(store: "Store", which: Reference) -> Published:
    """A version in a store. Raises `PegboardError` where it is not there."""
    found = store.version(which)
    if found is None:
        raise unknown(f"{which.kind}/{which.name}@{which.version}", [one.label for one in store.versions(which.kind)])
    return found


def table_of(found: Published) -> dict[str, Any]:
    """The table of a version, as a config would have it, with the version's name in it."""
    table: dict[str, Any] = {**found.content["table"], "version": found.version}
    if found.kind == AGENT:
        table = _tuples(table)
        if table.get("subagents") is not None:
            table["subagents"] = Delegation(**_tuples(table["subagents"]))
    return table


def _tuples(table: Mapping[str, Any]) -> dict[str, Any]:
    """A table with tuples in the place of lists, as a config has them."""
    return {key: tuple(value) if isinstance(value, list) else value for key, value in table.items()}  # pyright: ignore[reportUnknownArgumentType]


def _full(step: JsonObject, used: JsonObject) -> JsonObject:
    """A step with the full name of its tool, so that it means the same wherever it stands."""
    return {**step, "tool": used.get(step["tool"], step["tool"])} if step.get("tool") else step


def _stands(config: Config, one: Reference) -> bool:
    return as_object(config.tables[one.kind].get(one.name, {})).get("version") == one.version


def _next(known: Iterable[str]) -> str:
    return str(max((int(version) for version in known if version.isdecimal()), default=0) + 1)


def _spec_of(one: Published) -> list[ToolSpec]:
    return [spec_from_json(one.content["spec"])] if "spec" in one.content else []


def _absent(kind: str, name: str, known: Iterable[str], otherwise: str) -> PegboardError:
    names = list(known)
    near = nearest(name, names) or sorted(names)
    step = f"There are: {', '.join(near)}." if near else otherwise
    return PegboardError(f"There is no {kind} {name!r}.", where=f"publish {kind}", next_step=step)
