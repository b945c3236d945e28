"""From a finding to a tool: wired, named after its task, with ways in, and nothing where nothing can be written."""

import pytest

from pegboard.insight.evidence import Evidence
from pegboard.insight.offer import Offer, offer_of
from pegboard.insight.propose import propose
from pegboard.insight.propose.cases import cases
from pegboard.insight.propose.naming import batch_name, bundle_name, plural
from pegboard.insight.propose.python import python_source
from pegboard.insight.propose.reading import at_place, reading
from pegboard.insight.suggest import suggest
from pegboard.schema.expression import Expression


def takes(name, *required, **properties):
    given = {each: {"type": "string"} for each in required} | properties
    return {"name": name, "inputSchema": {"type": "object", "properties": given, "required": list(required)}}


def proposed(kind, offer: Offer, *groups):
    evidence = Evidence()
    for run in (run for group in groups for run in group):
        evidence.observe(run)
    rows = [finding.to_json() for finding in suggest(evidence, offer)]
    row = next(row for row in rows if row["kind"] == kind)
    return propose(row, rows, offer), row


DM = "search_users(q=Ann{n})=U{n}7 > open_dm(user=U{n}7)=D{n}9 > send(room=D{n}9,text=hi)=ok"
CHAT = offer_of([takes("search_users", "q"), takes("open_dm", "user"), takes("send", "room", "text")])
GETTERS = offer_of([takes("get_item", "id"), takes("get_items", "x")])
SHOP = offer_of([takes("find_user", "name"), takes("get_order_details", "order_id")])
ORDERS = (
    "find_user(name=Ann{n})=#W{n}1 #W{n}2 #W{n}3 "
    "> get_order_details(order_id=#W{n}1)=one > get_order_details(order_id=#W{n}2)=two"
)


def test_a_bundle_is_wired_and_takes_what_no_step_gives(runs):
    proposal, _ = proposed("bundle", CHAT, runs(DM, 6))
    [piece] = proposal.pieces
    assert (piece.kind, piece.name) == ("bundle", "send_by_users")
    assert piece.table["input"] == {"q": "string", "text": "string"}
    find, open_room, send = piece.table["steps"]
    assert find["args"] == {"q": "${input.q}"}
    assert "find(users, " in open_room["args"]["user"]
    assert send["args"]["text"] == "${input.text}"
    assert any("preview" in note for note in proposal.notes)


def test_a_step_over_a_list_runs_through_a_batch_form(runs):
    proposal, _ = proposed("bundle", SHOP, runs(ORDERS, 6))
    batch, bundle = proposal.pieces
    assert (batch.kind, batch.name, batch.table["over"]) == ("batch", "get_orders_details", "order_id")
    assert bundle.table["steps"][1]["tool"] == "get_orders_details"
    assert "find_all(user" in bundle.table["steps"][1]["args"]["order_id"]


def test_the_cases_of_a_bundle_are_its_recorded_arguments_and_last_results(runs):
    proposal, row = proposed("bundle", SHOP, runs(ORDERS, 6))
    found = cases(proposal, row, runs(ORDERS, 2))
    assert [case.arguments for case in found] == [{"name": "Ann000"}, {"name": "Ann001"}]
    assert found[0].gives == ("one", "two")
    assert [call["tool"] for call in found[0].instead_of] == ["find_user", "get_order_details", "get_order_details"]


def test_no_case_is_made_of_a_run_that_asked_a_step_in_another_way(runs, run):
    fares = offer_of([takes("fare", "day", "place"), takes("book", "day", "seat")])
    usual = "fare(day=2026-05-{n},place=Rome)=free > book(day=2026-05-{n},seat=1A)=ok"
    proposal, row = proposed("bundle", fares, runs(usual, 8))
    other_day = run("fare(day=2026-05-01,place=Rome)=free > book(day=2026-06-02,seat=1A)=ok")
    by_place = run("fare(arg0=2026-05-01,place=Rome)=free > book(day=2026-05-01,seat=1A)=ok")
    assert cases(proposal, row, [other_day, by_place]) == []
    assert len(cases(proposal, row, [other_day, *runs(usual, 2)])) == 2


def test_a_batch_takes_the_varying_parameter_and_has_the_recorded_lists_as_cases(runs):
    loop = "list_ids()=a{n}1 b{n}2 > get_item(id=a{n}1)=x > get_item(id=b{n}2)=y"
    proposal, row = proposed("batch", offer_of([{"name": "list_ids"}, takes("get_item", "id")]), runs(loop, 6))
    [piece] = proposal.pieces
    assert (piece.name, piece.table["tool"], piece.table["over"]) == ("get_items", "get_item", "id")
    assert cases(proposal, row, runs(loop, 1))[0].arguments == {"id": ["a0001", "b0002"]}


def test_parts_in_one_namespace_give_the_new_tool_theirs_and_a_taken_name_gets_a_number():
    rows = [
        {"name": f"shop.{name}", **takes("", parameter)} for name, parameter in (("get_item", "id"), ("get_items", "x"))
    ]
    offer = offer_of(
        [{**row, "name": name} for row, name in zip(rows, ("shop.get_item", "shop.get_items"), strict=True)]
    )
    row = {"id": "batch-1", "kind": "batch", "tools": ["shop.get_item"], "over": "id", "longest": 4}
    assert propose(row, [], offer).tool == "shop.get_items_2"


@pytest.mark.parametrize("kind", ["hot_spot", "context", "dead", "no_traffic", "ladder_gap", "search_miss"])
def test_what_a_person_has_to_do_is_said_and_nothing_is_written(kind):
    proposal = propose({"id": f"{kind}-1", "kind": kind, "tools": ["a"]})
    assert proposal.pieces == ()
    assert proposal.refused


def test_another_way_in_points_to_the_bundle_that_takes_both():
    proposal = propose({"id": "bundle-2", "kind": "bundle", "tools": ["a", "b"], "variant_of": "bundle-1"})
    assert "bundle-1" in (proposal.refused or "")


def test_siblings_become_one_tool_with_one_parameter_more():
    offer = offer_of([takes("search_direct_flight", "date"), takes("search_onestop_flight", "date")])
    row = {"id": "merge-1", "kind": "merge", "tools": ["search_direct_flight", "search_onestop_flight"]}
    [piece] = propose(row, [], offer).pieces
    assert piece.name == "search_flight"
    assert piece.table["input"]["kind"]["enum"] == ["direct", "onestop"]
    assert [step["when"] for step in piece.table["steps"]] == ["input.kind == 'direct'", "input.kind == 'onestop'"]


def test_a_missing_prerequisite_becomes_a_hint():
    row = {"id": "missing_hint-1", "kind": "missing_hint", "tools": ["send", "search_users"], "relation": "first"}
    [piece] = propose(row, [], CHAT).pieces
    assert (piece.kind, piece.name, piece.table["first"][0]["tool"]) == ("hint", "send", "search_users")


@pytest.mark.parametrize(
    ("place", "many", "value", "expected"),
    [
        ("id", False, {"id": "u1"}, "u1"),
        ("rows[].id", True, {"rows": [{"id": 1}, {"id": 2}]}, [1, 2]),
        ("rows[].id", False, {"rows": [{"id": 1}, {"id": 2}]}, 1),
        ("rows[].tags[]", True, {"rows": [{"tags": ["a"]}, {"tags": ["b", "a"]}]}, ["a", "b"]),
        ("cards.*.last", True, {"cards": {"card_4411": {"last": "11"}, "card_5522": {"last": "22"}}}, ["11", "22"]),
        ("[].a-b", True, [{"a-b": 1}], [1]),
    ],
)
def test_a_place_is_read_by_an_expression(place, many, value, expected):
    assert Expression.parse(at_place("step", place, many=many)).evaluate({"step": value}) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("u-1234", "u-1234"),
        ("The id is u-1234.", "u-1234"),
        ({"id": "u-1234"}, "u-1234"),
        ({"other": ["u-1234"]}, "u-1234"),
    ],
)
def test_a_value_is_found_by_its_place_or_by_what_it_looks_like(value, expected):
    expression = reading({"result": "id", "pattern": "u\\-[0-9]{4}"}, "step", many=False, listed=False)
    assert expression is not None
    assert Expression.parse(expression).evaluate({"step": value}) == "u-1234"


@pytest.mark.parametrize(
    ("tool", "over", "name"),
    [
        ("get_user", ["user_id"], "get_users"),
        ("crm.getCompany", ["company_id"], "get_companies"),
        ("get_order_details", ["order_id"], "get_orders_details"),
        ("get_flight_status", ["date"], "get_flight_status_of_many"),
        ("read_inbox", ["x"], "read_inboxes"),
    ],
)
def test_a_batch_form_is_named_by_its_items(tool, over, name):
    assert batch_name(tool, over) == name


def test_a_bundle_is_named_by_what_it_gets_or_does():
    assert bundle_name(["find_user_id_by_mail", "get_user_details", "get_order"], listed=True, flows=True) == (
        "get_user_with_orders"
    )
    assert bundle_name(["lock_doors", "start_engine"], listed=False, flows=False) == "start_engine_when_ready"
    assert [plural(word) for word in ("box", "city", "day", "details", "orders")] == [
        "boxes",
        "cities",
        "days",
        "details",
        "orders",
    ]


def test_the_python_form_is_a_module_with_the_same_tools(runs):
    proposal, _ = proposed("bundle", SHOP, runs(ORDERS, 6))
    space: dict = {}
    exec(compile(python_source(proposal, ['Why """ this']), "made.py", "exec"), space)
    assert {str(tool.name) for tool in space.values() if hasattr(tool, "handler")} == {
        "get_orders_details",
        "get_user_with_orders",
    }
