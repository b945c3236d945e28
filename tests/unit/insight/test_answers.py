"""Batch tools on real traces, against what the answer keys of their data flow say of each loop."""

import gzip
import json
from collections import Counter, defaultdict
from itertools import groupby

import pytest

from pegboard.insight.mine import mine
from pegboard.insight.suggest import suggest
from pegboard.insight.thresholds import Thresholds

STEERING = {"think", "calculate"}


@pytest.mark.parametrize("source", ["tau1-retail", "tau2-airline", "agentdojo-slack", "apibank"])
def test_the_tools_that_are_batched_are_those_whose_loops_were_known_before(corpus, source):
    limits = Thresholds()
    loops, runs, tasks = judged(corpus, source)
    right = {
        tool
        for tool, kinds in loops.items()
        if len(runs[tool]) >= limits.runs
        and len(tasks[tool]) >= limits.batch_tasks
        and kinds["list"] >= limits.batch_share * kinds.total()
    } - STEERING
    found = suggest(mine([corpus / f"{source}.jsonl.gz"]).evidence)
    batched = {finding.tools[0] for finding in found if finding.kind.value == "batch"}
    assert len(batched & right) >= 0.9 * max(len(batched), len(right)), (batched, right)


def test_there_are_batches_to_find(corpus):
    assert sum(len(judged(corpus, source)[1]) for source in ("tau1-retail", "tau2-airline", "agentdojo-slack")) > 6


def judged(corpus, source):
    """By tool, its loops by kind, and the runs and tasks with a loop over a list."""
    with gzip.open(corpus / f"{source}.key.jsonl.gz", "rt") as file:
        keys = {row["run_id"]: row["arg_src"] for row in map(json.loads, file)}
    loops, runs, tasks = defaultdict(Counter), defaultdict(set), defaultdict(set)
    with gzip.open(corpus / f"{source}.jsonl.gz", "rt") as file:
        for run in map(json.loads, file):
            for tool, block in blocks(run["calls"]):
                kind = kind_of(block, keys[run["run_id"]])
                loops[tool][kind] += 1
                if kind == "list":
                    runs[tool].add(run["run_id"])
                    tasks[tool].add(run["task"])
    return loops, runs, tasks


def blocks(calls):
    for (tool, _), block in groupby(enumerate(calls), key=lambda item: (item[1]["tool"], item[1]["seg"])):
        found = list(block)
        if len(found) > 1:
            yield tool, found


def kind_of(block, key):
    calls = [call for _, call in block]
    if any(call.get("args_lost") for call in calls):
        return "lost"
    names = {name for call in calls for name in call["args"]}
    varying = {name for name in names if any(call["args"].get(name) != calls[0]["args"].get(name) for call in calls)}
    if not varying:
        return "repeat"
    if any(call["ok"] is False for call in calls[:-1]):
        return "retry"
    at_once = calls[0]["parallel_group"] is not None and len({call["parallel_group"] for call in calls}) == 1
    labels = [label for place, _ in block for name in varying for label in key[place].get(name, ())]
    return "list" if all(known(label, block[0][0], at_once) for label in labels) else "other"


def known(label, start, at_once):
    """Whether a value was known before the loop: from the user, or from a call before its first."""
    parts = label.split("|")
    if at_once and not any(part.startswith("out") for part in parts):
        return True
    return any(part in ("user", "short") or ":" in part and int(part.split(":")[1]) < start for part in parts)
