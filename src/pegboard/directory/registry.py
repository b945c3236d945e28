"""`server.json` of the MCP registry: packages become plugins, remotes become connectors.

Source: modelcontextprotocol/registry, schema 2025-12-11.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pegboard.core import Discoverable, DiscoverableAction, DiscoverableType
from pegboard.core.discoverable import Need, Package, Part, Trust
from pegboard.directory.permission import auth_of, permissions
from pegboard.directory.reading import Origin, Unreadable, plain, rows_of, slug, table_of, text_of, variable, words_of
from pegboard.schema.types import Json, as_object

_NAME = re.compile(r"(?=.{3,200}$)[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+")
_TRANSPORTS = {"streamable-http": "http", "streamable_http": "http", "http": "http", "sse": "sse"}
_FETCHED = ("pypi", "npm", "oci")
PUBLISHED = "io.modelcontextprotocol.registry/publisher-provided"


def read_server(raw: Json, origin: Origin) -> list[Discoverable]:
    """What one server comes to: a connector for its remote, a plugin for its package, or both.

    Parameters:
        raw: the server, bare or in the envelope of a registry's answer (`{"server": ...}`).
        origin: where it is read from.

    Raises:
        Unreadable: it is no server, or has nothing that can be used here.
    """
    table = table_of(raw, "It")
    table = table_of(table["server"], "server") if isinstance(table.get("server"), Mapping) else table
    name = text_of(table, "name")
    if not _NAME.fullmatch(name):
        raise Unreadable(f"{name!r} is no name: it needs a namespace and a slash.")
    entry = _Entry(name, table, origin)
    found = [*entry.connectors(), *entry.plugins()]
    if not found:
        raise Unreadable(f"It has nothing that can be used here{entry.reason}.", "Install it by hand.")
    return found


def servers_of(document: Json) -> list[Json]:
    """The servers in a document: a list, an object with `servers`, or one server."""
    if isinstance(document, Mapping) and isinstance(document.get("servers"), list):  # pyright: ignore[reportUnknownMemberType]
        return list(document["servers"])  # pyright: ignore[reportUnknownArgumentType]
    return list(document) if isinstance(document, list) else [document]  # pyright: ignore[reportUnknownArgumentType]


@dataclass(slots=True)
class _Inputs:
    """Fills in values as a registry describes them; what the person has to bring becomes a reference.

    Parameters:
        source: the source's name, for variables that have none.
        needs: what the person has to bring, so far.
    """

    source: str
    needs: dict[str, Need] = field(default_factory=dict[str, Need])

    def value(self, raw: Mapping[str, Any], named: str) -> str | None:
        """The text of one input, or None where it is optional and empty."""
        inner = {str(key): table_of(row, str(key)) for key, row in table_of(raw.get("variables") or {}, "v").items()}
        value = raw.get("value", raw.get("default"))
        if value is not None:
            return re.sub(r"\{([\w-]+)\}", lambda found: self._filled(found[0], found[1], inner), plain(str(value)))
        if raw.get("isRequired") or raw.get("isSecret"):
            return self.reference(variable(named), raw)
        return None

    def reference(self, name: str, raw: Mapping[str, Any]) -> str:
        """A reference to a variable that the person has to set."""
        description = str(raw.get("description") or "")[:300]
        required = bool(raw.get("isRequired"))
        self.needs.setdefault(name, Need(name, description, required, bool(raw.get("isSecret"))))
        return f"${{env:{name}}}"

    def _filled(self, whole: str, name: str, inner: Mapping[str, Mapping[str, Any]]) -> str:
        if name not in inner:
            return whole
        found = self.value(inner[name], f"{self.source}_{name}")
        return whole if found is None else found


@dataclass(slots=True)
class _Entry:
    name: str
    table: Mapping[str, Any]
    origin: Origin
    reason: str = ""

    @property
    def source(self) -> str:
        return slug(self.name)

    def connectors(self) -> Iterator[Discoverable]:
        """One connector, for the first remote that can be spoken to."""
        for remote in rows_of(self.table, "remotes"):
            kind = str(remote.get("type") or remote.get("transport_type") or "")
            if kind not in _TRANSPORTS:
                self.reason = f": the transport {kind or '?'} is not spoken here"
                continue
            inputs = _Inputs(self.source)
            url = inputs.value({**remote, "value": text_of(remote, "url")}, "url") or ""
            self.origin.address(re.sub(r"\$\{env:[^}]*\}", "x", url))
            table: dict[str, Any] = {"mcp": url}
            if _TRANSPORTS[kind] == "sse":
                table["transport"] = "sse"
            table |= self._named(inputs, remote, "headers")
            yield self._made(DiscoverableType.CONNECTOR, [Part(self.source, table)], inputs, None)
            return

    def plugins(self) -> Iterator[Discoverable]:
        """One plugin, for the first package that can be installed."""
        for row in rows_of(self.table, "packages"):
            kind = str(row.get("registryType") or row.get("registry_type") or row.get("registry_name") or "")
            transport = str(table_of(row.get("transport") or {"type": "stdio"}, "transport").get("type"))
            if kind not in _FETCHED or transport != "stdio":
                self.reason = f": a package of {kind or '?'} over {transport} is not installed here"
                continue
            yield self._plugin(kind, row)
            return

    def _plugin(self, kind: str, row: Mapping[str, Any]) -> Discoverable:
        inputs = _Inputs(self.source)
        identifier = text_of(row, "identifier", str(row.get("name") or "") or None)
        version = text_of(row, "version", str(self.table.get("version") or "")) or None
        sha256 = str(row.get("fileSha256") or row.get("file_sha256") or "") or None
        package = package_of(kind, identifier, version, sha256, self.origin)
        arguments = [word for raw in rows_of(row, "packageArguments") for word in self._argument(inputs, raw)]
        env = self._named(inputs, row, "environmentVariables", "env")
        table = {"mcp": command_of(package, arguments, env.get("env", {})), **env}
        return self._made(DiscoverableType.PLUGIN, [Part(self.source, table, package)], inputs, package)

    def _argument(self, inputs: _Inputs, raw: Mapping[str, Any]) -> list[str]:
        name = str(raw.get("name") or "")
        hint = str(raw.get("valueHint") or name.lstrip("-") or "argument")
        value = inputs.value(raw, f"{self.source}_{hint}")
        if raw.get("type") != "named":
            return [] if value is None else [value]
        has_value = value is not None or "valueHint" in raw or "format" in raw
        return [] if value is None and has_value else [name] if value is None else [name, value]

    def _named(self, inputs: _Inputs, row: Mapping[str, Any], key: str, table_key: str | None = None) -> dict[str, Any]:
        found: dict[str, str] = {}
        for raw in rows_of(row, key):
            name = text_of(raw, "name")
            own = name if key == "environmentVariables" else f"{self.source}_{name}"
            value = inputs.value(raw, own)
            if value is not None:
                found[name] = value
        return {table_key or key: found} if found else {}

    def _made(
        self, type: DiscoverableType, parts: list[Part], inputs: _Inputs, package: Package | None
    ) -> Discoverable:
        published = as_object(as_object(self.table.get("_meta")).get(PUBLISHED))
        needs = tuple(inputs.needs.values())
        version = package.version if package is not None else str(self.table.get("version") or "") or None
        return Discoverable(
            id=self.name,
            type=type,
            action=DiscoverableAction.INSTALL,
            name=text_of(self.table, "title", self.name.rpartition("/")[2], longest=100),
            description=text_of(self.table, "description"),
            directory=self.origin.directory,
            categories=(*words_of(published, "categories"), *words_of(published, "tags")),
            auth=auth_of(needs),
            needs=needs,
            permissions=permissions(parts, needs),
            trust=Trust(self.name.partition("/")[0], version, package.sha256 if package is not None else None),
            tools=words_of(published, "tools"),
            parts=tuple(parts),
        )


_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+!_-]*")
_IDENTIFIERS = {
    "pypi": re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?(?:\[[A-Za-z0-9,._-]+\])?"),
    "npm": re.compile(r"(?:@[a-z0-9~-][a-z0-9._~-]*/)?[a-z0-9~-][a-z0-9._~-]*", re.IGNORECASE),
    "oci": re.compile(r"[a-z0-9][a-zA-Z0-9._:/@-]*"),
}


def package_of(kind: str, identifier: str, version: str | None, sha256: str | None, origin: Origin) -> Package:
    """A package whose every word may stand in a package manager's command.

    Raises:
        Unreadable: name, version or hash is none; an option, a path or an address in their place is refused so.
    """
    if not _IDENTIFIERS[kind].fullmatch(identifier):
        raise Unreadable(f"{identifier!r} is no name of a package of {kind}.")
    if version is not None and (not _VERSION.fullmatch(version) or version == "latest"):
        raise Unreadable(f"{version!r} is no exact version.", "Name the exact version.")
    if sha256 is not None and not re.fullmatch(r"[0-9a-fA-F]{64}", sha256):
        raise Unreadable(f"{sha256!r} is no SHA-256 in hex.")
    house = origin.wheelhouse if kind == "pypi" else None
    return Package(kind, identifier, version, sha256.lower() if sha256 else None, origin.index, house)


def command_of(
    package: Package, arguments: Sequence[str], env: Mapping[str, str], program: str | None = None
) -> list[str]:
    """The command that starts a package's server.

    Parameters:
        package: the package. Its program has its own name, without scope and extras, unless another is named.
        arguments: the program's arguments.
        env: the variables that a container has to be given.
        program: the program's name.
    """
    if package.registry != "oci":
        return [program or package.identifier.rpartition("/")[2].partition("[")[0], *arguments]
    passed = [word for name in env for word in ("-e", name)]
    return ["docker", "run", "-i", "--rm", *passed, image_of(package), *arguments]


def image_of(package: Package) -> str:
    """A container image as it is pulled: by digest where one is pinned, else by its tag."""
    bare = package.identifier.partition("@")[0]
    if package.sha256 is not None:
        return f"{bare}@sha256:{package.sha256}"
    tagged = ":" in bare.rpartition("/")[2]
    return bare if tagged or package.version is None else f"{bare}:{package.version}"
