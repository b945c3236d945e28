"""What no one would expect in traces: mining goes on, and what can be learned from the rest is learned."""

import json
from pathlib import Path
from typing import Any

import pytest

from pegboard.errors import SourceError
from pegboard.insight.evidence import Evidence
from pegboard.insight.mine import mine
from pegboard.insight.offer import offer_of
from pegboard.insight.suggest import suggest
from pegboard.trace import CallRecord, Run
from pegboard.trace.codec import run_to_json


def found(*runs: Run, **more: Any) -> list[Any]:
    evidence = Evidence()
    for run in runs:
        evidence.observe(run)
    return suggest(evidence, **more)


@pytest.mark.slow
def test_a_run_of_a_hundred_thousand_calls_is_mined(runs):
    calls = tuple(
        CallRecord(
            id=str(n), tool=f"t{n % 7}", arguments={"q": f"v{n}"}, result=f"v{n + 1}", ok=True, turn=n, segment=1
        )
        for n in range(100_000)
    )
    usual = runs("a(q=Ann{n})=U{n}7 > b(user=U{n}7)=ok", 6)
    kinds = {(finding.kind.value, finding.tools) for finding in found(Run(id="long", calls=calls), *usual)}
    assert ("bundle", ("a", "b")) in kinds


def test_a_file_that_cannot_be_read_is_told_and_costs_no_other(tmp_path, runs):
    with (tmp_path / "good.jsonl").open("w") as file:
        for run in runs("a(q=Ann{n})=U{n}7 > b(user=U{n}7)=ok", 6):
            file.write(json.dumps(run_to_json(run)) + "\n")
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 and no more")
    mined = mine([tmp_path / "bad.parquet", tmp_path / "good.jsonl"])
    assert mined.evidence.runs == 6
    assert [item.where for item in mined.skipped] == ["bad.parquet"]
    with pytest.raises(SourceError):
        mine([tmp_path / "bad.parquet"])


CALL = {"id": "0", "tool": "t"}


@pytest.mark.parametrize(
    ("odd", "said"),
    [
        ({"calls": [CALL | {"group": {"a": 1}}]}, "calls[0].group: expected str or null"),
        ({"calls": [CALL | {"seconds": "1s"}]}, "calls[0].seconds: expected int or float or null"),
        ({"calls": [CALL | {"ok": "yes"}]}, "calls[0].ok: expected bool or null"),
        ({"calls": [CALL | {"meta": [1]}]}, "calls[0].meta: expected dict"),
        ({"calls": [CALL, None]}, "calls[1]: expected an object"),
        ({"calls": [CALL], "task": 7}, "task: expected str or null"),
        ({"calls": [CALL], "user_messages": [None]}, "user_messages: expected texts"),
    ],
)
def test_a_run_with_a_field_of_a_wrong_type_is_told_and_costs_no_other(tmp_path, odd, said):
    path = tmp_path / "runs.jsonl"
    path.write_text(json.dumps({"id": "good", "calls": [CALL]}) + "\n" + json.dumps({"id": "odd"} | odd))
    mined = mine([path])
    assert (mined.evidence.runs, [str(item) for item in mined.skipped]) == (1, [f"runs.jsonl:2: {said}"])


def test_tools_that_no_catalog_knows_are_mined_all_the_same(runs):
    usual = runs("a(q=Ann{n})=U{n}7 > b(user=U{n}7)=ok", 6)
    kinds = {finding.kind.value for finding in found(*usual, offer=offer_of([{"name": "other"}]))}
    assert {"bundle", "no_traffic"} <= kinds


@pytest.mark.parametrize(
    "call",
    [
        {"tool": "", "args": {}},
        {"tool": "t" * 5000, "args": {"q": "x"}},
        {"tool": "a b.c/d", "args": [1, 2]},
        {"tool": "t", "args": "text"},
        {"tool": "t", "args": {"q": {"deep": [[[[["x"]]]]]}}},
        {"tool": "t", "args": {"": "", "\ud800": "\udfff"}},
        {"tool": "t", "args": None, "args_lost": True},
        {"tool": "t", "args": {"q": 1e400}},
        {"tool": "t", "args": {"q": "x" * 100_000}, "result_excerpt": "x" * 100_000},
    ],
)
def test_odd_calls_cost_no_other_finding(call: dict[str, Any], tmp_path: Path):
    usual = [
        {
            "run_id": f"u{n}",
            "task": f"t{n}",
            "calls": [
                {"tool": "a", "args": {"q": f"Ann{n}"}, "result_excerpt": f"U{n}77", "ok": True, "turn": 1},
                {"tool": "b", "args": {"user": f"U{n}77"}, "result_excerpt": "ok", "ok": True, "turn": 2},
            ],
        }
        for n in range(6)
    ]
    odd = [{"run_id": f"o{n}", "task": f"o{n}", "calls": [{"ok": True, "turn": 1, **call}] * 3} for n in range(6)]
    path = tmp_path / "t.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in [*odd, *usual]))
    findings = suggest(mine([path]).evidence)
    assert ("a", "b") in [finding.tools for finding in findings if finding.kind == "bundle"]
    json.dumps([finding.to_json() for finding in findings])
