"""Runs written down briefly: `run("search(q=shoes)=id7 > open(id=id7)")`, with `|` for a user message between."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pegboard.insight.flow import provenance
from pegboard.trace import CallRecord, Run

CORPUS = Path(__file__).parents[2] / "corpus" / "traces"
_CALL = re.compile(r"(?P<tool>[\w.]+)(\((?P<args>[^)]*)\))?(?P<bad>!)?(=(?P<result>.*))?")


def _value(text: str) -> Any:
    return int(text) if text.isdigit() and not text.startswith("0") and len(text) < 4 else text


def _call(text: str, index: int, segment: int, turn: int, group: str | None) -> CallRecord:
    found = _CALL.fullmatch(text.strip())
    assert found, text
    pairs = [item.split("=", 1) for item in (found["args"] or "").split(",") if item]
    return CallRecord(
        id=str(index),
        tool=found["tool"],
        arguments={name.strip(): _value(value.strip()) for name, value in pairs},
        result=found["result"],
        ok=not found["bad"],
        segment=segment,
        turn=turn,
        group=group,
    )


def make_run(text: str, *, id: str = "r", task: str | None = None, **more: Any) -> Run:
    """A run from its calls: `>` is the next message, `&` a parallel call of the same message, `|` a user message."""
    calls: list[CallRecord] = []
    turn = 0
    for segment, part in enumerate(text.split("|"), start=1):
        for message in part.split(">") if part.strip() else ():
            turn += 1
            together = message.split("&")
            group = f"g{turn}" if len(together) > 1 else None
            for each in together:
                calls.append(_call(each, len(calls), segment, turn, group))
    return Run(id=id, task=task or id, calls=tuple(calls), **more)


@pytest.fixture
def run() -> Callable[..., Run]:
    """Makes one run from a text."""
    return make_run


@pytest.fixture
def runs() -> Callable[..., list[Run]]:
    """Makes as many runs of as many tasks from one text, in which `{n}` is the run's number."""
    return lambda text, count, start=0: [
        make_run(text.replace("{n}", f"{number:03}"), id=f"r{number}", task=f"t{number}")
        for number in range(start, start + count)
    ]


@pytest.fixture
def labels() -> Callable[[Run], list[list[str]]]:
    """By call, where each scalar of its arguments came from."""
    return lambda run: [[use.label for use in uses] for uses in provenance(run)]


@pytest.fixture
def corpus() -> Path:
    """Where the small real traces are."""
    return CORPUS
