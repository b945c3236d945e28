"""The expression language reads paths and computes; it reaches nothing else."""

import pytest

from pegboard.errors import DefinitionError
from pegboard.schema.expression import Expression, ExpressionError

SCOPE = {
    "input": {"name": "Ann", "count": 3, "tags": ["b", "a", "b"]},
    "users": [{"id": "u1", "a-b": 2, "mail": None}, {"id": "u2", "a-b": 5, "mail": "x@y.z"}],
    "when": 1_700_000_000,
}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("users[0].id", "u1"),
        ("users.1.id", "u2"),
        ('users[1]["a-b"]', 5),
        ("users[-1].id", "u2"),
        ("input.tags[1:]", ["a", "b"]),
        ("len(users) > 1 and input.count == 3", True),
        ("not users or false", False),
        ("1 < input.count <= 3", True),
        ('"x" if input.count > 2 else "y"', "x"),
        ("[u.id for u in users if u.mail is not null]", ["u2"]),
        ('{"n": input.count * 2, "l": [1, 2.5]}', {"n": 6, "l": [1, 2.5]}),
        ('"Hi " + input.name', "Hi Ann"),
        ('default(users[7].id, input.missing, "none")', "none"),
        ("coalesce(users[0].mail, users[1].mail)", "x@y.z"),
        ("unique(input.tags)", ["b", "a"]),
        ('join(pluck(users, "id"), "+")', "u1+u2"),
        ("iso(when)", "2023-11-14T22:13:20Z"),
        ("iso(when * 1000)", "2023-11-14T22:13:20Z"),
        ('iso("14.11.2023", "%d.%m.%Y")', "2023-11-14T00:00:00Z"),
        ('unix("2023-11-14T22:13:20Z")', 1_700_000_000),
        ('date("2023-11-14", "%d/%m/%y")', "14/11/23"),
        ('lookup(input.count, {"3": "three"}, "many")', "three"),
        ('sorted(users, "a-b")[0].id', "u1"),
        ('int("7") + float("0.5")', 7.5),
        ("-input.count // 2", -2),
        ('parse_json("[1]")[0]', 1),
    ],
)
def test_an_expression_computes(text: str, value: object) -> None:
    assert Expression.parse(text).evaluate(SCOPE) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a b",
        "__import__('os')",
        "open('/etc/passwd')",
        "(lambda: 1)()",
        "users.append(1)",
        "2 ** 99",
        "1 << 40",
        "f'{input}'",
        "(x := 1)",
        "b'bytes'",
        "[a for a, b in users]",
        "len(users, key=1)",
        "upprr(input.name)",
        "a" * 5000,
        "-" * 500 + "1",
        "(" * 300 + "1" + ")" * 300,
    ],
)
def test_what_is_not_in_the_language_is_refused_when_read(text: str) -> None:
    with pytest.raises(DefinitionError):
        Expression.parse(text)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("users[5]", "has 2 entries"),
        ("users[0].idd", "has no 'idd'"),
        ("usrs", "no 'usrs' here"),
        ("input.count.x", "a number"),
        ("input.name + 1", "a text and a number"),
        ("input.name * 99999999", "does not work"),
        ("1 / 0", "division"),
        ("int('x')", "int()"),
        ("users[0].__class__", "no '__class__'"),
        ("replace(input.name, 'n', json([[x for x in users] for y in users]))" + " + 1", "a text and a number"),
        ('date(when, "%999999999d")', "date form"),
        ("[x + y for x in users for y in users]", "one `for`"),
    ],
)
def test_a_value_that_does_not_fit_says_where_and_why(text: str, says: str) -> None:
    with pytest.raises(ExpressionError, match=r".") as caught:
        Expression.parse(text).evaluate(SCOPE)
    assert says in str(caught.value)


def test_work_and_size_are_bounded() -> None:
    scope = {"a": list(range(3000)), "t": "x" * 900_000}
    with pytest.raises(ExpressionError, match="too much work"):
        Expression.parse("[[x + y for y in a] for x in a]").evaluate(scope)
    for text in ("t + t", 'replace(t, "x", t)', "join([t, t], t)", "9" * 70 + "*" + "9" * 70):
        with pytest.raises(ExpressionError):
            Expression.parse(text).evaluate(scope)


def test_paths_name_what_an_expression_reads() -> None:
    expression = Expression.parse('default(rows[0].id, input.x) + [u.a for u in users][0] + row["k"]')
    assert expression.names == ("rows", "input", "users", "row")
    assert ("rows", (0, "id")) in expression.paths
    assert ("row", ("k",)) in expression.paths
