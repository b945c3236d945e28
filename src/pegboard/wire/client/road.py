"""What requests to an address go over: a proxy, where there is one, and the certificates that are trusted."""

import ssl
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx2

from pegboard.errors import SourceError


def road(url: str, proxy: str | None = None, ca_file: str | None = None) -> httpx2.AsyncHTTPTransport:
    """A transport to an address.

    Parameters:
        url: the address.
        proxy: what requests go through; by default what the environment names (HTTPS_PROXY, HTTP_PROXY, ALL_PROXY,
            NO_PROXY), and nothing for this very machine.
        ca_file: a file of certificates (PEM) that are trusted besides the system's (SSL_CERT_FILE, SSL_CERT_DIR).

    Raises:
        SourceError: the file cannot be read.
    """
    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=32)
    through = proxy if proxy is not None else proxy_for(url)
    return httpx2.AsyncHTTPTransport(verify=trusting(ca_file), limits=limits, proxy=through or None)


def trusting(ca_file: str | None) -> ssl.SSLContext:
    """The system's certificates, and those of a file.

    Raises:
        SourceError: the file cannot be read.
    """
    context = httpx2.create_ssl_context()
    if ca_file is None:
        return context
    try:
        context.load_verify_locations(ca_file)
    except OSError as problem:  # ssl.SSLError is one
        raise SourceError(
            f"The certificates cannot be read: {problem.strerror or problem}.",
            where=ca_file,
            next_step="Give a file of certificates in PEM form.",
        ) from None
    return context


def proxy_for(url: str) -> str | None:
    """The proxy that the environment names for an address; none for this very machine."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if host == "localhost" or host.startswith("127.") or host == "::1" or proxy_bypass(host):
        return None
    known = getproxies()
    return known.get(parts.scheme) or known.get("all")
