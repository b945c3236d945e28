"""`pegboard assets`: what is kept, whose it is, and how to be rid of it."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from pegboard.cli.app import run
from pegboard.store import Store


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "rows.json").write_text('{"tools": []}')
    (tmp_path / "pegboard.toml").write_text('[board]\nstore = "store"\n[sources.s]\nrecorded = "rows.json"\n')
    return tmp_path


def told(capsys: pytest.CaptureFixture[str], folder: Path, *words: str) -> tuple[int, Any]:
    ended = run(["assets", *words, "--config", str(folder), "--json"])
    return ended, json.loads(capsys.readouterr().out)


def put(folder: Path, *rows: tuple[bytes, str, str, float]) -> Sequence[str]:
    with Store.open(folder / "store") as store:
        return [store.put_asset(data, kind, owner=owner, days=days).handle() for data, kind, owner, days in rows]


def test_assets_are_listed_shown_read_and_removed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, picture = put(folder, (b"hello", "text/plain", "local", 7), (b"\x89PNG", "image/png", "anna", 3))
    _, found = told(capsys, folder, "list")
    assert [row["handle"] for row in found["assets"]] == [text, picture]
    assert found["bytes"] == 9
    assert [row["handle"] for row in told(capsys, folder, "list", "--owner", "anna")[1]["assets"]] == [picture]
    assert told(capsys, folder, "show", text)[1]["media_type"] == "text/plain"
    assert told(capsys, folder, "read", text)[1]["text"] == "hello"
    target = folder / "out.png"
    assert told(capsys, folder, "read", picture, "--owner", "anna", "--output", str(target))[0] == 0
    assert target.read_bytes() == b"\x89PNG"
    assert told(capsys, folder, "remove", text)[1] == {"removed": [text], "failed": {}}
    assert [row["handle"] for row in told(capsys, folder, "list")[1]["assets"]] == [picture]


@pytest.mark.parametrize(
    ("handle", "owner", "code"),
    [
        ("kept", "anna", "asset_unknown"),
        ("gone", "local", "asset_expired"),
        ("pegboard-asset://" + "0" * 64, "local", "asset_unknown"),
        ("pegboard-asset://../x", "local", "asset_unknown"),
        ("runtype", "local", "asset_unknown"),
        ("", "local", "asset_unknown"),
    ],
)
@pytest.mark.parametrize("verb", ["show", "read"])
def test_a_handle_that_is_not_the_callers_is_refused_with_its_code(
    folder: Path, capsys: pytest.CaptureFixture[str], verb: str, handle: str, owner: str, code: str
) -> None:
    kept, gone = put(folder, (b"a", "text/plain", "local", 1), (b"b", "text/plain", "local", -1))
    named = {"kept": kept, "gone": gone, "runtype": kept.replace("pegboard", "runtype")}.get(handle, handle)
    assert run(["assets", verb, named, "--owner", owner, "--config", str(folder)]) == 1
    assert code in capsys.readouterr().err


def test_one_handle_that_is_wrong_keeps_no_other_from_being_removed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept, *_ = put(folder, (b"a", "text/plain", "local", 1))
    ended, found = told(capsys, folder, "remove", "nothing", kept)
    assert (ended, found["removed"]) == (1, [kept])
    assert found["failed"]["nothing"]["code"] == "asset_unknown"


def test_a_file_that_is_there_is_not_overwritten(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    [kept] = put(folder, (b"a", "text/plain", "local", 1))
    target = folder / "there.txt"
    target.write_text("mine")
    assert run(["assets", "read", kept, "--output", str(target), "--config", str(folder)]) == 1
    assert target.read_text() == "mine"
