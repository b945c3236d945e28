"""Catalogs in the form of the Docker MCP catalog: one YAML or JSON file with a `registry` of servers by name.

Source: docker/mcp-gateway, catalog version 2 and 3.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pegboard.core import Discoverable, DiscoverableAction, DiscoverableType
from pegboard.core.discoverable import Need, Part, Trust
from pegboard.directory.permission import auth_of, permissions
from pegboard.directory.reading import Origin, Unreadable, plain, rows_of, slug, table_of, text_of, variable, words_of
from pegboard.directory.registry import command_of, package_of
from pegboard.schema.types import Json, as_object


def read_entry(id: str, raw: Json, origin: Origin) -> Discoverable:
    """One entry of a catalog: an image is a plugin, a remote server a connector.

    Parameters:
        id: its key in the catalog.
        raw: the entry.
        origin: where it is read from.

    Raises:
        Unreadable: it has neither an image nor a remote server, or a mistake.
    """
    entry = _Entry(id, table_of(raw, "It"), origin)
    if entry.table.get("remote"):
        return entry.connector()
    if entry.table.get("image"):
        return entry.plugin()
    kind = entry.table.get("type", "server")
    raise Unreadable(f"It has neither an image nor a remote server (type {kind}).", "Install it by hand.")


@dataclass(slots=True)
class _Entry:
    id: str
    table: Mapping[str, Any]
    origin: Origin
    needs: dict[str, Need] = field(default_factory=dict[str, Need])

    def connector(self) -> Discoverable:
        remote = table_of(self.table["remote"], "remote")
        url = self.origin.address(text_of(remote, "url"))
        table: dict[str, Any] = {"mcp": plain(url)}
        if remote.get("transport_type") == "sse":
            table["transport"] = "sse"
        self._env()
        headers = table_of(remote.get("headers") or {}, "remote.headers")
        if headers:
            table["headers"] = {str(name): self._header(str(value)) for name, value in headers.items()}
        return self._made(DiscoverableType.CONNECTOR, Part(slug(self.id), table), Trust(self._publisher()))

    def plugin(self) -> Discoverable:
        image, _, sha256 = text_of(self.table, "image").partition("@sha256:")
        package = package_of("oci", image, None, sha256 or None, self.origin)
        env = self._env()
        arguments = [plain(word) for word in words_of(self.table, "command")]
        table = {"mcp": command_of(package, arguments, env), **({"env": env} if env else {})}
        trust = Trust(self._publisher(), _tag(image), package.sha256)
        return self._made(DiscoverableType.PLUGIN, Part(slug(self.id), table, package), trust)

    def _env(self) -> dict[str, str]:
        """Secrets and settings as references; a setting with a fixed value keeps it."""
        found: dict[str, str] = {}
        for row in rows_of(self.table, "secrets"):
            name = text_of(row, "env", variable(str(row.get("name") or "")))
            self.needs[name] = Need(name, str(row.get("description") or row.get("name") or ""))
            found[name] = f"${{env:{name}}}"
        for row in rows_of(self.table, "env"):
            name, value = text_of(row, "name"), row.get("value")
            if value is not None and "{{" not in str(value):
                found[name] = plain(str(value))
        return found

    def _header(self, value: str) -> str:
        """A header's value; `${NAME}` means one of the entry's own secrets, and nothing else."""
        for name in self.needs:
            value = value.replace(f"${{{name}}}", f"\0{name}\0")
        filled = plain(value)
        for name in self.needs:
            filled = filled.replace(f"\0{name}\0", f"${{env:{name}}}")
        return filled

    def _publisher(self) -> str | None:
        about = as_object(self.table.get("metadata"))
        return str(about.get("owner") or self.table.get("owner") or "") or None

    def _made(self, type: DiscoverableType, part: Part, trust: Trust) -> Discoverable:
        about = as_object(self.table.get("metadata"))
        needs = tuple(self.needs.values())
        providers = [
            text_of(row, "provider", "", longest=100)
            for row in rows_of(as_object(self.table.get("oauth")), "providers")
        ]
        return Discoverable(
            id=self.id,
            type=type,
            action=DiscoverableAction.INSTALL,
            name=text_of(self.table, "title", self.id, longest=100),
            description=text_of(self.table, "description"),
            directory=self.origin.directory,
            categories=tuple(dict.fromkeys([*words_of(about, "category"), *words_of(about, "tags")])),
            auth=f"oauth:{providers[0]}" if providers else auth_of(needs),
            needs=needs,
            permissions=permissions([part], needs, self._declared()),
            trust=trust,
            tools=tuple(text_of(row, "name") for row in rows_of(self.table, "tools")),
            parts=(part,),
        )

    def _declared(self) -> list[str]:
        hosts = [f"connects to {host}" for host in words_of(self.table, "allowHosts")]
        return [*hosts, *(f"mounts {volume}" for volume in words_of(self.table, "volumes"))]


def _tag(image: str) -> str | None:
    tag = image.rpartition("/")[2].partition(":")[2]
    return tag if tag and tag != "latest" else None
