"""The trace file is safe for several processes, and every trouble with it is told with a way out."""

import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from pegboard.errors import StoreError
from pegboard.trace import CallRecord, Entry
from pegboard.trace.sqlite import VERSION, SqliteTraces


def entry(run: str, at: float = 1.0) -> Entry:
    return Entry(run, 0, CallRecord(id=f"{at}", tool="a.b", ok=True, started=at, seconds=0.0))


def test_reading_makes_no_file(tmp_path: Path) -> None:
    assert SqliteTraces(tmp_path / "t.db").runs() == ()
    assert list(tmp_path.iterdir()) == []


def test_two_writers_on_one_file_lose_nothing(tmp_path: Path) -> None:
    stores = [SqliteTraces(tmp_path / "t.db") for _ in range(2)]

    def write(store: SqliteTraces, start: int) -> None:
        for number in range(20):
            store.append([entry("shared", start + number)])

    threads = [threading.Thread(target=write, args=(store, 100 * n)) for n, store in enumerate(stores)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    run = stores[0].run("shared")
    assert run is not None
    assert len(run.calls) == 40
    assert stores[1].runs()[0].calls == 40


def test_another_process_reads_while_this_one_writes(tmp_path: Path) -> None:
    store = SqliteTraces(tmp_path / "t.db")
    store.append([entry("mine")])
    code = (
        "import sys; from pegboard.trace.sqlite import SqliteTraces;"
        "print([r.id for r in SqliteTraces(sys.argv[1]).runs()])"
    )
    answer = subprocess.run([sys.executable, "-c", code, str(store.path)], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "['mine']"


def test_a_file_that_is_no_database_is_told(tmp_path: Path) -> None:
    path = tmp_path / "t.db"
    path.write_bytes(b"not a database at all, whatever the name says" * 100)
    store = SqliteTraces(path)
    for attempt in (lambda: store.runs(), lambda: store.append([entry("x")])):
        with pytest.raises(StoreError) as caught:
            attempt()
        assert caught.value.where == str(path)
        assert caught.value.next_step == "Move the file away; a new one is made."


def test_a_file_of_a_newer_pegboard_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "t.db"
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version={VERSION + 1}")
    connection.close()
    store = SqliteTraces(path)
    for attempt in (lambda: store.run("x"), lambda: store.append([entry("x")])):
        with pytest.raises(StoreError, match="newer"):
            attempt()


def test_a_folder_that_cannot_be_is_told_and_later_trouble_is_over(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    store = SqliteTraces(tmp_path / "file" / "t.db")
    with pytest.raises(StoreError):
        store.append([entry("x")])
    (tmp_path / "file").unlink()
    store.append([entry("x")])
    assert store.run("x") is not None


def test_a_full_disk_loses_the_batch_and_says_so(tmp_path: Path) -> None:
    store = SqliteTraces(tmp_path / "t.db")
    store.append([entry("before")])
    assert store._writer is not None
    store._writer.execute("PRAGMA max_page_count=8")
    big = Entry("big", 0, CallRecord(id="x", tool="a.b", result="x" * 1_000_000))
    with pytest.raises(StoreError, match="full") as caught:
        store.append([big])
    assert caught.value.next_step == "Make room on the disk."
    store.append([entry("after")])
    assert {summary.id for summary in store.runs()} == {"before", "after"}


def test_a_read_only_copy_is_read(tmp_path: Path) -> None:
    store = SqliteTraces(tmp_path / "t.db")
    store.append([entry("x")])
    store.close()
    copy = tmp_path / "copy"
    copy.mkdir()
    (copy / "t.db").write_bytes(store.path.read_bytes())
    (copy / "t.db").chmod(0o400)
    copy.chmod(0o500)
    try:
        assert SqliteTraces(copy / "t.db").run("x") is not None
    finally:
        copy.chmod(0o700)
