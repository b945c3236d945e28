"""Which rules speak, of which tools, in which order; what the reports look like; and that nothing breaks them."""

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tool_rows import DESTROYS, TEXT, row, specs, takes, toolset

from pegboard.check import Severity, check, statistics
from pegboard.check.lock import lock_text, read_lock
from pegboard.check.report import SARIF_SCHEMA, Place, github, lines, sarif, total
from pegboard.check.rules import RULES
from pegboard.check.run import Chosen, rules_of
from pegboard.check.toolset import Toolset
from pegboard.core import SourceRef
from pegboard.errors import DefinitionError, PegboardError
from pegboard.normalise import normalise_all

BAD = (row("API-get", "", inputSchema=takes(a={"type": "date"})), row("delete_files", annotations=DESTROYS))


@pytest.mark.parametrize(
    ("select", "ignore", "codes"),
    [
        ((), (), {"PB301", "PB204", "PB105", "PB306", "PB401"}),
        (("PB3",), (), {"PB301", "PB306"}),
        (("PB3", "PB401"), ("PB306",), {"PB301", "PB401"}),
        ((), ("PB1", "PB2", "PB3"), {"PB401"}),
        (("PB306",), ("PB3",), {"PB306"}),
        (("pb204",), (), {"PB204"}),
        (("PB3",), ("PB3",), set()),
    ],
)
def test_rules_are_chosen_by_the_longest_beginning_of_their_code(select: Any, ignore: Any, codes: set[str]) -> None:
    found = {finding.code for finding in check(toolset(*BAD), select=select, ignore=ignore)}
    assert found == codes if select or ignore else found >= codes


def test_tools_are_left_alone_by_selector() -> None:
    ignored = {"shop.delete_*": ["PB4"], "effects:destructive": ["PB3"]}
    found = check(toolset(*BAD), ignored=ignored)
    assert {finding.tool for finding in found if finding.code.startswith(("PB3", "PB4"))} == {"shop.API-get"}


def test_an_unknown_code_is_refused_with_the_nearest() -> None:
    with pytest.raises(DefinitionError, match="PB401"):
        check(toolset(*BAD), select=["PB4011"])
    with pytest.raises(DefinitionError, match="no rule"):
        Chosen(tools={"*": ["X"]})
    assert [rule.code for rule in rules_of("near-duplicate")] == ["PB501"]
    assert rules_of("all") == RULES


def test_findings_stand_by_severity_code_and_tool_and_are_counted() -> None:
    found = check(toolset(*BAD))
    assert [finding.severity.rank for finding in found] == sorted(finding.severity.rank for finding in found)
    assert found == check(toolset(*BAD))
    assert sum(statistics(found).values()) == len(found)
    assert total(found).startswith(f"{len(found)} findings: ") and total(()) == "Nothing to say: all is well."


def test_what_says_the_same_of_several_tools_stands_in_one_line() -> None:
    rows = [row(f"list_{name}", annotations=None) for name in ("ants", "bees", "cats", "dogs", "elks")]
    (line,) = lines(check(toolset(*rows), select=["PB402"]))
    assert "shop.list_ants, shop.list_bees, shop.list_cats and 2 more: " in line


def test_github_annotations_are_escaped() -> None:
    finding = replace(check(toolset(*BAD), select=["PB301"])[0], message="100 %\nof it")
    (line,) = github([finding], lambda _: Place("a,b:c.json", 7))
    assert line == ("::error file=a%2Cb%3Ac.json,line=7,title=PB301 no-description::shop.API-get: 100 %25%0Aof it")


def test_sarif_is_what_code_scanning_reads() -> None:
    found = check(toolset(*BAD))
    log = sarif(found, RULES, lambda _: Place("tools.json", 3), "1.2.3")
    assert (log["version"], log["$schema"]) == ("2.1.0", SARIF_SCHEMA)
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert len({rule["id"] for rule in rules}) == len(rules) == len(RULES)
    for rule in rules:
        assert {"id", "name", "shortDescription", "fullDescription", "help", "defaultConfiguration"} == rule.keys()
        assert rule["shortDescription"]["text"].endswith(".")
    assert len(run["results"]) == len(found)
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in ("error", "warning", "note") and result["message"]["text"]
        (location,) = result["locations"]
        assert location["physicalLocation"]["region"]["startLine"] == 3
        assert len(result["partialFingerprints"]["pegboardFinding/v1"]) == 64
    json.dumps(log, allow_nan=False)


def test_a_lock_file_is_the_same_for_the_same_tools_and_finds_what_changed(tmp_path: Path) -> None:
    lock = tmp_path / "pegboard.lock"
    lock.write_text(lock_text(specs(row("list_b"), row("list_a"))))
    assert lock_text(specs(row("list_a"), row("list_b"))) == lock.read_text()
    assert list(read_lock(lock)) == ["shop.list_a", "shop.list_b"]
    now = specs(row("list_a", inputSchema=takes(town=TEXT)), row("list_c"))
    codes = {finding.tool: finding.code for finding in check(now, against=lock, select=["PB6"])}
    assert codes == {"shop.list_a": "PB601", "shop.list_b": "PB604", "shop.list_c": "PB605"}


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"pegboard_lock": 99, "tools": {}}', '{"pegboard_lock": 1, "tools": []}']
)
def test_a_file_that_is_no_lock_file_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "x").write_text(text)
    with pytest.raises(PegboardError, match="lock file"):
        check((), against=tmp_path / "x")
    with pytest.raises(PegboardError, match="no such lock file"):
        check((), against=tmp_path / "missing")


TEXTS = st.text(max_size=40) | st.sampled_from(
    ["", " ", "API", "\ud800", "a" * 5000, "<IMPORTANT>", "\U000e0041", "ALWAYS"]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(TEXTS | st.sampled_from(["type", "properties", "enum", "$ref"]), inner, max_size=4)
    ),
    max_leaves=10,
)
ROWS = st.fixed_dictionaries(
    {"name": TEXTS | JSON},
    optional={
        "description": TEXTS | JSON,
        "inputSchema": JSON,
        "outputSchema": JSON,
        "annotations": JSON,
        "title": TEXTS,
    },
)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(st.lists(ROWS | JSON, max_size=6), st.booleans())
def test_any_rows_at_all_are_judged(rows: list[Any], board: bool) -> None:
    found, notes = normalise_all(rows, namespace="x", source=SourceRef("x", "file"), trusted=False)
    tools = Toolset(tuple(found), {"x": notes}, board=board, targets=("openai-responses", "gemini"))
    findings = check(tools)
    assert findings == check(tools)
    json.dumps([finding.to_json() for finding in findings], default=str)
    assert all(isinstance(finding.severity, Severity) for finding in findings)
    list(lines(findings))


def test_thousands_of_tools_are_not_compared_each_with_each() -> None:
    rows = [
        row(f"list_thing{number}_of_kind{number % 40}", f"List the things of number {number}.")
        for number in range(3000)
    ]
    tools = toolset(*rows)
    start = time.process_time()
    check(tools, select=["PB311", "PB312", "PB501"])
    assert time.process_time() - start < 60  # each with each would take many minutes
