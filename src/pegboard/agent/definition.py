"""An agent as data: a model, what it is told, which tools it has, how far it may go."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from pegboard.core.session import AGENT_TOOL_CALLS
from pegboard.errors import ConfigError, nearest

SPAWN = "spawn_subagent"
"""The tool by which an agent hands a task on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delegation:
    """What an agent may hand on to subagents, and how far each of those may go.

    Parameters:
        agents: the saved agents that it may give tasks to.
        inline: whether it may make up subagents of its own.
        tools: selectors of the most that such a one may have; None for what the agent itself has.
        max_spawns: how many subagents one run may have.
        max_tool_calls: how many tool calls each may make.
        max_turns: how many answers of the model each may take.
        max_cost: what each may cost, in dollars.
        timeout: seconds that each may take.
        nesting: whether they may have subagents in turn.
    """

    agents: tuple[str, ...] = ()
    inline: bool = True
    tools: tuple[str, ...] | None = None
    max_spawns: int = 5
    max_tool_calls: int = AGENT_TOOL_CALLS
    max_turns: int = 10
    max_cost: float | None = None
    timeout: float = 300.0
    nesting: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """An agent that Pegboard runs.

    Parameters:
        name: what traces call it.
        model: `provider:name`, or the bare name at `base_url`.
        base_url: an OpenAI-compatible endpoint; empty for the provider's own. May hold a reference.
        key: the secret for it, or a reference to one; empty where it wants none.
        description: what it is for.
        instructions: what the model is told first.
        tools: selectors of the tools that it has; None for all.
        max_tool_calls: how many calls it may make in one run.
        max_turns: how many answers of the model one run may take.
        max_cost: what one run may cost, in dollars; None for no limit.
        timeout: seconds that one run may take.
        subagents: what it may hand on; None where it may not.
        version: the published version that it is; None for what the config says now.
        offer: whether it is a tool of the board as well.
        search: whether it finds tools by search as the board says (`auto`), or gets each from the start (`off`).
        origin: the foreign definition that it was made of.
    """

    name: str
    model: str
    base_url: str = ""
    key: str = ""
    description: str | None = None
    instructions: str = ""
    tools: tuple[str, ...] | None = None
    max_tool_calls: int = AGENT_TOOL_CALLS
    max_turns: int = 30
    max_cost: float | None = None
    timeout: float = 600.0
    subagents: Delegation | None = None
    version: str | None = None
    offer: bool = False
    search: str = "auto"
    origin: Path | None = None

    @property
    def label(self) -> str:
        """What traces call it: its name, with the version where it is a published one."""
        base = self.name.removesuffix(f"@{self.version}")
        return f"{base}@{self.version}" if self.version else self.name

    @classmethod
    def of(cls, name: str, tables: Mapping[str, Mapping[str, Any]]) -> Self:
        """The agent of a config's tables `[agent.NAME]`.

        Raises:
            ConfigError: there is none of this name.
        """
        if name not in tables:
            near = nearest(name, tables) or sorted(tables)
            step = f"There are: {', '.join(near)}." if near else f"Write [agent.{name}] with a model, or use --model."
            raise ConfigError(f"There is no agent {name!r}.", where="[agent]", next_step=step)
        return cls(name=name, **tables[name])
