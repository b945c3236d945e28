"""Which tools a model sees from the start, and why."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.catalog import Catalog
from pegboard.core import Call, Result, SourceRef, Tool, ToolName, ToolSpec
from pegboard.discovery import Residency, expose
from pegboard.discovery.residency import Exposure, definition_bytes


async def nothing(_: Call) -> Result:
    return Result()


def catalog(count: int, **more: Any) -> Catalog:
    names = [ToolName("a" if n % 2 else "b", f"t{n}") for n in range(count)]
    return Catalog.of(Tool(ToolSpec(name=name, **more), nothing) for name in names)


def of(*specs: ToolSpec) -> Catalog:
    return Catalog.of(Tool(spec, nothing) for spec in specs)


def from_source(name: str, kind: str, count: int, **more: Any) -> list[ToolSpec]:
    return [ToolSpec(name=ToolName(name, f"t{n}"), source=SourceRef(name, kind), **more) for n in range(count)]


@pytest.mark.requirement("C9.1", "R1.2")
@pytest.mark.parametrize(
    ("search", "count", "direct", "meta"),
    [
        ("auto", 19, 19, False),
        ("auto", 20, 0, True),
        ("auto", 21, 0, True),
        ("on", 3, 3, True),
        ("on", 20, 0, True),
        ("off", 50, 50, False),
        ("auto", 0, 0, False),
    ],
)
def test_the_threshold_decides_unless_search_is_set(search: Any, count: int, direct: int, meta: bool) -> None:
    exposed = expose(catalog(count), Residency(search=search))
    assert (len(exposed.direct), exposed.meta) == (direct, meta)
    assert len(exposed.direct) + len(exposed.deferred) == count
    assert exposed.refusal is None


@pytest.mark.requirement("C9.6")
def test_the_hot_set_is_direct_in_the_catalogs_order() -> None:
    exposed = expose(catalog(30), Residency(always=("a.*", "t2")))
    assert [spec.name.name for spec in exposed.direct] == [f"t{n}" for n in range(30) if n % 2 or n == 2]


@pytest.mark.parametrize(
    ("defer", "policy", "exposure", "because"),
    [
        (False, {}, Exposure.DIRECT, "its author wants it loaded"),
        (True, {}, Exposure.DEFERRED, "its author wants it deferred"),
        (True, {"always": ("a.*",)}, Exposure.DIRECT, "`always` picks it, against the wish to defer it"),
        (True, {"search": "off"}, Exposure.DIRECT, "search is off"),
        (True, {"hidden": ("a.t1",)}, Exposure.HIDDEN, "`hidden` picks it"),
        (None, {}, Exposure.DIRECT, "fewer than 20 tools are all shown"),
        (None, {"threshold": 2}, Exposure.DEFERRED, "from 2 tools on, those outside the hot set are found by search"),
        (None, {"wishes": {"a": True}}, Exposure.DEFERRED, "[sources.a] defers it"),
        (False, {"wishes": {"a": True}}, Exposure.DIRECT, "its author wants it loaded"),
        (None, {"threshold": 2, "wishes": {"a": False}}, Exposure.DIRECT, "[sources.a] loads it"),
    ],
)
def test_an_author_may_wish_and_the_policy_decides(
    defer: bool | None, policy: dict[str, Any], exposure: Exposure, because: str
) -> None:
    name = ToolName("a", "t1")
    exposed = expose(of(*from_source("a", "mcp", 3, defer=defer)), Residency(**policy))
    assert exposed.exposure(name) is exposure
    assert exposed.reasons[name] == because
    assert exposed.meta or not exposed.deferred


def test_of_too_large_a_hot_set_the_rest_is_deferred_and_that_is_said() -> None:
    exposed = expose(catalog(30, defer=False), Residency(always=("t29",), max_direct=10))
    assert (len(exposed.direct), len(exposed.deferred)) == (10, 20)
    assert exposed.direct[-1].name.name == "t29", "what must be at hand is kept before what its author wishes"
    assert "20 of them are deferred" in exposed.notes[0]
    assert "max_direct is 10" in exposed.reasons[exposed.deferred[0].name]


@pytest.mark.case("lm-02")
def test_hundreds_of_tools_crowd_out_neither_the_pinned_one_nor_the_search_and_their_servers_are_named() -> None:
    many = [spec for n in range(14) for spec in from_source(f"server{n}", "mcp", 40, defer=False)]
    exposed = expose(of(*many, *from_source("ask_user", "python", 1)), Residency(always=("ask_user.*",)))
    assert ToolName("ask_user", "t0") in [spec.name for spec in exposed.direct]
    assert len(exposed.direct) == 50
    assert exposed.meta  # the search tool is in the list
    [note] = exposed.notes
    assert "511 of them are deferred" in note
    assert "server13 40" in note


@pytest.mark.requirement("R1.1", "R1.4")
def test_without_search_more_tools_than_may_be_sent_are_an_error_that_counts_the_servers() -> None:
    specs = [*from_source("git", "mcp", 12), *from_source("github", "mcp", 32), *from_source("fs", "mcp", 7)]
    assert expose(of(*specs[:-1]), Residency(search="off")).refusal is None
    refusal = expose(of(*specs), Residency(search="off")).refusal
    assert refusal is not None
    assert "github 32, git 12, fs 7" in refusal.message
    assert "namespace" in str(refusal) and "subagents" in str(refusal)
    assert expose(of(*specs), Residency(search="off", max_direct=51)).refusal is None


@pytest.mark.requirement("R1.5")
def test_an_agent_of_one_turn_gets_every_tool_up_to_the_limit() -> None:
    specs = from_source("a", "mcp", 50, defer=True)
    exposed = expose(of(*specs), Residency(), single_turn=True)
    assert (len(exposed.direct), exposed.deferred, exposed.meta) == (50, (), False)
    over = expose(of(*specs, *from_source("b", "mcp", 1)), Residency(), single_turn=True)
    assert over.refusal is not None


@pytest.mark.requirement("R1.3")
def test_the_profile_runtype_defers_tools_of_the_board_itself_alone() -> None:
    specs = [*from_source("git", "mcp", 60), *from_source("own", "python", 5), *from_source("compose", "batch", 2)]
    exposed = expose(of(*specs), Residency(profile="runtype", always=("own.t0",)))
    assert [spec.source.name for spec in exposed.direct] == ["git"] * 60 + ["own"]
    assert {spec.source.kind for spec in exposed.deferred} == {"python", "batch"}
    assert exposed.notes == ()
    few = expose(of(*specs[:19]), Residency(profile="runtype"))
    assert len(few.direct) == 19


def test_wide_definitions_are_deferred_though_they_are_few() -> None:
    specs = from_source("a", "mcp", 10, description="x" * 10_000)
    policy = Residency(context_tokens=100_000, context_share=0.1, always=("t3",))
    exposed = expose(of(*specs), policy)
    assert [spec.name.name for spec in exposed.direct] == ["t3"]
    assert "10% of the context" in exposed.reasons[ToolName("a", "t0")]
    assert len(expose(of(*specs), Residency()).direct) == 10


def test_a_hot_set_beyond_its_share_of_the_context_is_cut_with_a_warning() -> None:
    specs = from_source("a", "mcp", 30, description="x" * 10_000, defer=False)
    exposed = expose(of(*specs), Residency(context_tokens=100_000, context_share=0.2, always=("t29",)))
    assert len(exposed.direct) == 7 and exposed.direct[-1].name.name == "t29"
    assert "23 of them are deferred" in exposed.notes[0]


def test_the_tools_that_are_used_most_join_the_hot_set() -> None:
    hot = ["a.t3", "tool_search", "b.t4", "a.gone", "a.t5"]
    exposed = expose(catalog(30), Residency(learn=2), hot)
    assert [str(spec.name) for spec in exposed.direct] == ["a.t3", "b.t4"]
    assert exposed.reasons[ToolName("a", "t3")] == "it is among the tools that are used most"
    assert expose(catalog(30), Residency(), hot).direct == ()


@pytest.mark.parametrize(
    ("meta", "exposure"),
    [
        ({"_meta": {"ui": {"visibility": ["app"]}}}, Exposure.HIDDEN),
        ({"_meta": {"ui": {"visibility": ["model", "app"]}}}, Exposure.DIRECT),
        ({"_meta": {"ui": {"visibility": "app"}}}, Exposure.DIRECT),
        ({"_meta": {"ui": 1}}, Exposure.DIRECT),
        ({"_meta": None}, Exposure.DIRECT),
    ],
)
def test_a_tool_for_apps_alone_is_hidden_from_models(meta: dict[str, Any], exposure: Exposure) -> None:
    exposed = expose(catalog(3, meta=meta), Residency())
    assert {exposed.exposure(name) for name in exposed.reasons} == {exposure}


def test_a_namespace_of_more_than_ten_tools_gets_the_advice_to_split_it() -> None:
    [advice] = expose(of(*from_source("a", "mcp", 11), *from_source("b", "mcp", 10)), Residency()).advice
    assert "namespace a holds 11 tools" in advice


@given(
    st.integers(0, 70),
    st.sampled_from(["auto", "on"]),
    st.integers(0, 60),
    st.integers(1, 60),
    st.sampled_from(["default", "runtype"]),
    st.sampled_from([(), ("a.*",), ("*",), ("!a.*",)]),
    st.sampled_from([True, False, None]),
)
def test_under_search_nothing_is_lost_and_every_tool_has_a_reason(
    count: int, search: Any, threshold: int, most: int, profile: Any, always: tuple[str, ...], defer: bool | None
) -> None:
    policy = Residency(search=search, threshold=threshold, max_direct=most, profile=profile, always=always)
    held = catalog(count, defer=defer)
    exposed = expose(held, policy)
    assert sorted(map(id, held.specs)) == sorted(map(id, (*exposed.direct, *exposed.deferred)))
    assert set(exposed.reasons) == set(held.tools)
    assert len(exposed.direct) <= most
    assert exposed.meta or not exposed.deferred
    assert sum(map(definition_bytes, exposed.direct)) <= policy.room
