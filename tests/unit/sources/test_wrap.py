"""Sources changed from outside keep working, with one effect each."""

import json
from pathlib import Path

import pytest

from pegboard.core import Call, Source, SourceState
from pegboard.errors import DefinitionError
from pegboard.sources.recorded import RecordedSource
from pegboard.sources.wrap import disabled, filtered, prefixed

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def source(tmp_path: Path) -> Source:
    rows = [
        {"name": name, "annotations": {"destructiveHint": name.startswith("delete")}}
        for name in ("get_issue", "delete_issue", "list_pulls", "delete_repo")
    ]
    (tmp_path / "t.json").write_text(json.dumps(rows))
    return RecordedSource("github", tmp_path / "t.json")


async def names(source: Source) -> list[str]:
    async with source.session():
        return [str(tool.name) for tool in (await source.listing()).tools]


@pytest.mark.parametrize(
    ("allow", "deny", "left"),
    [
        (None, [], ["get_issue", "delete_issue", "list_pulls", "delete_repo"]),
        (["*issue*"], [], ["get_issue", "delete_issue"]),
        (["*issue*"], ["delete_*"], ["get_issue"]),
        (None, ["effects:destructive"], ["get_issue", "list_pulls"]),
        (["*", "!github.delete_*"], [], ["get_issue", "list_pulls"]),
        ([], [], []),
    ],
)
async def test_only_what_is_allowed_and_not_denied_is_listed(
    source: Source, allow: list[str] | None, deny: list[str], left: list[str]
) -> None:
    assert await names(filtered(source, allow, deny)) == [f"github.{name}" for name in left]


async def test_a_selector_that_cannot_be_read_is_an_error_at_once(source: Source) -> None:
    with pytest.raises(DefinitionError):
        filtered(source, ["effects:deadly"])


async def test_a_prefix_replaces_the_namespace_and_calls_still_arrive(source: Source) -> None:
    renamed = prefixed(source, "gh")
    assert (await names(renamed))[0] == "gh.get_issue"
    tool = (await renamed.listing()).tools[0]
    result = await tool.handler(Call(tool=tool.name, arguments={}))
    assert result.failure is not None and "gh.get_issue" in result.failure.message


async def test_wraps_go_around_wraps(source: Source) -> None:
    assert await names(filtered(prefixed(source, "gh"), ["gh.list_*"])) == ["gh.list_pulls"]


async def test_a_disabled_source_is_still_shown_with_the_reason(source: Source) -> None:
    off = disabled(source)
    assert await names(off) == [] and off.name == "github" and off.kind == "recorded"
    health = await off.health()
    assert health.state is SourceState.DISABLED and health.reason
