"""Agent Plugin folders: `plugin.json`, `mcp.json`, `skills/*/SKILL.md`.

Source: the Agent Plugins specification 1.0.0. Skills and MCP servers are read; what is one client's
own is not.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any

from pegboard.core import Discoverable, DiscoverableAction, DiscoverableType
from pegboard.core.discoverable import Need, Package, Part, Topic, Trust
from pegboard.directory.permission import auth_of, permissions
from pegboard.directory.reading import Aside, Origin, Unreadable, slug, table_of, text_of, words_of
from pegboard.directory.skill import FILE as SKILL_FILE
from pegboard.directory.skill import read_skill
from pegboard.errors import PegboardError
from pegboard.schema.types import as_object
from pegboard.sources.document import read_file

MANIFEST, SERVERS = "plugin.json", "mcp.json"
ROOT, DATA = "@{plugin}", "@{data}"
"""What stands in a plugin's table for its folder and for the folder of its data, until it is installed."""
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9.-]{0,62}[a-z0-9])?")
_REFERENCE = re.compile(r"\$\{([^}]*)\}")
_VARIABLE = re.compile(r"[A-Za-z_]\w*")
_MOST_FILES, _MOST_BYTES = 5_000, 100_000_000


@dataclass(frozen=True, slots=True)
class Plugin:
    """A plugin folder, read.

    Parameters:
        folder: where it is.
        manifest: its plugin.json.
        parts: its servers that can be sources here.
        topics: its skills.
        needs: the variables that its servers ask for.
        aside: what could not be read, or is not for a board.
    """

    folder: Path
    manifest: Mapping[str, Any]
    parts: tuple[Part, ...]
    topics: tuple[Topic, ...]
    needs: tuple[Need, ...]
    aside: tuple[Aside, ...]

    def discoverable(self, directory: str) -> Discoverable:
        """The plugin as something that could be installed."""
        manifest = self.manifest
        author = as_object(manifest.get("author"))
        described = text_of(manifest, "description", "") or ". ".join(topic.description for topic in self.topics)
        return Discoverable(
            id=manifest["name"],
            type=DiscoverableType.PLUGIN,
            action=DiscoverableAction.INSTALL,
            name=manifest["name"],
            description=described or f"The plugin {manifest['name']}.",
            directory=directory,
            categories=words_of(manifest, "keywords"),
            auth=auth_of(self.needs),
            needs=self.needs,
            permissions=permissions(self.parts, self.needs),
            trust=Trust(
                str(author.get("name") or "") or None, text_of(manifest, "version", "") or None, digest_of(self.folder)
            ),
            topics=self.topics,
            parts=self.parts,
        )


def read_plugin(folder: Path, origin: Origin) -> Plugin:
    """Read a plugin folder. A broken server or skill is set aside alone.

    Raises:
        Unreadable: its manifest cannot be used.
    """
    reader = _Reader(folder.resolve(), origin)
    manifest = reader.document(MANIFEST)
    name = text_of(manifest, "name")
    if not _NAME.fullmatch(name) or "--" in name or ".." in name:
        raise Unreadable(f"{name!r} is no plugin's name.", "Use small letters, digits, single hyphens and dots.")
    parts = reader.servers(name)
    topics = reader.skills()
    if not (parts or topics or reader.aside):
        raise Unreadable("It brings neither servers nor skills.", f"Write {SERVERS}, or skills/NAME/{SKILL_FILE}.")
    return Plugin(
        reader.folder, manifest, tuple(parts), tuple(topics), tuple(reader.needs.values()), tuple(reader.aside)
    )


def plugin_folders(folder: Path) -> Sequence[Path]:
    """The plugin folders at a place: itself, or those in it, in the order of their names."""
    if (folder / MANIFEST).is_file():
        return [folder]
    return sorted(path.parent for path in folder.glob(f"*/{MANIFEST}"))


def digest_of(folder: Path) -> str:
    """The SHA-256 of a folder: of the paths and bytes of its files, in order.

    Raises:
        Unreadable: a link leads out of it, or it is too large to be a plugin.
    """
    found, total = hashlib.sha256(), 0
    for number, path in enumerate(sorted(path for path in folder.rglob("*") if not _is_cache(path))):
        if not path.resolve().is_relative_to(folder.resolve()):
            raise Unreadable(f"{path.relative_to(folder)} is a link that leads out of the folder.", "Copy it into it.")
        if not path.is_file():
            continue
        total += path.stat().st_size
        if number > _MOST_FILES or total > _MOST_BYTES:
            raise Unreadable("The folder is too large to be a plugin.", "Leave out what is built or downloaded.")
        found.update(f"{path.relative_to(folder).as_posix()}\0{path.stat().st_size}\0".encode())
        found.update(path.read_bytes())
    return found.hexdigest()


def _is_cache(path: PurePath) -> bool:
    return "__pycache__" in path.parts or ".git" in path.parts


@dataclass(slots=True)
class _Reader:
    folder: Path
    origin: Origin
    needs: dict[str, Need] = field(default_factory=dict[str, Need])
    aside: list[Aside] = field(default_factory=list[Aside])

    def document(self, name: str) -> Mapping[str, Any]:
        try:
            return table_of(read_file(self.folder / name), name)
        except PegboardError as problem:
            raise Unreadable(problem.message, problem.next_step or "Correct the file.") from problem

    def servers(self, plugin: str) -> list[Part]:
        if not (self.folder / SERVERS).is_file():
            return []
        try:
            rows = table_of(self.document(SERVERS).get("mcpServers") or {}, "mcpServers")
        except Unreadable as problem:
            self._aside(f"{plugin}: {SERVERS}", problem)
            return []
        parts: list[Part] = []
        package = Package("folder", str(self.folder))
        for name, raw in rows.items():
            try:
                table = self.server(table_of(raw, name))
            except Unreadable as problem:
                self._aside(f"{plugin}: {name}", problem)
            else:
                parts.append(Part(slug(str(name)), table, package))
        return parts

    def server(self, raw: Mapping[str, Any]) -> dict[str, Any]:
        """One server as a source's table."""
        if raw.get("command"):
            return self._program(raw)
        url = self._text(text_of(raw, "url"))
        self.origin.address(_REFERENCE.sub("x", url))
        table: dict[str, Any] = {"mcp": url}
        if raw.get("type") == "sse":
            table["transport"] = "sse"
        headers = self._texts(raw, "headers")
        return {**table, **({"headers": headers} if headers else {})}

    def skills(self) -> list[Topic]:
        topics: list[Topic] = []
        for path in sorted((self.folder / "skills").glob(f"*/{SKILL_FILE}")):
            try:
                if not path.resolve().is_relative_to(self.folder):
                    raise Unreadable("It leads out of the plugin's folder.", "Copy it into it.")
                topics.append(read_skill(path))
            except Unreadable as problem:
                self._aside(f"{self.folder.name}: skills/{path.parent.name}", problem)
        return topics

    def _program(self, raw: Mapping[str, Any]) -> dict[str, Any]:
        command = text_of(raw, "command")
        arguments = words_of(raw, "args")
        if PurePath(command).stem == "pegboard" or arguments[:2] == ("-m", "pegboard"):
            raise Unreadable(
                "It is Pegboard itself, which is no source of a board.", "Use the plugin in another client."
            )
        if command.startswith(("./", "../")):
            command = f"${{PLUGIN_ROOT}}/{PurePath(command).as_posix()}"
        if ".." in PurePath(command).parts:
            raise Unreadable(f"{command!r} lies outside of the plugin.", "Name a program inside of it, or on PATH.")
        env = self._texts(raw, "env")
        cwd = self._text(text_of(raw, "cwd", "${PLUGIN_ROOT}"))
        table: dict[str, Any] = {"mcp": [self._text(word) for word in (command, *arguments)], "cwd": cwd}
        return {**table, **({"env": env} if env else {})}

    def _texts(self, raw: Mapping[str, Any], key: str) -> dict[str, str]:
        return {str(name): self._text(str(value)) for name, value in table_of(raw.get(key) or {}, key).items()}

    def _text(self, text: str) -> str:
        """A text with the plugin's folders filled in; any other variable is something that the person has to bring."""
        return _REFERENCE.sub(lambda found: self._filled(found[1]), text)

    def _filled(self, body: str) -> str:
        name = body.removeprefix("env:").partition(":-")[0]
        match name:
            case "PLUGIN_ROOT" | "CLAUDE_PLUGIN_ROOT":
                return ROOT
            case "PLUGIN_DATA":
                return DATA
            case _ if _VARIABLE.fullmatch(name):
                self.needs.setdefault(name, Need(name))
                return f"${{env:{name}}}"
            case _:
                raise Unreadable(f"${{{body}}} is no variable.", "Name a variable, PLUGIN_ROOT or PLUGIN_DATA.")

    def _aside(self, entry: str, problem: Unreadable) -> None:
        self.aside.append(Aside(self.origin.directory, entry, problem.message, problem.next_step))
