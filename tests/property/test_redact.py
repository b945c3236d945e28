"""Redaction, for any secret in any value: it is gone, and everything else is as it was."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pegboard.schema.cut import json_text
from pegboard.trace.redact import MASK, Redactor, looks_secret

secrets = st.text(st.characters(exclude_categories=["Cs"]), min_size=6, max_size=20)


def hide(secret: str, value: Any, data: st.DataObject) -> Any:
    """The value with the secret somewhere in one of its texts."""
    place = data.draw(st.sampled_from(["text", "list", "member", "key"]))
    text = f"{data.draw(st.text('xyz ', max_size=5))}{secret}{data.draw(st.text('xyz ', max_size=5))}"
    return {"text": text, "list": [value, text], "member": {"a": text, "b": value}, "key": {"password": text}}[place]


@given(secrets, st.integers(-9, 9) | st.text("xyz"), st.data())
def test_a_secret_is_found_wherever_it_is(secret: str, value: Any, data: st.DataObject) -> None:
    redactor = Redactor([secret])
    hidden = hide(secret, value, data)
    assert not redactor.is_clean(json_text(hidden))
    masked = redactor.value(hidden)
    assert MASK in str(masked)
    assert secret in MASK or secret not in str(masked).replace(MASK, "")


plain = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | st.text("abc xyz-_/.", max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abcxyz_", max_size=8), inner, max_size=3),
    max_leaves=10,
)


@given(plain)
def test_what_holds_no_secret_is_not_copied(value: Any) -> None:
    assert Redactor(["a-secret-that-is-nowhere"]).value(value) is value


@given(st.text(max_size=30))
def test_any_key_can_be_asked_about(key: str) -> None:
    assert looks_secret(key) in (True, False)
    assert looks_secret(f"{key}_password")
