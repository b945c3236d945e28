"""A bundle is found above its parts for its task, and its parts above it for theirs; the new tool above the old one."""

from typing import Any

import pytest

from pegboard.core import ToolName, ToolSpec
from pegboard.index import default
from pegboard.index.protocol import names_of

STRING = {"type": "string"}


def spec(name: str, description: str, *parameters: str, **more: Any) -> ToolSpec:
    schema = {"type": "object", "properties": dict.fromkeys(parameters, STRING)}
    return ToolSpec(name=ToolName("chat", name), description=description, input=schema, **more)


def composite(kind: str, *uses: str) -> dict[str, Any]:
    return {"pegboard/composite": kind, "pegboard/uses": [f"chat.{name}" for name in uses]}


PARTS = [
    spec("search_users", "Find people by name.", "query"),
    spec("open_dm", "Open the room for direct messages with a person.", "user_id"),
    spec("send_message", "Send a message into a room.", "room", "text"),
    spec("list_files", "List the files of a room.", "room"),
]
BUNDLE = spec(
    "dm_user",
    "Send a direct message to a person by name.",
    "name",
    "message",
    meta=composite("bundle", "search_users", "open_dm", "send_message"),
)


def found(query: str, *specs: ToolSpec) -> list[str]:
    index = default()
    index.update(put=specs)
    hits = index.search(query, limit=8).hits
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True) or hits[0].name.name in query
    return names_of(hits)


@pytest.mark.requirement("C3.5")
@pytest.mark.parametrize("query", ["send a direct message to a person", "send a message", "message somebody by name"])
def test_for_its_task_the_bundle_comes_first_and_the_parts_are_found_below(query: str) -> None:
    names = found(query, *PARTS, BUNDLE)
    assert names[0] == "chat.dm_user"
    assert "chat.send_message" in names


@pytest.mark.requirement("C3.5")
@pytest.mark.parametrize(
    ("query", "part"),
    [
        ("search users", "search_users"),
        ("send_message", "send_message"),
        ("open a room", "open_dm"),
        ("send a message into a room", "send_message"),
        ("list the files of a room", "list_files"),
    ],
)
def test_for_the_task_of_a_part_the_part_comes_first(query: str, part: str) -> None:
    assert found(query, *PARTS, BUNDLE)[0] == f"chat.{part}"


def test_a_chain_of_bundles_is_above_both() -> None:
    outer = spec("message_all", "Send a message to everybody.", meta=composite("chain", "dm_user"))
    names = found("send a message", *PARTS, BUNDLE, outer)
    assert names.index("chat.message_all") < names.index("chat.dm_user") < names.index("chat.send_message")


def test_a_batch_does_not_come_before_the_tool_for_one_item() -> None:
    many = spec("send_messages", "Many at once: chat.send_message.", meta=composite("batch", "send_message"))
    assert found("send a message into a room", *PARTS, many)[0] == "chat.send_message"


@pytest.mark.requirement("C15.2")
def test_a_successor_comes_before_what_it_succeeds() -> None:
    old = spec("send_mail", "Send mail to a person.", "to", deprecated="Old.", successor="chat.post_mail")
    new = spec("post_mail", "Send mail to people.", "recipients")
    assert found("send mail to a person", old, new) == ["chat.post_mail", "chat.send_mail"]
    assert found("send_mail", old, new)[0] == "chat.send_mail"


def test_parts_and_bundles_come_and_go() -> None:
    index = default()
    index.update(put=[*PARTS, BUNDLE])
    index.update(remove=[BUNDLE.name])
    assert index.search("send a message").hits[0].name.name == "send_message"
    index.update(put=[BUNDLE], remove=[PARTS[2].name])
    assert index.search("send a message").hits[0].name.name == "dm_user"
