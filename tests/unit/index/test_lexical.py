"""Search by words: what is found first, and what never is."""

import pytest

from pegboard.core import ToolName, ToolSpec
from pegboard.index import default
from pegboard.index.lexical import LexicalIndex
from pegboard.index.protocol import Where, names_of


def tool(name: str, description: str = "", **more) -> ToolSpec:
    namespace, _, bare = name.rpartition(".")
    return ToolSpec(name=ToolName(namespace, bare), description=description, **more)


def index_of(*specs: ToolSpec) -> LexicalIndex:
    index = LexicalIndex()
    index.update(put=specs)
    return index


GITHUB = [
    tool("github.create_issue", "Open a new issue in a repository"),
    tool("github.list_pull_requests", "List pull requests of a repository"),
    tool("github.search_code", "Search code across repositories"),
    tool("mail.send", "Send an email to somebody"),
    *(tool(f"noise.issue_{n}", "issue repository pull requests code") for n in range(30)),
]


@pytest.mark.parametrize(
    "query", ["create_issue", "CreateIssue", "create issue", "CREATE-ISSUE", "github.create_issue"]
)
def test_an_exact_name_is_first_in_any_case_and_with_any_separator(query):
    assert names_of(index_of(*GITHUB).search(query).hits)[0] == "github.create_issue"


def test_all_of_three_named_tools_are_found():
    found = index_of(*GITHUB).search("create_issue, listPullRequests and search code")
    assert {"github.create_issue", "github.list_pull_requests", "github.search_code"} <= set(names_of(found.hits[:3]))


def test_a_removed_tool_is_gone_at_once_and_an_added_one_is_found_at_once():
    index = index_of(*GITHUB)
    index.update(remove=[ToolName("mail", "send")])
    assert "mail.send" not in names_of(index.search("send an email").hits)
    index.update(put=[tool("mail.send", "Send an email to somebody")])
    assert names_of(index.search("send an email").hits)[0] == "mail.send"


def test_what_a_filter_leaves_out_never_shifts_another_tools_score():
    where = Where(namespace="github")
    alone = index_of(*GITHUB[:3]).search("issue in a repository")
    filtered = index_of(*GITHUB).search("issue in a repository", where=where)
    assert [(hit.name, hit.score) for hit in filtered.hits] == [(hit.name, hit.score) for hit in alone.hits]


def test_a_hit_says_which_words_matched_where_and_which_did_not():
    hit = index_of(*GITHUB).search("send zebra").hits[0]
    assert hit.matched == {"name": ("send",), "description": ("send",)}
    assert hit.unmatched == ("zebra",)


def test_equal_searches_have_equal_hits_and_other_requests_other_reasons():
    one, two = (index_of(*GITHUB).search("send zebra").hits for _ in range(2))
    assert one == two
    assert {hit.reasons for hit in one} == {hit.reasons for hit in two}
    assert one[0].reasons != index_of(*GITHUB).search("send lion").hits[0].reasons


@pytest.mark.parametrize("engine", [LexicalIndex, default])
def test_a_hidden_tool_is_never_shown_however_well_it_fits(engine):
    index = engine()
    index.update(put=GITHUB)
    for query in ("send an email", "mail.send", "write to somebody"):
        found = index.search(query, where=Where(namespace="github"), limit=50)
        assert all(name.startswith("github.") for name in names_of(found.hits))
        assert all(name.namespace == "github" for name in found.next_names)
