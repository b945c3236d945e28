"""One agent run, as an identity: who calls, in which session, and what it may spend. Its state lives elsewhere."""

from dataclasses import dataclass, replace
from typing import Self

AGENT_TOOL_CALLS = 10
"""How many tool calls an agent makes that Pegboard executes, unless its own config says another number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What one session may spend on calls. Meta-tools are not counted.

    Parameters:
        max_tool_calls: calls that the model itself makes, over the whole session; None for no limit.
        max_inner_calls: calls that batches, bundles, chains and scripts make inside of one call of the model.
        max_inner_effects: how many of those may change something (additive, idempotent, destructive); tools that
            declare no effects count to `max_inner_calls` alone.
        limits: how often, over the whole session, tools that a selector picks may run, by either of them.
    """

    max_tool_calls: int | None = None
    max_inner_calls: int = 1000
    max_inner_effects: int = 100
    limits: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Session:
    """Who is calling.

    Parameters:
        id: the session; calls with the same id share loaded tools, budget, grants and the trace run. Empty where a
            caller has none.
        principal: the authenticated caller; `local` on a loopback or in-process board.
        agent: the agent's or client's own name, if it told one.
        run: the trace run, where it differs from the session.
        budget: what it may spend, where that is not the board's own rule.
        tools: selectors of the tools that it sees and may call; None for all of the board's.
    """

    id: str = "local"
    principal: str = "local"
    agent: str | None = None
    run: str | None = None
    budget: Budget | None = None
    tools: tuple[str, ...] | None = None

    @property
    def whole(self) -> Self:
        """The same session with every tool of the board: what composed tools call on its behalf."""
        return self if self.tools is None else replace(self, tools=None)

    @property
    def run_id(self) -> str:
        """The trace run that this session's calls belong to."""
        return self.run or self.id
