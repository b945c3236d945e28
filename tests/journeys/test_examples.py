"""The worked examples, on their real parts: what their READMEs promise happens."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from pegboard.board import Board
from pegboard.core import FailureCode, Mode, Result

ROOT = Path(__file__).parents[2] / "examples"
pytestmark = [pytest.mark.anyio, pytest.mark.slow]
Copied = Callable[[str], Path]


@pytest.fixture
def copied(tmp_path: Path) -> Copied:
    """A copy of an example, so that nothing is left in the checkout."""

    def copy(name: str) -> Path:
        ignored = shutil.ignore_patterns("*.db", ".pegboard", "__pycache__", "node_modules")
        return Path(shutil.copytree(ROOT / name, tmp_path / name, ignore=ignored))

    return copy


def pegboard(folder: Path, *arguments: str, code: int = 0, **environ: str) -> Any:
    """Run a command in an example; its data."""
    command = [sys.executable, "-m", "pegboard", *arguments, "--json"]
    env = {**os.environ, **environ}
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout)


@asynccontextmanager
async def served(folder: Path, *more: str, **environ: str) -> AsyncGenerator[Client]:
    """A real client of a real gateway on an example."""
    command = ["-m", "pegboard", "serve", "--stdio", "--config", str(folder / "pegboard.toml"), *more]
    env = {**os.environ, **environ}
    async with Client(StdioServerParameters(command=sys.executable, args=command, env=env, cwd=folder)) as client:
        yield client


def said(answer: Any) -> str:
    return "\n".join(block.text for block in answer.content if block.type == "text")


def value(answer: Any) -> Any:
    assert not answer.is_error, said(answer)
    found = answer.structured_content
    return found["result"] if isinstance(found, dict) and set(found) == {"result"} else found


def test_every_example_says_what_it_shows_and_how_to_run_it() -> None:
    for folder in (path for path in ROOT.iterdir() if path.is_dir()):
        assert (folder / "README.md").is_file(), folder
        assert "pegboard" in (folder / "README.md").read_text()
        assert f"({folder.name}/" in (ROOT / "README.md").read_text(), folder


@pytest.mark.requirement("C15.1", "C15.2", "C15.3")
async def test_two_versions_of_a_tool_side_by_side(copied: Copied) -> None:
    folder = copied("versions")
    outbox = folder / "outbox.jsonl"
    async with served(folder, OUTBOX=str(outbox)) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        old = tools["mail__send_email"]
        assert (old.description or "").startswith("Deprecated: Recipients are a list now.")
        assert set(old.input_schema["properties"]) == {"to", "subject", "body"}
        first = await client.call_tool("mail__send_email", {"to": "a@x.example", "subject": "Old"})
        second = await client.call_tool("mail__send_email_v2", {"recipients": ["b@x.example"], "subject": "New"})
        assert value(first) == {"recipients": ["a@x.example"], "subject": "Old"}
        assert "Call mail.send_email_v2 instead" in said(first)
        assert "deprecated" not in said(second)
        ended = await client.call_tool("mail.address_of@1", {"name": "Ann"})
        assert ended.is_error
        assert (ended.meta or {})["pegboard/failure"]["code"] == "retired"
        assert "address_of@2" in said(ended)
        assert value(await client.call_tool("mail.address_of", {"name": "Ann", "office": "last"})) == "ann@last.example"
    sent = [json.loads(line) for line in outbox.read_text().splitlines()]
    assert [(mail["subject"], mail["state"]) for mail in sent] == [("Old", "sent"), ("New", "sent")]


@pytest.mark.requirement("R12.2")
async def test_a_published_board_keeps_behaving_as_it_did(copied: Copied) -> None:
    folder = copied("versions")
    environ = {"OUTBOX": str(folder / "outbox.jsonl")}
    pegboard(folder, "publish", "board", "v1", **environ)
    config = folder / "pegboard.toml"
    config.write_text(config.read_text().replace("Hello ${input.name}", "Dear ${input.name}"))

    async def subject(*more: str) -> str:
        async with served(folder, *more, **environ) as client:
            return value(await client.call_tool("greet", {"name": "Ann"}))["subject"]

    assert await subject() == "Dear Ann"
    assert await subject("--board-version", "v1") == "Hello Ann"
    pegboard(folder, "versions", "use", "v1", **environ)
    assert await subject() == "Hello Ann"
    rows = {row["tool"]: row for row in pegboard(folder, "versions", "tools", **environ)["tools"]}
    assert rows["mail.send_email_v2"]["calls"] == 3
    assert rows["mail.send_email"]["calls"] == 0


@pytest.fixture(params=["sqlite", "postgres"])
def shop(request: pytest.FixtureRequest, copied: Copied) -> Iterator[tuple[Path, str]]:
    """The explorer's folder, and the address of its database."""
    folder = copied("explorer")
    if request.param == "sqlite":
        subprocess.run([sys.executable, "make_shop.py", "sqlite:///shop.db"], cwd=folder, check=True)
        yield folder, "sqlite:///shop.db"
        return
    command = [sys.executable, "start_postgres.py", str(folder / "data")]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield folder, process.stdout.readline().strip()
        finally:
            process.send_signal(signal.SIGTERM)


@pytest.mark.requirement("C2.1", "C2.2", "C2.3", "C2.4", "C2.5", "C2.6")
async def test_a_database_is_explored_and_asked_on_three_rungs(
    shop: tuple[Path, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, url = shop
    monkeypatch.setenv("SHOP_URL", url)

    async with Board.open(folder) as board:

        async def ask(tool: str, **arguments: Any) -> Result:
            return await board.call(f"shop.{tool}", arguments)

        tables = await ask("list_tables")
        assert {"customers", "orders", "products"} <= {row["table"] for row in tables.value["tables"]}
        assert "describe_table" in json.dumps(tables.value)
        described = await ask("describe_table", table="orders")
        assert "customers" in json.dumps(described.value)
        sample = await ask("sample_rows", table="customers", limit=3)
        assert "4242" not in json.dumps(sample.value)
        hints = await ask("get_query_hints", table="orders")
        assert "customer_id" in json.dumps(hints.value)
        low = await ask("execute_query", sql="SELECT name FROM customers WHERE city = 'Rome'")
        mid = await ask("search_records", table="customers", filters=[{"column": "city", "value": "Rome"}])
        high = await ask("find_customers_like", description="somebody who goes camping, hiking")
        assert low.value["rows"][0]["name"] == mid.value["rows"][0]["name"] == "Bob Jones"
        assert high.value["rows"][0]["name"] == "Ann Smith"
        for statement in ("DELETE FROM customers", "ATTACH 'other.db' AS other", "SELECT 1; DROP TABLE orders"):
            refused = await ask("execute_query", sql=statement)
            assert refused.failure is not None, statement
            assert refused.failure.code in (FailureCode.BLOCKED, FailureCode.INVALID_ARGUMENTS), refused.failure
            assert refused.failure.next_step
        assert (await ask("execute_query", sql="SELECT count(*) AS n FROM customers")).value["rows"] == [{"n": 3}]
        specs = {spec.name.name: spec for spec in board.catalog.specs}
        assert "search_records" in specs["execute_query"].description


@pytest.fixture
def service(copied: Copied) -> Iterator[tuple[Path, str]]:
    """The adapters' folder, and the address of its service."""
    folder = copied("adapters")
    with subprocess.Popen([sys.executable, "service.py"], cwd=folder, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield folder, process.stdout.readline().strip()
        finally:
            process.terminate()


@pytest.mark.requirement("C13.1")
async def test_what_is_no_tool_becomes_one(service: tuple[Path, str], monkeypatch: pytest.MonkeyPatch) -> None:
    folder, address = service
    monkeypatch.setenv("SERVICE", address)
    async with Board.open(folder) as board:
        assert board.warnings == ()
        assert [status.error for status in await board.statuses()] == [None] * 5
        shapes = json.dumps([[s.input, s.output] for s in board.catalog.specs if s.name.namespace == "users"])
        assert not any(word in shapes for word in ("uid", "usr_nm", "crtd", "rslt", "fmt"))
        found = await board.call("users.find_users", {"name": "ann"})
        assert found.value == [{"id": "u1", "name": "Ann Smith", "city": "Paris"}]
        shown = await board.call("users.delete_user", {"user_id": "u1"})
        assert shown.mode is Mode.PREVIEW
        assert shown.value == {"sent": False, "arguments": {"user_id": "u1"}}
        one = (await board.call("users.get_user", {"user_id": "u1"})).value
        assert one == {"id": "u1", "name": "Ann Smith", "city": "Paris", "since": "2023-11-14T22:13:20Z"}
        assert (await board.call("users.delete_user", {"user_id": "u1"}, mode=Mode.EXECUTE)).ok
        gone = await board.call("users.get_user", {"user_id": "u1"})
        assert gone.failure is not None
        assert gone.failure.next_step
        cities = await board.call("cities.cities", {"name": "rom"})
        assert "Bob Jones" in json.dumps(cities.value)
        assert "Be kind." in str(await board.call("motd.motd"))
        assert (await board.call("words.words", {"text": "one two three"})).value == 3
        assert (await board.call("texts.reverse_text", {"text": "abc"})).value == "cba"


@pytest.mark.requirement("C0.1", "C14.1", "C14.2")
async def test_users_have_one_shape_whatever_their_backend(
    service: tuple[Path, str], copied: Copied, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SERVICE", service[1])
    async with Board.open(copied("canonical")) as board:
        assert board.warnings == ()
        specs = {str(spec.name): spec for spec in board.catalog.specs}
        assert "User" in specs["crm.find_users"].description
        crm = (await board.call("crm.find_users", {"name": "ann"})).value
        staff = (await board.call("staff.find_users", {"name": "ann"})).value
        created = {"created_at": "2023-11-14T22:13:20Z"}
        assert crm == [{"id": "u1", "name": "Ann Smith", "email": "ann@x.example", **created}]
        assert staff == [{"id": "17", "name": "Ann Smith", "email": "ann@x.example", "active": True}]
        both = (await board.call("find_user", {"name": "ann"})).value["records"]
        assert [(one["email"], one["_sources"]) for one in both] == [("ann@x.example", ["crm", "staff"])]
        assert both[0]["_conflicts"] == {"id": {"crm": "u1", "staff": "17"}}
        changed = await board.call("staff.update_user", {**staff[0], "name": "Ann Jones", "active": False})
        assert changed.value == {**staff[0], "name": "Ann Jones", "active": False}


@pytest.mark.requirement("C3.5", "C7.3")
async def test_composed_tools_over_a_real_mcp_server_are_ordinary_tools(copied: Copied) -> None:
    folder = copied("ordinary")
    async with served(folder) as client:
        found = await client.call_tool("tool_search", {"query": "plan a call with somebody in another city"})
        names = [row["name"] for group in found.structured_content["namespaces"] for row in group["tools"]]
        assert names[0] == "plan_call"
        times = {"our_timezone": "Europe/Paris", "their_timezone": "Asia/Tokyo", "time": "10:00"}
        planned = await client.call_tool("plan_call", times)
        assert "T1" in value(planned)["call_there"]
        assert [step["status"] for step in (planned.meta or {})["pegboard/report"]["steps"]] == ["ok", "ok"]
        zones = ["Asia/Tokyo", "No/Where", "Europe/Rome"]
        many = await client.call_tool(
            "time__convert_times", {"source_timezone": "Europe/Paris", "time": "10:00", "target_timezone": zones}
        )
        assert [item["status"] for item in value(many)["items"]] == ["ok", "failed", "ok"]
        clock = value(await client.call_tool("world_clock", {}))
        assert clock["complete"] is False
        assert {record["timezone"] for record in clock["records"]} == {"Europe/Paris", "Asia/Tokyo"}
    runs = pegboard(folder, "runs", "list")["runs"]
    calls = [call for run in runs for call in pegboard(folder, "runs", "show", run["id"])["calls"]]
    [outer] = [call for call in calls if call["tool"] == "plan_call"]
    inner = [call["tool"] for call in calls if call["parent"] == outer["id"]]
    assert inner == ["time.get_current_time", "time.convert_time"]
