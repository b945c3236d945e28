"""Conditions of flows mean here what they mean in JavaScript, or fail: judged by JavaScript itself."""

import random
import re
from typing import Any

import pytest

from pegboard.codemode.deno import DenoEngine
from pegboard.codemode.limits import Limits
from pegboard.codemode.scripted import compute
from pegboard.config.runtype.javascript import NotPlain, condition, write_path
from pegboard.schema.expression import Expression, ExpressionError

VARIABLES = ["a", "b", "user.n", "list.length", "user['x y']", "list[0]"]
LITERALS = ["0", "1", "3", "-2", "1.5", "'x'", "'3'", "''", "true", "false", "null", "undefined"]
VALUES: list[Any] = [0, 1, 3, -2, 1.5, "x", "3", "", True, False, [], [1], {}, {"n": 1}]
OPERATORS = ["===", "!==", "==", "!=", "<", "<=", ">", ">="]


def written(dice: random.Random, depth: int = 0) -> str:
    def atom() -> str:
        return dice.choice([*VARIABLES, *VARIABLES, *LITERALS])

    kind = dice.random()
    if depth > 3 or kind < 0.25:
        return atom()
    if kind < 0.6:
        return f"{atom()} {dice.choice(OPERATORS)} {atom()}"
    if kind < 0.7:
        return f"!({written(dice, depth + 1)})"
    return f"({written(dice, depth + 1)}) {dice.choice(['&&', '||'])} ({written(dice, depth + 1)})"


def read(root: str, parts: Any) -> str:
    return f"default({write_path('input.' + root, parts)}, null)"


def plain(text: str) -> bool:
    try:
        condition(text, read)
    except NotPlain:
        return False
    return True


def given(dice: random.Random) -> dict[str, Any]:
    found = {name: dice.choice(VALUES) for name in "ab" if dice.random() < 0.8}
    user = dice.choice([{"n": dice.choice(VALUES), "x y": 1}, {}])
    return {**found, "user": user, "list": dice.choice([[], [1, 2], ["x"], "abc"])}


@pytest.mark.slow
@pytest.mark.anyio
@pytest.mark.requirement("R3.1")
async def test_no_plain_condition_comes_out_otherwise_than_in_javascript() -> None:
    dice = random.Random(8)
    # What is missing is null here, so nothing tells null from undefined, as `=== null` does.
    strict = re.compile(r"[!=]== (?:null|undefined)|(?:null|undefined) [!=]==")
    texts = [text for text in (written(dice) for _ in range(900)) if plain(text) and not strict.search(text)]
    inputs = [given(dice) for _ in range(30)]
    functions = ",".join(f"(a, b, user, list) => Boolean({text})" for text in texts)
    code = f"const all = [{functions}]; return input.all.map((g) => all.map((f) => f(g.a, g.b, g.user, g.list)));"
    engine = DenoEngine(Limits(), warm=0)
    outcome = await compute(engine, code, {"all": inputs}, Limits(max_output=5_000_000))
    await engine.close()
    assert outcome.ok, outcome.error
    rows: Any = outcome.value
    judged = 0
    for scope, row in zip(inputs, rows, strict=True):
        for text, expected in zip(texts, row, strict=True):
            try:
                found = bool(Expression.parse(condition(text, read)).evaluate({"input": scope}))
            except ExpressionError:
                continue
            judged += 1
            assert found is expected, (text, scope)
    assert judged > 0.8 * len(texts) * len(inputs)
