"""A glance sees what the store sees, and leaves everything unusual to the store."""

from pathlib import Path

import pytest

from pegboard.core import Note, NoteKind, ToolName
from pegboard.store import Store, StoredListing
from pegboard.store.glance import FILE_NAME, STEPS, glance
from pegboard.store.migrate import MIGRATIONS

LISTING = StoredListing(
    source="git",
    fingerprint="f",
    tools=({"name": ["git", "log", None]},),
    notes=(Note(NoteKind.REPAIRED, "log", "/type", "Added."),),
    instructions="ä",
    saved=5.0,
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with Store.open(tmp_path) as store:
        store.save_listing(LISTING)
        store.update_aliases(lambda before: {**before, ToolName("git", "log"): "git__log"})
    return tmp_path


def test_it_sees_what_the_store_sees(folder: Path) -> None:
    seen = glance(folder)
    assert seen is not None
    with Store.open(folder) as store:
        assert seen.listings == store.listings() == {"git": LISTING}
        assert seen.aliases == store.aliases() == {ToolName("git", "log"): "git__log"}


def test_it_sees_it_while_the_store_is_open_and_written(folder: Path) -> None:
    with Store.open(folder) as store:
        store.forget_listing("git")
        seen = glance(folder)
    assert seen is not None
    assert seen.listings == {}


def test_there_is_nothing_to_see_where_there_is_no_store(tmp_path: Path) -> None:
    assert glance(tmp_path) is None
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_file_is_left_to_the_store(folder: Path) -> None:
    (folder / FILE_NAME).write_bytes(b"not a database" * 100)
    for log in folder.glob("*-wal"):
        log.unlink()
    assert glance(folder) is None


def test_a_store_with_other_migrations_is_left_to_the_store(folder: Path) -> None:
    import sqlite3

    with sqlite3.connect(folder / FILE_NAME) as connection:
        connection.execute("INSERT INTO migrated VALUES ('99: of the future')")
    assert glance(folder) is None


def test_its_names_of_the_migrations_are_the_stores() -> None:
    assert tuple(name for name, _ in MIGRATIONS) == STEPS
