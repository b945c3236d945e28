"""Evidence is a monoid: how runs are cut up and merged changes nothing."""

import json
import random
from dataclasses import replace

import pytest

from pegboard.insight.evidence import Evidence
from pegboard.insight.mine import local, mine
from pegboard.insight.processes import processes
from pegboard.insight.suggest import suggest
from pegboard.trace.importers import Skipped, read

SOURCES = ("tau1-retail", "tau2-airline", "agentdojo-slack", "bfcl-multiturn-gt", "apibank")


def of(runs):
    evidence = Evidence()
    for run in runs:
        evidence.observe(run)
    return evidence


def told(evidence):
    return json.dumps([finding.to_json() for finding in suggest(evidence)])


@pytest.fixture
def some(corpus):
    return [run for source in SOURCES for run in read(corpus / f"{source}.jsonl.gz") if not isinstance(run, Skipped)]


def test_nothing_is_the_neutral_element(some):
    whole = of(some)
    before = told(whole)
    whole.merge(Evidence())
    empty = Evidence()
    empty.merge(whole)
    assert told(whole) == told(empty) == before


@pytest.mark.parametrize("seed", range(4))
def test_parts_may_be_cut_and_merged_in_any_order(some, seed):
    chance = random.Random(seed)
    runs = chance.sample(some, len(some))
    cuts = sorted(chance.sample(range(len(runs)), 5))
    parts = [of(runs[start:end]) for start, end in zip([0, *cuts], [*cuts, len(runs)], strict=True)]
    while len(parts) > 1:
        one, other = chance.sample(range(len(parts)), 2)
        parts[one].merge(parts[other])
        del parts[other]
    assert told(parts[0]) == told(of(some))


def test_merging_leaves_the_other_part_as_it_was(some):
    part = of(some[:40])
    before = told(part)
    total = of(some[40:])
    total.merge(part)
    total.merge(of(some[:40]))
    assert told(part) == before


def test_worlds_whose_tools_differ_are_kept_apart(runs):
    shop = runs("user=U{n}7 > order(id=U{n}7)=ok", 6)
    flights = runs("user=U{n}7 > flight(id=U{n}7)=ok > seat=1 > meal=2", 30, 100)
    apart = of([_from("shop", run) for run in shop] + [_from("air", run) for run in flights])
    assert ("user", "order") in [finding.tools for finding in suggest(apart)]
    mixed = of([_from("one", run) for run in shop + flights])
    assert ("user", "order") not in [finding.tools for finding in suggest(mixed)]


def test_sources_that_share_their_tools_are_one_world(runs):
    text = "user=U{n}7 > order(id=U{n}7)=ok"
    split = of([_from(f"log-{place}", run) for place, run in enumerate(runs(text, 6))])
    assert [(finding.tools, finding.runs) for finding in suggest(split)] == [(("user", "order"), 6)]


def _from(source, run):
    return replace(run, source=source)


@pytest.mark.slow
def test_processes_find_what_one_process_finds(corpus):
    paths = [corpus / f"{source}.jsonl.gz" for source in SOURCES]
    assert told(mine(paths, engine=processes(2)).evidence) == told(mine(paths, engine=local).evidence)
