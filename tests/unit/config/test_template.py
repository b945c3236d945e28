"""Values as TOML text: what a TOML parser reads back is what was written."""

import tomllib
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pegboard.config.template import template, to_toml

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    TEXT | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner),
    max_leaves=8,
)


@given(VALUES)
def test_every_value_is_read_back_as_it_was(value: Any) -> None:
    assert tomllib.loads(f"key = {to_toml(value)}")["key"] == value


def test_a_table_is_written_inline_with_bare_keys_where_they_can_be() -> None:
    assert to_toml({"TOKEN": "x", "a b": [1, True], "none": {}}) == '{ TOKEN = "x", "a b" = [1, true], none = {} }'


@given(TEXT)
def test_a_board_of_any_name_has_a_config_that_can_be_read(name: str) -> None:
    assert tomllib.loads(template(name)) == {"board": {"name": name}}
