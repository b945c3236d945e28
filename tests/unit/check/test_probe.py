"""How findable tools are: requests made of their own words, ranks, and who stands before whom by which words."""

from dataclasses import replace

import pytest
from tool_rows import needs, row, specs

from pegboard.check.paraphrase import Origin, held, requests
from pegboard.check.probe import probe
from pegboard.index import default

PIPELINES = row(
    "list_pipelines", "List all data pipelines in the warehouse, optionally filtered by status.", title="Pipelines",
    input_examples=[{"status": "failed"}], inputSchema=needs(status={"type": "string", "enum": ["failed", "all"]}),
)  # fmt: skip


def test_requests_are_made_of_examples_titles_words_and_paraphrases() -> None:
    (spec,) = specs(PIPELINES)
    made = {request.origin: request.text for request in requests(replace(spec, aliases=("etl jobs",)), held([spec]))}
    assert made.keys() == set(Origin)
    assert made[Origin.EXAMPLE] == "failed pipelines"
    assert made[Origin.ALIAS] == "etl jobs"
    texts = [request.text for request in requests(spec, held([spec]))]
    assert {"show all pipelines", "what pipelines are there"} <= set(texts)
    assert texts == [request.text for request in requests(spec, held([spec]))]
    assert len({text.casefold() for text in texts}) == len(texts)


@pytest.mark.parametrize(
    "fields", [{"description": ""}, {"name": "x"}, {"description": "查询余票信息。"}, {"name": "🙂"}]
)
def test_a_tool_of_few_words_has_few_requests_and_no_nonsense(fields: dict[str, str]) -> None:
    (spec,) = specs(row(**fields))
    assert all(request.text.strip() for request in requests(spec, {}))


@pytest.mark.requirement("R1.6")
def test_a_tool_that_another_shadows_is_named_with_the_words_that_do_it() -> None:
    found = probe(
        specs(
            row("create_document", "Create a document with a title. Returns its path."),
            row("add_table", "Add a table to a document. Returns its place."),
            PIPELINES,
        ),
        default(),
    )
    by_name = {one.tool: one for one in found}
    assert by_name["shop.list_pipelines"].found(1) == 1.0 and by_name["shop.list_pipelines"].shadows == ()
    worst = found[0]
    assert worst.reciprocal < 1
    (shadow, *_) = worst.shadows
    assert (worst.tool, shadow.tool) == ("shop.create_document", "shop.add_table")
    assert "add" in shadow.words
    row_ = worst.to_json(3)
    assert row_["found"] == 1.0 and any(one["shadowed_by"] == shadow.tool for one in row_["requests"])


def test_two_tools_of_the_same_words_cannot_both_come_first() -> None:
    twins = probe(specs(row("get_page"), row("get_pages")), default())
    assert min(one.found(1) for one in twins) < 1 and max(one.found(2) for one in twins) == 1


def test_nothing_to_ask_is_nothing_to_blame() -> None:
    assert probe([], default()) == ()
