"""A board's pipeline, whole: recorded, limited, cut, without secrets."""

from pathlib import Path

import anyio
import pytest

from pegboard.board import Board
from pegboard.config import load
from pegboard.core import FailureCode, Result, Session
from pegboard.errors import SourceError
from pegboard.testing import FakeSource
from pegboard.trace.sqlite import SqliteTraces

pytestmark = pytest.mark.anyio


def board(folder: Path, source: FakeSource, more: str = "") -> Board:
    (folder / "ops_note.txt").write_text("hunter2-token\n")
    (folder / "fake.json").write_text('{"tools": []}')
    (folder / "pegboard.toml").write_text(f'[board]\nsearch = "off"\n{more}\n[sources.fake]\nrecorded = "fake.json"\n')
    return Board.open(load(folder / "pegboard.toml"), beside=[source])


@pytest.mark.requirement("C1.2", "R11.2")
async def test_calls_are_in_the_store_when_the_board_has_closed(tmp_path: Path) -> None:
    source = FakeSource("ops", {"echo": None, "fail": Result.failed(FailureCode.UPSTREAM, "no")})
    async with board(tmp_path, source) as opened:
        session = Session(id="s", agent="coder")
        await opened.call("ops.echo", {"password": "x", "n": 1}, session=session)
        await opened.call("ops.fail", session=session)
        await opened.call("ops__eko", session=session)
    run = SqliteTraces(tmp_path / ".pegboard" / "traces.db").run("s")
    assert run is not None
    assert [(call.tool, call.ok, call.failure) for call in run.calls] == [
        ("ops.echo", True, None),
        ("ops.fail", False, "upstream"),
        ("ops__eko", False, "unknown_tool"),
    ]
    assert run.calls[0].arguments == {"password": "[redacted]", "n": 1}


async def test_calls_are_kept_even_when_the_board_is_cancelled(tmp_path: Path) -> None:
    source = FakeSource("ops", {"echo": None})
    with anyio.CancelScope() as scope:
        async with board(tmp_path, source) as opened:
            await opened.call("ops.echo")
            scope.cancel()
            await anyio.sleep_forever()
    assert SqliteTraces(tmp_path / ".pegboard" / "traces.db").run("local") is not None


async def test_a_large_answer_is_cut_and_read_on_in_pages(tmp_path: Path) -> None:
    body = "".join(f"zeile {number} ü\n" for number in range(5000))
    source = FakeSource("ops", {"long": Result(content=({"type": "text", "text": body},))})
    async with board(tmp_path, source, "max_result = 20000") as opened:
        result = await opened.call("ops.long")
        assert sum(len(block["text"].encode()) for block in result.content) <= 20_000
        [handle] = result.assets
        parts: list[str] = []
        while True:
            page = await opened.call("result_read", {"id": handle, "page": len(parts) + 1})
            if page.failure is not None:
                break
            [block] = page.content
            assert len(block["text"].encode()) <= 20_000
            parts.append(block["text"].rpartition("\n\n(page ")[0])
    assert "".join(parts) == body


async def test_a_secret_of_the_config_is_in_no_status(tmp_path: Path) -> None:
    source = FakeSource("ops")
    source.fail_start(SourceError("The server said: bad token hunter2-token"))
    async with board(tmp_path, source) as opened:
        assert opened.config is not None
        opened.config.secrets.reveal("${file:ops_note.txt}")
        errors = [status.error or "" for status in await opened.statuses()]
    assert any("bad token [redacted]" in error for error in errors)


async def test_a_secret_of_the_config_is_in_no_error(tmp_path: Path) -> None:
    source = FakeSource("ops", {"fail": Result.failed(FailureCode.UPSTREAM, "401 for hunter2-token")})
    async with board(tmp_path, source) as opened:
        assert opened.config is not None
        opened.config.secrets.reveal("${file:ops_note.txt}")
        failure = (await opened.call("ops.fail")).failure
    assert failure is not None
    assert failure.message == "401 for [redacted]"
