"""Every server of every client that is there, as sources for a board: merged, named, and told where they come from."""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from pegboard.config.clients import jsonc
from pegboard.config.clients.entry import Entry
from pegboard.config.clients.machine import Machine
from pegboard.config.clients.secret import Reader, Unreadable, Vault
from pegboard.config.clients.table import CLIENTS, FILE, Client, Place, client
from pegboard.errors import ConfigError
from pegboard.schema.types import JsonObject

_TELLING = ("claude_desktop_config.json", "mcp_config.json")
"""Names of configs that one client alone uses."""


@dataclass(slots=True)
class Imported:
    """One server that can be taken over.

    Parameters:
        name: its name on the board.
        table: its table in `pegboard.toml`.
        origins: where it was found, as `client (scope): file`.
        notes: what was not taken over.
    """

    name: str
    table: JsonObject
    origins: list[str]
    notes: list[str]


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file or server that cannot be taken over, and why.

    Parameters:
        name: the server; empty for a whole file.
        origin: where it was found.
        reason: why not.
    """

    name: str
    origin: str
    reason: str


@dataclass(slots=True)
class Haul:
    """What was found.

    Parameters:
        sources: what can be taken over, in the order in which it was found.
        skipped: what cannot.
        variables: the environment variables that the sources need, with the sources that need them.
        files: the files that were read.
    """

    sources: list[Imported] = field(default_factory=list[Imported])
    skipped: list[Skipped] = field(default_factory=list[Skipped])
    variables: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    files: list[str] = field(default_factory=list[str])


@dataclass(frozen=True, slots=True)
class _Spot:
    """A file that is there, and how it is to be read."""

    client: Client
    scope: str
    file: Path
    places: tuple[Place, ...]
    folder: str | None = None

    def label(self, home: Path) -> str:
        """Where it is, for people; without the name that a home folder tells, as configs are shared."""
        shown = f"~/{self.file.relative_to(home).as_posix()}" if self.file.is_relative_to(home) else str(self.file)
        return shown if self.client is FILE else f"{self.client.title} ({self.scope}): {shown}"


def gather(wanted: Sequence[str], machine: Machine, existing: Mapping[str, JsonObject] | None = None) -> Haul:
    """Find and read what clients have.

    Parameters:
        wanted: files and clients; every client if empty.
        machine: where to look.
        existing: the sources that the board has, by name, as written. They are never changed.

    Raises:
        ConfigError: a name is neither a file nor a client.
    """
    run = _Run(machine, dict(existing or {}))
    for spot in _spots(wanted, machine):
        run.file(spot)
    return run.finish()


def _spots(wanted: Sequence[str], machine: Machine) -> Iterator[_Spot]:
    seen: set[tuple[Path, tuple[str, ...]]] = set()
    for name in wanted or [known.name for known in CLIENTS]:
        path = machine.project / Path(name).expanduser()
        if path.is_file():
            yield from _recognised(path, machine)
            continue
        if "/" in name or "\\" in name or name.endswith((".json", ".toml")):
            raise ConfigError("There is no such file.", where=name, next_step="Name a file, or a client.")
        found = client(name)
        for spot in _usual(found, machine):
            key = (spot.file.resolve(), spot.places[0].keys)
            if key not in seen:
                seen.add(key)
                yield spot


def _usual(known: Client, machine: Machine) -> Iterator[_Spot]:
    """The files of a client that are there; in the home folder itself, a project's file is the user's."""
    own = {file.resolve() for place in known.places if place.scope != "project" for file in place.files(machine)}
    for place in known.places:
        project = place.scope == "project"
        folder = str(machine.project.resolve()) if project else None
        for file in place.files(machine):
            if file.is_file() and not (project and file.resolve() in own):
                yield _Spot(known, place.scope, file, (place,), folder)


def _recognised(path: Path, machine: Machine) -> list[_Spot]:
    """A file that was named: read as its client does where its path tells whose it is."""
    spots = [spot for known in CLIENTS for spot in _usual(known, machine) if spot.file.resolve() == path.resolve()]
    if spots:
        return spots
    for known in CLIENTS:
        places = {place.keys: place for place in reversed(known.places) if _ends(path, place)}
        if places:
            return [
                _Spot(known, place.scope, path, (place,), _beside(path, place)) for place in reversed(places.values())
            ]
    return [_Spot(FILE, "file", path, FILE.places)]


def _ends(path: Path, place: Place) -> bool:
    """Whether a path ends as a place does; a name that no other client uses is enough."""
    tail = place.path.partition("/")[2]
    name = tail.rpartition("/")[2]
    return path.resolve().as_posix().endswith(f"/{tail}") or (path.name == name and name in _TELLING)


def _beside(path: Path, place: Place) -> str | None:
    """The project that a named file belongs to."""
    if place.scope != "project":
        return None
    return str(path.resolve().parents[place.path.count("/") - 1])


@dataclass(slots=True)
class _Run:
    machine: Machine
    existing: dict[str, JsonObject]
    haul: Haul = field(default_factory=Haul)
    vault: Vault = field(default_factory=Vault)

    def file(self, spot: _Spot) -> None:
        try:
            text = spot.file.read_text(encoding="utf-8-sig")
            document = tomllib.loads(text) if spot.file.suffix == ".toml" else jsonc.read(text)
        except (OSError, ValueError) as problem:
            reason = problem.strerror if isinstance(problem, OSError) else f"it cannot be read: {problem}"
            self.haul.skipped.append(Skipped("", spot.label(self.machine.home), str(reason)))
            return
        if str(spot.file) not in self.haul.files:
            self.haul.files.append(str(spot.file))
        found = False
        for place in spot.places:
            for servers, folder in _servers(document, place.keys):
                found = True
                for name, raw in servers.items():
                    self._server(spot, name, raw, folder or spot.folder)
        if not found and spot.client is FILE:
            self.haul.skipped.append(
                Skipped("", spot.label(self.machine.home), "it has no servers (mcpServers, servers, context_servers)")
            )

    def finish(self) -> Haul:
        for source in self.haul.sources:
            for name in _variables(source.table):
                self.haul.variables.setdefault(name, []).append(source.name)
        return self.haul

    def _server(self, spot: _Spot, name: str, raw: Any, folder: str | None) -> None:
        try:
            if not isinstance(raw, dict):
                raise Unreadable("it is not a table")
            plain = re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-") or "server"
            reader = Reader(self.machine, folder, "none" if spot.file.suffix == ".toml" else spot.client.variables)
            entry = Entry(plain, cast("JsonObject", raw), reader, self.vault, spot.client.plain_url)
            table = entry.read()
        except Unreadable as problem:
            self.haul.skipped.append(Skipped(name, spot.label(self.machine.home), str(problem)))
            return
        notes = [*entry.notes, *([f"its name was {name}"] if plain != name else [])]
        self._add(Imported(plain, table, [spot.label(self.machine.home)], notes), spot)

    def _add(self, found: Imported, spot: _Spot) -> None:
        for known in self.haul.sources:
            if _identity(known.table) == _identity(found.table):
                _merge(known, found)
                return
        held = self.existing.get(found.name)
        there = any(_identity(found.table) == _identity(table) for table in self.existing.values())
        if there or (held and held.get("mcp") == found.table["mcp"]):
            self.haul.skipped.append(Skipped(found.name, spot.label(self.machine.home), "the board has it already"))
            return
        name = self._free(found.name, spot.client.name)
        if name != found.name:
            found.notes.append(f"it is called {name}, as another {found.name} is there")
            found.name = name
        self.haul.sources.append(found)

    def _free(self, name: str, suffix: str) -> str:
        taken = {*self.existing, *(source.name for source in self.haul.sources)}
        others = (f"{name}-{suffix}{'' if number == 1 else f'-{number}'}" for number in range(1, 10_000))
        return name if name not in taken else next(other for other in others if other not in taken)


def _identity(table: JsonObject) -> list[Any]:
    """What makes two servers the same one."""
    return [table.get(key) or None for key in ("mcp", "transport", "env", "headers", "cwd")]


def _merge(known: Imported, found: Imported) -> None:
    """Add a duplicate to the server that it repeats, whose settings stay; it is on if either is."""
    known.origins += found.origins
    notes = [*found.notes, *([f"it is also called {found.name}"] if found.name != known.name else [])]
    notes += [
        f"{key} of {found.origins[0]} is not taken over"
        for key, value in found.table.items()
        if key != "disabled" and known.table.get(key) != value
    ]
    known.notes += [note for note in notes if note not in known.notes]
    if not found.table.get("disabled"):
        known.table = {key: value for key, value in known.table.items() if key != "disabled"}


def _servers(document: Any, keys: tuple[str, ...]) -> Iterator[tuple[dict[str, Any], str | None]]:
    """The tables of servers under a path of keys, each with what its `*` stood for."""
    if not isinstance(document, dict):
        return
    table = cast("dict[str, Any]", document)
    if not keys:
        yield table, None
    elif keys[0] == "*":
        for name, inner in table.items():
            yield from ((servers, name) for servers, _ in _servers(inner, keys[1:]))
    else:
        yield from _servers(table.get(keys[0]), keys[1:])


def _variables(value: Any) -> Iterator[str]:
    """The variables that a table refers to, in order, each once."""
    texts = re.findall(r"(?<!\$)\$\{env:([^}]*)\}", repr(value))
    yield from dict.fromkeys(texts)
