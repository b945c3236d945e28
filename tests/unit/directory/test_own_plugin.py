"""Our own Agent Plugin folder: our reader loads it, and what its skills say can be typed."""

import json
import re
import shlex
from pathlib import Path

import pytest
from directory_kit import read

from pegboard.cli.app import build
from pegboard.core import DiscoverableType
from pegboard.directory.plugin import read_plugin
from pegboard.directory.reading import Origin
from pegboard.directory.skill import body_of

pytestmark = pytest.mark.anyio

PLUGIN = Path(__file__).parents[3] / "plugin"
SKILLS = ("tool-composition", "tool-discovery")


@pytest.mark.requirement("D0.2", "D0.3")
async def test_our_reader_loads_it_and_its_skills_become_topics() -> None:
    found = (await read(PLUGIN)).found
    assert [(one.id, one.type) for one in found] == [("pegboard", DiscoverableType.PLUGIN)]
    assert [topic.name for topic in found[0].topics] == list(SKILLS)
    for topic in found[0].topics:
        assert Path(topic.path).parent.name == topic.name
        assert "USE WHEN" in topic.description
        assert "SKIP WHEN" in topic.description
        assert topic.front["license"] == "Apache-2.0"
        assert "Agent Plugins 1.0.0" in topic.front["compatibility"]
        assert len(topic.description) <= 1024


async def test_its_server_is_the_gateway_over_stdio_which_no_board_takes_as_its_own_source() -> None:
    server = json.loads((PLUGIN / "mcp.json").read_text())["mcpServers"]["pegboard"]
    assert [server["command"], *server["args"]] == ["pegboard", "serve", "--stdio"]
    found = read_plugin(PLUGIN, Origin("here"))
    assert found.parts == ()
    assert ["itself" in str(aside) for aside in found.aside] == [True]


def commands(name: str) -> list[str]:
    text = (PLUGIN / "skills" / name / "SKILL.md").read_text()
    blocks = re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines()]
    return [line for line in [*lines, *re.findall(r"`(pegboard [^`]+)`", text)] if line.startswith("pegboard ")]


@pytest.mark.requirement("C1.11", "R4.6")
@pytest.mark.parametrize("name", SKILLS)
def test_each_command_of_a_skill_is_one_that_there_is(name: str) -> None:
    typed = commands(name)
    assert len(typed) >= 6
    app = build()
    for line in typed:
        words = shlex.split(line, comments=True)[1:]
        app.parse_args(words, exit_on_error=False, print_error=False)


@pytest.mark.parametrize(
    ("name", "taught"),
    [
        (
            "tool-discovery",
            ["pegboard check", "pegboard probe", "defer_loading", "tool_search", "suggest_reason", "strict"],
        ),
        (
            "tool-composition",
            ["pegboard check", "pegboard probe", "preview", "batch", "scatter", "Hints", "deprecated"],
        ),
    ],
)
async def test_a_skill_teaches_what_it_is_for(name: str, taught: list[str]) -> None:
    topics = {topic.name: topic for topic in read_plugin(PLUGIN, Origin("here")).topics}
    text = body_of(topics[name])
    assert [word for word in taught if word.lower() not in text.lower()] == []
