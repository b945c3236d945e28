"""What could be on a board: what is there is not offered, what is switched off can be enabled, words find it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from directory_kit import config

from pegboard.core import DiscoverableAction, DiscoverableType
from pegboard.directory.offering import Offering

pytestmark = pytest.mark.anyio

OWN = """
[discoverables.weather]
description = "Forecasts for any place: rain, wind, temperature."
categories = ["weather"]
pypi = "mcp-weather"
tools = ["get_forecast"]
[discoverables."com.example/crm"]
name = "Example CRM"
description = "Customers, deals and contacts."
categories = ["sales"]
url = "https://crm.example/mcp"
[discoverables.sqlite]
description = "Query SQLite databases."
npm = "@example/sqlite-server"
"""


def offering(folder: Path, sources: Mapping[str, Any] | None = None, **suggestions: Any) -> Any:
    (folder / "own.toml").write_text(OWN)
    document = {
        "directories": {"own": {"from": "own.toml"}},
        "sources": sources or {},
        "suggestions": suggestions,
    }
    settings = config(folder, document)
    return Offering(settings), settings.sources


async def ids(folder: Path, sources: Mapping[str, Any] | None = None, **suggestions: Any) -> list[str]:
    made, there = offering(folder, sources, **suggestions)
    return (await made.offers(there)).ids


@pytest.mark.parametrize(
    ("source", "gone"),
    [
        ({"mcp": ["mcp-weather"]}, "weather"),
        ({"mcp": ["/opt/venv/bin/mcp-weather", "--all"]}, "weather"),
        ({"mcp": ["uvx", "mcp-weather==1.0"]}, "weather"),
        ({"mcp": ["npx", "-y", "@example/sqlite-server@2"]}, "sqlite"),
        ({"mcp": "https://CRM.example/mcp/"}, "com.example/crm"),
        ({"mcp": "https://crm.example/other"}, None),
        ({"mcp": ["weather"]}, None),
    ],
)
async def test_what_the_board_has_under_another_name_is_not_offered(
    tmp_path: Path, source: dict[str, Any], gone: str | None
) -> None:
    left = {"weather", "com.example/crm", "sqlite"} - {gone}
    assert set(await ids(tmp_path, {"mine": source})) == left


async def test_a_source_that_is_switched_off_is_offered_for_enabling(tmp_path: Path) -> None:
    sources = {
        "weather": {"mcp": ["mcp-weather"], "disabled": True},
        "far": {"mcp": "https://far.example/mcp", "disabled": True},
        "near": {"mcp": ["near"], "disabled": True},
    }
    made, there = offering(tmp_path, sources)
    offers = await made.offers(there)
    weather = offers.get(DiscoverableType.PLUGIN, "weather")
    assert weather is not None
    assert weather.action is DiscoverableAction.ENABLE
    assert "Forecasts" in weather.description
    assert offers.get(DiscoverableType.CONNECTOR, "far").action is DiscoverableAction.ENABLE
    assert offers.get(DiscoverableType.PLUGIN, "near").action is DiscoverableAction.ENABLE


async def test_what_an_operator_never_wants_is_never_offered(tmp_path: Path) -> None:
    off = {"mine": {"mcp": ["mine"], "disabled": True}}
    assert await ids(tmp_path, off, never=["com.example/*", "weather"], disabled_sources=False) == ["sqlite"]
    assert await ids(tmp_path, off, never=["mine", "*"]) == []


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("weather forecast for Berlin", "weather"),
        ("get_forecast", "weather"),
        ("find a customer", "com.example/crm"),
        ("query a database", "sqlite"),
        ("Example CRM", "com.example/crm"),
        ("resize a picture", None),
        ("open a pull request on github", None),
        ("", None),
    ],
)
async def test_words_find_what_fits_and_nothing_else(tmp_path: Path, query: str, first: str | None) -> None:
    made, there = offering(tmp_path)
    found = (await made.offers(there)).search(query, limit=3)
    assert (found[0].id if found else None) == first


async def test_a_changed_file_is_read_again_when_that_is_asked_for(tmp_path: Path) -> None:
    made, there = offering(tmp_path)
    before = (await made.offers(there)).get(DiscoverableType.PLUGIN, "weather")
    (tmp_path / "own.toml").write_text(OWN.replace("mcp-weather", "mcp-weather-2"))
    after = (await made.offers(there, fresh=True)).get(DiscoverableType.PLUGIN, "weather")
    assert before.digest != after.digest


async def test_a_yes_for_a_switched_off_source_dies_when_the_source_changes(tmp_path: Path) -> None:
    digests = []
    for argument in ("a", "b"):
        made, there = offering(tmp_path, {"mine": {"mcp": ["mine", argument], "disabled": True}})
        digests.append((await made.offers(there)).get(DiscoverableType.PLUGIN, "mine").digest)
    assert digests[0] != digests[1]
