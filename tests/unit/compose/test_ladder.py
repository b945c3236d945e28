"""Each tool stands on a rung, and a missing rung is told."""

from typing import Any

import pytest

from pegboard.compose.ladder import gaps, ladder, rung_of, subject_of
from pegboard.core import Rung, SourceRef, ToolName, ToolSpec


def spec(name: str, kind: str = "python", **more: Any) -> ToolSpec:
    return ToolSpec(name=ToolName.parse(name), source=SourceRef("s", kind), **more)


@pytest.mark.requirement("R6.1", "C2.1")
@pytest.mark.parametrize(
    ("one", "rung"),
    [
        (spec("a", "openapi"), Rung.LOW),
        (spec("a", "graphql"), Rung.LOW),
        (spec("a", "mcp"), Rung.MID),
        (spec("a", "python"), Rung.MID),
        (spec("a", "http"), Rung.MID),
        (spec("a", "compose", meta={"pegboard/composite": "batch"}), Rung.MID),
        (spec("a", "compose", meta={"pegboard/composite": "bundle"}), Rung.HIGH),
        (spec("a", "compose", meta={"pegboard/composite": "scatter"}), Rung.HIGH),
        (spec("a", "openapi", rung=Rung.HIGH), Rung.HIGH),
    ],
)
def test_a_rung_is_derived_and_a_declared_one_wins(one: ToolSpec, rung: Rung) -> None:
    assert rung_of(one) is rung


@pytest.mark.parametrize(
    ("name", "subject"),
    [
        ("search_users", "user"),
        ("getUserById", "user"),
        ("crm.delete_old_files", "file"),
        ("find_customers_like", "customer"),
        ("list_companies", "company"),
        ("issues/list-for-repo", "repo"),
        ("findPetsByStatus", "pet"),
        ("send_email_v2", "email"),
        ("search", "search"),
    ],
)
def test_a_tool_is_about_the_noun_of_its_name(name: str, subject: str) -> None:
    assert subject_of(spec(name)) == subject


@pytest.mark.requirement("C1.5", "C1.6")
def test_a_capability_with_only_its_lowest_or_highest_rung_is_a_gap() -> None:
    specs = [
        spec("api.list_invoices", "openapi"),
        spec("api.get_invoice", "openapi"),
        spec("api.list_users", "openapi"),
        spec("api.find_users_like", rung=Rung.HIGH),
        spec("plan_trip", rung=Rung.HIGH),
        spec("api.open_room", "openapi"),
        spec("dm_user", "compose", meta={"pegboard/composite": "bundle", "pegboard/uses": ["api.open_room"]}),
        spec("notes.add_note", "mcp"),
    ]
    found = {(each.namespace, each.subject): each for each in ladder(specs)}
    assert {key for key, each in found.items() if each.gap} == {("api", "invoice"), ("", "trip")}
    assert "only raw tools" in (found["api", "invoice"].gap or "")
    assert "only intent-level" in (found["", "trip"].gap or "")
    assert found["api", "user"].rungs == {Rung.LOW: ("api.list_users",), Rung.HIGH: ("api.find_users_like",)}
    assert [each.subject for each in gaps(specs)] == ["trip", "invoice"]
