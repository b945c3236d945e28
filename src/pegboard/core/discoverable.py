"""What could be on the board and is not: found in directories, and put on the board when a person agrees."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from pegboard.schema.types import JsonObject, digest


class DiscoverableType(StrEnum):
    """What a discoverable is."""

    CONNECTOR = "connector"
    """A remote service or account."""
    PLUGIN = "plugin"
    """A package or folder that is put on this board."""


class DiscoverableAction(StrEnum):
    """What has to be done before its tools are there."""

    INSTALL = "install"
    ENABLE = "enable"
    """It is on the board, and switched off."""


@dataclass(frozen=True, slots=True)
class Need:
    """Something that the person has to bring: a variable with a token, mostly.

    Parameters:
        variable: the environment variable that is read.
        description: what it is for.
        required: whether it cannot do without.
        secret: whether the value is one.
    """

    variable: str
    description: str = ""
    required: bool = True
    secret: bool = True


@dataclass(frozen=True, slots=True)
class Trust:
    """What speaks for a discoverable; untrusted as far as its directory is.

    Parameters:
        publisher: who says that it is theirs.
        version: the exact version that would be installed.
        sha256: the hash of the file, image or folder that would be installed, in hex.
    """

    publisher: str | None = None
    version: str | None = None
    sha256: str | None = None

    @property
    def pinned(self) -> bool:
        """Whether what would be installed is the same next time."""
        return self.version is not None or self.sha256 is not None


@dataclass(frozen=True, slots=True)
class Package:
    """Something that a package manager fetches.

    Parameters:
        registry: `pypi`, `npm` or `oci`.
        identifier: its name there.
        version: the exact version; None for the newest.
        sha256: the hash of the file, in hex, where it is pinned.
        index: the index to ask, instead of the package manager's own.
        wheelhouse: a folder of packages that is asked instead of any index.
    """

    registry: str
    identifier: str
    version: str | None = None
    sha256: str | None = None
    index: str | None = None
    wheelhouse: str | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """One source that a discoverable brings.

    Parameters:
        name: the source's name on the board.
        table: its table, as it would stand in `pegboard.toml` under `[sources.NAME]`. Where there is a package, the
            first word of `mcp` is a program of that package.
        package: what has to be fetched first.
    """

    name: str
    table: JsonObject
    package: Package | None = None


@dataclass(frozen=True, slots=True)
class Topic:
    """A documentation topic: what a skill of a plugin teaches. It is text, never a tool.

    Parameters:
        name: the skill's name.
        description: what it is about, and when to read it.
        path: the file that holds it.
        front: the other fields of its front matter (`license`, `compatibility`, `metadata` ...).
    """

    name: str
    description: str
    path: str
    front: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class Discoverable:
    """A connector or plugin that could be installed or enabled.

    Parameters:
        id: what it is called in requests (`tool_id`); unique for its type.
        type: connector or plugin.
        action: install, or enable where it is on the board and switched off.
        name: what people call it.
        description: what it does; untrusted text.
        directory: the directory that it comes from; `board` for a source that is switched off.
        categories: what it is about, in single words.
        auth: what it needs to be signed in to, such as `oauth` or `env:GITHUB_TOKEN`; None for nothing.
        needs: what the person has to bring.
        permissions: what it may do once it is there, in words (`runs a program on this machine` ...).
        trust: what speaks for it.
        tools: the names of its tools, as far as its directory tells.
        topics: its documentation topics.
        parts: the sources that it brings.
    """

    id: str
    type: DiscoverableType
    action: DiscoverableAction
    name: str
    description: str
    directory: str
    categories: tuple[str, ...] = ()
    auth: str | None = None
    needs: tuple[Need, ...] = ()
    permissions: tuple[str, ...] = ()
    trust: Trust = Trust()
    tools: tuple[str, ...] = ()
    topics: tuple[Topic, ...] = ()
    parts: tuple[Part, ...] = ()

    @property
    def key(self) -> tuple[DiscoverableType, str]:
        """Type and id: what a request names it by."""
        return self.type, self.id

    @property
    def pinned(self) -> bool:
        """Whether the definition says exactly what would run: each package has a version or a hash."""
        packages = [part.package for part in self.parts if part.package is not None]
        folder = self.trust.sha256 is not None
        return all(each.version or each.sha256 or (each.registry == "folder" and folder) for each in packages)

    @property
    def digest(self) -> str:
        """Identifies the definition as a whole; any change changes it, and a grant for another one does not count."""
        return digest({**asdict(self), "action": None, "directory": None})

    def to_json(self) -> dict[str, Any]:
        """As a model sees it where it is offered: which id to ask for, what it is and needs, nothing to run."""
        row: dict[str, Any] = {
            "tool_id": self.id,
            "tool_type": self.type.value,
            "action_type": self.action.value,
            "name": self.name,
            "description": self.description,
            "categories": list(self.categories),
            "auth": self.auth,
            "permissions": list(self.permissions),
            "publisher": self.trust.publisher,
            "version": self.trust.version,
        }
        return {key: value for key, value in row.items() if value not in (None, [], "")}
