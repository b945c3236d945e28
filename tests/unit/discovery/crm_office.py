"""A small office to look for tools in, and a board on which something could be installed."""

from collections.abc import Sequence
from typing import Any

from pegboard.board import Board
from pegboard.core import Discoverable, DiscoverableAction, DiscoverableType, Session, Source, ToolName, ToolSpec
from pegboard.define.hint import first, instead, then

TEXT = {"type": "string"}


def takes(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


def spec(name: str, description: str, **more: Any) -> ToolSpec:
    return ToolSpec(name=ToolName("crm", name), description=description, **more)


USER = spec(
    "get_user",
    "Read the profile of a user.",
    input=takes(user_id=TEXT),
    hints=(then("log_visit"), instead("find_guest", when="the person has no account")),
)
OFFICE = (
    USER,
    spec("search_users", "Find users by name or email.", input=takes(query=TEXT)),
    spec("log_visit", "Note that somebody was here.", input=takes(note=TEXT)),
    spec("delete_project", "Delete a project for good.", input=takes(project_id=TEXT, reason=TEXT)),
    spec("list_projects", "List the projects.", output=takes(project_id=TEXT)),
    spec("send_note", "Send a note to a user.", input=takes(user_id=TEXT, note=TEXT), hints=(first("check_address"),)),
    spec("check_address", "Check that a user's address is known.", input=takes(user_id=TEXT)),
)


PIZZA = Discoverable(
    id="io.example/pizza",
    type=DiscoverableType.CONNECTOR,
    action=DiscoverableAction.INSTALL,
    name="Pizza",
    description="Order food. Anywhere.",
    directory="shop",
    categories=("food",),
)


def fair(*sources: Source) -> Board:
    """A board on which something could be installed."""
    board = Board.of(*sources)

    async def offers(query: str, session: Session, limit: int = 3) -> Sequence[Discoverable]:
        return [PIZZA][:limit]

    async def discoverables() -> Sequence[Discoverable]:
        return [PIZZA]

    board.openings.offers, board.openings.discoverables = offers, discoverables  # type: ignore[method-assign]
    return board
