"""What a discoverable is, and what identifies it."""

from dataclasses import replace
from itertools import product

import pytest

from pegboard.core import Discoverable, DiscoverableAction, DiscoverableType
from pegboard.core.discoverable import Package, Part, Trust

WEATHER = Discoverable(
    id="io.example/weather",
    type=DiscoverableType.PLUGIN,
    action=DiscoverableAction.INSTALL,
    name="Weather",
    description="Forecasts for any place.",
    directory="company",
    categories=("weather",),
    trust=Trust("Example", "1.0.0"),
    parts=(Part("weather", {"mcp": ["mcp-weather"]}, Package("pypi", "mcp-weather", "1.0.0")),),
)


@pytest.mark.requirement("D1.1", "D1.2")
@pytest.mark.parametrize(("type", "action"), list(product(DiscoverableType, DiscoverableAction)))
def test_each_pair_of_type_and_action_is_one_discoverable(type: DiscoverableType, action: DiscoverableAction) -> None:
    shown = replace(WEATHER, type=type, action=action).to_json()
    assert (shown["tool_type"], shown["action_type"]) == (type.value, action.value)


@pytest.mark.requirement("D1.1")
def test_no_other_type_or_action_exists() -> None:
    assert {kind.value for kind in DiscoverableType} == {"connector", "plugin"}
    assert {kind.value for kind in DiscoverableAction} == {"install", "enable"}
    with pytest.raises(ValueError, match="skill"):
        DiscoverableType("skill")


@pytest.mark.parametrize(
    "change",
    [
        {"description": "Forecasts, and more."},
        {"permissions": ("reads files",)},
        {"trust": Trust("Example", "1.0.1")},
        {"parts": (Part("weather", {"mcp": ["mcp-weather", "--all"]}, WEATHER.parts[0].package),)},
        {"parts": (Part("weather", {"mcp": ["mcp-weather"]}, Package("pypi", "mcp-weather", "1.0.1")),)},
    ],
)
def test_any_change_of_the_definition_changes_the_digest(change: dict[str, object]) -> None:
    assert replace(WEATHER, **change).digest != WEATHER.digest


def test_what_the_board_makes_of_it_leaves_the_digest_alone() -> None:
    assert replace(WEATHER, action=DiscoverableAction.ENABLE, directory="other").digest == WEATHER.digest


def test_what_a_model_sees_holds_nothing_to_run() -> None:
    assert "mcp-weather" not in str(WEATHER.to_json())
