"""Docker-style catalogs, our own TOML: what they come to, and one bad entry among good ones."""

import json
from pathlib import Path
from typing import Any

import pytest
from directory_kit import read

from pegboard.core import DiscoverableAction, DiscoverableType

pytestmark = pytest.mark.anyio

DIGEST = "a" * 64
CATALOG = f"""
version: 2
name: docker-mcp
registry:
  brave:
    title: Brave Search
    description: Search the web, news and images.
    type: server
    image: mcp/brave-search@sha256:{DIGEST}
    tools: [{{name: brave_web_search}}, {{name: brave_news_search}}]
    secrets:
      - {{name: brave.api_key, env: BRAVE_API_KEY, example: x}}
    env:
      - {{name: MODE, value: stdio}}
      - {{name: PLACE, value: '{{{{brave.place}}}}'}}
    command: [--transport, stdio]
    allowHosts: ['api.search.brave.example:443']
    metadata: {{category: search, tags: [web], owner: brave}}
  notes:
    title: Notes
    description: Pages of a workspace.
    type: remote
    remote: {{url: 'https://notes.example/mcp', transport_type: sse, headers: {{X-Key: 'k ${{NOTES_KEY}} ${{HOME}}'}}}}
    secrets:
      - {{name: notes.key, env: NOTES_KEY}}
    oauth: {{providers: [{{provider: notes}}]}}
  broken:
    description: No image, and no remote.
    type: poci
  worse: 12
"""


@pytest.mark.requirement("D1.3")
async def test_a_docker_catalog_gives_plugins_for_images_and_connectors_for_remotes(tmp_path: Path) -> None:
    (tmp_path / "catalog.yaml").write_text(CATALOG)
    found = await read(tmp_path / "catalog.yaml")
    brave, notes = found.found
    assert (brave.type, brave.categories) == (DiscoverableType.PLUGIN, ("search", "web"))
    assert (brave.trust.publisher, brave.trust.sha256) == ("brave", DIGEST)
    assert brave.tools == ("brave_web_search", "brave_news_search")
    assert brave.parts[0].table["mcp"] == [
        *("docker", "run", "-i", "--rm", "-e", "BRAVE_API_KEY", "-e", "MODE"),
        *(f"mcp/brave-search@sha256:{DIGEST}", "--transport", "stdio"),
    ]
    assert "connects to api.search.brave.example:443" in brave.permissions
    assert (notes.type, notes.auth) == (DiscoverableType.CONNECTOR, "oauth:notes")
    assert notes.parts[0].table == {
        "mcp": "https://notes.example/mcp",
        "transport": "sse",
        "headers": {"X-Key": "k ${env:NOTES_KEY} $${HOME}"},
    }
    assert [aside.entry for aside in found.aside] == ["broken", "worse"]


OWN = """
[discoverables.weather]
description = "Forecasts for any place."
categories = ["weather"]
pypi = "mcp-weather"
version = "1.0.0"
program = "weather-server"
args = ["--units", "metric"]
needs = { WEATHER_KEY = "A key of the service." }
publisher = "Example"

[discoverables."example/crm"]
description = "Customers and deals."
url = "http://127.0.0.1:9000/mcp"
headers = { Authorization = "Bearer ${env:CRM_TOKEN}" }
permissions = ["reads all customers"]

[discoverables.shop]
type = "connector"
description = "The shop's own interface."
source = { openapi = "https://shop.example/openapi.json" }

[discoverables.git]
description = "What is switched off."
enable = "git"

[discoverables.off]
description = "Not now."
npm = "off"
disabled = true
"""


async def test_our_own_file_says_it_in_few_words(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text(OWN)
    found = await read(tmp_path / "own.toml")
    assert found.aside == ()
    weather, crm, shop, git = found.found
    assert weather.parts[0].table["mcp"] == ["weather-server", "--units", "metric"]
    assert (weather.type, weather.auth) == (DiscoverableType.PLUGIN, "env:WEATHER_KEY")
    assert (crm.type, crm.id) == (DiscoverableType.CONNECTOR, "example/crm")
    assert "reads all customers" in crm.permissions
    assert (shop.type, shop.parts[0].table) == (
        DiscoverableType.CONNECTOR,
        {"openapi": "https://shop.example/openapi.json"},
    )
    assert (git.action, git.parts[0].name) == (DiscoverableAction.ENABLE, "git")


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ('pypi = "x"', "description is missing"),
        ('description = "d"', "how it comes onto the board"),
        ('description = "d"\npypi = "x"\nnpm = "x"', "pypi and npm"),
        ('description = "d"\npypy = "x"', "Did you mean pypi"),
        ('description = "d"\npypi = "x"\ntype = "skill"', "type"),
        ('description = "d"\nurl = "${env:X"', "not closed"),
        ('description = "d"\nfolder = "nowhere"', "cannot be read"),
        ('description = "d"\npypi = "x"\nneeds = [1]', "needs"),
        ('description = "d\npypi = "x"', "not valid TOML"),
        ('description = "d"\npypi = ["x"]', "pypi"),
    ],
)
async def test_one_bad_entry_costs_no_other(tmp_path: Path, entry: str, told: str) -> None:
    good = '[discoverables.{}]\ndescription = "Fine."\npypi = "fine"\n'
    text = f"{good.format('first')}\n[discoverables.bad]\n{entry}\n\n{good.format('last')}"
    (tmp_path / "own.toml").write_text(text)
    found = await read(tmp_path / "own.toml")
    assert [each.id for each in found.found] == ["first", "last"]
    assert [aside.entry for aside in found.aside] == ["bad"]
    assert told in str(found.aside[0])
    assert found.aside[0].next_step


async def test_allow_and_deny_pick_entries_by_id_and_a_second_one_of_an_id_is_told(tmp_path: Path) -> None:
    rows = [{"name": f"a.example/{name}", "description": "d", "packages": [pypi("x")]} for name in "xyz"]
    (tmp_path / "all.json").write_text(json.dumps([*rows, rows[0]]))
    found = await read(tmp_path / "all.json", allow=["a.example/[xy]"], deny=["*/y"])
    assert [each.id for each in found.found] == ["a.example/x"]
    assert "comes first" in str(found.aside[0])


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [("missing.json", None, "no "), ("a.json", "{", "cannot be read"), ("a.toml", b"\xff", "cannot be read")],
)
async def test_a_directory_that_cannot_be_read_is_told_as_a_whole(
    tmp_path: Path, name: str, text: str | bytes | None, told: str
) -> None:
    if text is not None:
        (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    found = await read(tmp_path / name)
    assert found.found == ()
    assert told in str(found.aside[0]).lower()


def pypi(name: str) -> dict[str, Any]:
    return {"registryType": "pypi", "identifier": name, "version": "1", "transport": {"type": "stdio"}}
