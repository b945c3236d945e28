"""What bench/parity.py asks of which server: every tool, resource, template and prompt that it lists."""

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
NODE = HERE / "node_modules"
PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


@dataclass(frozen=True)
class Plan:
    """One server, and what it is asked.

    Parameters:
        command: starts it; `{work}` stands for a folder that is made anew for each run.
        calls: the arguments of its tools, by name, in the order of calling; several calls of one tool stand in a list.
        gets: the arguments of its prompts, by name.
        reads: addresses that it does not list, such as those of templates.
        completes: references and arguments to complete.
        skipped: tools that are not called, and why.
        listed: whether it is only listed, as what its tools need is not here.
        env: variables of the server.
        prepare: fills the folder.
    """

    command: Sequence[str]
    calls: Mapping[str, Any] = field(default_factory=dict)
    gets: Mapping[str, Any] = field(default_factory=dict)
    reads: Sequence[str] = ()
    completes: Sequence[tuple[dict[str, str], dict[str, str]]] = ()
    skipped: Mapping[str, str] = field(default_factory=dict)
    listed: bool = False
    env: Mapping[str, str] = field(default_factory=dict)
    prepare: Callable[[Path], None] = lambda _: None


def files(work: Path) -> None:
    """A small folder with texts, a picture and bytes."""
    (work / "deep" / "er").mkdir(parents=True)
    (work / "notes é.txt").write_text("one\ntwo\nthree\n", "utf-8")
    (work / "deep" / "er" / "b.md").write_text("# b\n")
    (work / "dot.png").write_bytes(PICTURE)
    (work / "raw.bin").write_bytes(bytes(range(256)) * 40)


def repository(work: Path) -> None:
    """A repository with one commit and one change."""
    import subprocess

    git = ("git", "-C", str(work), "-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false")
    subprocess.run([*git, "init", "-q", "-b", "main"], check=True)
    (work / "a.txt").write_text("one\n")
    subprocess.run([*git, "add", "."], check=True)
    date = {"GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z"}
    subprocess.run([*git, "commit", "-qm", "first"], check=True, env={"PATH": "/usr/bin:/bin", **date})
    (work / "a.txt").write_text("two\n")


def npm(package: str, script: str, *args: str) -> tuple[str, ...]:
    """The command of a server from npm."""
    return ("node", str(NODE / package / script), *args)


EVERYTHING = "demo://resource/dynamic"
ENTITY = {"name": "Ada", "entityType": "person", "observations": ["writes programs"]}
PLANS: Mapping[str, Plan] = {
    "everything": Plan(
        npm("@modelcontextprotocol/server-everything", "dist/index.js"),
        calls={
            "echo": [{"message": "héllo"}, {}],
            "get-annotated-message": [
                {"messageType": kind, "includeImage": image}
                for kind in ("error", "success", "debug")
                for image in (False, True)
            ],
            "get-resource-links": {"count": 4},
            "get-resource-reference": [
                {"resourceType": "Text", "resourceId": 1},
                {"resourceType": "Blob", "resourceId": 2},
            ],
            "get-structured-content": {"location": "Chicago"},
            "get-sum": {"a": 2, "b": 3.5},
            "get-tiny-image": {},
            "gzip-file-as-resource": [
                {"name": "a.gz", "data": "data:text/plain,hello", "outputType": kind}
                for kind in ("resourceLink", "resource")
            ],
            "trigger-long-running-operation": {"duration": 0.2, "steps": 2},
            "toggle-simulated-logging": {},
            "toggle-subscriber-updates": {},
        },
        gets={
            "simple-prompt": None,
            "args-prompt": [{"city": "Wien", "state": "W"}, {"city": "Wien"}, {}],
            "completable-prompt": {"department": "Engineering", "name": "Alice"},
            "resource-prompt": [
                {"resourceType": "Text", "resourceId": "1"},
                {"resourceType": "Blob", "resourceId": "2"},
            ],
        },
        reads=(
            "demo://resource/session/a.gz",
            f"{EVERYTHING}/text/3",
            f"{EVERYTHING}/blob/4",
            f"{EVERYTHING}/text/none",
            "nobody://has/this",
        ),
        completes=(
            ({"type": "ref/prompt", "name": "completable-prompt"}, {"name": "department", "value": "E"}),
            (
                {"type": "ref/resource", "uri": f"{EVERYTHING}/text/{{resourceId}}"},
                {"name": "resourceId", "value": "1"},
            ),
        ),
        skipped={
            "get-env": "it shows the environment, which a gateway narrows on purpose",
            "simulate-research-query": "it runs only as a task of 2025-11-25",
        },
    ),
    "filesystem": Plan(
        npm("@modelcontextprotocol/server-filesystem", "dist/index.js", "{work}"),
        calls={
            "read_file": {"path": "{work}/notes é.txt"},
            "read_text_file": [
                {"path": "{work}/notes é.txt", "head": 1},
                {"path": "{work}/none"},
                {"path": "/etc/passwd"},
            ],
            "read_media_file": [{"path": "{work}/dot.png"}, {"path": "{work}/raw.bin"}],
            "read_multiple_files": {"paths": ["{work}/notes é.txt", "{work}/none"]},
            "write_file": {"path": "{work}/new.txt", "content": "new\n"},
            "edit_file": {"path": "{work}/new.txt", "edits": [{"oldText": "new", "newText": "old"}]},
            "create_directory": {"path": "{work}/made"},
            "list_directory": {"path": "{work}"},
            "list_directory_with_sizes": {"path": "{work}/deep"},
            "directory_tree": {"path": "{work}"},
            "move_file": {"source": "{work}/new.txt", "destination": "{work}/moved.txt"},
            "search_files": {"path": "{work}", "pattern": "**/*.md"},
            "get_file_info": {"path": "{work}/dot.png"},
            "list_allowed_directories": {},
        },
        prepare=files,
    ),
    "memory": Plan(
        npm("@modelcontextprotocol/server-memory", "dist/index.js"),
        calls={
            "create_entities": {"entities": [ENTITY, {**ENTITY, "name": "Bob"}]},
            "create_relations": {"relations": [{"from": "Ada", "to": "Bob", "relationType": "knows"}]},
            "add_observations": {"observations": [{"entityName": "Ada", "contents": ["likes é"]}]},
            "read_graph": {},
            "search_nodes": {"query": "é"},
            "open_nodes": {"names": ["Bob"]},
            "delete_observations": {"deletions": [{"entityName": "Ada", "observations": ["likes é"]}]},
            "delete_relations": {"relations": [{"from": "Ada", "to": "Bob", "relationType": "knows"}]},
            "delete_entities": {"entityNames": ["Bob"]},
        },
        env={"MEMORY_FILE_PATH": "{work}/memory.jsonl"},
    ),
    "playwright": Plan(npm("@playwright/mcp", "cli.js"), listed=True),
    "chrome-devtools": Plan(npm("chrome-devtools-mcp", "build/src/bin/chrome-devtools-mcp.js"), listed=True),
    "time": Plan(
        ("mcp-server-time", "--local-timezone", "UTC"),
        calls={
            "get_current_time": [{"timezone": "Europe/Vienna"}, {"timezone": "Nowhere"}],
            "convert_time": {"source_timezone": "UTC", "time": "12:30", "target_timezone": "Asia/Tokyo"},
        },
    ),
    "git": Plan(
        ("mcp-server-git", "--repository", "{work}"),
        calls={
            "git_status": {"repo_path": "{work}"},
            "git_diff_unstaged": {"repo_path": "{work}"},
            "git_add": {"repo_path": "{work}", "files": ["a.txt"]},
            "git_diff_staged": {"repo_path": "{work}"},
            "git_diff": [{"repo_path": "{work}", "target": "main"}, {"repo_path": "{work}", "target": "none"}],
            "git_log": {"repo_path": "{work}"},
            "git_show": {"repo_path": "{work}", "revision": "HEAD"},
            "git_branch": {"repo_path": "{work}", "branch_type": "local"},
            "git_create_branch": {"repo_path": "{work}", "branch_name": "b"},
            "git_checkout": {"repo_path": "{work}", "branch_name": "b"},
            "git_reset": {"repo_path": "{work}"},
        },
        skipped={"git_commit": "it writes the time of the commit, and a new hash with it"},
        prepare=repository,
    ),
    "fetch": Plan(
        ("mcp-server-fetch",),
        calls={"fetch": {"url": "http://127.0.0.1:9/nothing"}},
        gets={"fetch": {"url": "http://127.0.0.1:9/nothing"}},
    ),
}
