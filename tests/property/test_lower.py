"""Lowering, for every schema: its provider takes it, it is stable, and each value that is meant has a way through."""

import json
import os
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tests.checkers.dialects import accepts, faults
from tests.property.schemas import any_json, broken_schemas, meant, sound_schemas, values_of

from pegboard.schema.lower import DIALECTS as ALL
from pegboard.schema.lower import lower
from pegboard.schema.raise_ import lower_value, raise_arguments, raise_value, same

DIALECTS = [name for name in ALL if name != "codex"]  # the baseline has its own cases
pytestmark = pytest.mark.slow
SETTINGS = settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))


def lowered_well(schema: Any) -> None:
    for dialect in DIALECTS:
        found = lower(schema, dialect)
        if found.refused is None:
            assert faults(dialect, found.schema, strict=found.strict) == [], dialect
            if found.schema is not None:
                assert json.dumps(lower(found.schema, dialect).schema) == json.dumps(found.schema), dialect


@SETTINGS
@given(sound_schemas())
def test_every_dialect_takes_every_sound_schema_and_lowering_again_changes_nothing(schema: dict[str, Any]) -> None:
    lowered_well(schema)


@SETTINGS
@given(broken_schemas() | any_json)
def test_every_dialect_takes_or_refuses_any_json(schema: Any) -> None:
    lowered_well(schema)


@SETTINGS
@given(st.data(), sound_schemas(arguments=True))
def test_every_value_that_the_author_means_has_a_lowered_value_that_raises_to_it(
    data: st.DataObject, schema: dict[str, Any]
) -> None:
    value = data.draw(values_of(schema, schema))
    assume(meant(schema, value))
    for dialect in DIALECTS:
        found = lower(schema, dialect)
        assume(found.refused is None)
        sent = lower_value(found, value)
        assert accepts(dialect, found.schema, sent), dialect
        assert same(raise_value(found, sent), value), dialect
        assert raise_arguments(found, sent).violations == (), dialect


def test_the_same_bytes_come_out_whatever_the_hash_seed() -> None:
    program = (
        "import json, gzip, pathlib\n"
        "from pegboard.schema.lower import DIALECTS, lower\n"
        "rows = json.loads(gzip.open('tests/corpus/mcp/notion.json.gz').read())['tools']\n"
        "print(json.dumps([[lower(r['inputSchema'], d).schema, lower(r['inputSchema'], d).losses.__repr__()]"
        " for r in rows for d in DIALECTS]))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program], capture_output=True, check=True, env={**os.environ, "PYTHONHASHSEED": seed}
        ).stdout
        for seed in ("0", "1", "4242")
    }
    assert len(outputs) == 1
