"""Recordings of tools, in whatever form they were saved."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from pegboard.core import Listing, NoteKind, SourceState
from pegboard.errors import SourceError
from pegboard.sources.recorded import RecordedSource

pytestmark = pytest.mark.anyio
ROWS: list[dict[str, Any]] = [
    {"name": "a", "inputSchema": {"type": "object", "properties": {}}},
    {"name": "b", "input_schema": {"type": "object", "properties": {}}},
]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def listed(path: Path) -> Listing:
    return await RecordedSource("rec", path).listing()


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"tools": ROWS}),
        json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"tools": ROWS}}),
        json.dumps(ROWS),
        "\n".join(json.dumps(row) for row in ROWS) + "\n\n",
        "\ufeff" + json.dumps(ROWS),
        json.dumps(ROWS, indent=2),
        "\n".join(json.dumps({"tools": [row]}) for row in ROWS),
    ],
    ids=["answer", "frame", "array", "lines", "byte order mark", "indented", "pages"],
)
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gz"])
async def test_every_form_loads(tmp_path: Path, text: str, packed: bool) -> None:
    path = tmp_path / "tools"
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    assert [str(tool.name) for tool in (await listed(path)).tools] == ["rec.a", "rec.b"]


async def test_a_recording_saved_as_utf_16_loads(tmp_path: Path) -> None:
    (tmp_path / "tools.json").write_text(json.dumps({"tools": ROWS}), encoding="utf-16")
    assert len((await listed(tmp_path / "tools.json")).tools) == 2


async def test_a_single_tool_and_a_line_of_its_own_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "one.json").write_text(json.dumps(ROWS[0]))
    assert len((await listed(tmp_path / "one.json")).tools) == 1


async def test_a_broken_line_is_set_aside_alone_with_its_number(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text(f"{json.dumps(ROWS[0])}\n{{broken\n{json.dumps(ROWS[1])}\n[1]\n")
    listing = await listed(tmp_path / "t.jsonl")
    assert [tool.name.name for tool in listing.tools] == ["a", "b"]
    aside = [note for note in listing.notes if note.kind is NoteKind.SET_ASIDE]
    assert aside[0].where == "line 2" and len(aside) == 2


async def test_instructions_of_a_saved_answer_are_kept(tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text(json.dumps({"instructions": "Ask first.", "tools": ROWS}))
    assert (await listed(tmp_path / "t.json")).instructions == "Ask first."


@pytest.mark.parametrize(
    "content",
    [b"", b"   ", b"{}", b"[]", b'{"tools": []}', b'{"tools": 3}', b"not json at all", b"\x1f\x8bdamaged", b"[1, 2]"],
)
async def test_a_file_without_tools_is_an_error_that_names_it(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "tools.json"
    path.write_bytes(content)
    with pytest.raises(SourceError) as caught:
        await listed(path)
    assert str(path) in str(caught.value) and "sources.rec" in str(caught.value) and caught.value.next_step


async def test_a_missing_file_is_an_error_and_unavailable(tmp_path: Path) -> None:
    source = RecordedSource("rec", tmp_path / "none.json")
    with pytest.raises(SourceError, match="No such file"):
        await source.listing()
    assert (await source.health()).state is SourceState.UNAVAILABLE


async def test_a_second_tool_of_one_name_is_set_aside(tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text(json.dumps([ROWS[0], {**ROWS[0], "namespace": "other"}, ROWS[0]]))
    listing = await listed(tmp_path / "t.json")
    assert [str(tool.name) for tool in listing.tools] == ["rec.a", "other.a"]
    assert [note.kind for note in listing.notes] == [NoteKind.SET_ASIDE]
