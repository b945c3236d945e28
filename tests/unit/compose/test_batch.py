"""A batch runs one tool for many items and loses none of them."""

import json
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_board import SmallBoard, failed, tool

from pegboard.compose import Undo, UpstreamTool, batch
from pegboard.core import Call, Effects, FailureCode, Mode, Report, Result, Status, ToolName, with_modes
from pegboard.errors import DefinitionError
from pegboard.schema.template import Template

STRING = {"type": "string"}


async def get_user(user_id: str, verbose: bool = False) -> Any:
    if user_id.startswith("x"):
        return failed(message=f"no user {user_id}", next_step="call search_users first")
    return {"id": user_id, "verbose": verbose}


USER = tool(
    "crm.get_user",
    get_user,
    properties={"user_id": {"type": "string", "minLength": 2}, "verbose": {"type": "boolean"}},
    required=["user_id"],
    description="Read one user.",
    output={"type": "object", "properties": {"id": STRING}},
)


def users(**more: Any) -> SmallBoard:
    return SmallBoard([USER, batch("crm.get_user", name="crm.get_users", over="user_id", **more)])


@pytest.mark.requirement("C4.1", "C4.3", "C4.4")
def test_each_item_has_its_own_status_in_the_order_given() -> None:
    result = users().call("crm.get_users", user_id=["u1", "x1", "u2"], verbose=True)
    assert result.ok
    assert result.report is not None
    assert result.report.counts == {"ok": 2, "failed": 1}
    assert [item.status for item in result.report.items] == [Status.OK, Status.FAILED, Status.OK]
    assert result.report.items[1].failure is not None
    assert result.report.items[1].failure.next_step == "call search_users first"
    assert result.value["status"] == "partial"
    assert result.value["items"][2]["value"] == {"id": "u2", "verbose": True}
    assert result.value["retry"] == {"user_id": ["x1"], "verbose": True}


async def search(query: str) -> Any:
    left = ("Record 3 was left out.",) if query != "b" else ()
    return Result(value=[query], report=Report(notes=left))


def test_what_a_part_says_of_its_answer_is_said_of_the_whole() -> None:
    finder = tool("crm.search", search, properties={"query": STRING}, required=["query"], description="Search.")
    once = SmallBoard([finder, batch("crm.search", name="crm.search_all", over="query")])
    result = once.call("crm.search_all", query=["a", "b", "c"])
    assert result.value["notes"] == ["Item 0, 2: Record 3 was left out."]
    assert "notes" not in once.call("crm.search_all", query=["b"]).value


def test_what_failed_comes_back_as_the_input_of_the_next_call() -> None:
    board = users()
    first = board.call("crm.get_users", user_id=["u1", "x1"])
    second = board.call("crm.get_users", **first.value["retry"])
    assert [item.input for item in second.report.items] == ["x1"]  # type: ignore[union-attr]


@pytest.mark.requirement("C4.2", "C4.6")
def test_the_maximum_and_the_policy_are_said_up_front() -> None:
    spec = users(limit=7).catalog.get(ToolName("crm", "get_users")).spec  # type: ignore[union-attr]
    assert spec.batch == 7
    assert spec.input["properties"]["user_id"]["maxItems"] == 7
    assert "up to 7 items" in spec.description
    assert "succeeds or fails for itself" in spec.description
    assert spec.output is not None
    assert spec.output["properties"]["items"]["items"]["properties"]["value"]["properties"] == {"id": STRING}


@pytest.mark.parametrize(
    ("items", "says"),
    [
        ([], "empty"),
        (["u1"] * 8, "more than the maximum of 7"),
        ("u1", "must be a list"),
    ],
)
def test_a_list_that_is_empty_too_long_or_none_is_refused_with_a_next_step(items: Any, says: str) -> None:
    board = users(limit=7)
    result = board.call("crm.get_users", user_id=items)
    assert result.failure is not None
    assert result.failure.code is FailureCode.INVALID_ARGUMENTS
    assert says in result.failure.message
    assert result.failure.next_step
    assert board.executed("crm.get_user") == []


def test_one_invalid_item_among_a_hundred_costs_itself_alone() -> None:
    items: list[Any] = [f"u{n}" for n in range(100)]
    items[41] = {"id": 41}
    items[42] = "u"
    board = users(limit=100)
    result = board.call("crm.get_users", user_id=items)
    assert result.report is not None
    assert result.report.counts == {"ok": 98, "failed": 2}
    bad = [item for item in result.report.items if item.failure]
    assert [(item.index, item.failure.code) for item in bad if item.failure] == [
        (41, FailureCode.INVALID_ARGUMENTS),
        (42, FailureCode.INVALID_ARGUMENTS),
    ]


def test_equal_items_run_once_and_show_in_every_place() -> None:
    board = users()
    result = board.call("crm.get_users", user_id=["u1", "u2", "u1"])
    assert len(board.executed("crm.get_user")) == 2
    assert result.report is not None
    assert result.report.items[2].value == result.report.items[0].value
    assert "2 (as 0)" in result.report.notes[0]
    each = users(duplicates="each")
    each.call("crm.get_users", user_id=["u1", "u2", "u1"])
    assert len(each.executed("crm.get_user")) == 3


def test_items_may_differ_in_several_parameters_and_share_the_rest() -> None:
    async def put(table: str, key: str, value: int) -> Any:
        return f"{table}.{key}={value}"

    one = tool("db.put", put, properties={"table": STRING, "key": STRING, "value": {"type": "integer"}})
    board = SmallBoard([one, batch("put", name="put_many", over=["key", "value"])])
    result = board.call("put_many", table="t", items=[{"key": "a", "value": 1}, {"key": "b"}, 5])
    assert result.report is not None
    assert [item.status.value for item in result.report.items] == ["ok", "failed", "failed"]
    assert result.report.items[0].value == "t.a=1"
    spec = board.catalog.get(ToolName("", "put_many")).spec  # type: ignore[union-attr]
    assert spec.input["properties"]["items"]["items"]["required"] == ["key", "value"]
    assert spec.input["required"] == ["items", "table"]


def test_whole_argument_objects_and_colliding_names() -> None:
    async def send(items: str, report: bool) -> Any:
        return [items, report]

    one = tool("send", send, properties={"items": STRING, "report": {"type": "boolean"}})
    board = SmallBoard([one, batch("send", name="send_many", over="items")])
    result = board.call("send_many", items=["a"], report=True, batch_report="all")
    assert result.value["items"][0]["value"] == ["a", True]
    board = SmallBoard([one, batch("send", name="send_many")])
    result = board.call("send_many", items=[{"items": "a", "report": False}])
    assert result.value["items"][0]["value"] == ["a", False]


@pytest.mark.requirement("C4.4")
def test_when_nothing_succeeds_the_batch_has_failed() -> None:  # bt-02
    result = users().call("crm.get_users", user_id=["x1", "x2"])
    assert result.failure is not None
    assert result.failure.code is FailureCode.UPSTREAM
    assert result.value["status"] == "failed"
    assert result.value["counts"] == {"failed": 2}
    assert len(result.value["items"]) == 2


def test_a_rejected_item_cancels_no_other_and_the_slow_one_is_waited_for() -> None:  # bt-04
    async def work(item: str) -> Any:
        if item == "fails fast":
            return failed()
        if item == "ok slow":
            await anyio.sleep(0.05)
        return item

    board = SmallBoard([tool("work", work, properties={"item": STRING}), batch("work", name="many", concurrency=3)])
    board = SmallBoard([board.catalog.get(ToolName("", "work")), batch("work", name="many", over="item")])  # type: ignore[list-item]
    result = board.call("many", item=["ok", "fails fast", "ok slow"])
    assert [item["status"] for item in result.value["items"]] == ["ok", "failed", "ok"]


def test_a_tool_that_breaks_costs_its_item_alone() -> None:
    async def work(item: str) -> Any:
        if item == "b":
            raise RuntimeError("boom")
        return item

    board = SmallBoard([tool("work", work, properties={"item": STRING}), batch("work", name="many", over="item")])
    result = board.call("many", item=["a", "b", "c"])
    assert [item["status"] for item in result.value["items"]] == ["ok", "failed", "ok"]
    assert "boom" in result.value["items"][1]["error"]["message"]


def test_a_cancelled_batch_says_which_items_ran() -> None:
    told: list[Any] = []

    async def work(item: str) -> Any:
        if item == "b":
            await anyio.sleep_forever()
        return item

    async def log(level: str, data: Any, logger: str | None = None) -> None:
        told.append(data)

    board = SmallBoard(
        [tool("work", work, properties={"item": STRING}), batch("work", name="many", over="item", concurrency=1)]
    )

    async def main() -> None:
        with anyio.move_on_after(0.5):
            call = Call(tool=ToolName("", "many"), arguments={"item": ["a", "b", "c"]}, log=log)
            await board.run(call)

    anyio.run(main)
    assert told[0]["items"] == {"0": "ok", "1": "cancelled", "2": "skipped"}


def test_a_batch_that_runs_out_of_time_reports_what_was_done() -> None:
    async def work(item: str) -> Any:
        if item == "b":
            await anyio.sleep_forever()
        return item

    board = SmallBoard(
        [
            tool("work", work, properties={"item": STRING}),
            batch("work", name="many", over="item", concurrency=1, timeout=0.5),
        ]
    )
    result = board.call("many", item=["a", "b", "c"])
    assert [item["status"] for item in result.value["items"]] == ["ok", "timed_out", "skipped"]
    assert result.value["retry"] == {"item": ["b", "c"]}


def test_a_hopeless_source_is_not_asked_a_hundred_times() -> None:
    async def work(item: str) -> Any:
        return failed(FailureCode.UNAVAILABLE, "down", retryable=False)

    board = SmallBoard(
        [tool("work", work, properties={"item": STRING}), batch("work", name="many", over="item", concurrency=1)]
    )
    result = board.call("many", item=[f"i{n}" for n in range(50)])
    assert len(board.executed("work")) == 5
    assert result.failure is not None
    assert result.failure.code is FailureCode.UNAVAILABLE
    assert result.value["counts"] == {"failed": 5, "skipped": 45}


def test_a_retry_after_is_obeyed_and_holds_the_others_back() -> None:
    asked = {"a": 0}

    async def work(item: str) -> Any:
        asked[item] = asked.get(item, 0) + 1
        if item == "a" and asked[item] == 1:
            return failed(FailureCode.UPSTREAM, "slow down", retryable=True, details={"retry_after": 0.05})
        return item

    board = SmallBoard(
        [tool("work", work, properties={"item": STRING}), batch("work", name="many", over="item", concurrency=2)]
    )
    result = board.call("many", item=["a", "b", "c", "d"])
    assert result.value["status"] == "ok"
    assert asked["a"] == 2


@pytest.mark.parametrize(("choice", "shown"), [("all", 3), ("failures_only", 1), ("summary", 0)])
def test_the_answer_shows_all_items_or_failures_or_a_summary(choice: str, shown: int) -> None:
    value = users().call("crm.get_users", user_id=["u1", "x1", "u2"], report=choice).value
    assert len(value.get("items", ())) == shown
    assert value["counts"] == {"ok": 2, "failed": 1}
    if choice == "summary":
        assert value["failures"] == [{"code": "upstream", "message": "no user x1", "count": 1, "indexes": [1]}]


def test_progress_is_told() -> None:
    told: list[tuple[float, float | None]] = []

    async def progress(done: float, total: float | None = None, message: str | None = None) -> None:
        told.append((done, total))

    call = Call(tool=ToolName("crm", "get_users"), arguments={"user_id": ["u1", "u2"]}, progress=progress)
    anyio.run(users().run, call)
    assert told == [(1, 2), (2, 2)]


def test_children_name_their_parent_and_run_through_the_pipeline() -> None:
    board = users()
    board.call("crm.get_users", user_id=["u1", "u2"])
    children = [call for call in board.calls if call.tool.name == "get_user"]
    assert [(call.id, call.parent, call.mode) for call in children] == [
        ("c1/0", "c1", Mode.EXECUTE),
        ("c1/1", "c1", Mode.EXECUTE),
    ]


def store() -> tuple[set[str], list[Any]]:
    kept: set[str] = set()

    async def create(name: str) -> Any:
        if name.startswith("x"):
            return failed(message="taken")
        kept.add(name)
        return {"id": name.upper()}

    async def delete(id: str) -> Any:
        kept.discard(id.lower())
        return True

    return kept, [
        tool("create", create, properties={"name": {"type": "string", "minLength": 2}}, effects=Effects.ADDITIVE),
        tool("delete", delete, properties={"id": STRING}, effects=Effects.DESTRUCTIVE),
    ]


UNDO = Undo(tool="delete", args=Template.parse({"id": "${value.id}"}))


@pytest.mark.requirement("C4.7")
def test_all_or_nothing_takes_back_what_was_done() -> None:
    kept, tools = store()
    board = SmallBoard(
        [*tools, batch("create", name="many", over="name", on_error="all_or_nothing", undo=UNDO, concurrency=1)]
    )
    result = board.call("many", name=["aa", "bb", "xx", "cc"])
    assert result.failure is not None
    assert kept == set()
    assert [item["status"] for item in result.value["items"]] == ["cancelled", "cancelled", "failed", "skipped"]
    assert "taken back" in result.value["notes"][0]
    assert result.value["retry"] == {"name": ["aa", "bb", "xx", "cc"]}
    assert board.call("many", name=["aa", "bb"]).value["status"] == "ok"
    assert kept == {"aa", "bb"}


def test_all_or_nothing_does_nothing_where_an_item_is_not_valid() -> None:
    kept, tools = store()
    board = SmallBoard([*tools, batch("create", name="many", over="name", on_error="all_or_nothing", undo=UNDO)])
    result = board.call("many", name=["aa", "b"])
    assert result.failure is not None
    assert "nothing was done" in result.failure.message
    assert board.executed("create") == []
    assert kept == set()


def test_what_cannot_be_taken_back_is_said() -> None:
    _, tools = store()

    async def broken(id: str) -> Any:
        return failed(message="locked")

    tools[1] = tool("delete", broken, properties={"id": STRING}, effects=Effects.DESTRUCTIVE)
    board = SmallBoard(
        [*tools, batch("create", name="many", over="name", on_error="all_or_nothing", undo=UNDO, concurrency=1)]
    )
    result = board.call("many", name=["aa", "xx"])
    assert result.failure is not None
    assert result.failure.code is FailureCode.OUTCOME_UNKNOWN
    assert "[0]" in result.failure.message


def test_all_or_nothing_without_a_way_back_is_refused() -> None:
    _, tools = store()
    board = SmallBoard([*tools, batch("create", name="many", over="name", on_error="all_or_nothing")])
    assert "cannot be kept" in board.bound.notes[0].message
    assert ToolName("", "many") not in board.catalog


@pytest.mark.requirement("C4.5")
def test_items_travel_together_where_the_upstream_takes_a_list() -> None:
    sent: list[Any] = []

    async def fetch(items: list[str], verbose: bool = False) -> Any:
        sent.append(items)
        return {item: {"id": item} for item in items if item != "u3"}

    board = users(upstream=fetch)
    result = board.call("crm.get_users", user_id=["u1", "u", "u2", "u3", "u1"])
    assert sent == [["u1", "u2", "u3"]]
    assert [item["status"] for item in result.value["items"]] == ["ok", "failed", "ok", "failed", "ok"]
    assert board.executed("crm.get_user") == []


def test_a_tool_that_takes_a_list_serves_a_batch_in_chunks() -> None:
    async def many(ids: list[str]) -> Any:
        return {"rows": [{"id": name, "n": 1} for name in reversed(ids)]}

    lister = tool("crm.get_by_ids", many, properties={"ids": {"type": "array", "items": STRING}})
    upstream = UpstreamTool(
        tool="crm.get_by_ids", over="ids", limit=2, values=Template.parse("${result.rows}"), key="id"
    )
    board = SmallBoard([USER, lister, batch("crm.get_user", name="many", over="user_id", upstream=upstream)])
    result = board.call("many", user_id=["u1", "u2", "u3"])
    assert [item["value"]["id"] for item in result.value["items"]] == ["u1", "u2", "u3"]
    assert [call["ids"] for call in board.executed("crm.get_by_ids")] == [["u1", "u2"], ["u3"]]


@pytest.mark.parametrize(
    "answer", [["only one"], "text", None, 5, RuntimeError("boom")], ids=["short", "text", "null", "number", "raises"]
)
def test_an_upstream_that_answers_nonsense_fails_its_items_and_nothing_else(answer: Any) -> None:
    async def fetch(items: list[str]) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    result = users(upstream=fetch).call("crm.get_users", user_id=["u1", "u2"])
    assert result.failure is not None
    assert result.value["counts"] == {"failed": 2}


def test_modes_pass_through() -> None:
    async def remove(path: str, mode: Mode = Mode.EXECUTE) -> Any:
        return {"path": path, "mode": mode.value}

    one = tool("rm", remove, properties={"path": STRING}, effects=Effects.DESTRUCTIVE, wants_mode=True)
    one = type(one)(with_modes(one.spec, [Mode.PREVIEW]), one.handler)
    board = SmallBoard([one, batch("rm", name="rm_many", over="path")])
    preview = board.call("rm_many", path=["a", "b"])
    assert preview.mode is Mode.PREVIEW
    assert [item["value"]["mode"] for item in preview.value["items"]] == ["preview", "preview"]
    done = board.call("rm_many", path=["a", "b"], mode="execute")
    assert [item["value"]["mode"] for item in done.value["items"]] == ["execute", "execute"]
    dry = board.call("rm_many", Mode.DRY_RUN, path=["a", 5])
    assert [item["status"] for item in dry.value["items"]] == ["ok", "failed"]


def test_definitions_of_the_item_travel_with_it() -> None:
    async def put(node: Any) -> Any:
        return node

    schema = {"$defs": {"N": {"type": "object", "properties": {"next": {"$ref": "#/$defs/N"}}}}}
    one = tool("put", put, properties={"node": {"$ref": "#/$defs/N"}}, schema=schema)
    board = SmallBoard([one, batch("put", name="many", over="node")])
    spec = board.catalog.get(ToolName("", "many")).spec  # type: ignore[union-attr]
    assert spec.input["$defs"]["N"]["properties"]["next"] == {"$ref": "#/$defs/N"}
    assert spec.input["properties"]["node"]["items"] == {"$ref": "#/$defs/N"}


@pytest.mark.parametrize("over", ["user", ["user_id", "nope"]])
def test_a_parameter_that_does_not_exist_is_refused_with_the_nearest(over: Any) -> None:
    board = SmallBoard([USER, batch("crm.get_user", name="many", over=over)])
    assert "has no parameter" in board.bound.notes[0].message
    assert "user_id" in board.bound.notes[0].message


def test_a_limit_below_one_is_refused() -> None:
    with pytest.raises(DefinitionError):
        batch("x", over="y", limit=0)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(["u1", "u2", "x1", "", "u3"]), min_size=1, max_size=12), st.sampled_from([1, 3, 32]))
def test_every_item_is_accounted_for(items: list[str], concurrency: int) -> None:
    result: Result = users(concurrency=concurrency).call("crm.get_users", user_id=items)
    assert result.report is not None
    assert [item.index for item in result.report.items] == list(range(len(items)))
    assert [item.input for item in result.report.items] == items
    assert [item.status is Status.OK for item in result.report.items] == [item.startswith("u") for item in items]
    assert sum(result.report.counts.values()) == len(items)
    json.dumps(result.value)
    assert (result.failure is None) is any(item.startswith("u") for item in items)
