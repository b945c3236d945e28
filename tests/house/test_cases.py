"""Reported failures and the tests that show them to come out right are tied both ways."""

import json
from pathlib import Path

from clauses import shown

CASES = Path(__file__).parents[1] / "corpus" / "cases" / "bridge-cases.jsonl"


def test_each_reported_failure_is_shown_by_a_test_and_no_test_names_another() -> None:
    cases = {json.loads(line)["id"] for line in CASES.read_text().splitlines()}
    assert shown(mark="case").keys() == cases
