"""No request goes to an address that is not public, unless the operator wrote it."""

import pytest

from pegboard.sources.http.address import Allowance, endpoint, is_public


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("8.8.8.8", True),
        ("2606:4700::1111", True),
        ("127.0.0.1", False),
        ("127.9.9.9", False),
        ("10.0.0.1", False),
        ("172.16.3.4", False),
        ("192.168.1.1", False),
        ("169.254.169.254", False),
        ("100.64.0.1", False),
        ("0.0.0.0", False),
        ("255.255.255.255", False),
        ("224.0.0.1", False),
        ("198.18.0.1", False),
        ("192.0.2.1", False),
        ("::1", False),
        ("::", False),
        ("fe80::1", False),
        ("fe80::1%eth0", False),
        ("fc00::1", False),
        ("fd12::1", False),
        ("ff02::1", False),
        ("::ffff:127.0.0.1", False),
        ("::ffff:10.0.0.1", False),
        ("64:ff9b::7f00:1", False),
        ("2002:7f00:1::", False),
        ("not an address", False),
        ("", False),
    ],
)
def test_only_addresses_of_the_public_internet_are_public(address: str, public: bool) -> None:
    assert is_public(address) is public


def test_what_the_operator_wrote_is_allowed_with_its_port_alone() -> None:
    allowance = Allowance.of(["http://LocalHost:8000/openapi.json", None, "not a url", "https://internal.example"])
    assert allowance.admits("localhost", 8000, "127.0.0.1")
    assert not allowance.admits("localhost", 8001, "127.0.0.1")
    assert not allowance.admits("127.0.0.1", 8000, "127.0.0.1")
    assert allowance.admits("internal.example", 443, "10.0.0.5")
    assert allowance.admits("public.example", 443, "8.8.8.8")
    assert Allowance(private=True).admits("x", 1, "10.0.0.1")


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("http://a", ("a", 80)),
        ("https://A.b:444/x", ("a.b", 444)),
        ("http://[::1]:8/", ("::1", 8)),
        ("ftp://a", None),
        ("http://a:99999", None),
        ("/x", None),
        ("", None),
    ],
)
def test_the_place_of_a_url(url: str, place: tuple[str, int] | None) -> None:
    assert endpoint(url) == place
