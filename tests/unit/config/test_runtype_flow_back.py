"""Flows come back: to the letter where nothing was changed, else as flows that mean the same."""

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from runtype_flows import CONDITIONAL, SET, STEPS, TRANSFORM, WHOLE

from pegboard.config.runtype.condition import to_javascript
from pegboard.config.runtype.flow import read_flow
from pegboard.config.runtype.flowout import Around, FlowExport, write_flow
from pegboard.config.runtype.javascript import NotPlain, condition, write_path
from pegboard.config.runtype.kinds import TAKEN
from pegboard.schema.expression import Expression
from pegboard.schema.template import Template

pytestmark = pytest.mark.requirement("R3.1")


def back(flow: Any, *, origin: bool, name: str | None = None) -> FlowExport:
    found = read_flow(flow, name=name)
    assert found.ok, found.findings
    around = Around(sources=found.sources, agents=found.agents)
    return write_flow(found.name, found.chain, around, flow if origin else None)


NAMES = st.sampled_from(["a", "b", "total", "user", "x y", "für", "class"])
PATHS = st.builds(lambda *parts: ".".join(parts), NAMES.filter(str.isidentifier), st.sampled_from(["id", "n", "0"]))
LITERALS = st.one_of(st.integers(-5, 5), st.booleans(), st.none(), st.text("ab'\"\\é {}$", max_size=6))
VALUES = st.recursive(
    st.one_of(LITERALS, PATHS.map(lambda path: f"{{{{{path}}}}}"), PATHS.map(lambda path: f"it is {{{{{path}}}}}!")),
    lambda inner: st.one_of(
        st.lists(inner, max_size=2), st.dictionaries(st.sampled_from(["k", "l"]), inner, max_size=2)
    ),
    max_leaves=4,
).filter(lambda value: "{{" not in str(value) or "{}" not in str(value))
CONDITIONS = st.sampled_from(
    [
        "a",
        "!b",
        "{{a}} === 'x'",
        "total > 3",
        "user.id !== null && total <= 2",
        "!(a || b) || {{user.n}} == 1",
        "a.length",
    ]
)
LEAVES = st.one_of(
    st.builds(lambda name, value: _step("set-variable", variableName=name, value=value), NAMES, VALUES),
    st.builds(
        lambda name, value, out: _step(
            "tool-call", toolId=f"mcp:shop:{name}", parameters={"v": value}, outputVariable=out
        ),
        st.sampled_from(["get", "put"]),
        VALUES,
        NAMES,
    ),
    st.builds(lambda out: _step("transform-data", script="return input.a;", outputVariable=out), NAMES),
    st.builds(
        lambda path, out: _step(
            "api-call",
            http={"url": f"https://a.example.com/{{{{{path}}}}}", "method": "POST", "body": {"p": f"{{{{{path}}}}}"}},
            outputVariable=out,
            errorHandling="fail",
        ),
        PATHS,
        NAMES,
    ),
    st.builds(lambda ms: _step("wait-until", delayMs=ms), st.integers(0, 50)),
)


def _step(kind: str, **config: Any) -> dict[str, Any]:
    return {"type": kind, "name": kind, "config": config}


def _branched(children: Any) -> Any:
    return st.builds(
        lambda text, yes, no: _step("conditional", condition=text, trueSteps=yes, falseSteps=no),
        CONDITIONS,
        st.lists(children, max_size=2),
        st.lists(children, max_size=2),
    )


STEP = st.builds(
    lambda step, when, odd: {**step, **({"when": when} if when else {}), **({"colour": 1} if odd else {})},
    st.recursive(LEAVES, _branched, max_leaves=4),
    st.one_of(st.none(), CONDITIONS),
    st.booleans(),
)
FLOWS = st.lists(STEP, min_size=1, max_size=5).map(lambda steps: {"name": "try it", "steps": steps, "id": "flow_1"})


@settings(max_examples=25, deadline=None)
@given(FLOWS)
def test_a_flow_that_is_taken_over_comes_back_to_the_letter(flow: Any) -> None:
    made = back(copy.deepcopy(flow), origin=True)
    assert made.as_it_was
    assert made.flow == flow


@pytest.mark.parametrize("flow", [WHOLE, *({"name": "one", "steps": [step]} for step in STEPS)])
def test_the_examples_come_back_to_the_letter(flow: Any) -> None:
    made = back(flow, origin=True)
    assert made.as_it_was
    assert made.flow == flow


@settings(max_examples=25, deadline=None)
@given(FLOWS)
def test_without_its_origin_a_chain_becomes_a_flow_that_becomes_the_same_flow_again(flow: Any) -> None:
    first = back(flow, origin=False)
    if first.ok:
        again = back(first.flow, origin=False, name="try_it")
        assert again.ok, again.findings
        third = back(again.flow, origin=False, name="try_it")
        assert [_means(step) for step in third.flow["steps"]] == [_means(step) for step in again.flow["steps"]]  # type: ignore[index,call-overload]
    else:
        assert all(one.where and one.next_step for one in first.findings if one.weight == "refused")


def _means(step: Any) -> Any:
    return {key: value for key, value in step.items() if key != "id"}


PLAIN = st.lists(
    st.recursive(
        st.builds(lambda name, value: _step("set-variable", variableName=name, value=value), NAMES, VALUES),
        _branched,
        max_leaves=4,
    ),
    min_size=1,
    max_size=4,
)
INPUTS = st.fixed_dictionaries(
    {"a": st.one_of(st.none(), st.just("x"), st.integers(0, 2)), "b": st.booleans(), "total": st.integers(0, 5)}
    | {"user": st.just({"id": "u", "n": 1})}
)


def outcome(chain: Any, given: Any) -> Any:
    """The steps' values, as a chain of `set` steps comes to them, or what went wrong."""
    scope: dict[str, Any] = {"input": given}
    for step in chain["steps"]:
        try:
            runs = "when" not in step or Expression.parse(step["when"]).evaluate(scope)
            scope[step["id"]] = Template.parse(step["set"]).render(scope) if runs else None
        except Exception as problem:
            return type(problem).__name__
    return [scope[step["id"]] for step in chain["steps"] if not step["id"].startswith("conditional")]


@settings(max_examples=30, deadline=None)
@given(PLAIN, INPUTS)
def test_a_chain_does_the_same_after_a_way_through_a_flow(steps: Any, given: Any) -> None:
    found = read_flow({"name": "try it", "steps": steps})
    assert found.ok
    made = write_flow(found.name, found.chain, Around())
    plain = [step for step in made.flow["steps"] if step["type"] == "set-variable"]  # type: ignore[index,call-overload]
    if made.ok and len(plain) == len(found.chain["steps"]):
        again = read_flow(made.flow, name=found.name)
        assert outcome(again.chain, given) == outcome(found.chain, given)


def test_without_its_origin_each_step_still_has_its_type() -> None:
    made = back(WHOLE, origin=False)
    assert made.ok, made.findings
    kinds = {step["type"] for step in made.flow["steps"]}  # type: ignore[index,call-overload]
    assert kinds == set(TAKEN) - {"conditional"}
    post = next(step for step in made.flow["steps"] if step["type"] == "api-call")  # type: ignore[index,call-overload]
    assert post["config"]["http"]["url"] == "https://api.example.com/orders/{{order.id}}/notes?lang={{lang}}"
    assert post["config"]["http"]["headers"]["authorization"] == "Bearer {{secret:SHOP_KEY}}"


def test_a_changed_chain_comes_back_changed_and_says_so() -> None:
    found = read_flow(WHOLE)
    chain = copy.deepcopy(dict(found.chain))
    chain["steps"][0]["args"]["id"] = "${input.number}"
    made = write_flow(found.name, chain, Around(sources=found.sources, agents=found.agents), WHOLE)
    assert not made.as_it_was
    assert made.flow["steps"][0]["config"]["parameters"] == {"id": "{{number}}"}  # type: ignore[index,call-overload]
    assert "ORIGIN_OUTDATED" in {one.code for one in made.findings}


def test_a_changed_source_of_a_chain_counts_as_a_change() -> None:
    found = read_flow({"name": "one", "steps": [TRANSFORM]})
    sources: dict[str, Any] = copy.deepcopy(dict(found.sources))
    sources["one_total"]["script"]["code"] = "return 1;"
    made = write_flow(found.name, found.chain, Around(sources=sources), {"name": "one", "steps": [TRANSFORM]})
    assert not made.as_it_was
    assert made.flow["steps"][0]["config"]["script"] == "return 1;"  # type: ignore[index,call-overload]


CANNOT = [
    ({"id": "s", "when": "true", "stop": "no"}, "STOP_UNSUPPORTED"),
    ({"id": "s", "tool": "a.b", "args": {"x": "${input.y + 1}"}}, "EXPRESSION_UNSUPPORTED"),
    ({"id": "s", "set": "${sum(input.y)}"}, "EXPRESSION_UNSUPPORTED"),
    ({"id": "s", "set": 1, "when": "len([1 for x in input.y if x]) > 2"}, "CONDITION_UNSUPPORTED"),
    ({"id": "s", "set": "a {{b}}"}, "EXPRESSION_UNSUPPORTED"),
]


@pytest.mark.parametrize(("step", "code"), CANNOT)
def test_what_a_flow_cannot_say_is_said_and_the_export_is_not_whole(step: Any, code: str) -> None:
    made = write_flow("x", {"description": "d", "steps": [{"id": "a", "set": 1}, step]}, Around())
    assert not made.ok
    [finding] = [one for one in made.findings if one.weight == "refused"]
    assert (finding.code, finding.where.startswith("/steps/1")) == (code, True)
    assert finding.next_step


def test_a_computed_value_becomes_a_script() -> None:
    chain = {"description": "d", "steps": [{"id": "a", "set": "${'x' if input.n == 1 else input.m}"}]}
    made = write_flow("x", chain, Around())
    assert made.flow["steps"][0]["config"]["script"] == 'return (input.n === 1 ? "x" : input.m);'  # type: ignore[index,call-overload]


def test_what_a_step_has_that_a_flow_has_not_is_said() -> None:
    chain = {"description": "d", "steps": [{"id": "a", "tool": "m.t", "timeout": 3, "retries": 2}]}
    made = write_flow("x", chain, Around())
    assert [(one.where, one.weight.value) for one in made.findings] == [("/steps/0/timeout", "dropped")]
    assert made.flow["steps"][0]["config"]["errorHandling"]["fallbacks"] == [{"type": "retry"}] * 2  # type: ignore[index,call-overload]


SAID = [
    ("amount > 1000", {"amount": 2000}, True),
    ("amount > 1000", {}, False),
    ("amount < 1000", {}, False),
    ("{{user.name}} === 'Ann'", {"user": {"name": "Ann"}}, True),
    ("{{user.name}} === 'Ann'", {}, False),
    ("user.name !== undefined", {}, False),
    ("!done", {}, True),
    ("!done", {"done": 0}, True),
    ("!done", {"done": []}, False),
    ("tags.length > 1", {"tags": [1, 2]}, True),
    ("tags.length > 1", {}, False),
    ("tags", {"tags": {}}, True),
    ("a && b || c", {"c": 1}, True),
    ("a && (b || c)", {"c": 1}, False),
    ("'{{s}}' == \"it's\"", {"s": "it's"}, True),
    ("-1 < n", {"n": 0}, True),
    ("rows[0]['a b'] === 1", {"rows": [{"a b": 1}]}, True),
    ("input.x === true", {"x": True}, True),
    ("input.x === true", {"x": 1}, False),
    ("x !== false", {"x": 0}, True),
    ("x === 1", {"x": True}, False),
    ("0 !== x", {"x": False}, True),
    ("x === '3'", {"x": 3}, False),
    ("x == null", {}, True),
    ("null", {}, False),
    ("'0'", {}, True),
]


@pytest.mark.parametrize(("text", "given", "expected"), SAID)
def test_a_plain_condition_means_what_it_means_in_javascript(text: str, given: Any, expected: bool) -> None:
    def read(root: str, parts: Any) -> str:
        return f"default({write_path('input', (root, *parts))}, null)"

    said = condition(text, read)
    assert bool(Expression.parse(said).evaluate({"input": given})) is expected
    js = to_javascript(Expression.parse(said), lambda root, parts: ".".join(map(str, parts)))
    assert js is not None
    if "a b" not in text:
        assert condition(js, read) == said


@pytest.mark.parametrize(
    "text",
    ["a == 3", "a == '3'", "a == b", "a === b", "a > 'x'", "a != true", "1 < 2"]
    + [
        "a + 1 > 2",
        "a.includes('x')",
        "a ? b : c",
        "`x`",
        "a > 1 > 2",
        "(a",
        "",
        "typeof a",
        "a = 1",
        "{{a b}}",
        "a;b",
    ],
)
def test_more_than_a_plain_condition_is_left_to_the_sandbox(text: str) -> None:
    with pytest.raises(NotPlain):
        condition(text, lambda root, parts: root)
    if text:
        found = read_flow({"steps": [{**SET, "when": text}]})
        assert any("script" in table for table in found.sources.values())


def test_a_conditional_that_is_not_plain_is_computed_before() -> None:
    step = {**CONDITIONAL, "config": {**CONDITIONAL["config"], "condition": "{{order.name}}.startsWith('A') && n % 2"}}
    found = read_flow({"steps": [step]})
    first = next(iter(found.sources.values()))
    assert first["script"]["code"] == "const {n} = input; return Boolean(input.order.name.startsWith('A') && n % 2);"
    assert set(found.chain["steps"][0]["args"]) == {"n", "order"}
