"""Each argument's value is traced to the results, arguments and words that it came from."""

import gzip
import json

import pytest

from pegboard.insight.flow import answer, provenance
from pegboard.trace import CallRecord, Run
from pegboard.trace.importers import read


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        ("find(name=Ann)=user_7 > get(id=user_7)", [["new"], ["out:0"]]),
        ("a=x_1 > b=x_1 > get(id=x_1)", [[], [], ["out:0|out:1"]]),
        ("find(id=abc)=none > get(id=abc)", [["new"], ["new"]]),
        ("find(id=abc)=none > find(id=abc)", [["new"], ["arg:0"]]),
        ("find(id=ab1)=none > get(id=ab1)", [["new"], ["new"]]),
        ("find(id=abc)=none | get(id=abc)", [["new"], ["new"]]),
        ("find=no > get(n=7)", [[], ["short"]]),
        ("find=user_77 > get(id=user_7)", [[], ["new"]]),
        ("find=orders #W12 and #W34 > get(id=#W34)", [[], ["out:0"]]),
        ("find=abc & get(id=abc)", [[], ["new"]]),
        ("find=price 120.5 > pay(amount=120.5)", [[], ["out:0"]]),
    ],
)
def test_a_value_comes_from_the_results_in_which_it_stands_as_a_whole(run, labels, calls, expected):
    assert labels(run(calls)) == expected


def test_the_users_words_stand_beside_results_and_before_repeated_arguments(run, labels):
    said = run("a(x=alpha)=beta > b(x=beta,y=alpha)", user_messages=("take alpha or beta",))
    assert labels(said) == [["user"], ["out:0|user", "user"]]


def test_a_user_message_is_known_only_after_it_was_said(run, labels):
    said = run("a(x=alpha) | b(x=alpha)", user_messages=("go on", "alpha it is"))
    assert labels(said) == [["new"], ["user"]]


def test_structured_results_are_searched_in_values_and_keys(run, labels):
    one = run("find > pay(method=card_991,city=Paris)")
    first = CallRecord(id="0", tool="find", result={"cards": {"card_991": {"city": "Paris"}}}, segment=1)
    assert labels(Run(id="x", calls=(first, one.calls[1]))) == [[], ["out:0", "out:0"]]


def test_a_value_in_hundreds_of_results_names_only_the_earliest(run):
    many = run(" > ".join(["list=abc_1"] * 400 + ["get(id=abc_1)"]))
    assert len(provenance(many)[-1][0].sources) == 256


@pytest.mark.parametrize(
    "source", ["tau1-retail", "tau2-airline", "agentdojo-slack", "apibank", "bfcl-multiturn-gt", "toolbench"]
)
def test_provenance_of_real_runs_matches_the_answer_key(corpus, source):
    with gzip.open(corpus / f"{source}.key.jsonl.gz", "rt") as file:
        keys = [json.loads(line) for line in file]
    found = [answer(run) for run in read(corpus / f"{source}.jsonl.gz")]
    assert [row["run_id"] for row in found] == [row["run_id"] for row in keys]
    assert f1(keys, found) >= 0.95


def f1(keys, found):
    """Over (call, argument, source); `[]` and `short` are not judged, nor is user told apart from new."""
    hits = missed = wrong = 0
    for key, row in zip(keys, found, strict=True):
        for expected, got in zip(key["arg_src"], row["arg_src"], strict=True):
            assert list(expected) == list(got)
            for name in expected:
                want, have = sources(expected[name]), sources(got[name])
                hits += sum(any(one & other for other in have) for one in want)
                missed += sum(not any(one & other for other in have) for one in want)
                wrong += sum(not any(one & other for other in want) for one in have)
    return 2 * hits / (2 * hits + wrong + missed)


def sources(entries):
    parts = [entry.split("|") for entry in entries if entry != "short"]
    return [{"model" if part in ("user", "new") else part for part in entry} for entry in parts]
