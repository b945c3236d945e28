"""Every format tells the same small story: two searches at once, one of which fails; the user; then a reservation."""

import json
from pathlib import Path

import pytest

from pegboard.trace.importers import FORMATS, Skipped, detect, read
from pegboard.trace.importers.stream import Record, records

STORY = Path(__file__).parents[3] / "corpus" / "traces" / "formats"
FILES = {path.name.partition(".")[0]: path for path in sorted(STORY.iterdir())}
FIRST, SECOND, THIRD = {"sku": "A7"}, {"sku": "B2"}, {"item_id": "it-31", "count": 2}
NO_USERS = ("mcp-log", "runtype", "neutral")
"""Formats that do not hold the user's words."""
NO_SEGMENTS = ("mcp-log", "runtype")
"""Formats that do not say where the user spoke."""


def the_run(path):
    [run] = list(read(path))
    return run


def test_there_is_a_story_in_every_format():
    assert set(FILES) == {item.name for item in FORMATS}


@pytest.mark.parametrize("name", FILES)
def test_the_story_is_read_from_every_format(name):
    run = the_run(FILES[name])
    first, second, third = run.calls
    assert [call.tool for call in run.calls] == ["find_item", "find_item", "reserve"]
    assert [call.arguments for call in run.calls] == [FIRST, SECOND, THIRD]
    assert [call.ok for call in run.calls] == [True, False, True]
    assert first.group is not None
    assert first.group == second.group
    assert third.group is None
    assert first.turn == second.turn
    assert third.turn != first.turn
    if name != "neutral":
        assert first.result == {"item_id": "it-31", "stock": 3}
        assert second.error == "Error: no such sku"


@pytest.mark.parametrize("name", [name for name in FILES if name not in NO_SEGMENTS])
def test_a_call_knows_how_many_user_messages_came_before_it(name):
    run = the_run(FILES[name])
    assert [call.segment for call in run.calls] == [1, 1, 2]
    if name not in NO_USERS:
        assert run.user_messages == ("Do you have A7 and B2?", "Reserve two of the first.")


@pytest.mark.parametrize("name", FILES)
def test_a_format_is_known_by_its_content(name):
    known = [detect(item.value) for item in records(FILES[name]) if isinstance(item, Record)]
    assert {found.name for found in known if found is not None} <= {name, "otel"}
    assert any(found is not None and found.name == name for found in known)


@pytest.mark.parametrize("name", FILES)
def test_a_named_format_reads_as_the_found_one(name):
    assert list(read(FILES[name], format=name)) == list(read(FILES[name]))


@pytest.mark.parametrize("name", FILES)
def test_formats_stand_beside_one_another_in_one_file(name, tmp_path):
    other = "neutral" if name != "neutral" else "pegboard"
    mixed = tmp_path / "mixed.jsonl"
    rows = [item.value for path in (FILES[name], FILES[other]) for item in records(path) if isinstance(item, Record)]
    mixed.write_text("\n".join(map(json.dumps, rows)))
    found = list(read(mixed))
    assert [run.id for run in found if isinstance(run, Skipped)] == []
    assert sorted(len(run.calls) for run in found) == [3, 3]


@pytest.mark.parametrize("name", FILES)
def test_what_is_broken_never_raises(name, tmp_path):
    text = FILES[name].read_text()
    for cut in range(0, len(text), max(1, len(text) // 40)):
        path = tmp_path / f"{cut}"
        path.write_text(text[:cut])
        list(read(path))
        path.write_text(text[cut:])
        list(read(path))


@pytest.mark.parametrize(
    "noise", [None, 7, "text", [], {}, {"role": 3}, {"type": {}}, {"jsonrpc": "2.0"}, {"calls": 1}]
)
@pytest.mark.parametrize("name", FILES)
def test_noise_between_records_costs_nothing(name, noise, tmp_path):
    path = tmp_path / "noise.jsonl"
    rows = [item.value for item in records(FILES[name]) if isinstance(item, Record)]
    path.write_text("\n".join(json.dumps(row) for each in rows for row in (noise, each)))
    runs = [item for item in read(path) if not isinstance(item, Skipped)]
    assert [len(run.calls) for run in runs] == [3]
