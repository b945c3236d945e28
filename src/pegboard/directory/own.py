"""Our own directories: a TOML file with a table `[discoverables.ID]` for each connector or plugin."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from pegboard.config.key import BadValue, Key
from pegboard.config.types import ANY, FLAG, OBJECT, REFERENCE, SERVER, TEXT, TEXTS, choice, table_of
from pegboard.core import Discoverable, DiscoverableAction, DiscoverableType
from pegboard.core.discoverable import Need, Part, Topic, Trust
from pegboard.directory.permission import auth_of, permissions
from pegboard.directory.plugin import digest_of, read_plugin
from pegboard.directory.reading import Origin, Unreadable, slug, text_of
from pegboard.directory.registry import command_of, package_of
from pegboard.errors import nearest
from pegboard.schema.types import Json

WAYS = ("url", "pypi", "npm", "image", "folder", "source", "enable")
"""The keys of which each entry has exactly one: how it comes onto the board."""

ENTRY = (
    Key("type", choice("connector", "plugin"), "What it is; found out from the rest where it is not written."),
    Key("name", TEXT, "What people call it; the id where it is not written."),
    Key(
        "description", TEXT, "What it does, in the words that a model looks for.", required=True, example='"Forecasts."'
    ),
    Key("categories", TEXTS, "What it is about, in single words.", []),
    Key("auth", TEXT, "What it needs to be signed in to, such as `oauth:github`."),
    Key("permissions", TEXTS, "What it may do, besides what is plain from the rest.", []),
    Key("publisher", TEXT, "Who makes it."),
    Key("version", TEXT, "The exact version."),
    Key("sha256", TEXT, "The hash of the package's file, in hex."),
    Key("tools", TEXTS, "The names of its tools.", []),
    Key(
        "needs", ANY, "The environment variables that the person has to set: names, or a table of what each is for.", []
    ),
    Key("url", REFERENCE, "The address of a remote MCP server."),
    Key("transport", choice("http", "sse"), "How the remote server is spoken to."),
    Key("headers", table_of(REFERENCE, '{ Authorization = "Bearer ${env:TOKEN}" }'), "HTTP headers for it.", {}),
    Key("pypi", TEXT, "The name of a package of PyPI that brings an MCP server."),
    Key("npm", TEXT, "The name of a package of npm that brings one."),
    Key("image", TEXT, "A container image of one."),
    Key("program", TEXT, "The package's program, where it has another name than the package."),
    Key("args", TEXTS, "The program's arguments.", []),
    Key("env", table_of(REFERENCE, '{ TOKEN = "${env:TOKEN}" }'), "Environment variables for the program.", {}),
    Key("folder", TEXT, "An Agent Plugin folder; relative to this file."),
    Key("source", OBJECT, "Any source, as its table would stand in pegboard.toml."),
    Key("enable", TEXT, "A source of the board that is switched off: its name."),
    Key("disabled", FLAG, "Leaves it out without deleting its table.", False),
)
_KNOWN = {key.name: key for key in ENTRY}
_PACKAGES = {"pypi": "pypi", "npm": "npm", "image": "oci"}


def read_entry(id: str, raw: Json, origin: Origin, folder: Path) -> Discoverable | None:
    """One entry; None where it is switched off.

    Parameters:
        id: its key.
        raw: its table.
        origin: where it is read from.
        folder: what its paths are relative to.

    Raises:
        Unreadable: it has a mistake.
    """
    values = _values(raw, folder)
    if values["disabled"]:
        return None
    ways = [way for way in WAYS if values[way] is not None]
    if len(ways) != 1:
        told = f"has {' and '.join(ways)}, and it is one thing" if ways else "does not say how it comes onto the board"
        raise Unreadable(f"It {told}.", f"Write one of {', '.join(WAYS)}.")
    return _Entry(id, values, origin, folder, ways[0]).read()


def read_tables(path: Path) -> tuple[dict[str, Any], list[tuple[str, Unreadable]]]:
    """The entries of a file by id, and what is no TOML. Where the file as a whole is none, each table is read alone.

    Raises:
        Unreadable: the file cannot be read at all.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as problem:
        raise Unreadable(f"{path} cannot be read: {problem}.", "Correct the path.") from problem
    try:
        return _entries(tomllib.loads(text)), []
    except tomllib.TOMLDecodeError:
        return _salvaged(text)


_HEADER = re.compile(r"^(?=\[discoverables\.)", re.MULTILINE)


def _salvaged(text: str) -> tuple[dict[str, Any], list[tuple[str, Unreadable]]]:
    found: dict[str, Any] = {}
    broken: list[tuple[str, Unreadable]] = []
    for block in _HEADER.split(text):
        label = block.partition("\n")[0].strip("[] \r").removeprefix("discoverables.")
        try:
            for id, row in _entries(tomllib.loads(block)).items():
                if found.setdefault(id, row) is not row:
                    found[id] |= row if isinstance(row, dict) and isinstance(found[id], dict) else {}
        except tomllib.TOMLDecodeError as problem:
            broken.append((label, Unreadable(f"It is not valid TOML: {problem} (counted from its own header).")))
    return found, broken


def _entries(document: Mapping[str, Any]) -> dict[str, Any]:
    rows = document.get("discoverables", {})
    if not isinstance(rows, dict):
        raise Unreadable("discoverables is no table.", "Write [discoverables.NAME] and keys under it.")
    return dict(cast("dict[str, Any]", rows))


def _values(raw: Json, folder: Path) -> dict[str, Any]:
    if not isinstance(raw, Mapping):
        raise Unreadable("It is no table.", "Write [discoverables.NAME] and keys under it.")
    table = cast("Mapping[str, Any]", raw)
    for name in table:
        if name not in _KNOWN:
            near = nearest(name, _KNOWN, limit=1)
            raise Unreadable(f"The key {name} is not known.", f"Did you mean {near[0]}?" if near else "Leave it out.")
    return {key.name: _value(key, table, folder) for key in ENTRY}


def _value(key: Key, table: Mapping[str, Any], folder: Path) -> Any:
    if key.name not in table:
        if key.required:
            raise Unreadable(f"The key {key.name} is missing.", f"Write {key.name} = {key.example}.")
        return None if key.default is None else key.type.read(key.default, folder)
    try:
        return key.type.read(table[key.name], folder)
    except BadValue as problem:
        raise Unreadable(f"{key.name}{problem.at}: {problem.message}", problem.next_step) from problem


@dataclass(slots=True)
class _Entry:
    id: str
    values: dict[str, Any]
    origin: Origin
    folder: Path
    way: str
    topics: tuple[Topic, ...] = ()
    needs: list[Need] = field(default_factory=list[Need])
    trust: Trust = Trust()

    def read(self) -> Discoverable:
        values = self.values
        self.trust = Trust(values["publisher"], values["version"], values["sha256"])
        self.needs = _needs(values["needs"])
        parts = self._parts()
        usual = DiscoverableType.CONNECTOR if self._is_remote(parts) else DiscoverableType.PLUGIN
        return Discoverable(
            id=self.id,
            type=DiscoverableType(values["type"] or usual),
            action=DiscoverableAction.ENABLE if self.way == "enable" else DiscoverableAction.INSTALL,
            name=values["name"] or self.id,
            description=text_of(values, "description"),
            directory=self.origin.directory,
            categories=values["categories"],
            auth=values["auth"] or auth_of(self.needs),
            needs=tuple(self.needs),
            permissions=permissions(() if self.way == "enable" else parts, self.needs, values["permissions"]),
            trust=self.trust,
            tools=values["tools"],
            topics=self.topics,
            parts=tuple(parts),
        )

    def _is_remote(self, parts: list[Part]) -> bool:
        return self.way == "url" or any(isinstance(part.table.get("mcp"), str) for part in parts)

    def _parts(self) -> list[Part]:
        values, name = self.values, slug(self.id)
        match self.way:
            case "enable":
                return [Part(values["enable"], {})]
            case "source":
                return [Part(name, values["source"])]
            case "url":
                target = SERVER.read(values["url"], self.folder)
                more = {key: values[key] for key in ("transport", "headers") if values[key]}
                return [Part(name, {"mcp": target, **more})]
            case "folder":
                return self._of_folder((self.folder / Path(values["folder"]).expanduser()).resolve())
            case _:
                return [self._of_package(name)]

    def _of_package(self, name: str) -> Part:
        values = self.values
        package = package_of(_PACKAGES[self.way], values[self.way], values["version"], values["sha256"], self.origin)
        env = values["env"]
        table = {"mcp": command_of(package, values["args"], env, values["program"]), **({"env": env} if env else {})}
        return Part(name, table, package)

    def _of_folder(self, folder: Path) -> list[Part]:
        plugin = read_plugin(folder, self.origin)
        self.topics = plugin.topics
        self.needs += plugin.needs
        own = self.trust
        self.trust = Trust(own.publisher, own.version or plugin.manifest.get("version"), digest_of(folder))
        if own.sha256 not in (None, self.trust.sha256):
            raise Unreadable("The folder is not the one that sha256 pins.", f"It has {self.trust.sha256} now.")
        return list(plugin.parts)


def _needs(value: Any) -> list[Need]:
    if isinstance(value, Mapping):
        return [Need(str(name), str(told)) for name, told in cast("Mapping[str, Any]", value).items()]
    items = [value] if isinstance(value, str) else value
    if not isinstance(items, list | tuple) or not all(isinstance(item, str) for item in cast("list[Any]", items)):
        raise Unreadable("needs: This is neither a list of names nor a table.", 'Write for example ["API_TOKEN"].')
    return [Need(item) for item in cast("list[str]", items)]
