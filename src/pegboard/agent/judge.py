"""Whether a run chose its tools as a task expects, and if not, in what it differs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import cast

from pegboard.agent.suite import Task
from pegboard.schema.types import Json
from pegboard.trace.record import CallRecord, Run

_WRAPPER = "tool_call"
"""The meta-tool through which a model calls what is not in its list; the tool that it names is the one that counts."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a run did at a task.

    Parameters:
        faults: what it should have done, each a sentence; none where it passed.
    """

    faults: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether everything was as expected."""
        return not self.faults


def judge(task: Task, run: Run) -> Verdict:
    """Compare the calls that the model made itself with what a task expects.

    Parameters:
        task: the task.
        run: what an agent did.
    """
    tools = chosen(run)
    faults = [f"did not call {pattern}" for pattern in task.must_use if not _any(pattern, tools)]
    faults += [
        f"called {tool}, which it should not ({pattern})"
        for pattern in task.must_not_use
        for tool in dict.fromkeys(tools)
        if means(pattern, tool)
    ]
    missing = _first_missing(task.order, tools)
    if missing is not None:
        before = task.order[: task.order.index(missing)]
        faults.append(f"did not call {missing}" + (f" after {' and '.join(before)}" if before else ""))
    if task.at_most is not None and len(tools) > task.at_most:
        faults.append(f"made {len(tools)} calls, at most {task.at_most} were expected")
    return Verdict(tuple(dict.fromkeys(faults)))


def chosen(run: Run) -> list[str]:
    """The tools that the model called, in order; what they called themselves is not among them."""
    ids = {call.id for call in run.calls}
    return [named(call) for call in run.calls if call.parent is None or call.parent not in ids]


def named(call: CallRecord) -> str:
    """The tool that a call means, seen through the meta-tool that calls others by name."""
    given: Json = call.arguments
    if bare(call.tool) == _WRAPPER and isinstance(given, Mapping):
        name = cast("Mapping[str, Json]", given).get("name")
        return name if isinstance(name, str) else call.tool
    return call.tool


def means(pattern: str, tool: str) -> bool:
    """Whether a pattern means a tool: by its full name in any client's spelling, or by its bare name alone."""
    dotted = tool.removeprefix("mcp__").replace("__", ".")
    forms = {tool, dotted, dotted.partition(".")[2]} if "." in dotted else {tool}
    if "." not in pattern and "__" not in pattern:
        forms.add(bare(tool))
    wanted = pattern.removeprefix("mcp__").replace("__", ".")
    return any(fnmatchcase(form, each) for form in forms for each in (pattern, wanted))


def bare(tool: str) -> str:
    """A tool's name without namespace, however a client spells it."""
    return tool.replace("__", ".").rpartition(".")[2]


def _any(pattern: str, tools: Sequence[str]) -> bool:
    return any(means(pattern, tool) for tool in tools)


def _first_missing(order: Sequence[str], tools: Sequence[str]) -> str | None:
    at = 0
    for pattern in order:
        place = next((place for place in range(at, len(tools)) if means(pattern, tools[place])), None)
        if place is None:
            return pattern
        at = place + 1
    return None
