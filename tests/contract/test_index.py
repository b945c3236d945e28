"""What every `Index` keeps, whichever engine is behind it."""

import os
import socket
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pegboard import index
from pegboard.core import Effects, Mode, Selection, SourceRef, ToolName, ToolSpec, with_modes
from pegboard.index import Index, Where
from pegboard.index.lexical import LexicalIndex
from pegboard.index.protocol import names_of

ENGINES: dict[str, Callable[[], Index]] = {"lexical": LexicalIndex, "default": index.default}
VERBS, NOUNS = (
    ("create", "delete", "list", "update", "search"),
    ("issue", "file", "user", "invoice", "meeting", "email"),
)
CATALOG = [
    ToolSpec(
        name=ToolName(f"{noun}s", f"{verb}_{noun}"),
        description=f"{verb.title()} one or more {noun}s of the account",
        category=noun,
        effects=Effects.DESTRUCTIVE if verb == "delete" else Effects.READ_ONLY,
        auth="oauth:office" if noun in ("meeting", "email") else None,
        source=SourceRef("office" if noun in ("meeting", "email", "user") else "desk", "mcp"),
    )
    for verb in VERBS
    for noun in NOUNS
]
CATALOG[3] = with_modes(CATALOG[3], [Mode.PREVIEW])
CATALOG[8] = replace(CATALOG[8], name=replace(CATALOG[8].name, version="2"))


@pytest.fixture(params=ENGINES.values(), ids=ENGINES.keys())
def engine(request: pytest.FixtureRequest) -> Index:
    made: Index = request.param()
    made.update(put=CATALOG)
    return made


@pytest.mark.parametrize(
    "spelling", [str.lower, str.upper, lambda name: name.replace("_", " "), lambda n: n.replace("_", "-")]
)
def test_every_exact_name_is_first(engine: Index, spelling: Callable[[str], str]) -> None:
    for spec in CATALOG:
        assert engine.search(spelling(spec.name.name)).hits[0].name == spec.name


def test_of_three_names_in_one_request_all_are_found(engine: Index) -> None:
    named = [CATALOG[n].name for n in (3, 14, 25)]
    for query in (" ".join(name.name for name in named), f"use {named[0].name}, then `{named[1].name}` and {named[2]}"):
        assert set(map(str, named)) <= set(names_of(engine.search(query).hits))


def test_a_removed_tool_is_gone_at_once_and_an_added_one_found_at_once(engine: Index) -> None:
    spec = CATALOG[7]
    engine.update(remove=[spec.name])
    assert str(spec.name) not in names_of(engine.search(spec.name.name, limit=50).hits)
    engine.update(put=[spec])
    assert engine.search(spec.name.name).hits[0].name == spec.name


def test_a_changed_tool_is_found_by_its_new_words_only(engine: Index) -> None:
    name = ToolName("misc", "thing")
    engine.update(put=[ToolSpec(name=name, description="Polishes telescopes")])
    engine.update(put=[ToolSpec(name=name, description="Waters orchids")])
    assert engine.search("orchids").hits[0].name == name
    assert name not in [hit.name for hit in engine.search("telescopes").hits if hit.matched]


FILTERS = {
    "namespace": Where(namespace="files"),
    "category": Where(category="user"),
    "effects": Where(effects=frozenset({Effects.DESTRUCTIVE})),
    "selectors": Where(select=Selection.parse(["*.create_*", "!issues.*"])),
    "source": Where(sources=frozenset({"nowhere"})),
    "state of the source": Where(sources=frozenset({"desk"})),
    "mode": Where(mode=Mode.PREVIEW),
    "version": Where(version="2"),
    "no version": Where(version=""),
    "sign-in": Where(signed_out=frozenset({"office"})),
}


@pytest.mark.parametrize("where", FILTERS.values(), ids=FILTERS.keys())
def test_a_filter_is_the_same_as_a_smaller_catalog(engine: Index, where: Where) -> None:
    smaller = type(engine).__new__(type(engine))
    smaller.__init__(*[layer.embedder for layer in engine.tools.layers])  # pyright: ignore
    smaller.update(put=[spec for spec in CATALOG if where.admits(spec)])
    for query in ("delete a user and an invoice", "create", "meeting", "search the emails of a user"):
        shown = [(hit.name, hit.score, hit.confidence) for hit in engine.search(query, where=where).hits]
        assert shown == [(hit.name, hit.score, hit.confidence) for hit in smaller.search(query).hits]


@pytest.mark.parametrize(
    ("where", "names"),
    [
        (Where(mode=Mode.PREVIEW), {"invoices.create_invoice"}),
        (Where(version="2"), {"users.delete_user@2"}),
        (Where(signed_out=frozenset({"office"}), category="user"), {f"users.{verb}_user" for verb in VERBS}),
        (Where(signed_out=frozenset({"office"}), category="email"), set[str]()),
    ],
)
def test_filters_pick_what_they_say(engine: Index, where: Where, names: set[str]) -> None:
    found = {
        str(spec.name).removesuffix("@2") if where.version is None else str(spec.name)
        for spec in CATALOG
        if where.admits(spec)
    }
    assert found == names
    assert set(names_of(engine.search("create delete list update search", limit=50, where=where).hits)) <= {
        str(spec.name) for spec in CATALOG if where.admits(spec)
    }


@pytest.mark.parametrize("query", ["invoces", "invoce a helper", "the invokd helper", "remove teh invokes"])
def test_words_that_only_left_out_tools_hold_are_unknown_words(engine: Index, query: str) -> None:
    kept = ToolSpec(name=ToolName("calls", "invoke_helper"), description="Invokes a helper and erases its log")
    secret = [
        ToolSpec(name=ToolName("secret", f"invoces_{n}"), description="Invoce, invokd, remove, teh") for n in range(3)
    ]
    smaller = LexicalIndex() if isinstance(engine, LexicalIndex) else index.default()
    engine.update(remove=[spec.name for spec in CATALOG], put=[kept, *secret])
    smaller.update(put=[kept])
    expected = smaller.search(query)
    assert engine.search(query, where=Where(namespace="calls")) == expected
    engine.update(remove=[spec.name for spec in secret])
    assert engine.search(query) == expected


@settings(max_examples=40, deadline=None)
@given(
    st.sets(st.sampled_from(range(len(CATALOG))), min_size=1, max_size=20),
    st.sampled_from(["delete a user", "serach invoces", "mail the meeting and list files", "create_issue", "user"]),
    st.booleans(),
)
def test_what_may_not_be_shown_shifts_nothing_whether_it_is_filtered_or_was_taken_away(
    out: set[int], query: str, with_table: bool
) -> None:
    make = index.default if with_table else LexicalIndex
    gone = [CATALOG[n] for n in sorted(out)]
    kept = [spec for spec in CATALOG if spec not in gone]
    filtered, emptied, fresh = make(), make(), make()
    filtered.update(put=CATALOG)
    emptied.update(put=CATALOG)
    emptied.update(remove=[spec.name for spec in gone])
    fresh.update(put=kept)
    where = Where(select=Selection.parse([f"!{spec.name.qualified}" for spec in gone]))
    expected = [spec for spec in CATALOG if where.admits(spec)]
    assert expected == kept
    answers = [
        [(hit.name, hit.score, hit.confidence) for hit in found.hits]
        + [found.confidence, found.next_names, found.total]
        for found in (filtered.search(query, where=where), emptied.search(query), fresh.search(query))
    ]
    assert answers[0] == answers[2]
    assert answers[1] == answers[2]


@settings(max_examples=25, deadline=None)
@given(st.permutations(CATALOG), st.integers(0, 20))
def test_the_order_of_changes_does_not_show(order: list[ToolSpec], cut: int) -> None:
    straight, crooked = LexicalIndex(), LexicalIndex()
    straight.update(put=CATALOG)
    crooked.update(put=order[cut:])
    crooked.update(remove=[spec.name for spec in order[: cut + 5]])
    crooked.update(put=order[: cut + 5])
    for query in ("delete a user", "search invoices", "list"):
        assert straight.search(query) == crooked.search(query)


@pytest.mark.slow
def test_the_answer_is_the_same_in_every_process(tmp_path: Path) -> None:
    script = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from test_index import CATALOG, ENGINES\n"
        "for name, make in ENGINES.items():\n"
        "    engine = make(); engine.update(put=CATALOG)\n"
        "    for query in ('delete a user', 'serach invoces', 'mail the meeting and list files', 'k8s'):\n"
        "        print(name, engine.search(query))\n"
    )
    answers = {
        subprocess.run(
            [sys.executable, "-c", script, str(Path(__file__).parent)],
            env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True,
        ).stdout
        for seed in ("0", "1", "1")
    }  # fmt: skip
    assert len(answers) == 1
    assert len(answers.pop()) > 1000


def test_search_opens_no_socket(engine: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    for make in ENGINES.values():
        fresh = make()
        fresh.update(put=CATALOG)
        assert fresh.search("delete a user").hits
