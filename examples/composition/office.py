"""Small tools for an office: files with a preview, and a chat whose usual sequence is one call."""

import os
from dataclasses import dataclass
from pathlib import Path

from pegboard import tool
from pegboard.compose import Step, bundle
from pegboard.core import Effects
from pegboard.define import ToolError, first

FOLDER = Path(os.environ.get("OFFICE_FOLDER", "files"))


@dataclass
class Deleted:
    """A file that is deleted, and how many bytes it had."""

    path: str
    bytes: int


@dataclass
class User:
    """A person of the chat."""

    id: str
    name: str


@dataclass
class Sent:
    """A message that is sent."""

    room: str
    text: str


PEOPLE = [User("u1", "Ann Smith"), User("u2", "Bob Jones")]
ROOMS: dict[str, list[str]] = {}


@tool(effects=Effects.READ_ONLY)
async def list_files() -> list[str]:
    """List the files of the office."""
    return sorted(file.name for file in FOLDER.iterdir())


def found(paths: list[str]) -> list[Path]:
    """The files that are meant; nothing outside of the folder is."""
    files = [FOLDER / Path(path).name for path in paths]
    missing = [file.name for file in files if not file.is_file()]
    if missing:
        raise ToolError(f"There is no file {missing[0]!r}.", next_step="Call list_files for what there is.")
    return files


@tool(effects=Effects.DESTRUCTIVE, hints=[first("list_files", when="you do not know the names")])
async def delete_files(paths: list[str]) -> list[Deleted]:
    """Delete files of the office."""
    done = [Deleted(file.name, file.stat().st_size) for file in found(paths)]
    for each in done:
        (FOLDER / each.path).unlink()
    return done


@delete_files.preview
async def _(paths: list[str]) -> list[Deleted]:
    return [Deleted(file.name, file.stat().st_size) for file in found(paths)]


@delete_files.explore
async def _(paths: list[str]) -> list[Deleted]:
    return [Deleted(file.name, file.stat().st_size) for file in sorted(FOLDER.iterdir())]


@tool(effects=Effects.READ_ONLY)
async def search_users(query: str) -> list[User]:
    """Find people by name."""
    return [user for user in PEOPLE if query.lower() in user.name.lower()]


@tool(effects=Effects.IDEMPOTENT)
async def open_dm(user_id: str) -> str:
    """Open the room for direct messages with a person."""
    ROOMS.setdefault(f"dm-{user_id}", [])
    return f"dm-{user_id}"


@tool(effects=Effects.ADDITIVE)
async def send_message(room: str, text: str) -> Sent:
    """Send a message into a room."""
    if room not in ROOMS:
        raise ToolError(f"There is no room {room!r}.", next_step="Call open_dm first.")
    ROOMS[room].append(text)
    return Sent(room, text)


@bundle(replaces=[search_users, open_dm, send_message])
async def dm_user(step: Step, name: str, message: str) -> Sent:
    """Send a direct message to a person by name."""
    users = await step(search_users, query=name)
    if len(users) != 1:
        return step.stop(f"{len(users)} people are called {name!r}.", next_step="Call search_users, then open_dm.")
    room = await step(open_dm, user_id=users[0].id)
    return await step(send_message, room=room, text=message)
