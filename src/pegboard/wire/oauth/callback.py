"""Where the browser comes back to after a sign-in: a page on loopback that is there for one visit (RFC 8252, 7.3)."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit

import anyio
from anyio.abc import SocketStream

PATH = "/callback"
_LIMIT = 16_384
_PAGE = (
    "<!doctype html><meta charset=utf-8><title>Pegboard</title>"
    '<body style="font:1.2em sans-serif;margin:4em"><p>{words}</p><p>You can close this page.</p>'
)


@dataclass(frozen=True, slots=True)
class Arrival:
    """What the browser brought along.

    Parameters:
        code: the authorization code; empty where there was none.
        state: our own state, to be compared.
        issuer: who says it is (RFC 9207).
        error: the error code in the place of a code.
    """

    code: str = field(repr=False)
    state: str | None = field(default=None, repr=False)
    issuer: str | None = None
    error: str | None = None


def arrival(address: str) -> Arrival | None:
    """Read the address that the browser ended at; None where it carries neither code nor error."""
    given = {key: values[0] for key, values in parse_qs(urlsplit(address.strip()).query).items()}
    if "code" not in given and "error" not in given:
        return None
    return Arrival(given.get("code", ""), given.get("state"), given.get("iss"), given.get("error"))


class Callback:
    """The page, while it waits.

    Parameters:
        port: where it listens.
    """

    def __init__(self, port: int) -> None:
        self.port = port
        self._arrived = anyio.Event()
        self._found: Arrival | None = None

    @property
    def address(self) -> str:
        """The redirect URI."""
        return f"http://127.0.0.1:{self.port}{PATH}"

    async def wait(self) -> Arrival:
        """The first visit that carries an answer."""
        await self._arrived.wait()
        assert self._found is not None
        return self._found

    async def serve(self, visit: SocketStream) -> None:
        """Answer one request."""
        async with visit:
            with anyio.move_on_after(10):
                target, host = await _request(visit)
                found = arrival(target) if self._ours(target, host) else None
                if found is None:
                    await visit.send(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                    return
                if self._found is None:
                    self._found = found
                await visit.send(_answer("You are signed in." if found.code else "You are not signed in."))
                self._arrived.set()

    def _ours(self, target: str, host: str) -> bool:
        return urlsplit(target).path == PATH and host in (f"127.0.0.1:{self.port}", f"localhost:{self.port}")


@asynccontextmanager
async def waiting(port: int = 0) -> AsyncGenerator[Callback]:
    """Listen on loopback.

    Parameters:
        port: where; 0 for a free one.

    Raises:
        OSError: the port is taken.
    """
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=port)
    failure: Exception | None = None
    async with listener, anyio.create_task_group() as tasks:
        callback = Callback(listener.extra(anyio.abc.SocketAttribute.local_port))
        tasks.start_soon(listener.serve, callback.serve)
        try:
            yield callback
        except Exception as error:
            failure = error
        finally:
            tasks.cancel_scope.cancel()
    if failure is not None:
        raise failure


async def _request(visit: SocketStream) -> tuple[str, str]:
    head = b""
    while b"\r\n\r\n" not in head and len(head) < _LIMIT:
        head += await visit.receive()
    first, _, rest = head.decode("latin-1").partition("\r\n")
    hosts = [line.partition(":")[2].strip() for line in rest.split("\r\n") if line.lower().startswith("host:")]
    words = first.split(" ")
    return (words[1], hosts[0]) if len(words) == 3 and words[0] == "GET" and len(hosts) == 1 else ("", "")


def _answer(words: str) -> bytes:
    page = _PAGE.format(words=words).encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(page)}\r\nConnection: close\r\n\r\n"
    return head.encode() + page
