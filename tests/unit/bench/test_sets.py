"""Sets of requests: read in both forms, scored as evaluations score, and never helped by ids or order."""

import gzip
import json
from pathlib import Path

import pytest

from pegboard.bench import default
from pegboard.bench.peers import fastmcp, plain_bm25
from pegboard.bench.sets import opaque, read_sets, score
from pegboard.errors import ConfigError

TOOLS = [
    {"id": "a", "name": "send_email", "namespace": "mail", "description": "Send an email", "parameters": {}},
    {
        "id": "b",
        "name": "list_files",
        "namespace": "disk",
        "description": "List files",
        "parameters": {"properties": []},
    },
    {"id": "c", "name": "get_weather", "namespace": "", "description": None, "parameters": None},
]
QUERIES = [
    {"query": "email somebody", "gold": ["a"]},
    {"query": "email the files", "gold": ["a", "b"], "gold_groups": [["a"], ["b", "c"]]},
]


def write(folder: Path, *, packed: bool = False) -> Path:
    folder.mkdir()
    for name, rows in (("tools.jsonl", TOOLS), ("queries.jsonl", QUERIES)):
        text = "\n".join(json.dumps(row) for row in rows)
        if packed:
            (folder / f"{name}.gz").write_bytes(gzip.compress(text.encode()))
        else:
            (folder / name).write_text(text)
    return folder


@pytest.mark.parametrize("packed", [False, True])
def test_a_set_and_a_folder_of_sets_are_read(tmp_path: Path, packed: bool) -> None:
    place = write(tmp_path / "mine", packed=packed)
    assert [found.name for found in read_sets(place)] == ["mine"]
    assert [len(found.tools) for found in read_sets(tmp_path)] == [3]


def test_a_folder_without_sets_is_refused_with_a_remedy(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"tools\.jsonl"):
        list(read_sets(tmp_path))


def test_ids_and_order_tell_nothing(tmp_path: Path) -> None:
    given = next(read_sets(write(tmp_path / "mine")))
    hidden = opaque(given)
    assert {tool["id"] for tool in hidden.tools}.isdisjoint("abc")
    assert sorted(tool["name"] for tool in hidden.tools) == sorted(tool["name"] for tool in given.tools)


@pytest.mark.parametrize("build", [default, plain_bm25, fastmcp])
def test_every_engine_is_scored(tmp_path: Path, build) -> None:
    found = score("any", build, next(read_sets(write(tmp_path / "mine"))))
    assert (found.tools, found.queries) == (3, 2)
    assert found.recall[1] == 0.75
    assert found.recall[8] == found.all_at_8 == 1.0


def test_a_search_has_a_confidence() -> None:
    search = default(TOOLS)
    assert 0 <= search.confidence("knit a sweater") < search.confidence("send_email") <= 1
