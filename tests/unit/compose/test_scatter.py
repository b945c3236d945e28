"""Several sources are asked at once; what they say becomes one list that tells where it comes from."""

import json
from typing import Any

import anyio
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from small_board import SmallBoard, failed, tool

from pegboard.compose import Branch, key, rank, scatter, union
from pegboard.core import FailureCode, Mode, Status, ToolName
from pegboard.errors import DefinitionError
from pegboard.schema.template import Template

STRING = {"type": "string"}


def source(name: str, answer: Any) -> Any:
    async def ask(query: str) -> Any:
        if answer is Ellipsis:
            await anyio.sleep_forever()
        return answer

    return tool(name, ask, properties={"query": STRING})


CRM = [{"email": "a@x", "name": "Ann", "phone": None}, {"email": "b@x", "name": "Bob"}]
HR = [{"email": "b@x", "name": "Robert", "desk": 4}, {"email": "c@x", "name": "Cy"}]


def find(answers: dict[str, Any], **more: Any) -> SmallBoard:
    tools = [source(f"{name}.search", answer) for name, answer in answers.items()]
    fields = {"timeout": 0.1, **more}
    return SmallBoard([*tools, scatter("find_person", {name: f"{name}.search" for name in answers}, **fields)])


@pytest.mark.requirement("C7.2", "C7.3")
def test_records_are_merged_by_key_with_provenance_and_conflicts_kept() -> None:
    result = find({"crm": CRM, "hr": HR}, merge=key("email")).call("find_person", query="x")
    assert result.value["records"] == [
        {"email": "a@x", "name": "Ann", "phone": None, "_sources": ["crm"]},
        {
            "email": "b@x",
            "name": "Bob",
            "desk": 4,
            "_sources": ["crm", "hr"],
            "_conflicts": {"name": {"crm": "Bob", "hr": "Robert"}},
        },
        {"email": "c@x", "name": "Cy", "_sources": ["hr"]},
    ]
    assert result.value["complete"] is True
    assert result.value["sources"]["hr"]["count"] == 2
    assert result.report is not None
    assert result.report.sources["crm"].status is Status.OK
    assert result.report.sources["crm"].seconds is not None


def test_a_union_keeps_the_first_sources_record() -> None:
    records = find({"crm": CRM, "hr": HR}, merge=union("email")).call("find_person", query="x").value["records"]
    assert [record["email"] for record in records] == ["a@x", "b@x", "c@x"]
    assert "desk" not in records[1]
    assert records[1]["_sources"] == ["crm", "hr"]
    whole = find({"crm": CRM, "hr": CRM}, merge=union()).call("find_person", query="x").value["records"]
    assert [record["_sources"] for record in whole] == [["crm", "hr"]] * 2


def test_a_rank_puts_first_what_many_sources_put_first() -> None:
    a = [{"id": n} for n in ("x", "y", "z")]
    b = [{"id": n} for n in ("z", "y")]
    records = find({"a": a, "b": b}, merge=rank("id", limit=2)).call("find_person", query="q").value["records"]
    assert [record["id"] for record in records] == ["z", "y"]
    heavy = find({"a": a, "b": b}, merge=rank("id", weights={"a": 5})).call("find_person", query="q").value
    assert [record["id"] for record in heavy["records"]] == ["y", "z", "x"]


@pytest.mark.requirement("C7.4")
def test_late_and_failed_sources_degrade_the_answer_and_do_not_fail_it() -> None:
    result = find({"crm": CRM, "slow": ..., "bad": failed(message="off")}).call("find_person", query="x")
    assert result.ok
    assert len(result.value["records"]) == 2
    assert result.value["complete"] is False
    assert {name: source["status"] for name, source in result.value["sources"].items()} == {
        "crm": "ok",
        "slow": "timed_out",
        "bad": "failed",
    }
    assert "0.1 s" in result.value["sources"]["slow"]["error"]["message"]


@pytest.mark.parametrize(("quorum", "ok"), [(1, True), (2, False)])
def test_a_quorum_can_be_demanded(quorum: int, ok: bool) -> None:
    result = find({"crm": CRM, "bad": failed(message="off")}, quorum=quorum).call("find_person", query="x")
    assert result.ok is ok
    if result.failure:
        assert "1 of 2 sources answered and 2 are needed" in result.failure.message
        assert result.value["records"]


def test_when_every_source_fails_it_has_failed() -> None:
    bad = failed(FailureCode.UNAVAILABLE, "off", retryable=True)
    result = find({"a": bad, "b": bad}).call("find_person", query="x")
    assert result.failure is not None
    assert result.failure.code is FailureCode.UNAVAILABLE
    assert result.failure.retryable


@pytest.mark.requirement("C7.1")
def test_sources_are_asked_at_the_same_time() -> None:
    running = 0
    together = anyio.Event()

    async def ask(query: str) -> Any:
        nonlocal running
        running += 1
        if running == 5:
            together.set()
        with anyio.fail_after(60):
            await together.wait()
        return []

    tools = [tool(f"s{n}.ask", ask, properties={"query": STRING}) for n in range(5)]
    board = SmallBoard([*tools, scatter("all", {f"s{n}": f"s{n}.ask" for n in range(5)})])
    board.call("all", query="x")
    assert together.is_set()


def test_each_sources_records_are_brought_into_one_shape() -> None:
    tools = [
        source("crm.search", {"total": 1, "people": [{"mail": "a@x", "n": {"first": "Ann"}}]}),
        source("hr.search", [{"email": "a@x", "name": "ann"}]),
    ]
    fields = {"crm": {"email": "record.mail", "name": "record.n.first"}}
    one = scatter("find", {"crm": "crm.search", "hr": "hr.search"}, merge=key("email"), fields=fields)
    records = SmallBoard([*tools, one]).call("find", query="x").value["records"]
    assert records[0]["_conflicts"] == {"name": {"crm": "Ann", "hr": "ann"}}


def test_a_shape_that_does_not_fit_fails_its_source_alone() -> None:
    tools = [source("crm.search", [{"mail": "a@x"}]), source("hr.search", [{"email": "b@x"}])]
    one = scatter("find", {"crm": "crm.search", "hr": "hr.search"}, fields={"crm": {"email": "record.email"}})
    value = SmallBoard([*tools, one]).call("find", query="x").value
    assert value["sources"]["crm"]["status"] == "failed"
    assert "has no 'email'" in value["sources"]["crm"]["error"]["message"]
    assert [record["email"] for record in value["records"]] == ["b@x"]


def test_different_shapes_are_merged_as_far_as_they_go() -> None:
    answers = {"list": ["a", 5], "one": {"email": "x"}, "none": None, "text": "hello", "nested": [[1]]}
    value = find(answers, merge=key("email")).call("find_person", query="x").value
    assert [record["_sources"] for record in value["records"]] == [["list"], ["list"], ["one"], ["text"], ["nested"]]
    assert value["records"][0]["value"] == "a"
    assert "2 of 2 records of list have no email; kept apart." in value["notes"]
    assert "The records of one share no field with the others: map theirs with `fields`." in value["notes"]
    alike = find({"list": [{"email": "x"}], "one": {"email": "x", "age": 1}}).call("find_person", query="x").value
    assert "notes" not in alike


def test_arguments_are_mapped_for_each_source() -> None:
    async def by_mail(mail: str, top: int) -> Any:
        return [{"email": mail, "top": top}]

    tools = [
        tool("b.search", by_mail, properties={"mail": STRING, "top": {"type": "integer"}}),
        source("a.search", [{"email": "q"}]),
    ]
    branch = Branch(tool="b.search", args=Template.parse({"mail": "${input.query}", "top": 3}))
    board = SmallBoard([*tools, scatter("find", {"a": "a.search", "b": branch}, merge=key("email"))])
    records = board.call("find", query="q").value["records"]
    assert records == [{"email": "q", "top": 3, "_sources": ["a", "b"]}]
    spec = board.catalog.get(ToolName("", "find")).spec  # type: ignore[union-attr]
    assert list(spec.properties) == ["query"]


def test_a_scatter_that_cannot_work_is_refused() -> None:
    assert "quorum" in find({"a": 1}, quorum=2).bound.notes[0].message
    branch = Branch(tool="a.search", args=Template.parse({"q": 1}))
    board = SmallBoard([source("a.search", 1), scatter("find", {"a": branch})])
    assert "no parameter 'q'" in board.bound.notes[0].message
    with pytest.raises(DefinitionError):
        key([])


def test_a_source_that_was_never_there_degrades_the_answer_and_a_slip_of_the_pen_is_refused() -> None:
    crm = source("crm.search", [{"email": "a@x"}])
    board = SmallBoard([crm, scatter("find", {"crm": "crm.search", "hr": "hr.search"})])
    value = board.call("find", query="x").value
    assert [record["email"] for record in value["records"]] == ["a@x"]
    assert value["complete"] is False
    assert value["sources"]["hr"]["status"] == "failed"
    assert value["sources"]["hr"]["error"]["code"] == "unavailable"
    assert [(note.kind.value, note.tool) for note in board.bound.notes] == [("warning", "find")]
    for names, quorum in ((["crm.search", "crm.serch"], 1), (["crm.search", "hr.search"], 2)):
        refused = SmallBoard([crm, scatter("find", dict(zip("ab", names, strict=True)), quorum=quorum)])
        assert [note.kind.value for note in refused.bound.notes] == [*["warning"] * (quorum - 1), "set_aside"]


def test_a_dry_run_asks_nobody() -> None:
    board = find({"crm": CRM, "hr": HR})
    result = board.call("find_person", Mode.DRY_RUN, query="x")
    assert result.ok
    assert [call for call in board.calls if call.tool.namespace] == []
    assert result.report is not None
    assert result.report.counts == {"ok": 2}


RECORDS = st.lists(
    st.one_of(
        st.none(),
        st.integers(),
        st.text(max_size=3),
        st.dictionaries(
            st.sampled_from(["id", "a", "b"]), st.one_of(st.none(), st.integers(0, 2), st.text(max_size=2))
        ),
    ),
    max_size=5,
)


@example({"s1": [{"id": 2, "b": None, "a": 0}, {"id": 2, "a": 1}]}, key("id"))
@given(
    st.dictionaries(st.sampled_from(["s1", "s2", "s3"]), RECORDS, max_size=3),
    st.sampled_from([union(), union("id"), key("id"), key(["id", "a"]), rank("id"), rank()]),
)
def test_no_record_and_no_value_is_lost(answers: dict[str, list[Any]], merge: Any) -> None:
    merged = merge(answers)
    json.dumps(merged.records)
    for name, records in answers.items():
        for record in records:
            fields = record if isinstance(record, dict) else {"value": record}
            assert any(
                name in kept["_sources"]
                and all(
                    kept.get(field) == value
                    or value is None
                    or kept.get("_conflicts", {}).get(field, {}).get(name) is not None
                    or merge.how == "union"
                    or merge.how == "rank"
                    for field, value in fields.items()
                )
                for kept in merged.records
            )
    assert len(merged.records) <= sum(map(len, answers.values()))
