"""Which addresses may be connected to. The check is made where the connection is, so a name cannot change in between.

A private, loopback, link-local or otherwise not public address is refused unless the operator typed that very host
and port, or allowed private addresses for the source (server-side request forgery, OWASP SSRF).
"""

import socket
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import Any, TypeAlias, cast
from urllib.parse import urlsplit

import anyio
import httpcore2

_Ip: TypeAlias = IPv4Address | IPv6Address
_NAT64 = IPv6Network("64:ff9b::/96")
_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}


class ForbiddenAddressError(Exception):
    """A name leads to an address that may not be connected to.

    Parameters:
        host: the name.
        address: where it leads.
    """

    def __init__(self, host: str, address: str) -> None:
        super().__init__(f"{host} is at {address}, which is no public address")
        self.host = host
        self.address = address


@dataclass(frozen=True, slots=True)
class Allowance:
    """Where requests may go besides public addresses.

    Parameters:
        hosts: host and port pairs that the operator named.
        private: whether every address is allowed.
    """

    hosts: frozenset[tuple[str, int]] = frozenset()
    private: bool = False

    @classmethod
    def of(cls, urls: Iterable[str | None], *, private: bool = False) -> "Allowance":
        """An allowance for the places of these URLs, which the operator wrote."""
        found = (endpoint(url) for url in urls if url)
        return cls(frozenset(pair for pair in found if pair), private)

    def admits(self, host: str, port: int, address: str) -> bool:
        """Whether a connection to `address`, which `host` leads to, may be made."""
        return self.private or (host.lower().strip("[]"), port) in self.hosts or is_public(address)


def endpoint(url: str) -> tuple[str, int] | None:
    """Host and port of a URL, or None where it has none."""
    try:
        parts = urlsplit(url)
        port = parts.port or _PORTS.get(parts.scheme)
    except ValueError:
        return None
    return (parts.hostname.lower(), port) if parts.hostname and port else None


def is_public(address: str) -> bool:
    """Whether an address is one of the public internet, embedded IPv4 addresses included."""
    try:
        ip: _Ip = ip_address(address.partition("%")[0])
    except ValueError:
        return False
    return all(part.is_global and not part.is_multicast for part in (ip, *_embedded(ip)))


def _embedded(ip: _Ip) -> Iterable[_Ip]:
    if isinstance(ip, IPv4Address):
        return
    for inner in (ip.ipv4_mapped, ip.sixtofour, *(ip.teredo or ())):
        if inner is not None:
            yield inner
    if ip in _NAT64:
        yield IPv4Address(int(ip) & 0xFFFFFFFF)


class GuardedBackend(httpcore2.AsyncNetworkBackend):
    """Connects only where the allowance admits it, to the very address that was checked.

    Parameters:
        allowance: where connections may go.
    """

    def __init__(self, allowance: Allowance) -> None:
        self._allowance = allowance
        self._inner = cast("httpcore2.AsyncNetworkBackend", httpcore2.AnyIOBackend())

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Look the name up, check every address that it leads to, and connect to the first that answers.

        Raises:
            ForbiddenAddressError: none of them may be connected to.
        """
        addresses = await _lookup(host, port)
        admitted = [address for address in addresses if self._allowance.admits(host, port, address)]
        if not admitted:
            raise ForbiddenAddressError(host, addresses[0])
        for last, address in enumerate(admitted, 1):
            try:
                return await self._inner.connect_tcp(address, port, timeout, local_address, socket_options)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                if last == len(admitted):
                    raise
        raise AssertionError("one of the addresses was tried")

    async def connect_unix_socket(self, path: str, *args: Any, **kwargs: Any) -> httpcore2.AsyncNetworkStream:
        """Never."""
        raise ForbiddenAddressError("unix", path)

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await anyio.sleep(seconds)


async def _lookup(host: str, port: int) -> list[str]:
    try:
        found = await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise httpcore2.ConnectError(f"the name {host} is not known ({error.strerror or error})") from error
    except UnicodeError as error:
        raise httpcore2.ConnectError(f"{host!r} is no host name") from error
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))
