"""A client for requests that a document or a template asks for: addresses checked, redirects re-checked, all capped."""

import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Any, Self, cast
from urllib.parse import quote, unquote_plus, urljoin, urlsplit

import anyio
import httpcore2
import httpx2

from pegboard.sources.http.address import Allowance, ForbiddenAddressError, GuardedBackend, endpoint

MAX_BYTES = 20_000_000
MAX_REDIRECTS = 5
TIMEOUT = 60.0
_USER_AGENT = "pegboard"
_SAFE = frozenset(("GET", "HEAD", "OPTIONS", "QUERY"))
_SECRET_HEADERS = frozenset(("authorization", "cookie", "proxy-authorization"))


class TooLargeError(Exception):
    """An answer has more bytes than is read.

    Parameters:
        limit: how many are read.
    """

    def __init__(self, limit: int) -> None:
        super().__init__(f"the answer has more than {limit} bytes")
        self.limit = limit


class RedirectError(Exception):
    """A redirect is not followed.

    Parameters:
        target: where it leads.
        reason: why it is not followed.
    """

    def __init__(self, target: str, reason: str) -> None:
        super().__init__(f"{reason} ({target})")
        self.target = target


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request, ready to send.

    Parameters:
        method: the verb, in capitals.
        url: the whole URL, query included, without credentials.
        headers: header lines, in order.
        body: the bytes to send.
        query_secrets: credentials that go into the query string, by parameter.
        secret_headers: the lower-case names of headers that carry credentials.
        shown: the body as data, for previews; None: the text of `body`.
    """

    method: str
    url: str
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None
    query_secrets: Mapping[str, str] = field(default_factory=dict[str, str])
    secret_headers: frozenset[str] = frozenset()
    shown: object = None

    def with_header(self, name: str, value: str, *, secret: bool = False) -> "Request":
        """The same request with one more header line; one of that name is replaced."""
        kept = tuple(line for line in self.headers if line[0].lower() != name.lower())
        secrets = self.secret_headers | {name.lower()} if secret else self.secret_headers
        return replace(self, headers=(*kept, (name, value)), secret_headers=secrets)


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back, read to its end.

    Parameters:
        status: the status code.
        headers: the header lines; look up without regard to case.
        body: the decoded bytes.
        url: where it came from, after redirects, without credentials.
    """

    status: int
    headers: httpx2.Headers
    body: bytes
    url: str

    @property
    def media_type(self) -> str:
        """The media type without its parameters, in lower case; empty where none is given."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def text(self) -> str:
        """The body as text, in the charset that it declares, else UTF-8."""
        _, _, rest = self.headers.get("content-type", "").lower().partition("charset=")
        charset = rest.partition(";")[0].strip(" \"'") or "utf-8"
        try:
            return self.body.decode(charset, "replace")
        except LookupError:
            return self.body.decode("utf-8", "replace")


class _Transport(httpx2.AsyncBaseTransport):
    def __init__(self, allowance: Allowance, trusted: ssl.SSLContext | None = None) -> None:
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=trusted or httpx2.create_ssl_context(trust_env=False),
            network_backend=GuardedBackend(allowance),
            max_connections=100,
            max_keepalive_connections=50,
            keepalive_expiry=30.0,
        )

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        assert isinstance(request.stream, httpx2.AsyncByteStream)
        url = httpcore2.URL(
            scheme=request.url.raw_scheme,
            host=request.url.raw_host,
            port=request.url.port,
            target=request.url.raw_path,
        )
        sent = httpcore2.Request(
            request.method, url, headers=request.headers.raw, content=request.stream, extensions=request.extensions
        )
        found = await self._pool.handle_async_request(sent)
        return httpx2.Response(
            status_code=found.status,
            headers=found.headers,
            stream=_Stream(found),
            extensions=cast("dict[str, Any]", found.extensions),  # pyright: ignore[reportUnknownMemberType]
        )

    async def aclose(self) -> None:
        await self._pool.aclose()


class GuardedTransport(_Transport):
    """Connects only where an allowance admits it, whatever a document, a header or a name says; fails as httpx2 does.

    Parameters:
        allowance: where connections may go.
        trusted: the certificates that are trusted; the system's by default.
    """

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send it. Raises `httpx2.TransportError` where that cannot be done."""
        try:
            return await super().handle_async_request(request)
        except httpcore2.TimeoutException as problem:
            raise httpx2.ConnectTimeout(str(problem), request=request) from problem
        except (ForbiddenAddressError, httpcore2.NetworkError, httpcore2.ProtocolError) as problem:
            raise httpx2.ConnectError(str(problem), request=request) from problem


class _Stream(httpx2.AsyncByteStream):
    def __init__(self, response: httpcore2.Response) -> None:
        self._response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for part in self._response.aiter_stream():
            yield part

    async def aclose(self) -> None:
        await self._response.aclose()


class SafeClient:
    """Sends requests. Use it as an async context manager; it keeps connections open in between.

    It takes nothing from the environment (no proxies, no .netrc) and keeps no cookies.

    Parameters:
        allowance: where requests may go besides public addresses.
        max_bytes: the most bytes of an answer that are read, after decompression.
        timeout: seconds for one exchange, redirects included.
    """

    def __init__(
        self, allowance: Allowance | None = None, *, max_bytes: int = MAX_BYTES, timeout: float = TIMEOUT
    ) -> None:
        self._allowance = allowance or Allowance()
        self._max_bytes = max_bytes
        self._timeout = timeout
        self._client: httpx2.AsyncClient | None = None

    async def __aenter__(self) -> Self:
        self._client = httpx2.AsyncClient(
            transport=_Transport(self._allowance), trust_env=False, timeout=self._timeout, follow_redirects=False
        )
        await self._client.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.__aexit__(kind, problem, trace)

    async def send(self, request: Request) -> Answer:
        """Send a request and read the answer, following redirects that may be followed.

        Raises:
            ForbiddenAddressError: the address is not public and was not allowed.
            RedirectError: a redirect would repeat a change elsewhere, carry a secret off, or never ends.
            TooLargeError: the answer is larger than `max_bytes`.
            TimeoutError: it took longer than `timeout`.
            httpcore2.NetworkError, httpcore2.ProtocolError, httpcore2.TimeoutException, httpx2.HTTPError: it broke.
        """
        with anyio.fail_after(self._timeout):
            for _ in range(MAX_REDIRECTS + 1):
                answer = await self._exchange(request)
                target = _redirect(answer)
                if target is None:
                    return answer
                request = _redirected(request, answer.status, target)
        raise RedirectError(request.url, f"More than {MAX_REDIRECTS} redirects")

    async def _exchange(self, request: Request) -> Answer:
        async with self._stream(request) as response:
            body = bytearray()
            async for part in response.aiter_bytes():
                body += part
                if len(body) > self._max_bytes:
                    raise TooLargeError(self._max_bytes)
            return Answer(response.status_code, response.headers, bytes(body), request.url)

    @asynccontextmanager
    async def _stream(self, request: Request) -> AsyncGenerator[httpx2.Response]:
        if self._client is None:
            raise RuntimeError("the client is not open")
        url = httpx2.URL(_signed(request.url, request.query_secrets))
        headers = [("user-agent", _USER_AGENT), *request.headers]
        built = self._client.build_request(request.method, url, headers=headers, content=request.body)
        response = await self._client.send(built, stream=True)
        try:
            yield response
        finally:
            with anyio.CancelScope(shield=True):
                await response.aclose()


def _signed(url: str, secrets: Mapping[str, str]) -> str:
    """A URL with credentials in its query, in the place of what has their names; the rest stays byte for byte.

    To parse a query and write it again would lose what its style says: `a,b` is two values, `a%2Cb` is one.
    """
    if not secrets:
        return url
    parts = urlsplit(url)
    kept = [piece for piece in parts.query.split("&") if piece and unquote_plus(piece.partition("=")[0]) not in secrets]
    own = [f"{quote(name, safe='')}={quote(value, safe='')}" for name, value in secrets.items()]
    return parts._replace(query="&".join([*kept, *own])).geturl()


def _redirect(answer: Answer) -> str | None:
    location = answer.headers.get("location")
    if answer.status not in (301, 302, 303, 307, 308) or not location:
        return None
    return urljoin(answer.url, location)


def _redirected(request: Request, status: int, target: str) -> Request:
    """The request that follows a redirect.

    Raises:
        RedirectError: it may not be followed.
    """
    here, there = urlsplit(request.url), urlsplit(target)
    if there.scheme not in ("http", "https") or not there.hostname:
        raise RedirectError(target, "A redirect leads to something that is no web address")
    same = endpoint(request.url) == endpoint(target) and here.scheme == there.scheme
    method, body = request.method, request.body
    if status == 303 and method not in _SAFE:
        method, body = "GET", None
    elif method not in _SAFE and not (same and status in (307, 308)):
        raise RedirectError(target, f"A {method} was redirected, and it is not repeated elsewhere")
    headers, query_secrets = request.headers, request.query_secrets
    if body is None:
        headers = tuple(line for line in headers if line[0].lower() not in ("content-type", "content-length"))
    if not same:
        secret = _SECRET_HEADERS | request.secret_headers
        headers = tuple(line for line in headers if line[0].lower() not in secret)
        query_secrets = {}
    return replace(request, method=method, url=target, headers=headers, body=body, query_secrets=query_secrets)
