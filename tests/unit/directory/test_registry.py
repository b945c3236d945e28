"""`server.json` files: what they come to, and what is refused alone."""

import json
from pathlib import Path
from typing import Any

import pytest
from directory_kit import read

from pegboard.core import Discoverable, DiscoverableAction, DiscoverableType

pytestmark = pytest.mark.anyio


def server(**more: Any) -> dict[str, Any]:
    return {"name": "io.github.example/weather", "description": "Forecasts for any place.", "version": "1.2.0", **more}


PACKAGE = {
    "registryType": "pypi",
    "identifier": "mcp-weather",
    "version": "1.2.0",
    "transport": {"type": "stdio"},
    "environmentVariables": [
        {"name": "WEATHER_KEY", "description": "A key of the service.", "isRequired": True, "isSecret": True},
        {"name": "UNITS", "default": "metric"},
    ],
    "packageArguments": [
        {"type": "named", "name": "--place", "default": "Berlin"},
        {"type": "positional", "valueHint": "folder", "isRequired": True},
    ],
}
REMOTE = {
    "type": "streamable-http",
    "url": "https://weather.example/{region}/mcp",
    "variables": {"region": {"default": "eu"}},
    "headers": [{"name": "Authorization", "value": "Bearer {token}", "variables": {"token": {"isSecret": True}}}],
}


async def one(tmp_path: Path, document: object, **more: Any) -> Discoverable:
    (tmp_path / "server.json").write_text(json.dumps(document))
    found = await read(tmp_path / "server.json", **more)
    assert found.aside == ()
    return found.found[0]


@pytest.mark.requirement("D1.3")
async def test_a_package_is_a_plugin_with_its_pin_its_needs_and_its_permissions(tmp_path: Path) -> None:
    found = await one(tmp_path, server(packages=[PACKAGE]))
    assert (found.type, found.action) == (DiscoverableType.PLUGIN, DiscoverableAction.INSTALL)
    assert (found.trust.publisher, found.trust.version, found.trust.pinned) == ("io.github.example", "1.2.0", True)
    assert found.auth == "env:WEATHER_KEY"
    assert {need.variable: need.required for need in found.needs} == {"WEATHER_KEY": True, "WEATHER_FOLDER": True}
    assert found.parts[0].table == {
        "mcp": ["mcp-weather", "--place", "Berlin", "${env:WEATHER_FOLDER}"],
        "env": {"WEATHER_KEY": "${env:WEATHER_KEY}", "UNITS": "metric"},
    }
    assert found.permissions == (
        "installs mcp-weather 1.2.0 from PyPI",
        "runs a program on this machine",
        "reads the environment variable WEATHER_FOLDER",
        "reads the environment variable WEATHER_KEY",
    )


@pytest.mark.requirement("D1.3")
async def test_a_remote_is_a_connector_whose_secrets_are_references(tmp_path: Path) -> None:
    found = await one(tmp_path, {"server": server(remotes=[REMOTE]), "_meta": {}})
    assert found.type is DiscoverableType.CONNECTOR
    assert found.parts[0].table == {
        "mcp": "https://weather.example/eu/mcp",
        "headers": {"Authorization": "Bearer ${env:WEATHER_TOKEN}"},
    }
    assert found.auth == "env:WEATHER_TOKEN"
    assert "sends calls to weather.example" in found.permissions


async def test_a_server_with_both_can_be_had_in_either_way(tmp_path: Path) -> None:
    (tmp_path / "server.json").write_text(json.dumps(server(packages=[PACKAGE], remotes=[REMOTE])))
    found = await read(tmp_path / "server.json")
    assert [each.type.value for each in found.found] == ["connector", "plugin"]


async def test_a_container_image_gets_its_variables_and_no_shell(tmp_path: Path) -> None:
    package = {**PACKAGE, "registryType": "oci", "identifier": "ghcr.io/example/weather", "packageArguments": []}
    found = await one(tmp_path, server(packages=[package]))
    assert found.parts[0].table["mcp"] == [
        *("docker", "run", "-i", "--rm", "-e", "WEATHER_KEY", "-e", "UNITS"),
        "ghcr.io/example/weather:1.2.0",
    ]


@pytest.mark.parametrize(
    ("bad", "told"),
    [
        ({"name": "weather"}, "slash"),
        ({"name": 7}, "no text"),
        ({"description": ""}, "description"),
        ({"packages": "none"}, "no list"),
        ({"packages": [{**PACKAGE, "version": "latest"}]}, "exact version"),
        ({"packages": [{**PACKAGE, "identifier": "--index-url=http://evil.example"}]}, "no name of a package"),
        ({"packages": [{**PACKAGE, "identifier": "../evil"}]}, "no name of a package"),
        ({"packages": [{**PACKAGE, "version": "1.0 --pre"}]}, "exact version"),
        ({"packages": [{**PACKAGE, "fileSha256": "abc"}]}, "SHA-256"),
        ({"packages": [{**PACKAGE, "registryType": "mcpb"}]}, "not installed here"),
        ({"packages": [{**PACKAGE, "transport": {"type": "sse"}}]}, "not installed here"),
        ({"packages": []}, "nothing that can be used"),
        ({"packages": [], "remotes": [{"type": "carrier-pigeon", "url": "https://x.example"}]}, "not spoken here"),
        ({"packages": [], "remotes": [{"type": "sse", "url": "file:///etc/passwd"}]}, "no http(s) address"),
        ({"packages": [], "remotes": [{"type": "sse", "url": "http://169.254.169.254/x"}]}, "no public address"),
        ({"packages": [], "remotes": [{"type": "sse", "url": "http://localhost:9/x"}]}, "allow_private"),
    ],
)
async def test_a_bad_entry_is_set_aside_alone_with_the_reason(tmp_path: Path, bad: dict[str, Any], told: str) -> None:
    good = server(name="io.github.example/good", packages=[PACKAGE])
    rows = [server(packages=[PACKAGE]) | bad, good, 5]
    (tmp_path / "all.json").write_text(json.dumps({"servers": rows}))
    found = await read(tmp_path / "all.json")
    assert [each.id for each in found.found] == ["io.github.example/good"]
    assert len(found.aside) == 2
    assert told in str(found.aside[0])
    assert all(aside.next_step and aside.directory == "company" for aside in found.aside)


async def test_a_foreign_text_is_never_read_as_a_reference_to_a_secret(tmp_path: Path) -> None:
    arguments = [{"type": "positional", "value": "${env:AWS_SECRET_ACCESS_KEY}"}]
    env = [{"name": "X", "value": "${file:/etc/shadow}"}]
    package = {**PACKAGE, "packageArguments": arguments, "environmentVariables": env}
    found = await one(tmp_path, server(packages=[package]))
    table = found.parts[0].table
    assert table["mcp"][1] == "$${env:AWS_SECRET_ACCESS_KEY}"
    assert table["env"]["X"] == "$${file:/etc/shadow}"


async def test_a_private_address_needs_the_word_of_the_operator(tmp_path: Path) -> None:
    remote = {"type": "streamable-http", "url": "http://127.0.0.1:8000/mcp"}
    found = await one(tmp_path, server(remotes=[remote]), allow_private=True)
    assert found.parts[0].table["mcp"] == "http://127.0.0.1:8000/mcp"


async def test_a_folder_of_files_is_read_in_order_and_a_broken_file_costs_itself(tmp_path: Path) -> None:
    for name in ("b", "a"):
        row = server(name=f"example/{name}", packages=[PACKAGE])
        (tmp_path / name).mkdir()
        (tmp_path / name / "server.json").write_text(json.dumps(row))
    (tmp_path / "c.json").write_text("{broken")
    found = await read(tmp_path)
    assert [each.id for each in found.found] == ["example/a", "example/b"]
    assert [aside.entry for aside in found.aside] == ["c.json"]
