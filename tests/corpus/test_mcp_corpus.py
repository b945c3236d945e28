"""Every tool of every recorded server loads, whole; what was repaired is listed."""

import gzip
import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from pegboard.core import Call as MakeCall
from pegboard.core import FailureCode, Listing, NoteKind
from pegboard.sources.recorded import RecordedSource

pytestmark = pytest.mark.anyio
FILES = sorted(path for path in (Path(__file__).parent / "mcp").iterdir() if path.suffix in (".json", ".gz"))


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def raw_tools(path: Path) -> list[dict[str, Any]]:
    data = path.read_bytes()
    return json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)["tools"]


async def listing_of(path: Path) -> Listing:
    source = RecordedSource(path.name.split(".")[0], path)
    async with source.session():
        return await source.listing()


def test_the_corpus_is_there() -> None:
    assert sum(len(raw_tools(path)) for path in FILES) == 277


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
async def test_every_tool_loads_and_none_is_dropped(path: Path) -> None:
    rows = raw_tools(path)
    listing = await listing_of(path)
    assert [tool.name.name for tool in listing.tools] == [row["name"] for row in rows]
    assert [note for note in listing.notes if note.kind is NoteKind.SET_ASIDE] == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
async def test_what_the_server_said_is_kept_and_what_was_repaired_is_told(path: Path) -> None:
    listing = await listing_of(path)
    repaired = {note.tool for note in listing.notes if note.kind is NoteKind.REPAIRED}
    for tool, row in zip(listing.tools, raw_tools(path), strict=True):
        spec = tool.spec
        assert spec.description == row.get("description", "")
        assert spec.title == (row.get("title") or (row.get("annotations") or {}).get("title"))
        assert spec.annotations == (row.get("annotations") or {})
        assert (spec.original_input if spec.original_input is not None else spec.input) == row["inputSchema"]
        assert (spec.original_input is not None) <= (spec.name.name in repaired)
        known = {"name", "title", "description", "inputSchema", "outputSchema", "annotations", "icons"}
        assert set(spec.meta) == set(row) - known
        jsonschema_rs.validator_for(dict(spec.input))


async def test_calling_a_recorded_tool_says_that_it_cannot_be_called_and_what_to_do() -> None:
    tool = (await listing_of(FILES[0])).tools[0]
    result = await tool.handler(MakeCall(tool=tool.name, arguments={}))
    assert result.failure is not None and result.failure.code is FailureCode.UNAVAILABLE and result.failure.next_step
