"""What recurs in runs becomes findings, and what only looks like it does not."""

import pytest

from pegboard.insight.evidence import Evidence
from pegboard.insight.offer import Offer, offer_of
from pegboard.insight.suggest import suggest


def findings(*groups, offer: Offer | None = None):
    evidence = Evidence()
    for runs in groups:
        for run in runs:
            evidence.observe(run)
    return suggest(evidence, offer)


def tools(*rows):
    """An offer of tools: names, or rows with arguments and more."""
    return offer_of([{"name": row} if isinstance(row, str) else row for row in rows])


def takes(name, *arguments, kind="string", **more):
    properties = {argument: {"type": kind} for argument in arguments}
    return {"name": name, "inputSchema": {"type": "object", "properties": properties}, **more}


def of_kind(found, kind):
    return [item.tools for item in found if item.kind == kind]


DM = "search_users(q=Ann{n})=U{n}7 > open_dm(user=U{n}7)=D{n}9 > send(room=D{n}9,text=hi)=ok"


@pytest.mark.requirement("C1.2", "C1.3", "C16.1")
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


@pytest.mark.requirement("C1.4")
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


def test_two_readers_asked_the_same_side_by_side_become_a_fan_out_and_no_bundle(runs):
    found = findings(runs("search_direct(q=Q{n}9) > search_onestop(q=Q{n}9)", 6))
    assert of_kind(found, "fan_out") == [("search_direct", "search_onestop")]
    assert of_kind(found, "bundle") == []


@pytest.mark.requirement("C1.7")
@pytest.mark.parametrize(
    ("one", "other", "merged"),
    [
        ("search_contacts_by_name", "search_contacts_by_email", True),
        ("search_direct_flight", "search_onestop_flight", True),
        ("get_user_posts", "get_user_likes", False),
        ("add_user_to_team", "remove_user_from_team", False),
        ("exchange_items", "modify_items", False),
        ("gallon_to_liter", "liter_to_gallon", False),
    ],
)
def test_siblings_with_the_same_arguments_merge_and_opposites_never(one, other, merged):
    found = findings(offer=tools(takes(one, "value"), takes(other, "value")))
    assert of_kind(found, "merge") == ([tuple(sorted((one, other)))] if merged else [])


@pytest.mark.requirement("C1.8")
def test_tools_without_traffic_are_told_with_the_evidence_behind_it(runs):
    found = findings(runs("get(id=1)", 40), offer=tools("get", "list_things", "delete_things"))
    unused = {finding.tools[0]: finding for finding in found if finding.kind == "no_traffic"}
    assert set(unused) == {"list_things", "delete_things"}
    assert "40 runs" in unused["delete_things"].reason
    assert unused["delete_things"].confidence < unused["list_things"].confidence


@pytest.mark.requirement("C16.5")
def test_a_composite_that_no_run_picks_is_unproven(runs):
    meta = {"pegboard/composite": "bundle", "pegboard/uses": ["a", "b"]}
    offer = tools("a", "b", {"name": "do_ab", "_meta": meta})
    [never] = [finding for finding in findings(runs("a > c", 3), offer=offer) if finding.kind == "unproven"]
    [shown] = [finding for finding in findings(runs("a > b", 3), offer=offer) if finding.kind == "unproven"]
    assert "none of them" in never.reason
    assert "3 of them" in shown.reason
    assert of_kind(findings(runs("do_ab", 3), offer=offer), "unproven") == []


def test_a_list_taking_tool_in_a_loop_lacks_a_hint_not_a_batch(runs):
    loop = LIST + "get(ids=O{n}1)=a > get(ids=O{n}2)=b"
    found = findings(runs(loop, 5), offer=tools("list_orders", takes("get", "ids", kind="array")))
    assert of_kind(found, "batch") == []
    assert of_kind(found, "missing_hint") == [("get",)]


def test_a_prerequisite_that_is_learned_by_failing_lacks_a_hint(runs):
    found = findings(runs("get(id=Ann)!=no such id > find(name=Ann)=U{n}77 > get(id=U{n}77)=ok", 4))
    assert ("get", "find") in of_kind(found, "missing_hint")


def test_a_tool_that_often_fails_is_a_hot_spot_with_its_argument(runs):
    found = findings(runs("book(day=X{n}1,n=2)!=Error: bad day 'X{n}1' > book(day=Y{n}2,n=2)=ok", 5))
    [spot] = [finding for finding in found if finding.kind == "hot_spot"]
    assert spot.details["argument"] == "day"
    assert spot.details["errors"][0]["text"] == "Error: bad day …"
    assert (spot.details["errors"][0]["times"], spot.details["errors"][0]["mended"]) == (5, 5)


def test_one_value_that_goes_to_many_tools_belongs_into_the_context(runs):
    text = "login(user=Ann)=T{n}0k > tool_X(token=T{n}0k)=ok"
    groups = [runs(text.replace("X", letter), 4, 10 * place) for place, letter in enumerate("abcdef")]
    [found] = [finding for finding in findings(*groups) if finding.kind == "context"]
    assert (found.tools[0], found.details["argument"], found.details["takers"]) == ("login", "token", 6)


def test_a_tool_that_never_works_is_dead(runs):
    found = findings(runs("ghost(x=1)!=no such tool", 4))
    assert of_kind(found, "dead") == [("ghost",)]
    assert of_kind(found, "hot_spot") == []


def test_runs_over_the_cap_are_budget_pressure(runs):
    found = findings(runs(" > ".join(f"t{number}" for number in range(12)), 4), runs("t1", 4, 50))
    [finding] = [finding for finding in found if finding.kind == "budget_pressure"]
    assert (finding.runs, finding.details["runs_seen"], finding.details["longest"]) == (4, 8, 12)


def test_a_search_that_did_not_show_the_tool_that_was_then_called_is_a_miss(runs):
    found = findings(runs("tool_search(query=cheap flights)=hotel_search car_rent > fly(to=Rome)=ok", 4))
    [miss] = [finding for finding in found if finding.kind == "search_miss"]
    assert miss.tools == ("fly",)
    assert miss.details["words"] == ["cheap", "flights"]


@pytest.mark.requirement("C1.5", "C1.6")
def test_a_capability_on_one_rung_only_is_a_gap():
    meta = {"pegboard/composite": "bundle", "pegboard/uses": ["gone"]}
    offer = tools(takes("execute_sql", "sql", group="data"), {"name": "do_it", "_meta": meta, "group": "tasks"})
    gaps = {item.tools[0]: item.details["gap"] for item in findings(offer=offer) if item.kind == "ladder_gap"}
    assert gaps == {"execute_sql": "only_low", "do_it": "only_high"}


def test_two_ways_in_that_are_as_common_belong_to_the_bundle_that_they_lead_to(runs):
    rest = "=P{n}7 > get_chart(patient=P{n}7)=C{n}9 > list_labs(chart=C{n}9)=L{n}5 > get_lab(lab=L{n}5)=fine"
    both = runs("find_patient(name=Ann{n})" + rest, 10) + runs("find_patient_by_phone(phone=555{n})" + rest, 10, 100)
    found = {finding.tools: finding for finding in findings(both) if finding.kind.value == "bundle"}
    whole = ("get_chart", "list_labs", "get_lab")
    assert set(found) == {("find_patient", *whole), ("find_patient_by_phone", *whole)}
    main = found["find_patient", *whole]
    assert main.details["steps"][0]["alternatives"] == ["find_patient_by_phone"]
    assert found["find_patient_by_phone", *whole].details["variant_of"] == main.id
