"""Everyday requests to the tools of the demo board: the right one is among the first three, nine times in ten."""

import json
from pathlib import Path

from pegboard import index
from pegboard.core import ToolName, ToolSpec
from pegboard.index.protocol import names_of

LISTS = Path(__file__).parents[2] / "corpus/mcp"
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


def demo() -> list[ToolSpec]:
    """The tools that the demo's servers list."""
    found = list(CLOCK)
    for name in ("git", "fetch", "filesystem", "memory", "everything"):
        listed = json.loads((LISTS / f"{name}.json").read_text(encoding="utf8"))
        for tool in listed["tools"] if isinstance(listed, dict) else listed:
            found.append(
                ToolSpec(
                    name=ToolName(name, tool["name"]),
                    title=tool.get("title"),
                    description=tool.get("description") or "",
                    input=tool["inputSchema"],
                )
            )
    return found


def test_everyday_requests_find_their_tool_among_the_first_three() -> None:
    engine = index.default()
    engine.update(put=demo())
    missed = [
        query
        for query, right in ASKED.items()
        if not {name.partition(".")[2] for name in names_of(engine.search(query).hits[:3])} & right
    ]
    assert len(ASKED) >= 20
    assert len(missed) <= len(ASKED) // 10, missed
