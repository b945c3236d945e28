"""A registry at an address: every page is read, and the last answer serves while it cannot be reached."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from directory_kit import read

pytestmark = pytest.mark.anyio


def row(number: int) -> dict[str, Any]:
    remote = {"type": "streamable-http", "url": f"https://s{number}.example/mcp"}
    return {"server": {"name": f"example/s{number}", "description": "d", "version": "1", "remotes": [remote]}}


class Registry(BaseHTTPRequestHandler):
    pages = ([row(1), row(2)], [row(3), {"server": {"name": "bad"}}])
    status = 200
    asked: list[tuple[str, str | None]]

    def do_GET(self) -> None:
        self.asked.append((self.path, self.headers["Authorization"]))
        number = int(parse_qs(urlsplit(self.path).query).get("cursor", ["0"])[0])
        meta = {"nextCursor": str(number + 1)} if number + 1 < len(self.pages) else {}
        self.send_response(self.status)
        self.end_headers()
        self.wfile.write(json.dumps({"servers": self.pages[number], "metadata": meta}).encode())

    def log_message(self, *_: Any) -> None: ...


@pytest.fixture
def registry() -> Iterator[ThreadingHTTPServer]:
    Registry.asked, Registry.status = [], 200
    server = ThreadingHTTPServer(("127.0.0.1", 0), Registry)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


async def test_all_pages_are_read_with_the_headers_and_a_bad_entry_costs_itself(registry: ThreadingHTTPServer) -> None:
    url = f"http://127.0.0.1:{registry.server_port}"
    found = await read(url, headers={"Authorization": "Bearer x"})
    assert [each.id for each in found.found] == ["example/s1", "example/s2", "example/s3"]
    assert [aside.entry for aside in found.aside] == ["bad"]
    assert [path.partition("?")[0] for path, _ in Registry.asked] == ["/v0/servers"] * 2
    assert {header for _, header in Registry.asked} == {"Bearer x"}


async def test_the_last_answer_serves_while_the_registry_cannot_be_reached(
    registry: ThreadingHTTPServer, tmp_path: Path
) -> None:
    url = f"http://127.0.0.1:{registry.server_port}"
    await read(url, cache=tmp_path)
    Registry.status = 503
    found = await read(url, cache=tmp_path)
    assert len(found.found) == 3
    assert "503" in str(found.aside[0])
    assert (await read(url)).found == ()
