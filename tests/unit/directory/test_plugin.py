"""Agent Plugin folders: servers become parts, skills become topics, and neither becomes a tool by itself."""

import json
from pathlib import Path
from typing import Any

import pytest
from directory_kit import read

from pegboard.directory.plugin import DATA, ROOT, digest_of, read_plugin
from pegboard.directory.reading import Origin, Unreadable
from pegboard.directory.skill import body_of

pytestmark = pytest.mark.anyio
ORIGIN = Origin("plugins")

SERVERS = {
    "local": {
        "type": "stdio",
        "command": "./bin/serve",
        "args": ["--data", "${PLUGIN_DATA}/x"],
        "env": {"CONFIG": "${PLUGIN_ROOT}/config.json", "TOKEN": "${SERVICE_TOKEN}"},
    },
    "remote": {"type": "streamable-http", "url": "https://service.example/mcp", "headers": {"X-Key": "${SERVICE_KEY}"}},
}
SKILL = """---
name: deploy
description: How to deploy. USE WHEN a release is due.
license: MIT
metadata: {author: someone}
---
# Deploying

Call `check` first.
"""


def plugin(folder: Path, servers: dict[str, Any] | None = None, skill: str | None = SKILL, **manifest: Any) -> Path:
    root = folder / "deploy-kit"
    (root / "skills" / "deploy").mkdir(parents=True)
    told = {"name": "deploy-kit", "version": "2.0.0", "description": "Deploys things.", "keywords": ["deploy"]}
    (root / "plugin.json").write_text(json.dumps({**told, "author": {"name": "Someone"}, **manifest}))
    if servers is not None:
        (root / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
    if skill is not None:
        (root / "skills" / "deploy" / "SKILL.md").write_text(skill)
    return root


@pytest.mark.requirement("D0.3", "D1.3")
async def test_a_plugin_brings_its_servers_and_its_skills_as_topics(tmp_path: Path) -> None:
    plugin(tmp_path, SERVERS)
    found = (await read(tmp_path)).found[0]
    local, remote = found.parts
    assert local.table == {
        "mcp": [f"{ROOT}/bin/serve", "--data", f"{DATA}/x"],
        "cwd": ROOT,
        "env": {"CONFIG": f"{ROOT}/config.json", "TOKEN": "${env:SERVICE_TOKEN}"},
    }
    assert remote.table == {"mcp": "https://service.example/mcp", "headers": {"X-Key": "${env:SERVICE_KEY}"}}
    assert [need.variable for need in found.needs] == ["SERVICE_TOKEN", "SERVICE_KEY"]
    [topic] = found.topics
    assert (topic.name, topic.front["license"]) == ("deploy", "MIT")
    assert body_of(topic).startswith("# Deploying")
    assert (found.trust.publisher, found.trust.version) == ("Someone", "2.0.0")
    assert found.tools == ()


async def test_a_broken_server_or_skill_costs_itself_alone(tmp_path: Path) -> None:
    bad = {
        "empty": {"type": "stdio"},
        "outside": {"command": "../../bin/sh"},
        "file": {"command": "x", "args": ["${file:/etc/passwd}"]},
        "metadata": {"url": "http://169.254.169.254/latest"},
        "itself": {"command": "pegboard", "args": ["serve", "--stdio"]},
        "list": [],
    }
    root = plugin(tmp_path, {**bad, **SERVERS}, skill="no front matter")
    found = read_plugin(root, ORIGIN)
    assert [part.name for part in found.parts] == ["local", "remote"]
    assert len(found.aside) == len(bad) + 1
    assert all(aside.next_step for aside in found.aside)


@pytest.mark.parametrize("name", ["", "Deploy", "a--b", "a..b", "-a", "x" * 65, "../a", 5])
async def test_a_manifest_with_another_name_is_refused(tmp_path: Path, name: object) -> None:
    with pytest.raises(Unreadable):
        read_plugin(plugin(tmp_path, name=name), ORIGIN)


async def test_the_digest_follows_every_byte_of_the_folder(tmp_path: Path) -> None:
    root = plugin(tmp_path, SERVERS)
    before = digest_of(root)
    assert digest_of(root) == before
    (root / "__pycache__").mkdir()
    (root / "__pycache__" / "x.pyc").write_text("x")
    assert digest_of(root) == before
    (root / "helper.py").write_text("print()")
    assert digest_of(root) != before


async def test_a_link_that_leads_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("s")
    root = plugin(tmp_path / "plugins", SERVERS)
    (root / "link").symlink_to(tmp_path / "secret")
    found = await read(tmp_path / "plugins")
    assert found.found == ()
    assert "leads out of the folder" in str(found.aside[0])


@pytest.mark.parametrize("servers", [None, {}])
def test_a_plugin_that_brings_nothing_is_said_so(tmp_path: Path, servers: dict[str, Any] | None) -> None:
    with pytest.raises(Unreadable, match="neither servers nor skills"):
        read_plugin(plugin(tmp_path, servers, None), ORIGIN)
