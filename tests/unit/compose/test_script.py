"""A bundle as typed Python."""

from dataclasses import dataclass
from typing import Any

import pytest
from small_board import SmallBoard

from pegboard.compose import Step, bundle
from pegboard.core import Call, Effects, FailureCode, Mode, ToolName
from pegboard.define import ToolError, tool
from pegboard.errors import DefinitionError
from pegboard.surface.describing import describe


@dataclass
class User:
    id: str
    mail: str | None = None


@dataclass
class Sent:
    room: str
    text: str


SENT: list[str] = []


@tool(effects=Effects.READ_ONLY)
async def search_users(query: str, limit: int = 5) -> list[User]:
    """Find users by name."""
    if query == "down":
        raise ToolError("Slack is off.", code=FailureCode.UNAVAILABLE, next_step="Wait.", retryable=True)
    return [] if query == "nobody" else [User(f"u-{query}")][:limit]


@tool(effects=Effects.IDEMPOTENT)
async def open_dm(user_id: str) -> str:
    """Open a direct message."""
    return f"d-{user_id}"


@tool(effects=Effects.ADDITIVE)
async def send_message(room_id: str, text: str) -> Sent:
    """Send a message."""
    SENT.append(text)
    return Sent(room_id, text)


@send_message.preview
async def _(room_id: str, text: str) -> Sent:
    return Sent(room_id, text)


@bundle(replaces=[search_users, open_dm, send_message], category="chat")
async def dm_user(step: Step, name: str, message: str = "hello") -> Sent:
    """Send a direct message to a person by name.

    Args:
        name: the person.
        message: what to say.
    """
    users = await step(search_users, name, limit=3)
    if not users:
        return step.stop(f"There is no {name}.", next_step="Call search_users with an email.")
    assert isinstance(users[0], User)
    room = await step(open_dm, user_id=users[0].id)
    return await step(send_message, room_id=room, text=message)


def slack(*more: Any) -> SmallBoard:
    SENT.clear()
    return SmallBoard([search_users.tool, open_dm.tool, send_message.tool, *(more or [dm_user])])


@pytest.mark.requirement("C3.1", "C3.4")
def test_a_bundle_calls_typed_tools_through_the_board() -> None:
    board = slack()
    result = board.call("dm_user", name="ann")
    assert result.value == {"room": "d-u-ann", "text": "hello"}
    assert SENT == ["hello"]
    assert result.report is not None
    assert [step.id for step in result.report.steps] == ["search_users", "open_dm", "send_message"]
    assert [call.parent for call in board.calls[1:]] == ["c1"] * 3


def test_the_function_says_what_the_tool_takes_and_gives() -> None:
    spec = slack().catalog.get(ToolName("", "dm_user")).spec  # type: ignore[union-attr]
    assert list(spec.properties)[:2] == ["name", "message"]
    assert spec.properties["name"]["description"] == "the person."
    assert spec.input["required"] == ["name"]
    assert spec.description.startswith("Send a direct message to a person by name.")
    assert "Replaces the sequence search_users then open_dm then send_message; one call" in describe(spec).text
    assert spec.output is not None
    assert spec.category == "chat"
    assert spec.effects is Effects.ADDITIVE


def test_a_stop_and_a_failed_step_end_it() -> None:
    stopped = slack().call("dm_user", name="nobody")
    assert stopped.failure is not None
    assert "There is no nobody." in stopped.failure.message
    assert stopped.failure.next_step == "Call search_users with an email."
    down = slack().call("dm_user", name="down")
    assert down.failure is not None
    assert down.failure.code is FailureCode.UNAVAILABLE
    assert down.failure.where == "/steps/search_users"


def test_it_previews_as_far_as_is_known() -> None:
    board = slack()
    result = board.call("dm_user", Mode.PREVIEW, name="ann")
    assert result.ok
    assert SENT == []
    assert [(step.id, step.status.value) for step in result.report.steps] == [  # type: ignore[union-attr]
        ("search_users", "ok"),
        ("open_dm", "ok"),
    ]


def test_a_call_can_say_how_it_treats_failure() -> None:
    @bundle(uses=[search_users, open_dm])
    async def ask(step: Step, name: str) -> Any:
        """Ask."""
        users = await step.on(default=[{"id": "guest"}])(search_users, query=name)
        again = await step.on(id="again", on_error="continue")(search_users, query="down")
        return [users[0].id, again, await step.by_name("open_dm", user_id="x")]

    result = slack(ask).call("ask", name="down")
    assert result.value == ["guest", None, "d-x"]
    assert [step.id for step in result.report.steps] == ["search_users", "again", "open_dm"]  # type: ignore[union-attr]


def test_a_loop_gives_each_step_its_own_name() -> None:
    @bundle(uses=[open_dm])
    async def many(step: Step, names: list[str]) -> list[str]:
        """Open many."""
        return [await step(open_dm, user_id=name) for name in names]

    result = slack(many).call("many", names=["a", "b"])
    assert result.value == ["d-a", "d-b"]
    assert [step.id for step in result.report.steps] == ["open_dm", "open_dm_2"]  # type: ignore[union-attr]


def test_a_text_with_a_reference_in_it_is_only_text() -> None:
    result = slack().call("dm_user", name="ann", message="${input.name} costs $${x}")
    assert result.value["text"] == "${input.name} costs $${x}"


def test_a_tool_that_was_not_named_is_refused() -> None:
    @bundle(uses=[open_dm])
    async def sneaky(step: Step) -> Any:
        """Sneak."""
        return await step(send_message, room_id="r", text="t")

    result = slack(sneaky).call("sneaky")
    assert result.failure is not None
    assert "did not say that it calls 'send_message'" in result.failure.message


def test_a_bundle_that_breaks_says_so() -> None:
    @bundle(uses=[open_dm])
    async def broken(step: Step) -> Any:
        """Break."""
        await step(open_dm, user_id="x")
        raise ZeroDivisionError("oh")

    result = slack(broken).call("broken")
    assert result.failure is not None
    assert "ZeroDivisionError: oh" in result.failure.message
    assert "Done: open_dm." in result.failure.message


def test_a_bundle_without_a_step_or_with_an_unknown_tool_is_refused() -> None:
    with pytest.raises(DefinitionError, match="takes no step"):

        @bundle()
        async def nothing(name: str) -> None: ...  # type: ignore[arg-type]

    @bundle(replaces=["open_dmm"])
    async def typo(step: Step) -> None:
        """Typo."""

    board = slack(typo)
    assert "Did you mean open_dm" in board.bound.notes[0].message


def test_an_unbound_bundle_says_that_it_stands_on_no_board() -> None:
    import anyio

    result = anyio.run(dm_user.handler, Call(tool=ToolName("", "dm_user"), arguments={}))
    assert result.failure is not None
    assert "stands on no board" in result.failure.message


def test_the_parts_are_found_in_the_bundles_own_namespace_first() -> None:
    from dataclasses import replace

    from pegboard.core import Tool

    def placed(one: Tool, namespace: str) -> Tool:
        return Tool(replace(one.spec, name=ToolName(namespace, one.spec.name.name)), one.handler)

    tools = [placed(one, ns) for one in (search_users.tool, open_dm.tool, send_message.tool) for ns in ("a", "b")]
    board = SmallBoard([*tools, placed(dm_user, "b")])
    assert board.call("b.dm_user", name="ann").ok
    assert {call.tool.namespace for call in board.calls} == {"b"}
