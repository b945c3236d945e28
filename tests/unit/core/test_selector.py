"""Selectors pick tools in every place that picks tools."""

import pytest

from pegboard.core import Effects, Selection, SourceRef, ToolName, ToolSpec, select
from pegboard.errors import DefinitionError


def spec(name: str, kind: str = "mcp", **more: object) -> ToolSpec:
    return ToolSpec(name=ToolName.parse(name), source=SourceRef(name.partition(".")[0], kind), **more)  # type: ignore[arg-type]


BOARD = [
    spec("github.delete_repo", effects=Effects.DESTRUCTIVE),
    spec("github.list_issues", effects=Effects.READ_ONLY, category="code"),
    spec("files.delete_file", effects=Effects.DESTRUCTIVE, kind="python"),
    spec("files.a.b", kind="python", aliases=("ab",)),
    spec("plain", kind="python"),
]


@pytest.mark.parametrize(
    ("selectors", "picked"),
    [
        (["github.*"], ["github.delete_repo", "github.list_issues"]),
        (["*.delete_*"], ["github.delete_repo", "files.delete_file"]),
        (["delete_*"], ["github.delete_repo", "files.delete_file"]),
        (["mcp:*"], ["github.delete_repo", "github.list_issues"]),
        (["python:delete_*"], ["files.delete_file"]),
        (["python:files.*"], ["files.delete_file", "files.a.b"]),
        (["effects:destructive"], ["github.delete_repo", "files.delete_file"]),
        (["category:co*"], ["github.list_issues"]),
        (["*", "!github.*"], ["files.delete_file", "files.a.b", "plain"]),
        (["!github.*"], ["files.delete_file", "files.a.b", "plain"]),
        (["ab"], ["files.a.b"]),
        (["plain"], ["plain"]),
        (["nothing"], []),
        ([], []),
    ],
)
def test_a_list_of_selectors_picks_these_tools(selectors: list[str], picked: list[str]) -> None:
    assert [str(found.name) for found in select(selectors, BOARD)] == picked


@pytest.mark.parametrize("text", ["", "!", "  "])
def test_an_empty_selector_is_refused(text: str) -> None:
    with pytest.raises(DefinitionError, match="empty"):
        Selection.parse([text])


def test_an_unknown_effect_is_refused_with_the_nearest_one() -> None:
    with pytest.raises(DefinitionError, match="destructive"):
        Selection.parse(["effects:destructiv"])
