"""The addresses of resources on a board."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.catalog.uri import board_uri, may_expand_to, same_address, source_uri

NAMES = st.text(min_size=1, max_size=20)
ADDRESSES = st.one_of(
    st.text(max_size=40),
    st.builds("{}:{}".format, st.sampled_from(["file", "ui", "urn", "pegboard", "http"]), st.text(max_size=30)),
    st.builds("ui://{}".format, st.text(max_size=20)),
)


@given(NAMES, ADDRESSES)
def test_an_address_of_the_board_leads_back_to_its_source_and_its_spelling(source: str, uri: str) -> None:
    assert source_uri(board_uri(source, uri)) == (source, uri)


@given(NAMES, ADDRESSES, NAMES, ADDRESSES)
def test_two_resources_never_share_an_address(one: str, first: str, two: str, second: str) -> None:
    same = board_uri(one, first) == board_uri(two, second)
    assert same is ((one, first) == (two, second))


@pytest.mark.parametrize(
    ("uri", "shown"),
    [
        ("file:///notes/a%20b.txt?x=1#f", "pegboard://files/file:///notes/a%20b.txt?x=1#f"),
        ("db://{table}/{+path}{?q,limit*}{#part}", "pegboard://files/db://{table}/{+path}{?q,limit*}{#part}"),
        ("urn:isbn:1", "pegboard://files/urn:isbn:1"),
        ("ui://clock.html", "ui://files/ui://clock.html"),
        ("pegboard://inner/file:///a", "pegboard://files/pegboard://inner/file:///a"),
    ],
)
def test_the_sources_own_address_stays_readable(uri: str, shown: str) -> None:
    assert board_uri("files", uri) == shown


@pytest.mark.parametrize("text", ["file:///a", "pegboard://", "pegboard:///x", "pegboard://only", "ui://clock.html"])
def test_what_is_no_address_of_a_board_is_none(text: str) -> None:
    assert source_uri(text) is None


@pytest.mark.parametrize(
    ("template", "uri", "fits"),
    [
        ("a://b", "a://b", True),
        ("a://b", "a://bc", False),
        ("a://{id}", "a://4", True),
        ("a://{id}", "b://4", False),
        ("a://{x}/c/{y}", "a://1/c/2", True),
        ("a://{x}/c/{y}", "a://1/d/2", False),
        ("a://{x}/end", "a://1/end", True),
        ("a://{x}/end", "a://end", False),
        ("a://x{?q,r*}", "a://x?q=1&r=2", True),
        ("a://x{?q}", "a://x", True),
        ("{+any}", "whatever://x", True),
        ("aXa{b}a", "aXa", False),
    ],
)
def test_a_template_may_expand_to_what_has_its_fixed_texts_in_order(template: str, uri: str, fits: bool) -> None:
    assert may_expand_to(template, uri) is fits


def test_an_address_is_known_however_a_client_has_escaped_it() -> None:
    assert same_address("n://caf%C3%A9", ["n://a", "n://café"]) == "n://café"
    assert same_address("n://a%20b", ["n://a%20b"]) == "n://a%20b"
    assert same_address("n://x", ["n://a"]) is None
