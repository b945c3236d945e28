"""Two thousand schemas, sound and broken: every provider takes what comes of each, and the bytes never vary."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.checkers.dialects import faults
from tests.property.schemas import any_json, broken_schemas, sound_schemas

from pegboard.schema.lower import DIALECTS as ALL
from pegboard.schema.lower import Lowered, lower

DIALECTS = [name for name in ALL if name != "codex"]  # the baseline has its own cases
pytestmark = pytest.mark.slow


def collected(strategy: st.SearchStrategy[Any], count: int) -> list[Any]:
    """As many values of a strategy, the same in every run."""
    found: list[Any] = []

    @settings(
        max_examples=count,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def collect(value: Any) -> None:
        found.append(value)

    collect()
    return found


def told(found: Lowered) -> str:
    """Everything that lowering says, as text."""
    return json.dumps([found.schema, found.strict, found.refused, repr(found.losses), repr(found.changes)])


def main(path: str) -> str:
    """The digest of all lowerings of the schemas in a file."""
    digest = hashlib.sha256()
    for schema in json.loads(Path(path).read_text()):
        for dialect in DIALECTS:
            digest.update(told(lower(schema, dialect)).encode())
    return digest.hexdigest()


@pytest.mark.requirement("D3.1", "D3.7", "D4.1", "D6.3")
def test_every_provider_takes_two_thousand_schemas_and_the_bytes_are_the_same_under_any_hash_seed(
    tmp_path: Path,
) -> None:
    schemas = collected(sound_schemas(depth=2), 1000) + collected(broken_schemas() | any_json, 1000)
    assert len(schemas) >= 1900  # a strategy may run dry of new values
    path = tmp_path / "schemas.json"
    path.write_text(json.dumps(schemas))
    command = [sys.executable, __file__, str(path)]
    environment = {**os.environ, "PYTHONHASHSEED": "4242", "PYTHONPATH": str(Path(__file__).parents[2])}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True) as other:
        digest = hashlib.sha256()
        for schema in json.loads(path.read_text()):
            for dialect in DIALECTS:
                found = lower(schema, dialect)
                digest.update(told(found).encode())
                if found.refused is None:
                    assert faults(dialect, found.schema, strict=found.strict) == [], (dialect, schema)
        output, _ = other.communicate()
    assert output == digest.hexdigest()


if __name__ == "__main__":
    sys.stdout.write(main(sys.argv[1]))
