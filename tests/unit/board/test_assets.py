"""Binary parts of answers become handles, and handles become bytes where a tool asks for them."""

import json
import random
from base64 import b64decode, b64encode
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pegboard.board import Board
from pegboard.config import load
from pegboard.core import Call, FailureCode, Result, Session, ToolName, ToolSpec
from pegboard.core.asset import AssetScheme, asset_id
from pegboard.schema.media import binary_of
from pegboard.store import Store
from pegboard.testing import FakeSource
from pegboard.trace.sqlite import SqliteTraces

pytestmark = pytest.mark.anyio

PNG = b"\x89PNG\r\n\x1a\n" + random.Random(1).randbytes(5_000)
NOISE = random.Random(2).randbytes(5_000)
ADA, BEN = Session("a", principal="ada"), Session("b", principal="ben")


def text64(data: bytes) -> str:
    return b64encode(data).decode()


def open_board(folder: Path, *sources: FakeSource, more: str = "") -> Board:
    (folder / "pegboard.toml").write_text(f'[board]\nsearch = "off"\n{more}\n')
    return Board.open(load(folder / "pegboard.toml"), beside=sources)


def camera(answer: Result, output: Any = None) -> FakeSource:
    source = FakeSource("cam")
    source.put("shoot", answer, spec=ToolSpec(name=ToolName("cam", "shoot"), output=output))
    return source


def taker(*, declared: bool = True, **more: Any) -> FakeSource:
    photo = {"type": "string", **({"contentEncoding": "base64"} if declared else {}), **more}
    spec = ToolSpec(name=ToolName("box", "put"), input={"type": "object", "properties": {"photo": photo}})
    source = FakeSource("box")
    source.put("put", spec=spec)
    return source


IMAGE = Result(content=({"type": "image", "data": text64(PNG), "mimeType": "image/png"},))


@pytest.mark.requirement("R5.1")
async def test_a_picture_keeps_its_block_and_gains_a_handle(tmp_path: Path) -> None:
    async with open_board(tmp_path, camera(IMAGE)) as board:
        result = await board.call("cam.shoot")
        [handle] = result.assets
        assert handle.startswith("pegboard-asset://")
        block, said = result.content
        assert block == IMAGE.content[0]
        assert handle in said["text"]
        assert result.report is not None
        [told] = result.report.data["assets"]
        assert (told["media_type"], told["size"], told["handle"]) == ("image/png", len(PNG), handle)
        assert board.assets is not None
        kept = await board.assets.get(handle)
        assert isinstance(kept, tuple)
        assert (kept[0].handle(), kept[1]) == (handle, PNG)


PLACES: dict[str, tuple[Result, Any, Any]] = {
    "a file block": (
        Result(content=({"type": "resource", "resource": {"uri": "x:y", "mimeType": "a/b", "blob": text64(NOISE)}},)),
        None,
        "a/b",
    ),
    "declared in the output schema": (
        Result(value={"rows": [{"f": text64(NOISE)}]}),
        {"$defs": {"F": {"type": "string", "contentEncoding": "base64", "contentMediaType": "x/y"}},
         "type": "object", "properties": {"rows": {"items": {"properties": {"f": {"$ref": "#/$defs/F"}}}}}},
        "x/y",
    ),
    "a data URL": (Result(value={"u": f"data:font/woff2;base64,{text64(NOISE)}"}), None, "font/woff2"),
    "told by the object around it": (Result(value={"mimeType": "audio/x", "data": text64(NOISE)}), None, "audio/x"),
    "told by its first bytes": (Result(value=[text64(PNG)]), None, "image/png"),
    "a text block of base64": (Result(content=({"type": "text", "text": text64(PNG)},)), None, "image/png"),
    "a text block of JSON": (
        Result(content=({"type": "text", "text": json.dumps({"shot": text64(PNG), "n": 1})},)), None, "image/png",
    ),
}  # fmt: skip


@pytest.mark.requirement("R5.1", "R5.3")
@pytest.mark.parametrize("place", PLACES)
async def test_binary_becomes_a_handle_wherever_it_stands(tmp_path: Path, place: str) -> None:
    answer, output, media_type = PLACES[place]
    async with open_board(tmp_path, camera(answer, output), taker()) as board:
        result = await board.call("cam.shoot")
        shown = json.dumps([result.value, list(result.content)])
        assert text64(NOISE)[:100] not in shown
        assert text64(PNG)[:100] not in shown
        [handle] = result.assets
        assert handle in shown
        assert result.report is not None
        assert result.report.data["assets"][0]["media_type"] == media_type
        taken = await board.call("box.put", {"photo": handle})
        assert taken.ok
    trace = SqliteTraces(tmp_path / ".pegboard" / "traces.db").run("local")
    assert trace is not None
    assert trace.calls[1].arguments == {"photo": handle}


UNTOUCHED: dict[str, Result] = {
    "a small picture": Result(content=({"type": "image", "data": text64(PNG[:3000]), "mimeType": "image/png"},)),
    "a long text": Result(value={"log": "x" * 8000}),
    "a long hex text": Result(value={"hex": NOISE.hex()}),
    "random base64 that nothing tells of": Result(value={"token": text64(NOISE)}),
    "a text beside a text's media type": Result(value={"mimeType": "text/plain", "text": "abcd" * 2000}),
    "words": Result(value="word " * 2000),
    "base64 that is broken": Result(value={"mimeType": "image/png", "data": text64(PNG)[:-3] + "!!!"}),
    "a list of numbers": Result(value=list(range(5000))),
}


@pytest.mark.parametrize("case", UNTOUCHED)
async def test_what_is_not_surely_binary_stays(tmp_path: Path, case: str) -> None:
    async with open_board(tmp_path, camera(UNTOUCHED[case]), more="max_result = 1000000") as board:
        result = await board.call("cam.shoot")
    assert (result.value, result.content, result.assets) == (UNTOUCHED[case].value, UNTOUCHED[case].content, ())


@pytest.mark.requirement("R5.2", "R5.4")
@pytest.mark.parametrize(("declared", "given"), [(True, text64(PNG)), (False, None)])
async def test_only_a_declared_parameter_gets_the_bytes(tmp_path: Path, declared: bool, given: str | None) -> None:
    box = taker(declared=declared)
    async with open_board(tmp_path, camera(IMAGE), box) as board:
        [handle] = (await board.call("cam.shoot")).assets
        await board.call("box.put", {"photo": handle})
    assert box.handlers["put"].calls[0].arguments == {"photo": given or handle}


async def test_bytes_are_found_behind_references_lists_and_choices_and_judged_by_the_schema(tmp_path: Path) -> None:
    item = {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/File"}]}
    schema = {
        "type": "object",
        "$defs": {"File": {"type": "object", "properties": {"body": {"type": "string", "contentEncoding": "base64"}}}},
        "properties": {
            "files": {"type": "array", "items": item},
            "icon": {"type": "string", "contentEncoding": "base64", "pattern": "^[A-Za-z0-9+/=]+$", "minLength": 999},
        },
        "additionalProperties": {"type": "string"},
    }
    box = FakeSource("box")
    box.put("put", spec=ToolSpec(name=ToolName("box", "put"), input=schema))
    async with open_board(tmp_path, camera(IMAGE), box) as board:
        [handle] = (await board.call("cam.shoot")).assets
        sent = {"files": [None, {"body": handle, "name": handle}], "icon": handle, "other": handle}
        assert (await board.call("box.put", sent)).ok
    [call] = box.handlers["put"].calls
    bytes64 = text64(PNG)
    assert call.arguments == {
        "files": [None, {"body": bytes64, "name": handle}],
        "icon": bytes64,
        "other": handle,
    }


@pytest.mark.requirement("R5.2")
async def test_a_handle_that_is_not_the_callers_is_refused_before_anything_runs(tmp_path: Path) -> None:
    box = taker()
    async with open_board(tmp_path, camera(IMAGE), box) as board:
        [handle] = (await board.call("cam.shoot", session=ADA)).assets
        assert (await board.call("box.put", {"photo": handle}, session=ADA)).ok
        failures = [
            (await board.call("box.put", {"photo": bad}, session=BEN)).failure
            for bad in (handle, f"pegboard-asset://{'0' * 64}", "pegboard-asset://../x", "pegboard-asset://")
        ]
    assert [failure.code if failure else None for failure in failures] == [FailureCode.ASSET_UNKNOWN] * 4
    assert all(failure is not None and failure.where == "/photo" and failure.next_step for failure in failures)
    assert len(box.handlers["put"].calls) == 1


@pytest.mark.requirement("R5.2")
async def test_an_expired_handle_says_so_and_what_to_do(tmp_path: Path) -> None:
    box = taker()
    async with open_board(tmp_path, box) as board:
        with Store.open(tmp_path / ".pegboard", clock=lambda: 0.0) as store:
            old = store.put_asset(PNG, "image/png").handle()
        failure = (await board.call("box.put", {"photo": old})).failure
    assert failure is not None
    assert failure.code is FailureCode.ASSET_EXPIRED
    assert "1970-01-08" in failure.message
    assert failure.next_step
    assert box.handlers["put"].calls == []


@pytest.mark.requirement("R5.1")
async def test_compatibility_writes_runtypes_handles_and_reads_both(tmp_path: Path) -> None:
    box = taker()
    async with open_board(tmp_path, camera(IMAGE), box, more='asset_scheme = "runtype-asset"') as board:
        [handle] = (await board.call("cam.shoot")).assets
        assert handle.startswith("runtype-asset://")
        for one in (handle, handle.replace("runtype", "pegboard")):
            await board.call("box.put", {"photo": one})
    assert [call.arguments["photo"] for call in box.handlers["put"].calls] == [text64(PNG)] * 2
    assert asset_id(handle, frozenset({AssetScheme.PEGBOARD})) is None


async def test_calls_from_inside_of_a_tool_get_the_bytes_themselves(tmp_path: Path) -> None:
    async with open_board(tmp_path, camera(IMAGE)) as board:
        inner = await board.run(Call(tool=ToolName("cam", "shoot"), arguments={}, parent="outer"))
    assert (inner.content, inner.assets) == (IMAGE.content, ())


async def test_without_a_store_everything_stays_as_it_is() -> None:
    async with Board.of(camera(IMAGE)) as board:
        result = await board.call("cam.shoot")
    assert (result.content, result.assets) == (IMAGE.content, ())


async def test_a_store_that_cannot_be_written_leaves_the_bytes_and_says_so(tmp_path: Path) -> None:
    async with open_board(tmp_path, camera(IMAGE)) as board:
        assert board._memory is not None
        board._memory.store._engine.dispose()
        board._memory.store._engine = _Full()  # pyright: ignore[reportAttributeAccessIssue]
        result = await board.call("cam.shoot")
        board._memory._store = None
    assert result.content == IMAGE.content
    assert result.report is not None
    assert "stay as they are" in result.report.notes[0]


class _Full:
    def connect(self) -> Any:
        from sqlalchemy.exc import OperationalError

        raise OperationalError("", {}, Exception("database or disk is full"))

    def dispose(self) -> None: ...


async def test_text_assets_are_read_in_parts_where_the_tool_is_configured(tmp_path: Path) -> None:
    async with open_board(tmp_path, more='builtins = ["asset_read"]') as board:
        assert [spec.name.name for spec in board.view().listed] == ["asset_read"]
        assert board.assets is not None
        text = "".join(f"zeile {n} ü\n" for n in range(3000))
        handle = (await board.assets.put(text.encode(), "text/plain")).handle()
        whole, offset = "", 0
        while True:
            page = await board.call("asset_read", {"handle": handle, "offset": offset, "limit": 7000})
            part, _, foot = page.content[0]["text"].rpartition("\n\n(")
            whole += part
            if "go on with offset" not in foot:
                break
            offset = int(foot.rpartition(" ")[2].rstrip(")"))
        assert whole == text
        picture = (await board.assets.put(PNG, "image/png")).handle()
        failures = [(await board.call("asset_read", {"handle": one})).failure for one in (picture, "x", handle[:-1])]
    assert [failure and failure.code for failure in failures] == [
        FailureCode.INVALID_ARGUMENTS,
        FailureCode.ASSET_UNKNOWN,
        FailureCode.ASSET_UNKNOWN,
    ]


async def test_without_the_key_asset_read_is_not_in_the_list(tmp_path: Path) -> None:
    async with open_board(tmp_path, camera(IMAGE)) as board:
        assert "asset_read" not in {spec.name.name for spec in board.view().listed}


async def test_a_cut_text_is_an_asset_too(tmp_path: Path) -> None:
    source = FakeSource("ops", {"long": Result(value={"log": "line\n" * 9000})})
    async with open_board(tmp_path, source, more="max_result = 4096") as board:
        [handle] = (await board.call("ops.long")).assets
        found = await board.call("asset_read", {"handle": handle, "limit": 20})
        assert found.content[0]["text"].startswith('{"log":"line\\nline')


@given(st.binary(max_size=200), st.sampled_from([None, "image/png", "application/octet-stream"]))
@settings(max_examples=50)
def test_what_is_taken_for_binary_is_the_very_bytes(data: bytes, declared: str | None) -> None:
    found = binary_of(text64(data), declared)
    assert found is None or found.data == data
    assert b64decode(text64(data)) == data


@pytest.mark.parametrize("owners", [("ada",), ("ada", "ben")])
def test_the_same_bytes_are_kept_once_and_go_when_their_last_owners_time_is_over(owners: tuple[str, ...]) -> None:
    now = [0.0]
    with Store.open(":memory:", clock=lambda: now[0]) as store:
        ids = {store.put_asset(PNG, "image/png", owner=owner, days=1 + n).id for n, owner in enumerate(owners)}
        assert len(ids) == 1
        [id] = ids
        now[0] = 1.5 * 86_400
        store.put_asset(b"other", "text/plain")
        ada = store.asset(id, owner="ada")
        assert ada is not None
        assert ada.data is None
        if "ben" in owners:
            ben = store.asset(id, owner="ben")
            assert ben is not None
            assert ben.data == PNG
        now[0] = 60 * 86_400
        store.put_asset(b"more", "text/plain")
        assert store.asset(id, owner="ada") is None
