"""Reading a directory: what it is, what is in it, and what had to be set aside."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio.to_thread

from pegboard.core import Discoverable, DiscoverableType
from pegboard.directory import docker, own, plugin, registry
from pegboard.directory.fetch import fetch
from pegboard.directory.own import read_tables
from pegboard.directory.reading import Aside, Origin, Reading, Unreadable, matches
from pegboard.errors import PegboardError
from pegboard.schema.types import Json, as_object
from pegboard.sources.document import read_file
from pegboard.store.secrets import Secrets


async def read_directory(name: str, table: Mapping[str, Any], secrets: Secrets, cache: Path | None = None) -> Reading:
    """Read one directory. Nothing is raised: what cannot be read is set aside, with the reason.

    Parameters:
        name: the directory's name.
        table: its table of `pegboard.toml`, defaults filled in.
        secrets: reads the references in it.
        cache: the folder in which the last answer of an address is kept, for when it cannot be reached.
    """
    run = _Run(name, table)
    try:
        where = table["from"]
        if isinstance(where, str):
            headers = secrets.reveal(table["headers"], where=f"directories.{name}.headers")
            rows, note = await fetch(secrets.reveal(where), headers, None if cache is None else cache / f"{name}.json")
            if note:
                run.set_aside("", Unreadable(note, "What it answered last is used."))
            run.each((_label(row), row) for row in rows)(lambda _, row: registry.read_server(row, run.origin))
        else:
            await anyio.to_thread.run_sync(run.path, where)
    except Unreadable as problem:
        run.set_aside("", problem)
    except PegboardError as problem:
        run.set_aside("", Unreadable(str(problem), ""))
    return Reading(tuple(run.found.values()), tuple(run.aside))


def _label(row: Json) -> str:
    """What an entry of a registry is called where it is set aside."""
    table = as_object(row)
    return str(as_object(table.get("server")).get("name") or table.get("name") or "?")[:200]


@dataclass(slots=True)
class _Run:
    name: str
    table: Mapping[str, Any]
    found: dict[tuple[DiscoverableType, str], Discoverable] = field(
        default_factory=dict[tuple[DiscoverableType, str], Discoverable]
    )
    aside: list[Aside] = field(default_factory=list[Aside])

    @property
    def origin(self) -> Origin:
        house = self.table["wheelhouse"]
        return Origin(
            self.name, self.table["allow_private"], self.table["index"], None if house is None else str(house)
        )

    def path(self, path: Path) -> None:
        """Read a file or folder.

        Raises:
            Unreadable: it is missing, or cannot be read as a whole.
        """
        if not path.exists():
            raise Unreadable(f"There is no {path}.", f"Correct `from` in [directories.{self.name}].")
        kind = self.table["kind"] if self.table["kind"] != "auto" else _kind(path)
        match kind:
            case "plugins":
                folders = plugin.plugin_folders(path)
                self.each((folder.name, folder) for folder in folders)(lambda _, folder: [self._plugin(folder)])
            case "toml":
                rows, broken = read_tables(path)
                for entry, problem in broken:
                    self.set_aside(entry, problem)
                self.each(rows.items())(lambda id, row: self._own(id, row, path.parent))
            case "docker":
                rows = as_object(as_object(read_file(path)).get("registry"))
                self.each(rows.items())(lambda id, row: [docker.read_entry(id, row, self.origin)])
            case _:
                for file in [path] if path.is_file() else sorted(path.rglob("*.json")):
                    self._registry(file, path)

    def each(self, rows: Iterable[tuple[Any, Any]]) -> Callable[[Callable[[Any, Any], list[Discoverable]]], None]:
        """Read rows one by one; a bad one costs none of the others."""

        def read(make: Callable[[Any, Any], list[Discoverable]]) -> None:
            for label, row in rows:
                try:
                    for one in make(label, row):
                        self._add(one)
                except Unreadable as problem:
                    self.set_aside(str(label), problem)
                except (TypeError, ValueError, AttributeError, KeyError) as problem:
                    self.set_aside(str(label), Unreadable(f"It cannot be read: {type(problem).__name__}: {problem}."))

        return read

    def set_aside(self, entry: str, problem: Unreadable) -> None:
        """Report what cannot be used."""
        self.aside.append(Aside(self.name, entry, problem.message, problem.next_step))

    def _add(self, one: Discoverable) -> None:
        allow, deny = self.table["allow"], self.table["deny"]
        if (allow and not matches(one.id, allow)) or matches(one.id, deny):
            return
        if one.key in self.found:
            self.set_aside(one.id, Unreadable("Another entry has this id, and comes first.", "Give it another id."))
            return
        self.found[one.key] = one

    def _registry(self, file: Path, path: Path) -> None:
        label = file.name if path.is_file() else file.relative_to(path).as_posix()
        try:
            rows = registry.servers_of(read_file(file))
        except PegboardError as problem:
            self.set_aside(label, Unreadable(problem.message, problem.next_step or "Correct the file."))
            return
        named = ((_label(row) if len(rows) > 1 else label, row) for row in rows)
        self.each(named)(lambda _, row: registry.read_server(row, self.origin))

    def _plugin(self, folder: Path) -> Discoverable:
        found = plugin.read_plugin(folder, self.origin)
        self.aside += found.aside
        return found.discoverable(self.name)

    def _own(self, id: str, row: Json, folder: Path) -> list[Discoverable]:
        found = own.read_entry(id, row, self.origin, folder)
        return [] if found is None else [found]


def _kind(path: Path) -> str:
    if path.is_dir():
        return "plugins" if plugin.plugin_folders(path) else "registry"
    if path.suffix == ".toml":
        return "toml"
    return "docker" if "registry" in as_object(read_file(path)) else "registry"
