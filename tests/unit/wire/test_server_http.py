"""Who may reach the gateway over HTTP."""

import socket

import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from pegboard.errors import ConfigError
from pegboard.wire.server.http import LOOPBACK, Guard, is_loopback, serve

TOKEN = "correct-horse"


def client(*, hosts: tuple[str, ...] = LOOPBACK, token: str | None = None) -> TestClient:
    app = Starlette(routes=[Route("/mcp", lambda _: PlainTextResponse("in"))])
    return TestClient(Guard(app, hosts=hosts, token=token), base_url="http://127.0.0.1:8321")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"host": "localhost:9"}, 200),
        ({"host": "LOCALHOST"}, 200),
        ({"host": "[::1]:8321"}, 200),
        ({"host": "evil.example"}, 421),
        ({"host": "127.0.0.1.evil.example:8321"}, 421),
        ({"host": "localhost.evil.example"}, 421),
        ({"origin": "http://localhost:6274"}, 200),
        ({"origin": "http://127.0.0.1:8321"}, 200),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "http://localhost.evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "file://"}, 403),
    ],
)
def test_a_request_must_name_this_host_and_come_from_no_foreign_page(headers: dict[str, str], status: int) -> None:
    assert client().get("/mcp", headers=headers).status_code == status


@pytest.mark.parametrize(
    ("header", "status"),
    [
        (f"Bearer {TOKEN}", 200),
        (f"bearer {TOKEN}", 200),
        ("", 401),
        (TOKEN, 401),
        ("Bearer ", 401),
        ("Bearer correct-hors", 401),
        (f"Basic {TOKEN}", 401),
        ("Bearer grüße", 401),
    ],
)
def test_where_there_is_a_token_every_request_carries_it(header: str, status: int) -> None:
    answer = client(token=TOKEN).get("/mcp", headers={"authorization": header.encode()})
    assert answer.status_code == status
    assert (answer.headers.get("www-authenticate") == "Bearer") is (status == 401)


def test_a_gateway_for_other_machines_takes_any_host_but_no_foreign_page() -> None:
    other = client(hosts=(), token=TOKEN)
    auth = {"authorization": f"Bearer {TOKEN}", "host": "tools.example"}
    assert other.get("/mcp", headers=auth).status_code == 200
    assert other.get("/mcp", headers={**auth, "origin": "https://tools.example"}).status_code == 200
    assert other.get("/mcp", headers={**auth, "origin": "https://evil.example"}).status_code == 403


@pytest.mark.parametrize(
    ("host", "loopback"),
    [("127.0.0.1", True), ("127.9.9.9", True), ("::1", True), ("[::1]", True), ("localhost", True),
     ("0.0.0.0", False), ("::", False), ("192.168.1.2", False), ("example.org", False), ("", False)],
)  # fmt: skip
def test_what_counts_as_this_machine_alone(host: str, loopback: bool) -> None:
    assert is_loopback(host) is loopback


@pytest.mark.anyio
async def test_other_machines_are_not_served_without_a_token() -> None:
    with pytest.raises(ConfigError, match="--token"):
        await serve(None, host="0.0.0.0")  # type: ignore[arg-type] - it is refused before the server matters


@pytest.mark.anyio
async def test_a_port_that_is_taken_is_an_error_that_says_so() -> None:
    from pegboard.board import Board
    from pegboard.board.gateway import serve_http

    with socket.create_server(("127.0.0.1", 0)) as taken:
        async with Board.of() as board:
            with pytest.raises(ConfigError, match="choose another"):
                await serve_http(board, port=taken.getsockname()[1])
