"""The ledger takes one answer to each request, and remembers what was to be remembered, for whom and no longer."""

from pathlib import Path

import pytest
from approval_kit import ANNA, item, ledger, request

from pegboard.approval import ApprovalError, Choice, Decision, Fault, Kind
from pegboard.core import Session
from pegboard.testing import FixedClock

YES, NO = Decision(choice=Choice.ALLOW_ONCE), Decision(choice=Choice.DENY)
ALWAYS = Decision(choice=Choice.ALLOW_ALWAYS)


def code_of(problem: pytest.ExceptionInfo[ApprovalError]) -> Fault:
    assert problem.value.next_step
    return problem.value.code


def test_a_second_answer_is_refused_and_the_same_answer_again_changes_nothing() -> None:
    book = ledger()
    id = book.open(request()).request.id
    first = book.answer(id, YES)
    assert book.answer(id, YES) == book.entry(id)
    with pytest.raises(ApprovalError) as refused:
        book.answer(id, NO)
    assert code_of(refused) is Fault.ALREADY_ANSWERED
    assert book.entry(id).decision == first.decision  # type: ignore[union-attr]


def test_an_answer_after_the_time_is_refused_and_says_how_to_go_on() -> None:
    clock = FixedClock()
    book = ledger(clock=clock)
    id = book.open(request(now=clock.now, lasts=300)).request.id
    clock.advance(301)
    assert book.entries(waiting=True) == []
    with pytest.raises(ApprovalError) as refused:
        book.answer(id, YES)
    assert code_of(refused) is Fault.EXPIRED
    assert "allow bank.pay --always" in str(refused.value)


@pytest.mark.parametrize(
    ("id", "principal", "fault"),
    [("ap_none", None, Fault.UNKNOWN_REQUEST), ("", None, Fault.UNKNOWN_REQUEST), (None, "eve", Fault.NOT_YOURS)],
)
def test_an_answer_to_nothing_or_to_somebody_elses_request_is_refused(
    id: str | None, principal: str | None, fault: Fault
) -> None:
    book = ledger()
    asked = book.open(request()).request.id
    with pytest.raises(ApprovalError) as refused:
        book.answer(asked if id is None else id, YES, principal=principal)
    assert code_of(refused) is fault
    assert book.entry(asked).decision is None  # type: ignore[union-attr]
    assert book.answer(asked, YES, principal="anna").decision is not None


def test_equal_requests_of_one_principal_are_one_and_of_two_are_two() -> None:
    book = ledger()
    first = book.open(request())
    assert book.open(request()).request.id == first.request.id
    others = [
        request(session=Session("s1", principal="eve")),
        request(item(amount=11)),
        request(kind=Kind.TOOL_SUGGESTION),
    ]
    assert len({book.open(other).request.id for other in others} - {first.request.id}) == 3


def test_a_yes_that_nobody_waited_for_is_found_by_the_next_equal_call_and_used_once() -> None:
    clock = FixedClock()
    book = ledger(clock=clock)
    id = book.open(request()).request.id
    book.answer(id, YES)
    found = book.open(request())
    assert (found.request.id, found.decision and found.decision.choice) == (id, Choice.ALLOW_ONCE)
    assert (book.use(id), book.use(id)) == (True, False)
    assert book.open(request()).decision is None
    book.answer(book.open(request()).request.id, YES)
    clock.advance(301)
    assert book.open(request()).decision is None


@pytest.mark.parametrize("wrong", [{"amount": "much"}, {}, {"amount": None}])
def test_edited_arguments_that_do_not_fit_decide_nothing(wrong: dict[str, object]) -> None:
    book = ledger()
    id = book.open(request()).request.id
    with pytest.raises(ApprovalError) as refused:
        book.answer(id, Decision(choice=Choice.ALLOW_ONCE, arguments=wrong))
    assert code_of(refused) is Fault.INVALID_ARGUMENTS
    assert book.answer(id, Decision(choice=Choice.ALLOW_ONCE, arguments={"amount": 5})).decision is not None


def test_edited_arguments_go_with_one_call_once() -> None:
    book = ledger()
    ids = [
        book.open(one).request.id
        for one in (request(), request(item(), item(amount=2)), request(item(amount=4), schema=None))
    ]
    for id, choice in zip(ids, (Choice.ALLOW_ALWAYS, Choice.ALLOW_ONCE, Choice.ALLOW_ONCE), strict=True):
        with pytest.raises(ApprovalError) as refused:
            book.answer(id, Decision(choice=choice, arguments={"amount": 5}))
        assert code_of(refused) is Fault.INVALID_ARGUMENTS


def test_a_grant_is_for_one_principal_tool_and_definition_whatever_the_arguments(tmp_path: Path) -> None:
    with_grant = ledger(tmp_path)
    with_grant.answer(with_grant.open(request()).request.id, ALWAYS)
    later = ledger(tmp_path)  # another process
    assert later.remembered(request(item(amount=99), session=Session("s2", principal="anna")))
    strangers = [
        request(session=Session("s1", principal="eve")),
        request(item("bank.close")),
        request(kind=Kind.TOOL_SUGGESTION),
        request(item("bank.pay_all"), item()),
    ]
    assert [later.remembered(one) for one in strangers] == [None] * 4


@pytest.mark.requirement("D9.8")
def test_a_yes_dies_when_the_definition_changes_and_does_not_come_back_with_it() -> None:
    book = ledger()
    book.answer(book.open(request()).request.id, ALWAYS)
    assert book.remembered(request(item(definition="d2"))) is None
    assert book.remembered(request()) is None
    assert [grant.ended for grant in book.grants(all_of_them=True)] == ["its definition changed"]
    assert book.grants() == []


def test_a_no_for_always_outlives_a_change_of_the_definition_and_beats_a_yes() -> None:
    book = ledger()
    book.answer(book.open(request()).request.id, ALWAYS)
    book.answer(book.open(request()).request.id, Decision(choice=Choice.DENY_ALWAYS))
    for definition in ("d1", "d2"):
        found = book.remembered(request(item(definition=definition)))
        assert found is not None
        assert not found.allows


def test_a_yes_for_a_session_holds_in_that_session_of_that_principal_until_it_ends() -> None:
    clock = FixedClock()
    book = ledger(clock=clock)
    book.answer(book.open(request()).request.id, Decision(choice=Choice.ALLOW_SESSION))
    assert book.remembered(request(item(amount=3)))
    assert book.remembered(request(session=Session("s2", principal="anna"))) is None
    assert book.remembered(request(session=Session("s1", principal="eve"))) is None
    clock.advance(86_401)
    assert book.remembered(request()) is None


def test_a_yes_for_a_session_where_calls_name_none_is_a_yes_for_once() -> None:
    book, asked = ledger(), request(session=Session("", principal="anna"))
    entry = book.answer(book.open(asked).request.id, Decision(choice=Choice.ALLOW_SESSION))
    assert entry.decision is not None
    assert entry.decision.choice is Choice.ALLOW_ONCE
    assert book.grants() == []


def test_an_exact_grant_is_for_these_arguments_and_one_may_end_at_a_time() -> None:
    clock = FixedClock()
    book = ledger(clock=clock)
    book.answer(
        book.open(request()).request.id,
        Decision(choice=Choice.ALLOW_ALWAYS, exact=True, expires=clock.now + 60),
    )
    assert book.remembered(request())
    assert book.remembered(request(item(amount=11))) is None
    clock.advance(61)
    assert book.remembered(request()) is None


def test_a_composite_is_remembered_as_the_calls_that_were_shown() -> None:
    book, whole = ledger(), item("bank.pay_all")
    book.answer(book.open(request(whole, item(amount=1))).request.id, ALWAYS)
    assert book.remembered(request(whole, item(amount=1)))
    assert book.remembered(request(whole, item(amount=1), item(amount=2))) is None
    assert book.remembered(request(whole)) is None


def test_a_revoked_grant_is_over_at_once_and_cannot_be_revoked_twice() -> None:
    book = ledger()
    grant = book.answer(book.open(request()).request.id, ALWAYS).grant
    assert grant is not None
    assert book.revoke(grant.id).ended == "revoked"
    assert book.remembered(request()) is None
    assert book.open(request()).decision is None
    with pytest.raises(ApprovalError) as refused:
        book.revoke(grant.id)
    assert code_of(refused) is Fault.UNKNOWN_GRANT


def test_lists_keep_calls_and_suggestions_apart() -> None:
    book = ledger()
    book.open(request())
    book.open(request(item("github"), kind=Kind.TOOL_SUGGESTION, now=1_700_000_001.0))
    assert [entry.request.kind for entry in book.entries()] == [Kind.TOOL_CALL, Kind.TOOL_SUGGESTION]
    assert [entry.request.subject for entry in book.entries(kind=Kind.TOOL_SUGGESTION)] == ["github"]
    book.answer(book.open(request(item("github"), kind=Kind.TOOL_SUGGESTION)).request.id, ALWAYS)
    assert book.remembered(request(item("github"))) is None
    assert book.remembered(request(item("github"), kind=Kind.TOOL_SUGGESTION, session=ANNA))
