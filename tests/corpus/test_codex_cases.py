"""The dialect `codex` does what codex does, defects included, so that the comparison with it is fair."""

import json
from pathlib import Path
from typing import Any

import pytest

from pegboard.schema.lower import lower

CASES = [json.loads(line) for line in (Path(__file__).parent / "cases" / "codex-schema-cases.jsonl").open()]


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_codex_is_reproduced(case: dict[str, Any]) -> None:
    found = lower(case["input"], "codex")
    if "$reject" in case["expect"]:
        assert found.refused is not None
    else:
        assert found.schema == case["expect"]
