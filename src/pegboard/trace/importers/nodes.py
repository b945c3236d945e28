"""Runs from trees of spans: model calls, tool calls, and what encloses them, whatever system wrote them down."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from pegboard.schema.types import Json
from pegboard.trace.importers.fields import looks_failed
from pegboard.trace.importers.stream import Skipped
from pegboard.trace.record import CallRecord, Run

MOST_NODES = 500_000
"""At most so many nodes wait for the rest of their runs; beyond it the run that was quiet longest is given."""


class NodeKind(StrEnum):
    """What a span stands for."""

    TOOL = "tool"
    MODEL = "model"
    AGENT = "agent"
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A tool call as a model message holds it."""

    id: str | None
    tool: str
    arguments: Json = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One span.

    Parameters:
        trace: the trace that it belongs to.
        session: the session or conversation that the trace belongs to, where it is told.
        id: its own id.
        parent: the id of the span around it.
        kind: what it stands for.
        name: the tool, model or agent.
        start: Unix time of its start, in seconds.
        end: Unix time of its end.
        order: sorts spans that start at the same time, or at no known time.
        call: the id of the tool call, where it has one besides its own.
        arguments: of a tool call.
        result: of a tool call.
        ok: whether it succeeded, where that is known.
        error: what went wrong.
        asked: the tool calls that a model's answer holds.
        users: the user messages that a model saw; None where they are not known.
        answers: results by call id that a model saw.
        agent: the agent or model.
        source: the service or system.
        turn: the model message that made it, where the format says so itself.
        exact: other fields of the call's record, where the format has them.
        meta: attributes to keep.
    """

    trace: str
    session: str | None = None
    id: str
    parent: str | None = None
    kind: NodeKind = NodeKind.OTHER
    name: str = ""
    start: float | None = None
    end: float | None = None
    order: str = ""
    call: str | None = None
    arguments: Json = None
    result: Json = None
    ok: bool | None = None
    error: str | None = None
    asked: tuple[Asked, ...] = ()
    users: tuple[str, ...] | None = None
    answers: Mapping[str, Json] = field(default_factory=dict[str, Any])
    agent: str | None = None
    source: str | None = None
    turn: int | None = None
    exact: Mapping[str, Any] = field(default_factory=dict[str, Any])
    meta: Mapping[str, Any] = field(default_factory=dict[str, Any])


class Trees:
    """Collects nodes by trace, in any order, and makes a run of each trace, or of the traces of one session."""

    def __init__(self) -> None:
        self._traces: dict[str, list[Node]] = {}
        self._count = 0
        self._given: Counter[str] = Counter()

    def add(self, node: Node) -> Iterable[Run | Skipped]:
        """Take one node; gives the trace that was quiet longest, where too many wait."""
        nodes = self._traces.pop(node.trace, [])
        nodes.append(node)
        self._traces[node.trace] = nodes
        self._count += 1
        if self._count <= MOST_NODES:
            return ()
        quiet = next(iter(self._traces))
        nodes = self._traces.pop(quiet)
        self._count -= len(nodes)
        return self._run(_session(nodes) or quiet, nodes)

    def finish(self) -> Iterator[Run | Skipped]:
        """Give all runs."""
        sessions: dict[str, list[Node]] = {}
        for trace, nodes in self._traces.items():
            sessions.setdefault(_session(nodes) or trace, []).extend(nodes)
        self._traces = {}
        for key, nodes in sessions.items():
            yield from self._run(key, nodes)

    def _run(self, key: str, nodes: Sequence[Node]) -> Iterator[Run | Skipped]:
        run = run_of(key, nodes)
        if run is None:
            return
        self._given[key] += 1
        if self._given[key] > 1:
            yield Skipped(key, "the run goes on after so many other spans that it is given in parts")
            run = replace(run, id=f"{key}#{self._given[key]}")
        yield run


def _session(nodes: Iterable[Node]) -> str | None:
    return next((node.session for node in nodes if node.session), None)


def run_of(key: str, nodes: Sequence[Node]) -> Run | None:
    """The run that these nodes make; None where no tool was called.

    Parameters:
        key: the run's id.
        nodes: its spans, in any order.
    """
    ordered = sorted(nodes, key=_when)
    tree = _Tree({node.id: node for node in ordered})
    tools = [node for node in ordered if node.kind is NodeKind.TOOL and not tree.repeats(node)]
    calls = _from_tools(tools, ordered, tree) if tools else list(_grouped(list(_from_models(ordered))))
    if not calls:
        return None
    users = [node.users for node in ordered if node.users is not None]
    return Run(
        id=key,
        calls=tuple(calls),
        source=next((node.source for node in ordered if node.source), None),
        agent=next((node.agent for node in ordered if node.agent), None),
        user_messages=max(users, key=len) if users else None,
    )


def _when(node: Node) -> tuple[float, str]:
    return (math.inf if node.start is None else node.start, node.order)


class _Tree:
    def __init__(self, nodes: Mapping[str, Node]) -> None:
        self._nodes = nodes

    def around(self, node: Node, *kinds: NodeKind) -> Node | None:
        """The nearest enclosing node of one of these kinds."""
        seen = {node.id}
        outer = self._nodes.get(node.parent or "")
        while outer is not None and outer.id not in seen:
            if outer.kind in kinds:
                return outer
            seen.add(outer.id)
            outer = self._nodes.get(outer.parent or "")
        return None

    def repeats(self, node: Node) -> bool:
        """Whether a tool span only tells the other side of the one around it, such as a client's and its server's.

        One with a call id of its own is a call of its own: a tool that calls itself.
        """
        outer = self.around(node, NodeKind.TOOL)
        if outer is None or outer.name != node.name or node.call not in (None, outer.call):
            return False
        return node.arguments in (None, {}, outer.arguments)


def _from_tools(tools: Sequence[Node], ordered: Sequence[Node], tree: _Tree) -> list[CallRecord]:
    ids = _unique(tools)
    lanes: dict[str | None, _Lane] = {}
    for node in ordered:
        if node.kind is NodeKind.MODEL:
            outer = tree.around(node, NodeKind.TOOL, NodeKind.AGENT)
            lanes.setdefault(outer.id if outer else None, _Lane()).models.append(node)
    calls: list[CallRecord] = []
    turns = _Turns()
    for node in tools:
        outer, agent = tree.around(node, NodeKind.TOOL), tree.around(node, NodeKind.TOOL, NodeKind.AGENT)
        parent = ids.get(outer.id) if outer else None
        lane = lanes.setdefault(agent.id if agent else None, _Lane())
        key = (agent.id if agent else None, node.turn if node.turn is not None else lane.message(node))
        calls.append(
            CallRecord(
                id=ids[node.id],
                tool=node.name,
                arguments=node.arguments,
                result=node.result,
                ok=node.ok,
                error=node.error,
                parent=parent,
                turn=turns.of(key),
                segment=lane.segment(node),
                started=node.start,
                seconds=None if node.start is None or node.end is None else max(0.0, node.end - node.start),
                meta=node.meta,
            )
        )
    return [replace(call, **node.exact) for call, node in zip(_grouped(calls), tools, strict=True)]


def _unique(tools: Sequence[Node]) -> dict[str, str]:
    """Call ids by span id: the call's own, unless another call has it too."""
    uses = Counter(node.call for node in tools)
    return {node.id: node.call if node.call and uses[node.call] == 1 else node.id for node in tools}


class _Turns:
    """Numbers messages in the order in which they are met."""

    def __init__(self) -> None:
        self._numbers: dict[Any, int] = {}

    def of(self, key: Any) -> int:
        return self._numbers.setdefault(key, len(self._numbers))


class _Lane:
    """The model messages of one agent, and the tools that it runs one after the other where there are none."""

    def __init__(self) -> None:
        self.models: list[Node] = []
        self._until = -math.inf
        self._message = 0

    def message(self, node: Node) -> int:
        """Which message made a call: the last before it; without messages, calls that overlap are of one."""
        before = self._before(node)
        if before is not None:
            return before
        start = math.inf if node.start is None else node.start
        if start >= self._until:
            self._message -= 1
        self._until = max(self._until, node.end if node.end is not None else start)
        return self._message

    def segment(self, node: Node) -> int:
        """How many user messages the model had seen."""
        before = self._before(node)
        users = None if before is None else self.models[before].users
        return len(users) if users else 0

    def _before(self, node: Node) -> int | None:
        for place in range(len(self.models) - 1, -1, -1):
            if _when(self.models[place]) <= _when(node):
                return place
        return None


def _from_models(ordered: Sequence[Node]) -> Iterator[CallRecord]:
    """The calls that model messages ask for, with the results that later ones saw."""
    models = [node for node in ordered if node.kind is NodeKind.MODEL]
    answers: dict[str, Json] = {}
    for node in models:
        answers.update(node.answers)
    seen: set[str] = set()
    turn = -1
    for node in models:
        fresh = [asked for asked in node.asked if asked.id is None or asked.id not in seen]
        turn += bool(fresh)
        for place, asked in enumerate(fresh):
            id = asked.id or f"{node.id}-{place}"
            seen.add(id)
            yield CallRecord(
                id=id,
                tool=asked.tool,
                arguments=asked.arguments,
                result=answers.get(id),
                ok=not looks_failed(answers[id]) if id in answers else None,
                turn=turn,
                segment=len(node.users or ()),
                started=node.end,
            )


def _grouped(calls: Sequence[CallRecord]) -> Iterator[CallRecord]:
    together = Counter((call.turn, call.parent) for call in calls)
    for call in calls:
        yield replace(call, group=str(call.turn)) if together[call.turn, call.parent] > 1 else call
