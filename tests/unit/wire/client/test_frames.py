"""Lines of a server's stdout: messages, mended messages and junk."""

import json
from collections.abc import Sequence
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_types import JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from pegboard.wire.client.frames import Junk, read_frame, read_lines


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def messages(line: str | bytes) -> list[Any]:
    found = read_frame(line.encode() if isinstance(line, str) else line)
    assert not isinstance(found, Junk)
    return [item.message for item in found]


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ('{"jsonrpc":"2.0","id":1,"result":{}}', JSONRPCResponse),
        ('{"jsonrpc":"2.0","id":"a","method":"ping"}', JSONRPCRequest),
        ('{"jsonrpc":"2.0","method":"notifications/x"}', JSONRPCNotification),
        ('{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}}', JSONRPCError),
        ('  {"jsonrpc":"2.0","id":1,"result":{}}\r', JSONRPCResponse),
        ('{"id":1,"result":{}}', JSONRPCResponse),
        ('{"jsonrpc":"1.0","id":1,"result":{}}', JSONRPCResponse),
    ],
)
def test_a_message_is_read_even_without_its_version(line: str, kind: type) -> None:
    assert [type(message) for message in messages(line)] == [kind]


@pytest.mark.parametrize(
    "body",
    [
        {"result": None},
        {"result": [1]},
        {"result": "text"},
        {"error": "just words"},
        {"error": {"message": "no code"}},
        {"error": None},
    ],
)
def test_a_broken_answer_is_an_error_for_its_own_id(body: dict[str, Any]) -> None:
    (message,) = messages(json.dumps({"jsonrpc": "2.0", "id": 7, **body}))
    assert isinstance(message, JSONRPCError) and message.id == 7 and message.error.message


def test_a_batch_gives_each_of_its_messages() -> None:
    batch = [{"jsonrpc": "2.0", "id": 1, "result": {}}, {"jsonrpc": "2.0", "method": "n"}, "junk"]
    assert [type(message) for message in messages(json.dumps(batch))] == [JSONRPCResponse, JSONRPCNotification]


@pytest.mark.parametrize(
    "line", ["hello", "{", "[]", "null", "{}", '{"id":true,"result":1}', "[" * 100_000, "{" * 9999]
)
def test_anything_else_is_junk_with_its_beginning(line: str) -> None:
    found = read_frame(line.encode())
    assert isinstance(found, Junk) and line.startswith(found) and len(found) <= 200


def test_an_empty_line_is_nothing() -> None:
    assert read_frame(b"  \r") == []


def test_what_no_wire_can_carry_is_replaced_in_a_message() -> None:
    (lone,) = messages('{"jsonrpc":"2.0","id":1,"result":{"a":"x\\ud800y"}}')
    (bytes_,) = messages(b'{"jsonrpc":"2.0","id":1,"result":{"a":"x\xffy"}}')
    for message in (lone, bytes_):
        message.result["a"].encode()
        assert message.result["a"].startswith("x") and message.result["a"].endswith("y")


@given(
    st.binary(max_size=300) | st.text(alphabet='{}[]":,0123456789.eidrsultjonpcmhaNf \\u', max_size=80).map(str.encode)
)
def test_no_line_breaks_the_reader(line: bytes) -> None:
    found = read_frame(line)
    assert isinstance(found, Junk | list)


class Chunks:
    """A byte stream of these chunks."""

    def __init__(self, chunks: Sequence[bytes]) -> None:
        self.chunks = list(chunks)

    def __aiter__(self) -> "Chunks":
        return self

    async def __anext__(self) -> bytes:
        if not self.chunks:
            raise StopAsyncIteration
        return self.chunks.pop(0)

    async def aclose(self) -> None:
        """There is nothing to close."""


def lines_of(chunks: Sequence[bytes], limit: int = 1000) -> list[bytes | Junk]:
    async def collect() -> list[bytes | Junk]:
        return [line async for line in read_lines(Chunks(chunks), limit=limit)]

    return anyio.run(collect)


@given(st.lists(st.binary(max_size=12)))
def test_lines_do_not_depend_on_how_the_bytes_arrive(chunks: list[bytes]) -> None:
    whole = b"".join(chunks)
    assert lines_of(chunks) == whole.split(b"\n")[:-1]


@given(st.lists(st.sampled_from([b"x" * 5, b"\n", b"ab\n"]), max_size=30))
def test_a_line_over_the_limit_is_dropped_alone(chunks: list[bytes]) -> None:
    expected = [line if len(line) <= 12 else Junk for line in b"".join(chunks).split(b"\n")[:-1]]
    found = [Junk if isinstance(line, Junk) else line for line in lines_of(chunks, limit=12)]
    assert found == expected
