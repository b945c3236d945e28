"""The key `subagents` of `[agent.NAME]`: what an agent may hand on to others, and how far those may go."""

from pathlib import Path
from typing import Any, cast

from pegboard.agent.definition import Delegation
from pegboard.config.key import BadValue, Key, Type
from pegboard.config.types import FLAG, NUMBER, OBJECT, SECONDS, SELECTORS, TEXTS, whole
from pegboard.errors import nearest

KEYS = (
    Key("agents", TEXTS, "The agents of this file that it may hand a task to."),
    Key("inline", FLAG, "Whether it may make up a helper: instructions and tools of its own choice."),
    Key("tools", SELECTORS, "The most that a helper which it makes up may have."),
    Key("max_spawns", whole(1, 100), "How many tasks it may hand on in one run."),
    Key("max_tool_calls", whole(1), "How many tool calls each may make."),
    Key("max_turns", whole(1, 100), "How many answers of the model each may take."),
    Key("max_cost", NUMBER, "What each may cost, in dollars."),
    Key("timeout", SECONDS, "How long each may take."),
    Key("nesting", FLAG, "Whether those may hand tasks on in turn; never to one that is already at work around them."),
)
_BY_NAME = {key.name: key for key in KEYS}


def _read(value: Any, folder: Path) -> Delegation:
    table = cast("dict[str, Any]", OBJECT.read(value, folder))
    return Delegation(**{name: _one(name, item, folder) for name, item in table.items()})


def _one(name: str, value: Any, folder: Path) -> Any:
    if name not in _BY_NAME:
        near = nearest(name, _BY_NAME, limit=1) or list(_BY_NAME)
        raise BadValue("This key is not known.", f"Known here: {', '.join(near)}.", at=f".{name}")
    try:
        return _BY_NAME[name].type.read(value, folder)
    except BadValue as problem:
        raise BadValue(problem.message, problem.next_step, at=f".{name}{problem.at}") from problem


SUBAGENTS = Type("table", _read)
"""What an agent may hand on."""
