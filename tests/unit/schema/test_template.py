"""`${...}` inside JSON values."""

import pytest

from pegboard.errors import DefinitionError
from pegboard.schema.template import Template

SCOPE = {"input": {"name": "Ann", "n": 2}, "rows": [{"id": 7}]}


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("${rows[0].id}", 7),
        ("${rows}", [{"id": 7}]),
        ("id ${rows[0].id}, ${input.name}!", "id 7, Ann!"),
        ("as json ${rows}", 'as json [{"id":7}]'),
        ("costs $${n}", "costs ${n}"),
        ("$5 {plain}", "$5 {plain}"),
        ('${ {"a": "}"}["a"] }', "}"),
        ({"a": ["${input.n}", 1, None], "b": {"c": "x"}}, {"a": [2, 1, None], "b": {"c": "x"}}),
        (5, 5),
        ("", ""),
    ],
)
def test_a_template_is_filled_from_its_scope(source: object, value: object) -> None:
    assert Template.parse(source).render(SCOPE) == value


def test_a_template_names_what_it_reads() -> None:
    template = Template.parse({"a": "${rows[0].id}", "b": ["${input.name} and ${rows}"]})
    assert template.names == ("rows", "input")


@pytest.mark.parametrize("source", ["${", "a ${b", '${"}', "${a b}"])
def test_a_broken_template_is_refused_when_read(source: str) -> None:
    with pytest.raises(DefinitionError):
        Template.parse(source)
