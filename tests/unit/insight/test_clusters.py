"""On a Ray cluster, the same bytes as here: one real cluster, with a home and files of its own, on loopback."""

import json
from pathlib import Path

import pytest

from pegboard.insight.clusters import cluster
from pegboard.insight.mine import Engine, local, mine
from pegboard.insight.summary import summarise
from pegboard.trace.exporters.registry import write
from pegboard.trace.importers import Skipped, read


def report(paths: list[Path], engine: Engine) -> str:
    return json.dumps(summarise(mine(paths, engine=engine)).to_json())


@pytest.mark.slow
def test_a_cluster_finds_the_same_to_the_byte_in_lines_and_in_parquet(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    lines, parquet = corpus / "tau1-retail.jsonl.gz", tmp_path / "tau2-airline.parquet"
    airline = corpus / "tau2-airline.jsonl.gz"
    write((run for run in read(airline) if not isinstance(run, Skipped)), parquet)
    expected = report([lines, parquet], local)
    assert report([lines, parquet], cluster(2)) == expected
    assert json.loads(expected)["findings"] == json.loads(report([lines, airline], local))["findings"]
