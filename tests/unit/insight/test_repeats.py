"""Values that come back where the user's words are not known: an earlier argument, or the user's."""

import pytest


@pytest.mark.parametrize(
    ("calls", "last"),
    [
        ("find(day=2026-05-01)=none > book(day=2026-05-01)", "arg:0"),
        ("find(day=2026-05-01)=none > book(from=2026-05-01)", "arg:0"),
        ("find(day=2026-05-01)=none | book(day=2026-05-01)", "new"),
        ("find(day=2026-05-01)=none | book(from=2026-05-01)", "arg:0"),
        ("near(lat=39.1)=none | air(at=39.1)", "arg:0"),
        ("order(id=12446)=none | cancel(id=12446)", "arg:0"),
        ("order(id=12446)=none > cancel(id=12446)", "new"),
        ("find(kind=economy)=none > find(kind=economy)", "arg:0"),
        ("find(kind=economy)=none > book(kind=economy)", "new"),
        ("show(name=report.txt)=none > show(name=report.txt)", "new"),
        ("show(name=Projects)=none > show(name=Projects)", "new"),
        ("fare(from=RMS)=none > book(from=RMS)", "new"),
        ("job(url=[URL])=none > job(url=[URL])", "arg:0"),
        ("show(id=your_show_id)=none > list(id=your_show_id)", "arg:0"),
    ],
)
def test_the_form_of_a_value_that_comes_back_tells_whose_it_is(run, labels, calls, last):
    assert labels(run(calls))[-1] == [last]


@pytest.mark.parametrize(
    ("calls", "last"),
    [
        ("fare(from=RMS) > book(from=RMS)", "arg:0"),
        ("fare(from=RMS) > fare(from=RMS)", "new"),
        ("fare(from=RMS) > book(to=RMS)", "new"),
        ("fare(day=2026-05-01) | book(day=2026-05-01)", "arg:0"),
    ],
)
def test_where_no_results_are_kept_codes_and_dates_come_from_those(run, labels, calls, last):
    assert labels(run(calls))[-1] == [last]


def test_where_the_users_words_are_known_no_form_matters(run, labels):
    said = run("find(day=2026-05-01)=none > book(day=2026-05-01)", user_messages=("on 2026-05-01",))
    assert labels(said)[-1] == ["user"]
    unsaid = run("show(name=Projects)=none > show(name=Projects)", user_messages=("show it",))
    assert labels(unsaid)[-1] == ["arg:0"]
