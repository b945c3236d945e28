"""A run that our exporters write comes back equal from our importers."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pegboard.errors import ConfigError
from pegboard.trace import CallRecord, Run
from pegboard.trace.exporters import EXPORTERS, write
from pegboard.trace.importers import detect, read
from pegboard.trace.importers.registry import assembled
from pegboard.trace.importers.stream import parsed

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
WORD = st.from_regex(r"[a-z][a-z_0-9]{0,8}", fullmatch=True)
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(-(2**53), 2**53), st.floats(-1e9, 1e9), TEXT)
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3), max_leaves=4
)
OBJECTS = st.dictionaries(WORD, JSON, max_size=4)
PROSE = st.from_regex(r"[k-z][a-z]{0,10}( [k-z][a-z]{0,6}){0,3}", fullmatch=True)


@st.composite
def any_runs(draw):
    """Runs in which every field may hold anything that it may hold."""
    ids = draw(st.lists(WORD, max_size=5, unique=True))
    calls = []
    for place, id in enumerate(ids):
        started = draw(st.none() | st.integers(1_700_000_000, 1_800_000_000).map(float))
        calls.append(
            CallRecord(
                id=id,
                tool=draw(WORD),
                arguments=draw(st.none() | OBJECTS),
                result=draw(JSON),
                ok=draw(st.sampled_from([True, False, None])),
                failure=draw(st.none() | WORD),
                error=draw(st.none() | PROSE),
                parent=draw(st.sampled_from([None, *ids[:place]])),
                group=draw(st.none() | WORD),
                turn=draw(st.none() | st.integers(0, 9)),
                segment=draw(st.integers(0, 3)),
                started=started,
                seconds=draw(st.none() | st.integers(0, 9).map(float)) if started is not None else None,
                mode=draw(st.none() | WORD),
                tokens=draw(st.none() | st.integers(0, 99)),
                values=draw(st.none() | st.lists(TEXT, max_size=3).map(tuple)),
                meta=draw(st.dictionaries(WORD, TEXT, max_size=2)),
            )
        )
    meta = {"note": draw(TEXT)}
    users = draw(st.none() | st.lists(TEXT, max_size=3).map(tuple))
    more = {name: draw(st.none() | WORD) for name in ("source", "task", "agent")}
    return Run(id=draw(WORD), calls=tuple(calls), user_messages=users, meta=meta, success=draw(st.booleans()), **more)


@st.composite
def conversations(draw):
    """Runs that a conversation can hold: user messages, and turns of one or more calls with their answers."""
    calls, users, turn = [], [], 0
    for _ in range(draw(st.integers(1, 3))):
        users.append(draw(PROSE))
        for _ in range(draw(st.integers(0, 2))):
            count = draw(st.integers(1, 3))
            group = str(turn) if count > 1 else None
            for _ in range(count):
                ok = draw(st.booleans())
                result = draw(PROSE | OBJECTS.filter(lambda row: not row.keys() & {"error"}))
                calls.append(
                    CallRecord(
                        id=f"c{len(calls)}",
                        tool=draw(WORD),
                        arguments=draw(OBJECTS),
                        result=result if ok else f"Error: {draw(PROSE)}",
                        ok=ok,
                        turn=turn,
                        segment=len(users),
                        group=group,
                    )
                )
            turn += 1
    calls = [replace(call, error=call.result) if call.ok is False else call for call in calls]
    return Run(id=draw(WORD), calls=tuple(calls), user_messages=tuple(users), agent=draw(WORD))


def written(run, format):
    lines = enumerate(EXPORTERS[format](run), start=1)
    return [item for number, line in lines for item in parsed(line.encode(), f"file:{number}", number)]


def there_and_back(run, format):
    return list(assembled(written(run, format), "file"))


pytestmark = pytest.mark.slow
SETTINGS = settings(max_examples=12, deadline=None)


@SETTINGS
@given(run=any_runs())
def test_our_own_format_loses_nothing(run):
    assert there_and_back(run, "pegboard") == [run]


@SETTINGS
@given(run=any_runs().filter(lambda run: run.calls))
def test_spans_lose_nothing_of_a_call(run):
    [found] = there_and_back(run, "otel")
    assert sorted(found.calls, key=lambda call: call.id) == sorted(run.calls, key=lambda call: call.id)
    assert (found.id, found.agent, found.source) == (run.id, run.agent, run.source)
    assert found.user_messages == run.user_messages


def test_a_tool_that_calls_itself_is_two_calls():
    inner = CallRecord(id="b", tool="ask", arguments=None, result=None, parent="a", segment=0)
    run = Run(id="r", calls=(replace(inner, id="a", parent=None), inner))
    [found] = there_and_back(run, "otel")
    assert [(call.id, call.parent) for call in found.calls] == [("a", None), ("b", "a")]


@pytest.mark.parametrize("format", EXPORTERS)
@SETTINGS
@given(run=conversations().filter(lambda run: run.calls))
def test_a_conversation_comes_back_equal_in_every_format(format, run):
    assert there_and_back(run, format) == [run]


@pytest.mark.parametrize("format", EXPORTERS)
@SETTINGS
@given(run=conversations().filter(lambda run: run.calls))
def test_what_we_write_is_known_by_its_content(format, run):
    assert {detect(item.value).name for item in written(run, format)} == {format}


@pytest.mark.parametrize("name", ["runs.jsonl", "runs.jsonl.gz"])
def test_a_file_of_runs_is_written_and_read(name, tmp_path):
    runs = [Run(id=f"r{number}", calls=(CallRecord(id="1", tool="t", result="é"),)) for number in range(3)]
    assert write(runs, tmp_path / name) == 3
    assert list(read(tmp_path / name)) == runs


def test_a_format_that_cannot_be_written_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="cannot be written"):
        write([], tmp_path / "x", format="langsmith")
