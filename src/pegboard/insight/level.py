"""The calls that an agent chose, apart from those that tools made inside: only choices are habits."""

from dataclasses import replace

from pegboard.trace.record import CallRecord, Run

_WRAPPER = "tool_call"


def agent_level(run: Run) -> tuple[Run, tuple[CallRecord, ...]]:
    """A run with the calls of its agents alone, and the calls that composed tools and scripts made inside of them.

    A call made inside has its parent as its group, as our recorder writes it; calls of subagents have not, and stay. A
    call through the meta-tool `tool_call` is the call of the tool that it names.
    """
    if not any([call.parent for call in run.calls]):
        return run, ()
    wrappers = {call.id: call for call in run.calls if call.tool.replace("__", ".").rpartition(".")[2] == _WRAPPER}
    used = {call.parent for call in run.calls if call.parent in wrappers}
    chosen: list[CallRecord] = []
    inner: list[CallRecord] = []
    for call in run.calls:
        if call.parent is not None and call.parent == call.group:
            inner.append(call)
        elif call.parent in wrappers:
            chosen.append(_lifted(call, wrappers[call.parent]))
        elif call.id not in used:
            chosen.append(call)
    return replace(run, calls=tuple(chosen)), tuple(inner)


def _lifted(call: CallRecord, wrapper: CallRecord) -> CallRecord:
    return replace(call, parent=wrapper.parent, group=wrapper.group, turn=wrapper.turn, segment=wrapper.segment)
