"""Every tool of the recorded servers, in every dialect: taken by its provider, and its arguments come back whole."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis_jsonschema import from_schema
from tests.checkers.dialects import accepts, faults
from tests.property.schemas import meant, values_of

from pegboard.schema.lower import DIALECTS as ALL
from pegboard.schema.lower import lower
from pegboard.schema.raise_ import lower_value, raise_arguments, raise_value, same

DIALECTS = [name for name in ALL if name != "codex"]  # the baseline has its own cases
HERE = Path(__file__).parent / "mcp"


def tools() -> Iterator[tuple[str, dict[str, Any]]]:
    for path in sorted(HERE.glob("*.json*")):
        text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        for tool in json.loads(text)["tools"]:
            yield f"{path.name.split('.')[0]}:{tool['name']}", tool["inputSchema"]


def without_nulls(value: Any) -> Any:
    """The value without keys that are null: where null is the default, it and absence are one."""
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list) else value


@pytest.mark.slow
@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_tool_is_taken_by_its_provider_and_stays_as_it_is_when_lowered_again(dialect: str) -> None:
    for name, schema in tools():
        found = lower(schema, dialect)
        assert found.refused is None, name
        assert faults(dialect, found.schema, strict=found.strict) == [], name
        if found.schema is not None:
            assert json.dumps(lower(found.schema, dialect).schema) == json.dumps(found.schema), name


@pytest.mark.slow
@pytest.mark.parametrize(("name", "schema"), list(tools()), ids=[name for name, _ in tools()])
def test_every_argument_comes_back_whole(name: str, schema: dict[str, Any]) -> None:
    # hypothesis-jsonschema makes no values of recursive schemas
    values = values_of(schema, schema) if '"$ref"' in json.dumps(schema) else from_schema(schema)
    plans = {dialect: lower(schema, dialect) for dialect in DIALECTS}

    @settings(
        max_examples=5,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(values)
    def round_trip(value: Any) -> None:
        if not meant(schema, value):
            return
        for dialect, found in plans.items():
            sent = lower_value(found, value)
            assert accepts(dialect, found.schema, sent), dialect
            assert same(without_nulls(raise_value(found, sent)), without_nulls(value)), dialect
            assert raise_arguments(found, sent).violations == (), dialect

    round_trip()
