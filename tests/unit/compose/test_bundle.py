"""A bundle is a sequence that is one tool, and says how each step went."""

from typing import Any

import anyio
import pytest
from small_board import SmallBoard, failed, tool

from pegboard.compose import batch
from pegboard.compose.bundle import Bundle
from pegboard.compose.steps import read_steps
from pegboard.core import Call, Effects, FailureCode, Mode, Relation, Status, Tool, ToolName, with_modes
from pegboard.errors import DefinitionError
from pegboard.schema.template import Template
from pegboard.surface.describing import describe

STRING = {"type": "string"}
SENT: list[Any] = []


async def search_users(query: str, limit: int = 5) -> Any:
    if query == "down":
        return failed(FailureCode.UNAVAILABLE, "slack is off", next_step="wait", retryable=True)
    return [] if query == "nobody" else [{"id": f"u-{query}", "mail": None}]


async def open_dm(user_id: str) -> Any:
    return {"id": f"d-{user_id}"}


async def send_message(room_id: str, text: str, mode: Mode = Mode.EXECUTE) -> Any:
    if text == "bad":
        return failed(FailureCode.UPSTREAM, "the text was refused", next_step="shorten it")
    if mode is Mode.EXECUTE:
        SENT.append(text)
    return {"room": room_id, "text": text}


SEARCH = tool(
    "slack.search_users",
    search_users,
    properties={"query": {"type": "string", "description": "A name."}, "limit": {"type": "integer"}},
    required=["query"],
    output={"type": "array", "items": {"type": "object", "properties": {"id": STRING}}},
)
OPEN = tool("slack.open_dm", open_dm, properties={"user_id": STRING}, effects=Effects.IDEMPOTENT)
SEND = tool(
    "slack.send_message",
    send_message,
    properties={"room_id": STRING, "text": STRING},
    effects=Effects.ADDITIVE,
    wants_mode=True,
    output={"type": "object", "properties": {"room": STRING, "text": STRING}},
)
SEND = Tool(with_modes(SEND.spec, [Mode.PREVIEW], default=Mode.EXECUTE), SEND.handler)
STEPS: list[dict[str, Any]] = [
    {"id": "users", "tool": "slack.search_users", "args": {"query": "${input.name}"}},
    {"id": "none", "when": "len(users) == 0", "stop": "There is no ${input.name}.", "next_step": "Ask for an email."},
    {"id": "room", "tool": "slack.open_dm", "args": {"user_id": "${users[0].id}"}},
    {"id": "sent", "tool": "slack.send_message", "args": {"room_id": "${room.id}", "text": "${input.message}"}},
]


def dm(steps: list[dict[str, Any]] = STEPS, **more: Any) -> Bundle:
    fields = {"name": ToolName("", "dm_user"), "description": "Send a direct message to a person by name.", **more}
    return Bundle(steps=read_steps(steps, "bundle.dm_user.steps"), **fields)


def slack(*bundles: Bundle) -> SmallBoard:
    SENT.clear()
    return SmallBoard([SEARCH, OPEN, SEND], bundles or [dm()])


@pytest.mark.requirement("C3.1", "C3.4")
def test_a_sequence_is_one_call_and_each_step_is_reported() -> None:
    board = slack()
    result = board.call("dm_user", name="ann", message="hi")
    assert result.value == {"room": "d-u-ann", "text": "hi"}
    assert result.report is not None
    assert [(step.id, step.status) for step in result.report.steps] == [
        ("users", Status.OK),
        ("room", Status.OK),
        ("sent", Status.OK),
    ]
    assert [(call.id, call.parent) for call in board.calls[1:]] == [
        ("c1/users", "c1"),
        ("c1/room", "c1"),
        ("c1/sent", "c1"),
    ]


@pytest.mark.requirement("C3.6", "C3.5")
def test_the_description_says_what_it_replaces_and_the_parts_point_to_it() -> None:
    board = slack()
    spec = board.catalog.get(ToolName("", "dm_user")).spec  # type: ignore[union-attr]
    assert "Replaces the sequence search_users then open_dm then send_message; one call" in describe(spec).text
    assert spec.input["properties"]["name"] == SEARCH.spec.properties["query"]
    assert spec.input["required"] == ["name", "message"]
    assert spec.output == SEND.spec.output
    atomic = board.catalog.get(ToolName("slack", "open_dm"))
    assert atomic is not None
    assert (atomic.spec.hints[-1].relation, atomic.spec.hints[-1].tool) == (Relation.INSTEAD, "dm_user")
    assert "send a direct message" in str(atomic.spec.hints[-1])
    assert board.call("slack.open_dm", user_id="u").value == {"id": "d-u"}


def test_a_stop_ends_it_with_its_own_words() -> None:
    board = slack()
    result = board.call("dm_user", name="nobody", message="hi")
    assert result.failure is not None
    assert "There is no nobody." in result.failure.message
    assert result.failure.next_step == "Ask for an email."
    assert board.executed("slack.open_dm") == []


@pytest.mark.requirement("C3.3")
def test_a_failure_in_the_middle_says_what_was_done_what_not_and_how_to_go_on() -> None:
    result = slack().call("dm_user", name="ann", message="bad")
    failure = result.failure
    assert failure is not None
    assert failure.where == "/steps/sent"
    assert "Step sent (slack.send_message) failed: the text was refused" in failure.message
    assert "Done: users, room." in failure.message
    assert "Took effect: room." in failure.message
    assert failure.next_step is not None
    assert "shorten it" in failure.next_step
    assert "calling slack.send_message yourself" in failure.next_step
    assert [step.status.value for step in result.report.steps] == ["ok", "ok", "failed"]  # type: ignore[union-attr]


def test_a_step_whose_source_is_down_tells_what_was_not_reached() -> None:
    result = slack().call("dm_user", name="down", message="hi")
    assert result.failure is not None
    assert result.failure.code is FailureCode.UNAVAILABLE
    assert result.failure.retryable
    assert "Nothing was done. Not done: users, room, sent." in result.failure.message
    assert [step.status.value for step in result.report.steps] == ["failed", "skipped", "skipped"]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("extra", "value"),
    [
        ({"on_error": "continue"}, None),
        ({"optional": True}, None),
        ({"on_error": "default", "default": [{"id": "guest"}]}, "guest"),
        ({"default": "${[{'id': input.name}]}"}, "down"),
    ],
)
def test_a_failed_step_can_be_gone_past(extra: dict[str, Any], value: Any) -> None:
    steps = [
        {**STEPS[0], **extra},
        {"id": "out", "tool": "slack.open_dm", "args": {"user_id": "${default(users[0].id, 'none')}"}},
    ]
    result = slack(dm(steps)).call("dm_user", name="down")
    assert result.value == {"id": f"d-{value or 'none'}"}
    assert result.report is not None
    assert result.report.counts == {"ok": 1, "failed": 1}


def test_a_step_is_tried_again_where_it_says_so() -> None:
    tries: list[int] = []

    async def flaky() -> Any:
        tries.append(1)
        return failed(retryable=True, details={"retry_after": 0.001}) if len(tries) < 3 else "done"

    steps = [{"id": "a", "tool": "flaky", "on_error": "retry"}]
    board = SmallBoard([tool("flaky", flaky)], [dm(steps)])
    assert board.call("dm_user").value == "done"
    assert [call.id for call in board.calls[1:]] == ["c1/a", "c1/a/2", "c1/a/3"]


def test_what_may_have_taken_effect_is_not_tried_again() -> None:
    tries: list[int] = []

    async def pay() -> Any:
        tries.append(1)
        return failed(FailureCode.TIMEOUT, "no answer")

    board = SmallBoard(
        [tool("pay", pay, effects=Effects.ADDITIVE)], [dm([{"id": "a", "tool": "pay", "on_error": "retry"}])]
    )
    assert board.call("dm_user").failure is not None
    assert len(tries) == 1


def test_a_step_whose_condition_is_false_is_skipped() -> None:
    steps = [*STEPS[:1], {**STEPS[2], "when": "input.open"}]
    board = slack(dm(steps, output=Template.parse({"room": "${room}", "n": "${len(users)}"})))
    result = board.call("dm_user", name="ann", open=False)
    assert result.value == {"room": None, "n": 1}
    assert result.report is not None
    assert result.report.counts == {"ok": 1, "skipped": 1}


@pytest.mark.requirement("C5.2", "C5.8", "R8.5")
def test_a_bundle_previews_as_a_whole() -> None:
    board = slack()
    spec = board.catalog.get(ToolName("", "dm_user")).spec  # type: ignore[union-attr]
    assert "preview" in spec.modes
    result = board.call("dm_user", Mode.PREVIEW, name="ann", message="hi")
    assert result.ok
    assert result.mode is Mode.PREVIEW
    assert SENT == []
    assert board.executed("slack.open_dm") == []
    assert [(step.id, step.status.value) for step in result.report.steps] == [  # type: ignore[union-attr]
        ("users", "ok"),
        ("room", "ok"),
        ("sent", "skipped"),
    ]


def test_a_preview_goes_to_the_end_where_every_part_can_be_previewed() -> None:
    steps = [STEPS[0], {"id": "sent", "tool": "slack.send_message", "args": {"room_id": "${users[0].id}", "text": "x"}}]
    board = slack(dm(steps))
    preview = board.call("dm_user", Mode.PREVIEW, name="ann")
    assert SENT == []
    done = board.call("dm_user", Mode.EXECUTE, name="ann")
    assert SENT == ["x"]
    assert preview.value == done.value
    assert done.report is not None
    assert done.report.data["preview"]["same"] is True


def test_a_dry_run_checks_what_can_be_checked_and_executes_nothing() -> None:
    board = slack()
    result = board.call("dm_user", Mode.DRY_RUN, name="ann", message="hi")
    assert result.ok
    assert [step.status.value for step in result.report.steps] == ["ok", "skipped", "skipped"]  # type: ignore[union-attr]
    assert [call for call in board.calls if call.tool.namespace] == []


def test_a_destructive_step_makes_the_bundle_preview_by_default() -> None:
    async def wipe(mode: Mode = Mode.EXECUTE) -> Any:
        return mode.value

    one = tool("wipe", wipe, effects=Effects.DESTRUCTIVE)
    board = SmallBoard([one], [dm([{"id": "a", "tool": "wipe"}])])
    assert board.call("dm_user").mode is Mode.PREVIEW
    assert board.executed("wipe") == []
    board.call("dm_user", mode="execute")
    assert board.executed("wipe") == [{}]


@pytest.mark.parametrize("inside", [True, False], ids=["among its arguments", "beside them"])
def test_a_step_may_name_the_mode_of_its_tool(inside: bool) -> None:
    args, mode = {"room_id": "r", "text": "x"}, {"mode": "preview"}
    step: dict[str, Any] = {"args": {**args, **mode}} if inside else {"args": args, **mode}
    steps = [{"id": "a", "tool": "slack.send_message", **step}]
    board = slack(dm(steps))
    assert board.call("dm_user", Mode.EXECUTE).value == {"room": "r", "text": "x"}
    assert SENT == []


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"tool": "slack.open_dmm"}, "Did you mean slack.open_dm"),
        ({"args": {"user": "x"}}, "user_id"),
        ({"args": {}}, "needs user_id"),
        ({"tool": "slack.send_message", "args": {"room_id": "r", "text": "x", "mode": "soft"}}, "'soft' is no mode"),
        ({"tool": "slack.send_message", "args": {"room_id": "r", "text": "x", "mode": "${input.m}"}}, "passes through"),
    ],
)
@pytest.mark.requirement("C3.1")
def test_a_step_that_does_not_fit_its_tool_is_refused_when_loaded(change: dict[str, Any], says: str) -> None:
    steps = [*STEPS[:2], {**STEPS[2], **change}]
    board = slack(dm(steps))
    assert ToolName("", "dm_user") not in board.catalog
    assert says in board.bound.notes[0].message
    assert len(board.catalog) == 3


@pytest.mark.parametrize(
    ("steps", "says"),
    [
        ([], "at least one step"),
        ("x", "at least one step"),
        (["x"], "a step is a table"),
        ([{"tool": "a", "arg": {}}], "args"),
        ([{"tool": "a", "args": 3}], "table of the tool"),
        ([{"id": "a"}], "exactly one"),
        ([{"id": "a", "tool": "x", "stop": "y"}], "exactly one"),
        ([{"id": "1a", "tool": "x"}], "cannot be a step's id"),
        ([{"id": "input", "tool": "x"}], "cannot be a step's id"),
        ([{"id": "a", "tool": "x"}, {"id": "a", "tool": "y"}], "two steps"),
        ([{"tool": "a", "args": {"x": "${later.y}"}}, {"id": "later", "tool": "b"}], "no step before it"),
        ([{"id": "users", "tool": "a"}, {"tool": "b", "args": {"x": "${user.y}"}}], "did you mean users"),
        ([{"tool": "a", "args": {"x": "${1 +}"}}], "cannot be read"),
        ([{"tool": "a", "when": "open('x')"}], "no function 'open'"),
        ([{"tool": "a", "on_error": "explode"}], "on_error"),
        ([{"tool": "a", "mode": "soft"}], "no mode"),
        ([{"tool": "a", "on_error": "stop", "default": 1}], "default"),
    ],
)
def test_steps_that_cannot_work_are_refused_when_read(steps: Any, says: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        read_steps(steps, "bundle.x.steps")
    assert says in str(caught.value).lower()
    assert "bundle.x.steps" in str(caught.value)


def test_an_input_that_is_not_declared_is_refused() -> None:
    schema = {"type": "object", "properties": {"nam": STRING, "message": STRING}}
    board = slack(dm(input=schema))
    assert "reads input.name" in board.bound.notes[0].message
    assert "nam" in board.bound.notes[0].message


def test_an_output_that_reads_no_step_is_refused() -> None:
    board = slack(dm(output=Template.parse("${sentt.x}")))
    assert "no step" in board.bound.notes[0].message


def test_the_output_schema_follows_the_template() -> None:
    output = Template.parse({"who": "${users[0].id}", "line": "to ${users[0].id}", "all": "${users}"})
    spec = slack(dm(output=output)).catalog.get(ToolName("", "dm_user")).spec  # type: ignore[union-attr]
    assert spec.output == {
        "type": "object",
        "properties": {"who": STRING, "line": STRING, "all": SEARCH.spec.output},
        "required": ["who", "line", "all"],
    }


def test_bundles_that_are_made_of_each_other_are_refused_and_nothing_else() -> None:
    def one(name: str, *uses: str) -> Bundle:
        return dm([{"id": f"s{n}", "tool": use} for n, use in enumerate(uses)], name=ToolName("", name))

    async def ping() -> Any:
        return "pong"

    board = SmallBoard(
        [tool("ping", ping)],
        [one("a", "b"), one("b", "c"), one("c", "a"), one("d", "a"), one("e", "ping"), one("f", "e"), one("g", "g")],
    )
    assert {str(name) for name in board.catalog.tools} == {"ping", "e", "f"}
    notes = {note.tool: note.message for note in board.bound.notes}
    assert "a > b > c > a" in notes["a"]
    assert set(notes) == {"a", "b", "c", "d", "g"}
    assert board.call("f").value == "pong"


def test_an_optional_step_may_name_a_tool_that_is_not_there() -> None:
    steps = [STEPS[0], {"id": "extra", "tool": "crm.lookup", "optional": True}]
    assert slack(dm(steps)).call("dm_user", name="ann").ok


def test_a_name_that_is_taken_is_set_aside() -> None:
    board = slack(dm(name=ToolName("slack", "open_dm")))
    assert "a tool of this name already" in board.bound.notes[0].message


def test_a_bundle_of_a_batch_runs() -> None:
    board = SmallBoard(
        [SEARCH, OPEN, SEND, batch("slack.open_dm", name="open_many", over="user_id")],
        [dm([STEPS[0], {"id": "rooms", "tool": "open_many", "args": {"user_id": "${[u.id for u in users]}"}}])],
    )
    result = board.call("dm_user", Mode.EXECUTE, name="ann")
    assert result.value["items"][0]["value"] == {"id": "d-u-ann"}
    assert [call.id for call in board.calls] == ["c1", "c1/users", "c1/rooms", "c1/rooms/0"]


def test_progress_is_told_for_each_step() -> None:
    told: list[Any] = []

    async def progress(done: float, total: float | None = None, message: str | None = None) -> None:
        told.append((done, total))

    call = Call(tool=ToolName("", "dm_user"), arguments={"name": "ann", "message": "x"}, progress=progress)
    anyio.run(slack().run, call)
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]
