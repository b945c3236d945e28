"""Past use counts a little: never more than its cap, never for more than one tool, never for how sure a search is."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard import index
from pegboard.core import ToolName
from pegboard.index import Use
from pegboard.index.candidates import OF_MEANING, OF_WORDS
from pegboard.index.engine import ToolIndex
from pegboard.index.prior import MOST, Priors, prior
from pegboard.index.protocol import names_of

from .conftest import tool

TOOLS = [
    tool("zqa.send_email", "Send an email to somebody"),
    tool("zqb.send_email", "Send an email to somebody"),
    tool("files.read_file", "Read a file"),
    tool("calendar.create_event", "Create an event in a calendar"),
]
COUNTS = st.integers(0, 10_000)


@given(COUNTS, COUNTS, COUNTS)
def test_a_prior_is_capped_and_grows_with_use_and_success(runs: int, calls: int, failed: int) -> None:
    use = Use(runs, max(runs, calls), min(failed, max(runs, calls)))
    assert -MOST <= prior(use) <= MOST
    assert prior(use) <= prior(Use(use.runs, use.calls, 0)) <= prior(Use(use.runs + 10, use.calls + 10, 0))
    assert prior(Use()) == 0


@given(st.lists(st.floats(0, 3, width=32), min_size=1, max_size=8), st.data())
def test_no_tool_overtakes_one_that_fits_clearly_better(values: list[float], data: st.DataObject) -> None:
    names = {ToolName("", f"t{n}"): n for n in range(len(values))}
    uses = {name: Use(data.draw(COUNTS), data.draw(COUNTS), 0) for name in names}
    uses[ToolName("", "elsewhere")] = Use(50, 50, 0)
    before = np.array(values, np.float32)
    after = Priors(uses).applied(before, np.arange(len(values)), names)
    for a in range(len(values)):
        for b in range(len(values)):
            assert before[a] <= before[b] + 2 * MOST + 1e-4 or after[a] > after[b]


def test_use_orders_what_fits_alike_changes_nothing_else_and_is_forgotten_without_traces(index_of) -> None:
    engine, plain = index_of(*TOOLS), index_of(*TOOLS)
    engine.weigh({ToolName("zqb", "send_email"): Use(40, 40, 0), ToolName("files", "read_file"): Use(50, 50, 0)})
    used, unused = engine.search("send somebody a message"), plain.search("send somebody a message")
    assert names_of(unused.hits)[:2] == ["zqa.send_email", "zqb.send_email"]
    assert names_of(used.hits)[:2] == ["zqb.send_email", "zqa.send_email"]
    assert used.confidence == unused.confidence
    assert "files.read_file" not in names_of(used.hits)[:2]
    engine.weigh({})
    assert engine.search("send somebody a message") == unused


def test_a_reranker_is_given_the_candidates_with_their_signals_and_changes_order_but_not_how_sure_it_is() -> None:
    seen = {}

    def backwards(query, specs, signals, scores):
        seen.update(query=query, specs=specs, signals=signals)
        return -100 * scores

    engine, plain = ToolIndex(rerank=backwards), ToolIndex()
    for each in (engine, plain):
        each.update(put=TOOLS)
    found, unchanged = engine.search("send an email or read a file"), plain.search("send an email or read a file")
    assert seen["query"] == "send an email or read a file"
    assert seen["signals"].shape == (len(seen["specs"]), len(OF_WORDS))
    assert {str(spec.name) for spec in seen["specs"]} == {*names_of(unchanged.hits)}
    assert found.hits[0].name.name == unchanged.hits[-1].name.name
    assert found.confidence == unchanged.confidence
    assert engine.search("calendar.create_event").hits[0].name == ToolName("calendar", "create_event")


def test_each_layer_adds_its_signals() -> None:
    widths = []

    def note(query, specs, signals, scores):
        widths.append(signals.shape[1])
        return scores

    table = index.default().tools.embedders[0]  # pyright: ignore[reportAttributeAccessIssue]
    engine = ToolIndex(table, rerank=note)
    engine.update(put=TOOLS)
    engine.search("send an email")
    assert widths == [len(OF_WORDS) + len(OF_MEANING)]


@pytest.mark.parametrize("made", [np.float64, np.float32, list])
def test_a_reranker_may_answer_in_any_numbers(made) -> None:
    def backwards(query, specs, signals, scores):
        given = [-100.0 * score for score in scores.tolist()]
        return given if made is list else np.array(given, made)

    engine, plain = ToolIndex(rerank=backwards), ToolIndex()
    for each in (engine, plain):
        each.update(put=TOOLS)
    query = "send an email or read a file"
    assert engine.search(query).hits[0].name.name == plain.search(query).hits[-1].name.name
