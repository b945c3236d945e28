"""A remote MCP server of the config: how it is reached, and where its sign-in is kept."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pegboard.config import Config, SourceConfig
from pegboard.config.clients import Machine
from pegboard.sources.http.address import Allowance, is_public
from pegboard.wire.client.road import proxy_for, road, trusting
from pegboard.wire.oauth import EnvironmentVault, Keeper, server_key, vault_of

if TYPE_CHECKING:
    import httpx2

FOLDER = "$CONFIG/pegboard/sign-ins"
"""Where sign-ins are kept that go into files: beside the configs of other programs, not beside the board's."""


@dataclass(frozen=True, slots=True)
class Remote:
    """A remote server.

    Parameters:
        name: the source's name.
        url: its address.
        vault: where its sign-in is kept.
        proxy: what requests go through; None for what the environment names.
        ca_file: certificates that are trusted besides the system's.
        client_id: the OAuth client that was registered for it.
        client_secret: that client's secret.
        client_metadata_url: the address of the operator's client metadata document.
        scopes: scopes to ask for.
    """

    name: str
    url: str = field(repr=False)
    vault: EnvironmentVault = field(repr=False)
    proxy: str | None = field(default=None, repr=False)
    ca_file: str | None = None
    client_id: str | None = None
    client_secret: str | None = field(default=None, repr=False)
    client_metadata_url: str | None = None
    scopes: Sequence[str] = ()

    @property
    def server(self) -> str:
        """What its sign-in is kept under."""
        return server_key(self.url)

    def keeper(self) -> Keeper:
        """Puts its sign-in on requests."""
        return Keeper(self.server, self.vault, transport=self.transport)

    def transport(self) -> "httpx2.AsyncBaseTransport":
        """What requests to its sign-in server go over: no private address, unless the server itself is at one.

        Where a proxy stands between, it decides where requests may go.
        """
        from pegboard.sources.http.client import GuardedTransport

        if self.proxy or (self.proxy is None and proxy_for(self.url)):
            return road(self.url, self.proxy, self.ca_file)
        return GuardedTransport(Allowance.of([self.url], private=_private(self.url)), trusting(self.ca_file))


def remote_of(config: Config, table: SourceConfig, url: str) -> Remote:
    """The remote server of a source.

    Parameters:
        config: the whole config.
        table: the source's table.
        url: its address, references read.

    Raises:
        SourceError: a reference cannot be read.
    """
    options = table.options

    def reveal(key: str) -> str | None:
        value = options.get(key)
        return None if value is None else config.secrets.reveal(value, where=f"{table.where}.{key}")

    folder = Machine.here().find(FOLDER)
    kind = config.board.sign_ins
    return Remote(
        name=table.name,
        url=url,
        vault=EnvironmentVault(table.name, server_key(url), lambda: vault_of(kind, folder)),
        proxy=reveal("proxy"),
        ca_file=str(options["ca_file"]) if options.get("ca_file") else None,
        client_id=reveal("client_id"),
        client_secret=reveal("client_secret"),
        client_metadata_url=options.get("client_metadata_url"),
        scopes=tuple(options.get("scopes") or ()),
    )


def _private(url: str) -> bool:
    """Whether the operator's own address is one of a private network or of this machine."""
    host = urlsplit(url).hostname or ""
    try:
        ip_address(host)
    except ValueError:
        return host == "localhost" or host.endswith((".localhost", ".internal", ".local")) or "." not in host
    return not is_public(host)
