"""Agents over a board: a model that calls its tools, and suites that say which tools it should have called."""

from pegboard.agent.judge import Verdict, judge
from pegboard.agent.model import Model, Reply, ToolCall
from pegboard.agent.score import Outcome, Score
from pegboard.agent.suite import Suite, Task, read_suite

__all__ = ["Model", "Outcome", "Reply", "Score", "Suite", "Task", "ToolCall", "Verdict", "judge", "read_suite"]
