"""The guarded client against real servers."""

import gzip
import socket
import threading
from collections.abc import Callable
from typing import Any

import anyio
import httpx2
import pytest
from mock_api import Seen, json_reply, serving

from pegboard.core import Call, Effects, FailureCode, Mode, Result, ToolName
from pegboard.sources.http.address import Allowance, ForbiddenAddressError
from pegboard.sources.http.auth import ClientCredentials, Fixed, basic, bearer
from pegboard.sources.http.client import Answer, RedirectError, Request, SafeClient, TooLargeError
from pegboard.sources.http.exchange import Exchange
from pegboard.sources.http.probe import reachable


def send(request: Request, allowed: list[str], **options: Any) -> Answer:
    async def main() -> Answer:
        async with SafeClient(Allowance.of(allowed), **options) as client:
            return await client.send(request)

    return anyio.run(main)


def get(url: str, **more: Any) -> Request:
    return Request(method="GET", url=url, **more)


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "127.1", "2130706433", "0x7f.0.0.1", "[::ffff:127.0.0.1]", "0.0.0.0"]
)
def test_a_loopback_service_is_not_reached_by_any_spelling(host: str) -> None:
    with serving() as api:
        port = api.url.rpartition(":")[2]
        with pytest.raises((ForbiddenAddressError, httpx2.InvalidURL)):
            send(get(f"http://{host}:{port}/x"), [])
        assert api.seen == []


def test_the_address_that_the_operator_wrote_is_reached() -> None:
    with serving() as api:
        assert send(get(f"{api.url}/x?y=1"), [api.url]).status == 200
        assert (api.last.path, api.last.query) == ("/x", "y=1")


def test_a_redirect_to_a_private_address_is_not_followed() -> None:
    with serving() as inner, serving(lambda seen: (302, {"location": f"{inner.url}/secret"}, b"")) as outer:
        with pytest.raises(ForbiddenAddressError):
            send(get(outer.url), [outer.url])
        assert inner.seen == []


def test_credentials_do_not_follow_a_redirect_to_another_place() -> None:
    with serving() as inner, serving(lambda seen: (302, {"location": f"{inner.url}/b?x=1"}, b"")) as outer:
        request = get(outer.url, headers=(("X-Plain", "p"),))

        async def main() -> None:
            async with SafeClient(Allowance.of([inner.url, outer.url])) as client:
                signed = request
                for credential in (bearer("t"), Fixed("query", "key", "k"), Fixed("header", "X-Key", "h")):
                    signed = await credential.sign(signed, client)
                await client.send(signed)

        anyio.run(main)
        assert outer.last.header("authorization") == "Bearer t"
        assert outer.last.pairs == [("key", "k")]
        assert inner.last.header("authorization") is None
        assert inner.last.header("x-key") is None
        assert inner.last.header("x-plain") == "p"
        assert inner.last.pairs == [("x", "1")]


@pytest.mark.parametrize(
    ("status", "method", "followed"),
    [
        (301, "GET", "GET"),
        (302, "POST", None),
        (303, "POST", "GET"),
        (307, "POST", "POST"),
        (308, "PUT", "PUT"),
        (301, "DELETE", None),
    ],
)
def test_a_change_is_repeated_only_where_the_same_place_asks_for_it(
    status: int, method: str, followed: str | None
) -> None:
    def answer(seen: Seen) -> Any:
        return (status, {"location": "/there"}, b"") if seen.path == "/here" else json_reply(1)

    with serving(answer) as api:
        request = Request(method=method, url=f"{api.url}/here", body=b"{}" if method in ("POST", "PUT") else None)
        if followed is None:
            with pytest.raises(RedirectError):
                send(request, [api.url])
            assert len(api.seen) == 1
        else:
            send(request, [api.url])
            assert (api.last.path, api.last.method) == ("/there", followed)
            assert api.last.body == (b"{}" if followed == method and method != "GET" else b"")


def test_a_change_is_not_repeated_in_another_place() -> None:
    with serving() as other, serving(lambda seen: (307, {"location": f"{other.url}/x"}, b"")) as api:
        with pytest.raises(RedirectError):
            send(Request(method="POST", url=api.url, body=b"{}"), [api.url, other.url])
        assert other.seen == []


@pytest.mark.parametrize("target", ["file:///etc/passwd", "ftp://x/y", "javascript:1", "http://"])
def test_a_redirect_to_no_web_address_is_refused(target: str) -> None:
    with serving(lambda seen: (302, {"location": target}, b"")) as api, pytest.raises(RedirectError):
        send(get(api.url), [api.url])


def test_redirects_end() -> None:
    with serving(lambda seen: (302, {"location": "/again"}, b"")) as api:
        with pytest.raises(RedirectError, match="More than 5"):
            send(get(api.url), [api.url])
        assert len(api.seen) == 6


@pytest.mark.parametrize("packed", [False, True])
def test_an_answer_is_read_up_to_a_size(packed: bool) -> None:
    body = b"x" * 300_000
    reply = (200, {"content-encoding": "gzip"}, gzip.compress(body)) if packed else (200, {}, body)
    with serving(lambda seen: reply) as api:
        with pytest.raises(TooLargeError):
            send(get(api.url), [api.url], max_bytes=100_000)
        assert send(get(api.url), [api.url], max_bytes=300_000).body == body


def silent(behave: Callable[[socket.socket], None]) -> tuple[str, Callable[[], None]]:
    """A server that does something else than HTTP with each connection."""
    listener = socket.create_server(("127.0.0.1", 0))
    held: list[socket.socket] = []

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            held.append(connection)
            behave(connection)

    threading.Thread(target=serve, daemon=True).start()

    def stop() -> None:
        listener.close()
        for connection in held:
            connection.close()

    return f"http://127.0.0.1:{listener.getsockname()[1]}", stop


def run(url: str, effects: Effects, method: str = "POST", **options: Any) -> Result:
    async def main() -> Result:
        async with SafeClient(Allowance.of([url]), **options) as client:
            call = Call(tool=ToolName("", "t"), arguments={}, mode=Mode.EXECUTE)
            return await Exchange(client, (), effects).run(call, lambda: Request(method=method, url=url))

    return anyio.run(main)


@pytest.mark.parametrize(
    ("effects", "code"),
    [(Effects.READ_ONLY, FailureCode.TIMEOUT), (Effects.ADDITIVE, FailureCode.OUTCOME_UNKNOWN)],
)
def test_no_answer_in_time_is_said_and_may_be_an_unknown_outcome(effects: Effects, code: FailureCode) -> None:
    url, stop = silent(lambda connection: None)
    try:
        failure = run(url, effects, timeout=0.2).failure
    finally:
        stop()
    assert failure is not None
    assert failure.code is code
    assert failure.next_step


@pytest.mark.parametrize(
    "garbage",
    [b"", b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc", b"\x00\x01garbage\r\n\r\n", b"HTTP/1.1 999\r\n"],
)
def test_a_broken_answer_is_a_failure(garbage: bytes) -> None:
    def behave(connection: socket.socket) -> None:
        connection.recv(65_536)
        connection.sendall(garbage)
        connection.close()

    url, stop = silent(behave)
    try:
        failure = run(url, Effects.READ_ONLY, "GET", timeout=5).failure
    finally:
        stop()
    assert failure is not None
    assert failure.code is FailureCode.UNAVAILABLE
    assert failure.retryable


def test_a_service_that_is_not_there_is_unavailable() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
    failure = run(url, Effects.ADDITIVE).failure
    assert failure is not None
    assert failure.code is FailureCode.UNAVAILABLE
    assert anyio.run(reachable, url, Allowance.of([url])) is not None
    assert run("http://name.invalid", Effects.ADDITIVE).failure.code is FailureCode.UNAVAILABLE  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("status", "headers", "code", "retryable", "says"),
    [
        (400, {}, "failed", False, "Correct the arguments"),
        (401, {}, "upstream", False, "credentials"),
        (403, {}, "upstream", False, "do not allow"),
        (404, {}, "failed", False, "identifiers"),
        (429, {"retry-after": "7"}, "upstream", True, "Wait 7 s"),
        (503, {"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, "upstream", True, "fault"),
        (500, {"retry-after": "soon"}, "upstream", True, "fault"),
        (302, {}, "upstream", False, "See the answer"),
    ],
)
def test_a_refusal_says_what_to_do_and_whether_it_speaks_of_the_service(
    status: int, headers: dict[str, str], code: str, retryable: bool, says: str
) -> None:
    reply = (status, {"content-type": "application/json", **headers}, b'{"message": "because"}')
    with serving(lambda seen: reply) as api:
        failure = run(api.url, Effects.READ_ONLY, "GET").failure
    assert failure is not None
    assert failure.code == code
    assert "because" in failure.message
    assert failure.retryable is retryable
    assert says in (failure.next_step or "")
    assert failure.details["status"] == status
    if headers.get("retry-after") == "7":
        assert failure.details["retry_after"] == 7.0


@pytest.mark.parametrize(
    ("kind", "body", "check"),
    [
        ("application/json", b'{"a": 1}', lambda r: r.value == {"a": 1}),
        ("application/problem+json; charset=utf-8", b"[1]", lambda r: r.value == [1]),
        ("", b'{"a": 1}', lambda r: r.value == {"a": 1}),
        ("application/json", b"not json", lambda r: r.content[0]["text"] == "not json" and r.report.notes),
        ("text/csv", "a,é".encode(), lambda r: r.content[0]["text"] == "a,é"),
        ("text/plain; charset=latin-1", "é".encode("latin-1"), lambda r: r.content[0]["text"] == "é"),
        ("text/plain; charset=nonsense", b"x", lambda r: r.content[0]["text"] == "x"),
        ("application/xml", b"<a/>", lambda r: r.content[0]["text"] == "<a/>"),
        ("image/png", b"\x89PNG", lambda r: (r.content[0]["type"], r.content[0]["mimeType"]) == ("image", "image/png")),
        ("application/pdf", b"%PDF", lambda r: r.content[0]["resource"]["mimeType"] == "application/pdf"),
        ("application/x-ndjson", b'{"a":1}\n{"a":2}\n', lambda r: r.value == [{"a": 1}, {"a": 2}]),
        ("text/event-stream", b'event: x\ndata: {"a":1}\n\ndata: [DONE]\n\n', lambda r: r.value == [{"a": 1}]),
        ("application/json", b"", lambda r: r.value is None and "empty" in r.content[0]["text"]),
    ],
)
def test_answers_of_every_kind_become_results(kind: str, body: bytes, check: Callable[[Result], bool]) -> None:
    with serving(lambda seen: (200, {"content-type": kind} if kind else {}, body)) as api:
        result = run(api.url, Effects.READ_ONLY, "GET")
    assert result.ok
    assert check(result), result


def test_a_preview_is_the_request_unsent_with_its_credentials_hidden() -> None:
    with serving() as api:

        async def main() -> Result:
            async with SafeClient(Allowance.of([api.url])) as client:
                exchange = Exchange(client, (basic("u", "secret"), Fixed("query", "key", "hidden")), Effects.ADDITIVE)
                call = Call(tool=ToolName("", "t"), arguments={}, mode=Mode.PREVIEW)
                request = Request(method="POST", url=f"{api.url}/x", body=b'{"a":1}', shown={"a": 1})
                return await exchange.run(call, lambda: request)

        result = anyio.run(main)
        assert api.seen == []
    assert result.value["sent"] is False
    assert result.value["body"] == {"a": 1}
    assert result.value["headers"] == {"Authorization": "***"}
    assert result.value["query_credentials"] == {"key": "***"}
    assert "secret" not in str(result)
    assert "hidden" not in str(result)


def test_client_credentials_are_fetched_kept_and_renewed() -> None:
    issued: list[str] = []

    def answer(seen: Seen) -> Any:
        if seen.path == "/token":
            issued.append(f"t{len(issued) + 1}")
            return json_reply({"access_token": issued[-1], "expires_in": 3600})
        good = seen.header("authorization") == f"Bearer {issued[-1]}" and len(issued) != 1
        return json_reply({"ok": True}) if good or seen.path == "/first" else json_reply({}, 401)

    with serving(answer) as api:

        async def main() -> list[Result]:
            credential = ClientCredentials(f"{api.url}/token", "id", "s:cret", ("a", "b"))
            async with SafeClient(Allowance.of([api.url])) as client:
                exchange = Exchange(client, (credential,), Effects.READ_ONLY)
                call = Call(tool=ToolName("", "t"), arguments={}, mode=Mode.EXECUTE)
                paths = ("/first", "/first", "/second")
                return [await exchange.run(call, lambda p=path: get(api.url + p)) for path in paths]  # type: ignore[misc]

        results = anyio.run(main)
    assert [result.ok for result in results] == [True, True, True]
    assert issued == ["t1", "t2"]
    token = next(seen for seen in api.seen if seen.path == "/token")
    assert token.body == b"grant_type=client_credentials&scope=a+b"
    assert token.header("authorization") == basic("id", "s%3Acret").value


@pytest.mark.parametrize("reply", [json_reply({"error": "no"}, 400), (200, {}, b"x"), json_reply([]), json_reply({})])
def test_a_token_endpoint_that_gives_none_is_said(reply: Any) -> None:
    with serving(lambda seen: reply) as api:

        async def main() -> Result:
            async with SafeClient(Allowance.of([api.url])) as client:
                exchange = Exchange(client, (ClientCredentials(api.url, "i", "s"),), Effects.READ_ONLY)
                call = Call(tool=ToolName("", "t"), arguments={}, mode=Mode.EXECUTE)
                return await exchange.run(call, lambda: get(api.url))

        failure = anyio.run(main).failure
    assert failure is not None
    assert "gave no token" in failure.message
