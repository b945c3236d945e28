"""Everyday requests to the tools of the demo board: the right one is among the first three, nine times in ten."""

import gzip
import json
from dataclasses import replace
from pathlib import Path
from runpy import run_path
from typing import Any

import pytest

from pegboard import index
from pegboard.core import SourceRef, Tool, ToolName, ToolSpec
from pegboard.index.protocol import names_of
from pegboard.normalise import normalise_all

ROOT = Path(__file__).parents[3]
LISTS = ROOT / "tests/corpus/mcp"
EVERYDAY = Path(__file__).parent / "everyday"
CLOCK = [
    ToolSpec(
        name=ToolName("time", "get_current_time"),
        description="Get current time in a specific timezones",
        input={"type": "object", "properties": {"timezone": {"type": "string", "description": "IANA timezone name"}}},
    ),
    ToolSpec(
        name=ToolName("time", "convert_time"),
        description="Convert time between timezones",
        input={"type": "object", "properties": {"source_timezone": {}, "time": {}, "target_timezone": {}}},
    ),
]
DIFFS = {"git_diff_unstaged", "git_status", "git_diff_staged", "git_diff"}
ASKED = {
    "show what changed in the repository": DIFFS,
    "what did I change but not commit yet": DIFFS,
    "who changed this file last": {"git_log"},
    "list the last five commits": {"git_log"},
    "commit my staged changes": {"git_commit"},
    "make a new branch": {"git_create_branch"},
    "switch to another branch": {"git_checkout"},
    "what time is it in Tokyo": {"get_current_time", "convert_time"},
    "convert 3pm London to New York time": {"convert_time"},
    "download this web page": {"fetch"},
    "get the text of a website": {"fetch"},
    "read a file": {"read_file", "read_text_file"},
    "list what is in this folder": {"list_directory"},
    "find files named report": {"search_files"},
    "rename a file": {"move_file"},
    "remember that Ann likes tea": {"create_entities", "add_observations"},
    "what do you know about Ann": {"search_nodes", "open_nodes", "read_graph"},
    "forget everything about Bob": {"delete_entities", "delete_observations"},
    "add two numbers": {"get-sum", "add"},
    "create a folder": {"create_directory"},
    "write text into a file": {"write_file"},
    "replace a word in a file": {"edit_file"},
    "how big is this file": {"get_file_info"},
    "stage all my files": {"git_add"},
    "undo staged changes": {"git_reset"},
    "which branch am I on": {"git_branch", "git_status"},
    "compare two branches": {"git_diff"},
    "show the details of a commit": {"git_show"},
}


SERVERS = {
    "demo": ("git", "fetch", "filesystem", "memory", "everything"),
    "work": ("github", "kubernetes", "notion", "playwright", "word-document-server", "mcp-server-chart", "context7"),
}


def listed(server: str) -> list[ToolSpec]:
    """What a recorded server lists; the demo board denies the one tool that would show the environment."""
    plain, packed = LISTS / f"{server}.json", LISTS / f"{server}.json.gz"
    answer: Any = json.loads(plain.read_bytes() if plain.exists() else gzip.decompress(packed.read_bytes()))
    rows = answer["tools"] if isinstance(answer, dict) else answer
    specs, _ = normalise_all(rows, namespace=server, source=SourceRef(server, "mcp"), trusted=False)
    return [spec for spec in specs if spec.name.name != "get-env"]


def desk() -> list[ToolSpec]:
    """The demo board's own functions."""
    module = run_path(str(ROOT / "examples/demo/desk.py"), run_name="desk")
    made = [getattr(one, "tool", None) for one in module.values()]
    found = {one.spec.name.name: one.spec for one in made if isinstance(one, Tool)}
    return [replace(spec, name=ToolName("desk", name)) for name, spec in found.items()]


def tools_of(name: str) -> list[ToolSpec]:
    """A board's tools."""
    found = [spec for server in SERVERS[name] for spec in listed(server)]
    return [*found, *CLOCK, *desk()] if name == "demo" else found


def test_everyday_requests_find_their_tool_among_the_first_three() -> None:
    engine = index.default()
    engine.update(put=tools_of("demo"))
    missed = [
        query
        for query, right in ASKED.items()
        if not {name.partition(".")[2] for name in names_of(engine.search(query).hits[:3])} & right
    ]
    assert len(ASKED) >= 20
    assert len(missed) <= len(ASKED) // 10, missed


def found_in(name: str, limit: int, *, seen: bool) -> float:
    """The share of a list's requests that find a right tool among the first so many."""
    engine = index.default()
    engine.update(put=tools_of(name))
    lines = [line.split("\t") for line in (EVERYDAY / f"{name}.tsv").read_text(encoding="utf8").splitlines()]
    assert {tool for right, *_ in lines for tool in right.split()} <= {str(spec.name) for spec in tools_of(name)}
    asked = [(set(right.split()), query) for right, query, *mark in lines if bool(mark) == seen]
    return sum(bool(right & set(names_of(engine.search(query).hits[:limit]))) for right, query in asked) / len(asked)


@pytest.mark.parametrize(("name", "limit", "least"), [("demo", 3, 0.83), ("demo", 8, 0.9), ("work", 3, 0.69)])
def test_indirect_requests_that_nobody_looked_at_find_their_tool_too(name: str, limit: int, least: float) -> None:
    assert found_in(name, limit, seen=False) >= least


@pytest.mark.parametrize(("name", "least"), [("demo", 0.93), ("work", 0.8)])
def test_what_is_found_once_stays_found(name: str, least: float) -> None:
    assert found_in(name, 3, seen=True) >= least
