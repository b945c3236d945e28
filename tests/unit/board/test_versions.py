"""A board that is held to a published version behaves as it did, or says that it cannot."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pegboard.board import Board
from pegboard.config import parse
from pegboard.core import Effects, FailureCode, ToolName, ToolSpec
from pegboard.errors import PegboardError
from pegboard.testing import FakeSource

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("R12.2")]

STRING = {"type": "string"}
GET = ToolSpec(
    name=ToolName("crm", "get_user"),
    description="Read a user.",
    input={"type": "object", "properties": {"id": STRING, "full": {"type": "boolean"}}, "required": ["id"]},
    effects=Effects.READ_ONLY,
)


def board(folder: Path, spec: ToolSpec | None, version: str | None = None, **tables: Any) -> tuple[Board, FakeSource]:
    source = FakeSource("crm", [spec] if spec is not None else [])
    return Board.open(parse(tables, folder=folder), beside=[source], version=version), source


async def publish(folder: Path, **tables: Any) -> None:
    opened, _ = board(folder, GET, **tables)
    async with opened:
        await opened.publish("v1")


async def test_only_words_changed_and_the_version_keeps_its_own(tmp_path: Path) -> None:
    await publish(tmp_path)
    newer = replace(GET, description="Reads one user by id.", input={**GET.input, "title": "GetUser"})
    opened, source = board(tmp_path, newer, "v1")
    async with opened:
        assert opened.version == "v1"
        assert opened.catalog.specs[0].description == "Read a user."
        assert list(opened.catalog.specs[0].properties) == ["id", "full"]
        assert (await opened.call("crm.get_user", {"id": "1"})).ok
    assert len(source.handlers["get_user"].calls) == 1


async def test_a_compatible_change_runs_behind_the_old_definition(tmp_path: Path) -> None:
    await publish(tmp_path)
    newer = replace(GET, input={**GET.input, "properties": {**GET.properties, "more": STRING}})
    opened, _ = board(tmp_path, newer, "v1")
    async with opened:
        assert "more" not in opened.catalog.specs[0].properties
        assert (await opened.call("crm.get_user", {"id": "1"})).ok


@pytest.mark.parametrize(
    "change",
    [
        {"input": {"type": "object", "properties": {"user_id": STRING}, "required": ["user_id"]}},
        {"effects": Effects.DESTRUCTIVE},
    ],
    ids=["its input", "its effects"],
)
async def test_a_breaking_change_is_refused_and_nothing_runs(tmp_path: Path, change: Any) -> None:
    await publish(tmp_path)
    opened, source = board(tmp_path, replace(GET, **change), "v1")
    async with opened:
        result = await opened.call("crm.get_user", {"id": "1"})
    assert result.failure is not None
    assert result.failure.code is FailureCode.BLOCKED
    assert "has changed since the board version v1 was published" in result.failure.message
    assert source.handlers["get_user"].calls == []


async def test_a_tool_that_is_gone_says_so_and_a_newer_one_is_not_there(tmp_path: Path) -> None:
    await publish(tmp_path)
    opened, _ = board(tmp_path, replace(GET, name=ToolName("crm", "find_user")), "v1")
    async with opened:
        gone = await opened.call("crm.get_user", {"id": "1"})
        newer = await opened.call("crm.find_user", {"id": "1"})
    assert gone.failure is not None
    assert (gone.failure.code, newer.failure and newer.failure.code) == (
        FailureCode.UNAVAILABLE,
        FailureCode.UNKNOWN_TOOL,
    )


async def test_a_change_while_the_board_is_open_is_noticed(tmp_path: Path) -> None:
    await publish(tmp_path)
    opened, source = board(tmp_path, GET, "v1")
    async with opened:
        assert (await opened.call("crm.get_user", {"id": "1"})).ok
        source.put("get_user", spec=replace(GET, input={"type": "object", "required": ["key"]}))
        await opened.refresh()
        result = await opened.call("crm.get_user", {"id": "1"})
    assert result.failure is not None
    assert result.failure.code is FailureCode.BLOCKED


async def test_batches_bundles_and_deprecations_are_those_of_the_version(tmp_path: Path) -> None:
    batch = {"crm.get_users": {"tool": "crm.get_user", "over": "id", "limit": 2}}
    old = {"crm.read": {"successor": "crm.get_user", "args": {"id": "${input.key}"}}}
    await publish(tmp_path, batch=batch, deprecated=old)
    batch["crm.get_users"] = {**batch["crm.get_users"], "limit": 9}
    opened, _ = board(tmp_path, GET, "v1", batch=batch)
    async with opened:
        assert [str(spec.name) for spec in opened.catalog.specs] == ["crm.get_user", "crm.read", "crm.get_users"]
        assert (await opened.call("crm.get_users", {"id": ["1", "2"]})).ok
        assert not (await opened.call("crm.get_users", {"id": ["1", "2", "3"]})).ok
        assert (await opened.call("crm.read", {"key": "1"})).ok


async def test_a_version_that_is_not_there_is_refused_with_those_that_are(tmp_path: Path) -> None:
    await publish(tmp_path)
    opened, _ = board(tmp_path, GET, "v2")
    with pytest.raises(PegboardError, match="There are: v1"):
        async with opened:
            pass
    async with Board.of(FakeSource("crm", [GET])) as plain:
        with pytest.raises(PegboardError):
            await plain.publish("v1")
