"""An HTTP service that records what it is sent, and reads it by a description: independent of the code under test."""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from email.policy import HTTP
from typing import Any
from urllib.parse import unquote, unquote_plus

import uvicorn

Reply = tuple[int, Mapping[str, str], bytes]


@dataclass(frozen=True)
class Seen:
    """A request as it came: nothing decoded."""

    method: str
    path: str
    query: str
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def header(self, name: str) -> str | None:
        found = [value for key, value in self.headers if key == name.lower()]
        return found[0] if found else None

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Query names decoded, values as they came."""
        split = (piece.partition("=") for piece in self.query.split("&") if piece)
        return [(unquote(name), value) for name, _, value in split]

    @property
    def cookies(self) -> list[tuple[str, str]]:
        line = self.header("cookie") or ""
        split = (piece.strip().partition("=") for piece in line.split(";") if piece.strip())
        return [(unquote(name), value) for name, _, value in split]

    @property
    def kind(self) -> str:
        return (self.header("content-type") or "").partition(";")[0]

    def parts(self) -> list[tuple[str, bytes, str, bool]]:
        """The parts of a multipart body: name, content, type, whether it is a file."""
        head = f"Content-Type: {self.header('content-type')}\r\n\r\n".encode()
        message = message_from_bytes(head + self.body, policy=HTTP)
        return [
            (
                str(part.get_param("name", header="content-disposition")),
                part.get_payload(decode=True),  # type: ignore[misc]
                part.get_content_type(),
                part.get_filename() is not None,
            )
            for part in message.iter_parts()  # type: ignore[attr-defined]
        ]


def json_reply(value: Any, status: int = 200, **headers: str) -> Reply:
    named = {key.replace("_", "-"): text for key, text in headers.items()}
    return status, {"content-type": "application/json", **named}, json.dumps(value).encode()


@dataclass
class MockApi:
    """A running service."""

    url: str = ""
    seen: list[Seen] = field(default_factory=list)
    answer: Callable[[Seen], Reply] = field(default=lambda seen: json_reply({}))

    @property
    def last(self) -> Seen:
        return self.seen[-1]

    async def app(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        body = b""
        while True:
            message = await receive()
            body += message.get("body", b"")
            if not message.get("more_body"):
                break
        headers = tuple((key.decode("latin-1"), value.decode("latin-1")) for key, value in scope["headers"])
        seen = Seen(scope["method"], scope["raw_path"].decode(), scope["query_string"].decode(), headers, body)
        self.seen.append(seen)
        status, more, content = self.answer(seen)
        lines = [(key.encode(), value.encode()) for key, value in more.items()]
        await send({"type": "http.response.start", "status": status, "headers": lines})
        await send({"type": "http.response.body", "body": content})


@contextmanager
def serving(answer: Callable[[Seen], Reply] | None = None) -> Iterator[MockApi]:
    """A service on a free loopback port, until the end of the block."""
    api = MockApi()
    if answer is not None:
        api.answer = answer
    config = uvicorn.Config(
        api.app, host="127.0.0.1", port=0, log_level="error", lifespan="off", ws="none", interface="asgi3"
    )
    server = uvicorn.Server(config)
    started = threading.Event()
    startup = server.startup

    async def start(sockets: Any = None) -> None:
        await startup(sockets)
        started.set()

    server.startup = start  # type: ignore[method-assign]
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    assert started.wait(20), "the service did not start"
    api.url = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    try:
        yield api
    finally:
        server.should_exit = True
        thread.join(10)


# Reading a request by a description


def text(value: Any) -> str:
    """How a single value is written, by the examples of the specification."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def strings(value: Any) -> Any:
    """A value with every leaf as text."""
    if isinstance(value, dict):
        return {key: text(part) for key, part in value.items()}
    if isinstance(value, list):
        return [text(part) for part in value]
    return text(value)


SEPARATORS = {"ssv": "%20", "tsv": "%09", "pipes": "%7C", "spaceDelimited": "%20", "pipeDelimited": "%7C"}


def read_query(parameter: Mapping[str, Any], value: Any, pairs: list[tuple[str, str]]) -> Any:
    """What a query or cookie parameter says, read by its style; `value` only tells of which kind it is."""
    name = parameter["name"]
    own = [raw for key, raw in pairs if key == name]
    if "content" in parameter:
        return json.loads(unquote(own[0])) if own else None
    collection = parameter.get("collectionFormat")
    style = parameter.get("style", "form")
    explode = parameter.get("explode", style == "form") if collection is None else collection == "multi"
    if collection is None and "type" in parameter:  # Swagger 2.0: csv is the default
        explode = False
    separator = SEPARATORS.get(collection or style, ",")
    if isinstance(value, dict):
        if style == "deepObject":
            return {key: unquote(dict(pairs)[f"{name}[{key}]"]) for key in value}
        if explode:
            return {key: unquote(dict(pairs)[key]) for key in value}
        flat = [unquote(part) for part in own[0].split(separator)]
        return dict(zip(flat[::2], flat[1::2], strict=True))
    if isinstance(value, list):
        return [unquote(part) for part in (own if explode else own[0].split(separator))]
    assert len(own) == 1, (name, pairs)
    return unquote(own[0])


def read_simple(parameter: Mapping[str, Any], value: Any, raw: str, decode: Callable[[str], str] = unquote) -> Any:
    """What a path segment or header says, read by its style."""
    style, explode = parameter.get("style", "simple"), parameter.get("explode", False)
    if style == "label":
        assert raw.startswith(".")
        raw, separator = raw[1:], "." if explode else ","
    elif style == "matrix":
        return _matrix(parameter["name"], value, raw, explode)
    else:
        separator = SEPARATORS.get(parameter.get("collectionFormat", ""), ",")
    if isinstance(value, dict):
        parts = [decode(part) for part in raw.split(separator)] if not explode else raw.split(separator)
        if explode:
            return {decode(part.partition("=")[0]): decode(part.partition("=")[2]) for part in parts}
        return dict(zip(parts[::2], parts[1::2], strict=True))
    if isinstance(value, list):
        return [decode(part) for part in raw.split(separator)]
    return decode(raw)


def _matrix(name: str, value: Any, raw: str, explode: bool) -> Any:
    pieces = [(unquote(key), part) for key, _, part in (piece.partition("=") for piece in raw.split(";")[1:])]
    if isinstance(value, dict) and explode:
        return {key: unquote(part) for key, part in pieces}
    if isinstance(value, list) and explode:
        return [unquote(part) for _, part in pieces]
    [(key, part)] = pieces
    assert key == name
    flat = [unquote(each) for each in part.split(",")]
    if isinstance(value, dict):
        return dict(zip(flat[::2], flat[1::2], strict=True))
    return flat if isinstance(value, list) else unquote(part)


def read_form(body: bytes) -> list[tuple[str, str]]:
    pieces = (piece.partition("=") for piece in body.decode().split("&") if piece)
    return [(unquote_plus(name), unquote_plus(value)) for name, _, value in pieces]
