"""Suites are read from three formats, judged without mercy, and told to machines."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from pegboard.agent.judge import chosen, judge, means
from pegboard.agent.score import score
from pegboard.agent.suite import Task, read_suite, suite_of
from pegboard.errors import ConfigError
from pegboard.trace import CallRecord, Run


def run(*tools, id="r", task=None, said=None, **more):
    calls = tuple(CallRecord(id=str(at), tool=tool, turn=at) for at, tool in enumerate(tools))
    return Run(id=id, calls=calls, task=task, user_messages=said, **more)


TOML = 'name = "shop"\n[[tasks]]\nid = "a"\nprompt = "Find it"\nmust_use = "find"\nat_most = 2\n'
YAML = "name: shop\ntasks:\n  - {id: a, prompt: Find it, must_use: find, at_most: 2}\n"
JSON = json.dumps({"name": "shop", "tasks": [{"id": "a", "prompt": "Find it", "must_use": ["find"], "at_most": 2}]})


@pytest.mark.parametrize(("ending", "text"), [("toml", TOML), ("yaml", YAML), ("json", JSON)])
def test_a_suite_is_the_same_in_every_format(ending: str, text: str, tmp_path: Path) -> None:
    file = tmp_path / f"suite.{ending}"
    file.write_text(text)
    suite = read_suite(file)
    assert (suite.name, suite.tasks) == ("shop", (Task(id="a", prompt="Find it", must_use=("find",), at_most=2),))


@pytest.mark.parametrize(
    ("document", "says"),
    [
        ({}, "no tasks"),
        ({"tasks": [{"id": "a"}]}, "expects nothing"),
        ({"tasks": [{"id": "a", "must": ["x"]}]}, "'must' is not known"),
        ({"tasks": [{"id": "a", "at_most": "three"}]}, "number of calls"),
        ({"tasks": [{"id": "a", "must_use": [1]}]}, "list of names"),
        ({"tasks": [{"id": "a", "at_most": 1}, {"id": "a", "at_most": 1}]}, "Two tasks"),
        ("text", "table"),
        ({"tasks": ["a"]}, "table"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_its_place(document: object, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        suite_of(document, where="suite.toml", name="x")


@pytest.mark.parametrize("ending", ["toml", "yaml", "json"])
def test_a_broken_file_is_refused(ending: str, tmp_path: Path) -> None:
    (tmp_path / f"s.{ending}").write_text("{[}")
    with pytest.raises(ConfigError):
        read_suite(tmp_path / f"s.{ending}")


@pytest.mark.parametrize(
    ("task", "tools", "faults"),
    [
        ({"must_use": ("find",)}, ["crm.find"], 0),
        ({"must_use": ("find", "read")}, ["crm.find"], 1),
        ({"must_use": ("crm.*",)}, ["mcp__crm__find"], 0),
        ({"must_not_use": ("delete_*",)}, ["crm.delete_all", "crm.delete_all"], 1),
        ({"order": ("find", "send")}, ["find", "look", "send"], 0),
        ({"order": ("find", "send")}, ["send", "find"], 1),
        ({"order": ("find", "find")}, ["find"], 1),
        ({"at_most": 2}, ["a", "b", "c"], 1),
        ({"at_most": 0}, [], 0),
    ],
)
def test_a_run_passes_when_it_chose_as_expected(task: dict, tools: list[str], faults: int) -> None:
    assert len(judge(Task(id="t", **task), run(*tools)).faults) == faults


def test_only_calls_of_the_model_itself_count_and_the_meta_tool_counts_as_what_it_calls() -> None:
    outer = CallRecord(id="1", tool="pegboard__tool_call", arguments={"name": "crm.find", "arguments": {}})
    inner = CallRecord(id="2", tool="crm.lookup", parent="1")
    assert chosen(Run(id="r", calls=(outer, inner))) == ["crm.find"]


def test_a_bare_name_means_the_tool_of_any_namespace_and_a_full_one_only_its_own() -> None:
    assert means("find", "crm.find") and means("crm.find", "crm__find") and means("crm__find", "crm.find")
    assert not means("crm.find", "hr.find") and not means("find", "crm.find_all")


def test_runs_belong_to_tasks_by_task_id_or_words_and_a_task_without_a_run_has_failed() -> None:
    suite = suite_of(
        [
            {"id": "a", "must_use": ["x"]},
            {"id": "b", "must_use": ["x"]},
            {"id": "c", "prompt": "Do  it", "must_use": ["x"]},
            {"id": "d", "must_use": ["x"]},
        ],
        where="s",
        name="s",
    )
    runs = [run("x", task="a"), run("x", id="b"), run("y", said=("Do it",)), run("x", task="other", id="z")]
    came_to = score(suite, runs)
    assert [outcome.verdict.passed for outcome in came_to.outcomes] == [True, True, False, False]
    assert came_to.unmatched == ("z",)
    answer = came_to.to_json()
    assert (answer["passed"], answer["of"], answer["outcomes"][3]["run"]) == (2, 4, None)
    low, high = answer["interval"]
    assert 0 < low < 0.5 < high < 1


def test_junit_is_well_formed_whatever_the_names_hold() -> None:
    suite = suite_of([{"id": "a\x00<b>", "must_use": ["<x>"]}], where="s", name="s & t")
    root = ElementTree.fromstring(score(suite, [run("y\x01", task="a\x00<b>")]).junit())
    assert (root.get("tests"), root.get("failures")) == ("1", "1")
    assert root[0][0].get("message") == "did not call <x>"
