"""What recurs in runs becomes findings, and what only looks like it does not."""

import pytest

from pegboard.insight.evidence import Evidence
from pegboard.insight.suggest import suggest


def findings(*groups):
    evidence = Evidence()
    for runs in groups:
        for run in runs:
            evidence.observe(run)
    return suggest(evidence)


def of_kind(found, kind):
    return [item.tools for item in found if item.kind == kind]


DM = "search_users(q=Ann{n})=U{n}7 > open_dm(user=U{n}7)=D{n}9 > send(room=D{n}9,text=hi)=ok"


def test_a_sequence_with_flowing_values_becomes_one_bundle_with_its_wiring(runs):
    [bundle] = findings(runs(DM, 6))
    assert bundle.tools == ("search_users", "open_dm", "send")
    wired = {(row["tool"], row["argument"]): row["from"]["tool"] for row in bundle.details["wiring"]}
    assert wired == {("open_dm", "user"): "search_users", ("send", "room"): "open_dm"}
    assert [row["argument"] for row in bundle.details["inputs"]] == ["q", "text"]
    assert (bundle.runs, bundle.tasks) == (6, 6)


def test_a_pause_for_the_user_is_no_branch(runs):
    paused = "search_users(q=Ann{n})=U{n}7 > open_dm(user=U{n}7)=D{n}9 | note(x=1)"
    assert ("search_users", "open_dm", "send") in of_kind(findings(runs(DM, 6), runs(paused, 5, 50)), "bundle")


def test_a_branch_after_a_step_ends_the_bundle_there(runs):
    branches = [f"lookup(q=Q{{n}}x)=id_{{n}}9 > {tool}(id=id_{{n}}9)=ok" for tool in ("refund", "escalate", "close")]
    assert findings(*(runs(text, 6, 100 * place) for place, text in enumerate(branches))) == []


def test_no_value_flows_but_the_order_is_never_broken(runs):
    assert of_kind(findings(runs("lock=ok > brake=ok > start=ok", 6)), "bundle") == [("lock", "brake", "start")]


def test_no_value_flows_and_the_order_varies(runs):
    assert findings(runs("lock=ok > start=ok", 6), runs("start=ok | lock=ok", 3, 50)) == []


def test_one_task_in_many_runs_is_no_habit(run):
    same = [run(DM.replace("{n}", "001"), id=f"r{number}", task="one") for number in range(20)]
    assert findings(same) == []


def test_a_sibling_entry_is_a_variant_of_the_bundle(runs):
    other = DM.replace("search_users(q=Ann{n})", "search_users_by_mail(mail=ann{n})")
    found = findings(runs(DM, 8), runs(other, 5, 50))
    main, variant = [item for item in found if item.kind == "bundle"]
    assert main.details["steps"][0]["alternatives"] == ["search_users_by_mail"]
    assert variant.details["variant_of"] == main.id


LIST = "list_orders=O{n}1 O{n}2 O{n}3 > "


def test_a_loop_over_known_values_becomes_a_batch_with_its_parameter_and_source(runs):
    found = findings(runs(LIST + "get(id=O{n}1)=a > get(id=O{n}2)=b > get(id=O{n}3)=c", 5))
    [batch] = [item for item in found if item.kind == "batch"]
    assert (batch.tools, batch.details["over"], batch.details["from"]) == (("get",), "id", "list_orders")
    assert (batch.details["longest"], batch.details["parallel"]) == (3, 0)


@pytest.mark.parametrize(
    ("what", "loop"),
    [
        ("retry", "get(id=O{n}1)!=no > get(id=O{n}2)=b"),
        ("chained", "get(id=first)=N{n}1 > get(id=N{n}1)=N{n}2 > get(id=N{n}2)=end"),
        ("repeat", "get(id=O{n}1)=a > get(id=O{n}1)=a"),
        ("refine", "get(day=2026-01-01)=none > get(day=2026-01-02)=none"),
        ("composed", "get(body=dear Ann how are you today)=a > get(body=dear Bob how are you today)=b"),
    ],
)
def test_other_loops_are_no_batch(runs, what, loop):
    assert of_kind(findings(runs(LIST + loop, 6)), "batch") == []


def test_a_loop_made_in_one_message_claims_no_turns(runs):
    found = findings(runs(LIST + "get(id=O{n}1)=a & get(id=O{n}2)=b", 5))
    [batch] = [item for item in found if item.kind == "batch"]
    assert batch.details["parallel"] == 5
