"""Requests that want to know something find tools that tell it, and requests that want a change tools that make it."""

import pytest

from pegboard import index
from pegboard.core import Effects, ToolName, ToolSpec
from pegboard.index.doing import Doing, done_by, wanted

REQUESTS = [
    ("show what changed in the repository", Doing.READS),
    ("who wrote this file", Doing.READS),
    ("please commit my changes", Doing.CHANGES),
    ("delete what was found", Doing.CHANGES),
    ("stage the readme", Doing.CHANGES),
    ("weather in Paris", Doing.EITHER),
    ("", Doing.EITHER),
]


@pytest.mark.parametrize(("request_", "doing"), REQUESTS)
def test_the_first_verb_tells_what_a_request_wants(request_: str, doing: Doing) -> None:
    assert wanted(request_.split()) is doing


def spec(name: str, description: str = "", effects: Effects = Effects.UNKNOWN) -> ToolSpec:
    return ToolSpec(name=ToolName("git", name), description=description, effects=effects)


TOOLS = [
    (spec("git_commit"), Doing.CHANGES),
    (spec("git_diff", "Shows what changed"), Doing.READS),
    (spec("tidy", "Removes old branches"), Doing.CHANGES),
    (spec("git_commit", effects=Effects.READ_ONLY), Doing.READS),
    (spec("show_and_go", effects=Effects.DESTRUCTIVE), Doing.CHANGES),
    (spec("weather"), Doing.EITHER),
]


@pytest.mark.parametrize(("tool", "doing"), TOOLS)
def test_effects_tell_what_a_tool_does_before_its_words(tool: ToolSpec, doing: Doing) -> None:
    assert done_by(tool) is doing


def test_of_two_tools_with_the_same_words_the_one_that_does_what_is_wanted_comes_first() -> None:
    engine = index.default()
    engine.update(
        put=[spec("delete_branch", "A branch of the repository"), spec("show_branch", "A branch of the repository")]
    )
    assert [hit.name.name for hit in engine.search("tell me about that branch").hits][0] == "show_branch"
    assert [hit.name.name for hit in engine.search("drop that branch").hits][0] == "delete_branch"


def test_an_everyday_word_stands_for_what_tools_call_it_only_where_no_tool_holds_it() -> None:
    engine = index.default()
    engine.update(put=[spec("fetch", "Fetches a URL"), spec("list_files", "Lists files")])
    assert engine.search("website").hits[0].name.name == "fetch"
    engine.update(put=[spec("publish", "Publishes a website")])
    assert engine.search("website").hits[0].name.name == "publish"
