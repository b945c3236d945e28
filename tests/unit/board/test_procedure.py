"""The eight steps: each says what it found and what it proposes, also where there is nothing."""

import pytest

from pegboard.board.procedure import Ground, procedure
from pegboard.core import Effects, Hint, Relation, SourceRef, ToolName, ToolSpec
from pegboard.insight.finding import Finding, Kind
from pegboard.insight.summary import Summary

SOURCE = SourceRef("crm", "mcp")
READ = ToolSpec(
    name=ToolName("crm", "get_user"),
    description="Get a user.",
    effects=Effects.READ_ONLY,
    hints=(Hint(Relation.FIRST, "crm.find"),),
    source=SOURCE,
)
DROP = ToolSpec(name=ToolName("crm", "drop"), description="Delete.", effects=Effects.DESTRUCTIVE, source=SOURCE)


def ground(*findings, specs=(READ, DROP), searchable=False, applied=None, taken=None, runs=9):
    summary = Summary(runs=runs, calls=20, tasks=5, findings=findings)
    return Ground(specs=specs, summary=summary, searchable=searchable, applied=applied or {}, taken=taken or {})


def finding(kind, *tools, **details):
    return Finding(kind=kind, tools=tools, reason=f"{kind.value} of {' '.join(tools)}", details=details)


@pytest.mark.requirement("C1.11", "C1.1")
def test_the_steps_stand_in_order_and_the_first_maps_what_there_is():
    stages = procedure(ground())
    assert [stage.number for stage in stages] == list(range(1, 9))
    assert stages[0].found[:2] == ("2 tools in 1 namespaces: 2 mcp.", "By effects: 1 destructive, 1 read_only.")
    assert "9 runs of 5 tasks" in stages[0].found[3]


@pytest.mark.requirement("C1.11")
@pytest.mark.parametrize(
    ("kind", "step", "written"),
    [
        (Kind.BUNDLE, 2, True),
        (Kind.FAN_OUT, 2, True),
        (Kind.BATCH, 3, True),
        (Kind.BUDGET_PRESSURE, 3, False),
        (Kind.LADDER_GAP, 4, False),
        (Kind.MISSING_HINT, 6, True),
        (Kind.SEARCH_MISS, 6, False),
        (Kind.MERGE, 7, True),
        (Kind.NO_TRAFFIC, 7, False),
    ],
)
def test_each_finding_stands_in_its_step_with_the_command_that_shows_what_it_would_write(kind, step, written):
    found = finding(kind, "a", "b")
    stage = procedure(ground(found))[step - 1]
    [proposed] = [each for each in stage.proposed if each.finding == found.id]
    assert proposed.command == (f"pegboard insight apply {found.id}" if written else None)


def test_destructive_tools_without_a_preview_are_named():
    stage = procedure(ground())[4]
    assert "1 tools are destructive or costly; 1 of them have no preview." in stage.found
    assert "crm.drop" in stage.proposed[0].what


def test_a_large_list_without_search_is_told():
    many = [ToolSpec(name=ToolName("x", f"t{n}"), description="d", source=SOURCE) for n in range(20)]
    whats = [each.what for each in procedure(ground(specs=many))[5].proposed]
    assert any("search" in what for what in whats)
    assert not any("search =" in each.what for each in procedure(ground(specs=many, searchable=True))[5].proposed)


def test_what_was_applied_is_not_proposed_again_and_is_verified():
    found = finding(Kind.BUNDLE, "a", "b")
    stages = procedure(ground(found, applied={found.id: {"tool": "crm.ab"}}, taken={found.id: (4, 1)}))
    assert stages[1].proposed[0].command is None
    assert "4 runs took it and 1 went the old way" in stages[7].found[0]
    assert [each.command for each in stages[7].proposed] == [
        "pegboard test crm.ab",
        f"pegboard insight verify {found.id}",
    ]


def test_another_way_in_points_to_the_bundle():
    [proposed] = procedure(ground(finding(Kind.BUNDLE, "a", "b", variant_of="bundle-1")))[1].proposed
    assert (proposed.command, "bundle-1" in proposed.what) == (None, True)


def test_a_board_without_traces_and_tools_is_told_what_to_do():
    stages = procedure(ground(specs=(), runs=0))
    assert "give traces" in stages[0].proposed[0].what
    assert all(stage.found for stage in stages)
