"""Whatever stands in a directory, reading it never fails, and a good entry beside it is always found."""

import json
import tempfile
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pegboard.config import parse
from pegboard.config.load import InvalidConfigError, source_config
from pegboard.directory.read import read_directory
from pegboard.directory.reading import Reading

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=12,
)
TEXT = st.text(max_size=30) | st.sampled_from(
    ["stdio", "pypi", "npm", "oci", "sse", "https://x.example/mcp", "a/b", "1.0"]
)
VALUE = TEXT | JSON
INPUT = st.dictionaries(
    st.sampled_from(["name", "value", "default", "isRequired", "isSecret", "type", "valueHint", "variables"]), VALUE
)
PACKAGE = st.fixed_dictionaries(
    {"registryType": TEXT, "identifier": TEXT},
    optional={
        "version": VALUE,
        "transport": st.just({"type": "stdio"}) | VALUE,
        "fileSha256": VALUE,
        "packageArguments": st.lists(INPUT, max_size=3) | VALUE,
        "environmentVariables": st.lists(INPUT, max_size=3) | VALUE,
    },
)
REMOTE = st.fixed_dictionaries({"type": TEXT, "url": TEXT}, optional={"headers": st.lists(INPUT, max_size=3) | VALUE})
SERVER = st.fixed_dictionaries(
    {"name": TEXT, "description": VALUE},
    optional={
        "version": VALUE,
        "title": VALUE,
        "packages": st.lists(PACKAGE, max_size=2) | VALUE,
        "remotes": st.lists(REMOTE, max_size=2) | VALUE,
        "_meta": VALUE,
    },
)
IMAGE = st.dictionaries(
    st.sampled_from(
        ["title", "description", "type", "image", "remote", "env", "secrets", "tools", "command", "metadata", "oauth"]
    ),
    VALUE | REMOTE | st.lists(INPUT, max_size=2),
)
STDIO = {"type": "stdio"}
GOOD = {
    "name": "good/one",
    "description": "Fine.",
    "packages": [{"registryType": "pypi", "identifier": "good", "version": "1", "transport": STDIO}],
}


def read(document: Any, kind: str) -> Reading:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "directory.json"
        path.write_text(json.dumps(document))
        settings = parse({"directories": {"d": {"from": str(path), "kind": kind}}}, folder=Path(folder))
        return anyio.run(read_directory, "d", settings.tables["directories"]["d"], settings.secrets)


def check(found: Reading) -> None:
    assert all(aside.message for aside in found.aside)
    board = parse({}, folder=Path("/")).board
    for one in found.found:
        json.dumps(one.to_json())
        assert len(one.digest) == 64
        for part in one.parts:
            try:
                source = source_config(part.name, part.table, board, Path("/"))
            except InvalidConfigError:
                continue  # it would be refused when it is installed, and nothing else with it
            assert "${file:" not in str(source.target)


@settings(max_examples=150)
@given(st.lists(SERVER | JSON, max_size=3))
def test_a_registry_of_anything_gives_its_good_entry(rows: list[Any]) -> None:
    found = read([*rows, GOOD], "registry")
    assert "good/one" in [one.id for one in found.found]
    check(found)


@settings(max_examples=100)
@given(st.dictionaries(st.text(max_size=10), IMAGE | JSON, max_size=3))
def test_a_catalog_of_anything_gives_its_good_entry(rows: dict[str, Any]) -> None:
    good = {"description": "Fine.", "image": "good/one"}
    found = read({"registry": {**rows, "the good one": good}}, "docker")
    assert "the good one" in [one.id for one in found.found]
    check(found)


@pytest.mark.parametrize("kind", ["registry", "docker"])
@settings(max_examples=50)
@given(document=JSON)
def test_any_document_is_read_or_set_aside(kind: str, document: Any) -> None:
    check(read(document, kind))
