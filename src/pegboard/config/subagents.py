"""What an agent may hand on to others, and how far those may go: `subagents` of `[agent.NAME]`, and `[subagents]`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from pegboard.agent.definition import Delegation
from pegboard.config.key import BadValue, Key, Table, Type
from pegboard.config.types import FLAG, NUMBER, OBJECT, REFERENCE, SECONDS, SELECTORS, TEXT, TEXTS, whole
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

DELEGATION = Table(
    "subagents",
    "What clients of the gateway may hand on with the tool `spawn_subagent`, which they have only where `agents` or "
    "`model` is written. Needs the extra `agent`.",
    (
        Key("model", TEXT, "The model of helpers that they make up; without it they may make up none.", ""),
        Key("base_url", REFERENCE, "An OpenAI-compatible endpoint for it.", ""),
        Key("key", REFERENCE, "The secret for `base_url`, if it wants one.", ""),
        *KEYS,
    ),
    hints={"provider": "Write model.", "url": "Write base_url.", "api_key": 'Write key = "${env:NAME}".'},
)


def delegation_of(table: Mapping[str, Any]) -> Delegation | None:
    """What a table `[subagents]` allows; None where it allows nothing."""
    given = {key.name: table[key.name] for key in KEYS if table[key.name] is not None}
    inline = bool(table["model"]) and given.pop("inline", True)
    given.pop("inline", None)
    made = Delegation(**given, inline=inline)
    return made if made.agents or made.inline else None
