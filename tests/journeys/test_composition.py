"""The example board of composed tools, through a real gateway and a real MCP client."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

EXAMPLE = Path(__file__).parents[2] / "examples" / "composition"
pytestmark = [pytest.mark.anyio, pytest.mark.slow]


@pytest.fixture
def office(tmp_path: Path) -> Path:
    folder = tmp_path / "board"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("*.db", ".pegboard", "__pycache__"))
    subprocess.run([sys.executable, folder / "make_shop.py"], check=True)
    (folder / "files").mkdir()
    for name, size in (("a.txt", 3), ("b.txt", 5), ("c.txt", 7)):
        (folder / "files" / name).write_text("x" * size)
    return folder


@pytest.fixture
async def client(office: Path) -> AsyncIterator[Client]:
    command = ["-m", "pegboard", "serve", "--stdio", "--config", str(office / "pegboard.toml")]
    env = {**os.environ, "OFFICE_FOLDER": str(office / "files")}
    async with Client(StdioServerParameters(command=sys.executable, args=command, env=env), mode="auto") as found:
        yield found


def files(office: Path) -> list[str]:
    return sorted(file.name for file in (office / "files").iterdir())


def value(answer: Any) -> Any:
    assert not answer.is_error, answer.content
    found = answer.structured_content
    return found["result"] if isinstance(found, dict) and set(found) == {"result"} else found


@pytest.mark.requirement("C5.1", "C5.2", "C5.4", "C5.5", "C5.7", "C5.8")
async def test_delete_in_its_default_mode_changes_nothing_and_shows_what_execute_changes(
    client: Client, office: Path
) -> None:
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    delete = tools["office__delete_files"]
    assert delete.input_schema["properties"]["mode"]["default"] == "preview"
    assert {"preview", "dry_run", "execute"} <= set(delete.input_schema["properties"]["mode"]["enum"])
    assert delete.annotations is not None
    assert delete.annotations.destructive_hint is True
    arguments = {"paths": ["a.txt", "c.txt"]}
    shown = await client.call_tool("office__delete_files", arguments)
    assert files(office) == ["a.txt", "b.txt", "c.txt"]
    assert (shown.meta or {})["pegboard/mode"] == "preview"
    done = await client.call_tool("office__delete_files", {**arguments, "mode": "execute"})
    assert files(office) == ["b.txt"]
    assert value(shown) == value(done) == [{"path": "a.txt", "bytes": 3}, {"path": "c.txt", "bytes": 7}]
    assert (done.meta or {})["pegboard/report"]["preview"]["same"] is True


class ScriptedModel:
    """An agent's model that reads what models read, the definitions and the texts of answers, and does what they say.

    Parameters:
        tools: the definitions in its context.
    """

    def __init__(self, tools: list[Any]) -> None:
        self.tools = {tool.name: tool for tool in tools}
        self.read: list[str] = []

    def first(self, task: str, **arguments: Any) -> tuple[str, dict[str, Any]]:
        """The tool whose description fits the task best, with the arguments of the task and nothing else."""
        words = set(task.lower().split())
        best = max(self.tools.values(), key=lambda tool: len(words & set((tool.description or "").lower().split())))
        return best.name, arguments

    def next(self, name: str, arguments: dict[str, Any], answer: Any) -> tuple[str, dict[str, Any]] | None:
        """The next call: what a preview says will do it."""
        self.read.append("\n".join(block.text for block in answer.content))
        told = re.search(r'preview: nothing was changed. Call it again with (\w+) = "(\w+)"', self.read[-1])
        return (name, {**arguments, told[1]: told[2]}) if told else None


@pytest.mark.requirement("C5.1", "C5.2", "C5.4", "C5.5", "C5.8")
async def test_an_agent_that_deletes_is_shown_first_exactly_what_it_then_changes(client: Client, office: Path) -> None:
    model = ScriptedModel((await client.list_tools()).tools)
    call = model.first("Delete the files of the office", paths=["c.txt", "a.txt"])
    assert call == ("office__delete_files", {"paths": ["c.txt", "a.txt"]})
    shown = await client.call_tool(*call)
    assert files(office) == ["a.txt", "b.txt", "c.txt"]
    again = model.next(*call, shown)
    assert again is not None
    assert again[1]["mode"] == "execute"
    done = await client.call_tool(*again)
    assert files(office) == ["b.txt"]
    assert model.next(*again, done) is None
    assert shown.content[0].text == done.content[0].text
    assert "It did what the preview showed." in model.read[-1]
    gone = {row["path"] for row in value(shown)}
    assert gone == {"a.txt", "c.txt"}


@pytest.mark.requirement("C5.3")
async def test_an_exploration_lists_what_could_be_done_and_needs_no_arguments(client: Client, office: Path) -> None:
    could = value(await client.call_tool("office__delete_files", {"mode": "explore"}))
    assert could == [{"path": "a.txt", "bytes": 3}, {"path": "b.txt", "bytes": 5}, {"path": "c.txt", "bytes": 7}]
    assert files(office) == ["a.txt", "b.txt", "c.txt"]


@pytest.mark.requirement("C5.6", "C5.9")
async def test_a_dry_run_checks_and_the_schema_is_shown_without_a_call(client: Client, office: Path) -> None:
    checked = await client.call_tool("office__delete_files", {"paths": ["a.txt"], "mode": "dry_run"})
    assert "Nothing was executed" in checked.content[0].text
    wrong = await client.call_tool("office__delete_files", {"paths": "a.txt;b", "mode": "dry_run", "x": 1})
    assert wrong.is_error
    shape = await client.call_tool("office__delete_files", {"mode": "schema"})
    assert "paths" in str(value(shape))
    assert files(office) == ["a.txt", "b.txt", "c.txt"]


@pytest.mark.requirement("C3.1", "C3.4", "C3.5")
async def test_a_direct_message_is_one_call_that_reports_its_steps(client: Client) -> None:
    sent = await client.call_tool("office__dm_user", {"name": "ann", "message": "hi", "mode": "execute"})
    if sent.is_error:  # the bundle has no modes of its own where none of its parts hurts
        sent = await client.call_tool("office__dm_user", {"name": "ann", "message": "hi"})
    assert value(sent) == {"room": "dm-u1", "text": "hi"}
    steps = (sent.meta or {})["pegboard/report"]["steps"]
    assert [step["status"] for step in steps] == ["ok", "ok", "ok"]
    stopped = await client.call_tool("office__dm_user", {"name": "nobody", "message": "hi"})
    assert stopped.is_error
    assert "0 people are called" in stopped.content[0].text
    assert value(await client.call_tool("office__open_dm", {"user_id": "u2"})) == "dm-u2"


@pytest.mark.requirement("C4.1", "C4.3", "R2.2")
async def test_many_messages_are_one_call(client: Client) -> None:
    items = [{"name": "ann", "message": "1"}, {"name": "zed", "message": "2"}, {"name": "bob", "message": "3"}]
    found = value(await client.call_tool("office__dm_users", {"items": items}))
    assert found["status"] == "partial"
    assert [item["status"] for item in found["items"]] == ["ok", "failed", "ok"]
    assert found["retry"] == {"items": [items[1]]}


async def test_a_sequence_as_data_crosses_sources(client: Client) -> None:
    found = value(await client.call_tool("tell_customer", {"order": 11, "message": "It is on its way."}))
    assert found == {"customer": "Bob Jones", "room": "dm-u2"}
    missing = await client.call_tool("tell_customer", {"order": 99, "message": "x"})
    assert "There is no order 99." in missing.content[0].text


@pytest.mark.requirement("C2.4", "C7.1", "C7.2", "C7.3")
async def test_rungs_sources_and_programs(client: Client) -> None:
    like = value(await client.call_tool("shop__find_customers_like", {"description": "likes hiking and tents"}))
    assert like["rows"][0]["name"] == "Ann Smith"
    person = value(await client.call_tool("find_person", {"query": "ann"}))
    assert person["records"] == [{"name": "Ann Smith", "chat_id": "u1", "city": "Paris", "_sources": ["chat", "shop"]}]
    assert person["complete"] is True
    counted = await client.call_tool("words__words", {"text": "one two three"})
    assert counted.content[0].text.strip() == "3"
