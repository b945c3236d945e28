"""The store remembers, is shared safely, and never stops a board from serving."""

import os
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import text as sql

from pegboard.core import Note, NoteKind, ToolName
from pegboard.errors import StoreError
from pegboard.store import Store, StoredListing
from pegboard.store.engine import memory_engine
from pegboard.store.listing import read_listings

NOTE = Note(NoteKind.REPAIRED, "a", "/inputSchema", "added properties")


def listing(source: str = "git", **more: object) -> StoredListing:
    fields = {"fingerprint": "f", "tools": ({"name": "é\ud800", "x": [1, None]},), "notes": (NOTE,), "saved": 5.0}
    return StoredListing(source=source, **{**fields, **more})  # type: ignore[arg-type]


def test_a_listing_comes_back_as_it_was_in_another_process_life(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s") as store:
        store.save_listing(listing(tools=({"name": "b"}, {"name": "a", "b": {"z": 1, "a": 2}}), instructions="hi"))
        store.save_listing(listing("other"))
    with Store.open(tmp_path / "s") as store:
        found = store.listings()
    assert list(found) == ["git", "other"]
    assert found["git"] == listing(tools=({"name": "b"}, {"name": "a", "b": {"z": 1, "a": 2}}), instructions="hi")
    assert list(found["git"].tools[1]["b"]) == ["z", "a"]
    assert found["other"] == listing("other")


def test_a_new_listing_takes_the_place_of_the_old_one_and_can_be_forgotten() -> None:
    store = Store.open(":memory:", clock=lambda: 42.0)
    store.save_listing(listing(tools=({"name": "old"},)))
    store.save_listing(listing(tools=({"name": "new"},), saved=0.0))
    assert [(item.tools[0]["name"], item.saved) for item in store.listings().values()] == [("new", 42.0)]
    store.forget_listing("git")
    assert store.listings() == {}


def test_one_unreadable_listing_costs_no_other_and_is_reported(tmp_path: Path) -> None:
    with Store.open(tmp_path) as store:
        store.save_listing(listing())
        store.save_listing(listing("bad"))
    with sqlite3.connect(tmp_path / "board.db") as raw:
        raw.execute("update catalog set listing = '{\"tools\":' where source = 'bad'")
    with Store.open(tmp_path) as store:
        assert list(store.listings()) == ["git"]
        assert "bad" in store.warnings[0]


def test_wire_names_change_by_a_function_of_what_is_stored(tmp_path: Path) -> None:
    a, b = ToolName("n", "a"), ToolName("n", "a", "2")
    with Store.open(tmp_path) as store:
        store.update_aliases(lambda _: {a: "n__a", b: "n__a_2"})
    with Store.open(tmp_path) as store:
        assert store.aliases() == {a: "n__a", b: "n__a_2"}
        assert store.update_aliases(lambda old: {**old, b: "other"}) == {a: "n__a", b: "other"}
        store.update_aliases(lambda old: {name: wire for name, wire in old.items() if name != a})
        assert store.aliases() == {b: "other"}


CLAIM = """
import sys
from pathlib import Path
from pegboard.core import ToolName
from pegboard.store import Store, StoredListing
from pegboard.store.engine import bring_up_to_date, memory_engine, writing
from pegboard.store.listing import read_listings

folder, worker, rounds = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
with Store.open(folder) as store:
    for number in range(rounds):
        name = ToolName(worker, str(number))
        store.update_aliases(lambda old: {**old, name: str(len(old))})
        store.save_listing(StoredListing(source=worker, fingerprint="f", tools=()))
    sys.exit(str(store.warnings) if store.warnings else 0)
"""


@pytest.mark.slow
def test_processes_that_start_at_once_on_one_store_lose_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-c", CLAIM, str(tmp_path)]
    workers = [subprocess.Popen([*command, f"w{n}", "15"]) for n in range(3)]
    assert [worker.wait() for worker in workers] == [0, 0, 0]
    with Store.open(tmp_path) as store:
        names = store.aliases()
        assert sorted(map(int, names.values())) == list(range(45))
        assert list(store.listings()) == ["w0", "w1", "w2"]


@settings(max_examples=30, deadline=None)
@given(st.text(max_size=200), st.integers(1, 50))
def test_the_pages_of_a_result_add_up_to_it(text: str, size: int) -> None:
    with Store.open(":memory:") as store:
        handle = store.put_result(text, owner="me", page_chars=size)
        pages, number = [], 0
        while number is not None:
            page = store.result_page(handle, number, owner="me")
            assert page is not None
            pages.append(page.text)
            number = page.next
    assert "".join(pages) == text


def test_a_result_is_read_by_its_owner_only_and_forgotten_in_time() -> None:
    now = [0.0]
    store = Store.open(":memory:", keep_days=7, clock=lambda: now[0])
    handle = store.put_result("x" * 50_000, owner="ann")
    assert store.put_result("x" * 50_000, owner="ann") == handle
    assert store.result_page(handle, owner="ben") is None
    assert store.result_page(handle, 9, owner="ann") is None
    page = store.result_page(handle, 2, owner="ann")
    assert page is not None
    assert (page.pages, page.next, len(page.text)) == (3, None, 10_000)
    now[0] = 8 * 86_400
    store.put_result("another", owner="ben")
    assert store.result_page(handle, owner="ann") is None


def test_the_store_is_its_owners_alone_and_stays_out_of_version_control(tmp_path: Path) -> None:
    Store.open(tmp_path / "s").close()
    assert stat.S_IMODE((tmp_path / "s/board.db").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "s").stat().st_mode) == 0o700
    assert (tmp_path / "s/.gitignore").read_text() == "*\n"


@pytest.mark.parametrize("damage", [b"this is no database", b"SQLite format 3\0" + bytes(200)], ids=["text", "cut"])
def test_a_damaged_file_is_set_aside_rebuilt_and_reported(tmp_path: Path, damage: bytes) -> None:
    (tmp_path / "board.db").write_bytes(damage * 50)
    with Store.open(tmp_path) as store:
        assert "board.db.broken-1" in store.warnings[0]
        store.save_listing(listing())
    assert (tmp_path / "board.db.broken-1").read_bytes() == damage * 50
    with Store.open(tmp_path) as store:
        assert list(store.listings()) == ["git"]
        assert store.warnings == []


def test_damage_that_shows_only_later_is_survived_too(tmp_path: Path) -> None:
    with Store.open(tmp_path) as store:
        for number in range(50):
            store.save_listing(listing(f"s{number}", instructions="x" * 5000))
    data = bytearray((tmp_path / "board.db").read_bytes())
    data[8192:] = os.urandom(len(data) - 8192)
    (tmp_path / "board.db").write_bytes(data)
    with Store.open(tmp_path) as store:
        store.listings()
        store.save_listing(listing())
        assert list(store.listings()) == ["git"]
        assert any("set aside" in warning for warning in store.warnings)


def test_a_store_of_a_newer_pegboard_is_left_alone(tmp_path: Path) -> None:
    Store.open(tmp_path).close()
    with sqlite3.connect(tmp_path / "board.db") as raw:
        raw.execute("insert into migrated values ('99: from the future')")
    with Store.open(tmp_path) as store:
        assert "newer Pegboard" in store.warnings[0]
        store.save_listing(listing())
        assert list(store.listings()) == ["git"]
    with sqlite3.connect(tmp_path / "board.db") as raw:
        assert raw.execute("select count(*) from catalog").fetchone() == (0,)


def test_a_store_that_cannot_be_made_is_kept_in_memory_and_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with Store.open(tmp_path / "file" / "store") as store:
        assert "keeps everything in memory" in store.warnings[0]
        store.save_listing(listing())
        assert list(store.listings()) == ["git"]


def test_what_a_file_holds_that_cannot_be_written_is_read_into_memory(tmp_path: Path) -> None:
    with Store.open(tmp_path) as store:
        store.save_listing(listing())
    engine = memory_engine(tmp_path / "board.db")
    with engine.connect() as connection:
        assert list(read_listings(connection)) == [listing()]
    engine.dispose()


def test_a_folder_in_the_place_of_the_file_is_reported_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "board.db").mkdir()
    with Store.open(tmp_path) as store:
        assert "keeps everything in memory" in store.warnings[0]
        store.save_listing(listing())
        assert list(store.listings()) == ["git"]
    assert (tmp_path / "board.db").is_dir()


def test_a_full_disk_costs_the_memory_of_a_board_but_not_its_service(tmp_path: Path) -> None:
    with Store.open(tmp_path) as store:
        store.save_listing(listing())
        with store._engine.connect() as connection:  # noqa: SLF001
            connection.execute(sql("PRAGMA max_page_count = 1"))  # SQLite's own way to be out of space
        store.save_listing(listing("big", instructions="x" * 500_000))
        assert store.update_aliases(lambda old: {**old, ToolName("a", "b"): "a__b"}) != {}
        with pytest.raises(StoreError, match="doctor"):
            store.put_result("x" * 500_000)
        assert list(store.listings()) == ["git"]
        assert any("full" in warning for warning in store.warnings)


def test_one_statement_is_a_step_of_its_own_and_what_cannot_be_written_is_told(tmp_path: Path) -> None:
    with Store.open(tmp_path) as store:
        insert = "INSERT INTO chosen (kind, name, version) VALUES (?, ?, ?)"
        assert store.statement(insert, ("chain", "a", "v1")) == 1
        assert store.chosen("chain", "a") == "v1"
        assert store.statement("UPDATE chosen SET version = ? WHERE name = ?", ("v2", "b")) == 0
        assert store.statement("UPDATE nowhere SET version = ?", ("v2",)) is None
        assert "no such table" in store.warnings[-1]
