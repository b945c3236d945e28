"""Prerequisites: what to call before a hit, from hints and from who makes what."""

from pegboard.core import Hint, Relation
from pegboard.index.graph import Graph

from .conftest import tool


def needing(*names: str) -> dict:
    return {"type": "object", "properties": {name: {"type": "string"} for name in names}, "required": list(names)}


CATALOG = [
    tool("chat.send_message", "Send a message", input=needing("channel_id", "text")),
    tool("chat.open_dm", "Open a direct channel", input=needing("user_id")),
    tool("chat.list_channels", "List channels"),
    tool("chat.search_users", "Search users", input=needing("query")),
    tool("chat.get_user", "Get one user", input=needing("user_id")),
    tool("other.list_channels", "List channels of something else"),
    tool("files.read", "Read", input=needing("path"), hints=(Hint(Relation.FIRST, "list_files", "you have no path"),)),
    tool("files.list_files", "List files"),
]


def before(name: str) -> list[str]:
    spec = next(spec for spec in CATALOG if str(spec.name) == name)
    return [str(found.name) for found in Graph(CATALOG).before(spec.name)]


def test_who_makes_a_handle_comes_first():
    assert before("chat.send_message") == ["chat.list_channels"]
    assert before("chat.get_user") == ["chat.search_users"]


def test_a_hint_names_a_tool_of_its_own_namespace():
    assert before("files.read") == ["files.list_files"]


def test_a_tool_that_needs_nothing_has_none():
    assert before("chat.search_users") == []


def test_a_circle_ends():
    circle = [
        tool("a.x", hints=(Hint(Relation.FIRST, "y"),)),
        tool("a.y", hints=(Hint(Relation.FIRST, "x"),)),
    ]
    assert [str(found.name) for found in Graph(circle).before(circle[0].name)] == ["a.y"]


def test_a_search_brings_them_along_and_never_a_hidden_one(index_of):
    from pegboard.core import Selection
    from pegboard.index import Where

    engine = index_of(*CATALOG)
    found = engine.search("send a message", limit=1, with_prerequisites=True)
    assert [str(needed.name) for needed in found.prerequisites] == ["chat.list_channels"]
    assert found.prerequisites[0].because == "gives channel_id"
    hidden = Where(select=Selection.parse(["!chat.list_channels"]))
    assert engine.search("send a message", limit=1, where=hidden, with_prerequisites=True).prerequisites == ()
