"""A tool that waits: some time, or until a request answers what it should."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from pegboard.board import Board
from pegboard.core import FailureCode
from pegboard.errors import DefinitionError
from pegboard.sources.waiting import Wait

pytestmark = pytest.mark.anyio


class Job(BaseHTTPRequestHandler):
    """A job that is done at the third look, whatever is asked."""

    looks = 0

    def do_GET(self) -> None:
        type(self).looks += 1
        value = {"state": "done" if type(self).looks >= 3 else "running", "path": self.path}
        data = json.dumps(value).encode()
        self.send_response(200 if type(self).looks >= 2 else 503)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """It keeps quiet."""


@pytest.fixture
def url() -> Iterator[str]:
    Job.looks = 0
    serving = ThreadingHTTPServer(("127.0.0.1", 0), Job)
    threading.Thread(target=serving.serve_forever, args=(0.01,), daemon=True).start()
    yield f"http://127.0.0.1:{serving.server_port}/jobs/{{{{id}}}}"
    serving.shutdown()


def home(tmp_path: Path, wait: str, more: str = "") -> Path:
    (tmp_path / "pegboard.toml").write_text(f"[sources.job]\nwait = {wait}\n{more}")
    return tmp_path


async def test_it_asks_until_the_answer_is_what_it_should_be(tmp_path: Path, url: str) -> None:
    text = (
        f"""{{ request = {{ url = "{url}" }}, until = 'status == 200 and body.state == "done"', interval_ms = 10 }}"""
    )
    async with Board.open(home(tmp_path, text)) as board:
        result = await board.call("job.job", {"id": "a b"})
    assert result.value == {
        "ready": True,
        "attempts": 3,
        "status": 200,
        "body": {"state": "done", "path": "/jobs/a%20b"},
    }


async def test_without_a_condition_any_answer_that_is_no_error_will_do(tmp_path: Path, url: str) -> None:
    async with Board.open(home(tmp_path, f'{{ request = {{ url = "{url}" }}, interval_ms = 10 }}')) as board:
        assert (await board.call("job.job", {"id": "a"})).value["attempts"] == 2


@pytest.mark.parametrize(("go_on", "ok"), [("true", True), ("false", False)])
async def test_what_never_comes_is_a_failure_unless_it_shall_go_on(
    tmp_path: Path, url: str, go_on: str, ok: bool
) -> None:
    text = (
        f'{{ request = {{ url = "{url}" }}, until = "body.nothing > 3", interval_ms = 10, max_attempts = 2, '
        f"go_on = {go_on} }}"
    )
    async with Board.open(home(tmp_path, text)) as board:
        result = await board.call("job.job", {"id": "a"})
    assert result.ok is ok
    if ok:
        assert result.value["ready"] is False
    else:
        assert result.failure is not None
        assert result.failure.code is FailureCode.TIMEOUT


async def test_an_address_that_must_be_public_is_not_asked_where_it_is_not(tmp_path: Path, url: str) -> None:
    text = f'{{ request = {{ url = "{url}" }}, interval_ms = 10, max_attempts = 2 }}'
    async with Board.open(home(tmp_path, text, "public = true\n")) as board:
        result = await board.call("job.job", {"id": "a"})
    assert not result.ok
    assert Job.looks == 0


async def test_a_dry_run_waits_for_nothing(tmp_path: Path) -> None:
    async with Board.open(home(tmp_path, "{ delay_ms = 80_000_000 }")) as board:
        assert (await board.call("job.job", mode="dry_run")).value == {"waited": False}


@pytest.mark.parametrize(
    ("table", "where"),
    [
        ({}, "w"),
        ({"delay": 3}, "w"),
        ({"delay_ms": -1}, "w.delay_ms"),
        ({"delay_ms": "3"}, "w.delay_ms"),
        ({"delay_ms": 10**12}, "w.delay_ms"),
        ({"request": {"url": "ftp://x"}}, "w.request"),
        ({"request": {"url": "https://{{host}}/x"}}, "w.request"),
        ({"request": {"url": "https://a.example.com", "method": "POST"}}, "w.request"),
        ({"request": {"url": "https://a.example.com"}, "until": "import os"}, "import os"),
        ({"request": {"url": "https://a.example.com"}, "max_attempts": 0}, "w.max_attempts"),
    ],
)
def test_a_wait_that_cannot_work_is_refused(table: dict[str, Any], where: str) -> None:
    with pytest.raises(DefinitionError) as problem:
        Wait.read(table, "w")
    assert problem.value.where == where
