"""Names and specs: how a tool is called, and when its definition has changed."""

from dataclasses import replace
from typing import Any

import pytest

from pegboard.core import Effects, Hint, Relation, ToolName, ToolSpec


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (ToolName("git", "diff"), "git.diff"),
        (ToolName("", "diff"), "diff"),
        (ToolName("git", "diff", "2"), "git.diff@2"),
        (ToolName("a", "b.c/d e"), "a.b.c/d e"),
    ],
)
def test_a_name_has_one_text(name: ToolName, text: str) -> None:
    assert str(name) == text


@pytest.mark.parametrize(
    ("text", "name"),
    [("git.diff", ToolName("git", "diff")), ("diff", ToolName("", "diff")), ("a.b.c", ToolName("a", "b.c"))],
)
def test_the_first_dot_of_a_text_separates(text: str, name: ToolName) -> None:
    assert ToolName.parse(text) == name


SPEC = ToolSpec(name=ToolName("a", "b"), description="x", input={"type": "object", "properties": {"p": {}, "q": {}}})


@pytest.mark.parametrize(
    ("change", "is_another"),
    [
        ({"description": "y"}, True),
        ({"effects": Effects.DESTRUCTIVE}, True),
        ({"input": {"type": "object"}}, True),
        ({"output": {"type": "string"}}, True),
        ({"input": {"properties": {"q": {}, "p": {}}, "type": "object"}}, False),
        ({"hints": (Hint(Relation.THEN, "c"),)}, False),
        ({"category": "x"}, False),
    ],
)
def test_a_digest_changes_with_the_definition_and_not_with_the_order_of_keys(
    change: dict[str, Any], is_another: bool
) -> None:
    assert (replace(SPEC, **change).digest != SPEC.digest) is is_another


@pytest.mark.parametrize("effects", list(Effects))
def test_reading_and_idempotent_calls_may_be_repeated(effects: Effects) -> None:
    assert effects.repeatable is (effects in ("read_only", "idempotent"))


def test_properties_keep_the_authors_order_and_odd_schemas_have_none() -> None:
    assert list(SPEC.properties) == ["p", "q"]
    assert replace(SPEC, input={"properties": 5}).properties == {}
