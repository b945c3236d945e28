"""Flows become chains that do the same; what cannot be taken over is said by code and place, and nothing is then."""

import json
from typing import Any

import pytest
from runtype_flows import API_CALL, CONDITIONAL, EXECUTE, PROMPT, SET, STEPS, TOOL_CALL, TRANSFORM, WAIT, WHOLE

from pegboard.chain import Chain
from pegboard.config.runtype.finding import Weight
from pegboard.config.runtype.flow import FlowImport, read_flow
from pegboard.config.runtype.flowout import Around, write_flow
from pegboard.config.runtype.kinds import REFUSED, TAKEN
from pegboard.config.runtype.known import Tools
from pegboard.schema.template import Template

pytestmark = pytest.mark.requirement("R3.1")


def flow(*steps: Any, **more: Any) -> dict[str, Any]:
    return {"name": "try", "steps": list(steps), **more}


def codes(found: FlowImport, weight: Weight = Weight.REFUSED) -> dict[str, str]:
    return {one.where: one.code for one in found.findings if one.weight is weight}


@pytest.mark.parametrize("kind", TAKEN)
def test_each_type_of_step_that_is_taken_over_becomes_steps_of_a_chain(kind: str) -> None:
    [step] = [each for each in STEPS if each["type"] == kind]
    found = read_flow(flow(step))
    assert found.ok, found.findings
    assert Chain.read(found.name, found.chain).steps


def test_a_whole_flow_is_one_chain_with_its_own_sources_and_agents() -> None:
    found = read_flow(WHOLE)
    assert found.ok
    assert found.name == "check_an_order"
    assert {next(key for key in table if key in ("http", "script", "wait")) for table in found.sources.values()} == {
        "http",
        "script",
        "wait",
    }
    assert list(found.agents) == ["check_an_order_said"]
    assert found.chain["description"] == "Look at an order."


@pytest.mark.parametrize("kind", sorted(REFUSED))
def test_every_other_type_of_step_is_refused_by_its_name_with_what_stands_in_for_it(kind: str) -> None:
    found = read_flow(flow({"type": kind, "name": "x", "config": {}}))
    [finding] = [one for one in found.findings if one.weight is Weight.REFUSED]
    assert (finding.code, finding.where) == ("STEP_TYPE_UNSUPPORTED", "/steps/0/type")
    assert repr(kind) in finding.message
    assert finding.next_step


def test_a_type_that_is_misspelt_is_refused_with_the_nearest_one() -> None:
    found = read_flow(flow({"type": "tool_call", "name": "x"}))
    [finding] = found.findings
    assert finding.code == "STEP_TYPE_UNKNOWN"
    assert "tool-call" in str(finding.next_step)


BAD: list[tuple[Any, str, str]] = [
    ({}, "/steps", "FLOW_WITHOUT_STEPS"),
    ({"steps": []}, "/steps", "FLOW_WITHOUT_STEPS"),
    ({"steps": {"0": {}}}, "/steps", "FLOW_WITHOUT_STEPS"),
    ([], "/steps", "FLOW_WITHOUT_STEPS"),
    ("steps", "/steps", "FLOW_WITHOUT_STEPS"),
    (flow("prompt"), "/steps/0", "STEP_WITHOUT_TYPE"),
    (flow({"name": "x"}), "/steps/0", "STEP_WITHOUT_TYPE"),
    (flow({"type": 3}), "/steps/0", "STEP_WITHOUT_TYPE"),
    (flow({"type": "set-variable", "config": []}), "/steps/0/config", "WRONG_TYPE"),
    (flow({"type": "set-variable", "config": {}}), "/steps/0/config/variableName", "VARIABLE_MISSING"),
    (flow({"type": "set-variable", "config": {"variableName": 3}}), "/steps/0/config/variableName", "WRONG_TYPE"),
    (flow({"type": "transform-data", "config": {"script": 4}}), "/steps/0/config/script", "SCRIPT_MISSING"),
    (
        flow({"type": "transform-data", "config": {"script": "1", "language": "python"}}),
        "/steps/0/config/language",
        "LANGUAGE_UNSUPPORTED",
    ),
    (flow({"type": "conditional", "config": {}}), "/steps/0/config/condition", "CONDITION_MISSING"),
    (
        flow({"type": "conditional", "config": {"condition": "x", "trueSteps": {}}}),
        "/steps/0/config/trueSteps",
        "WRONG_TYPE",
    ),
    (flow({"type": "wait-until", "config": {}}), "/steps/0/config", "WAIT_FOR_NOTHING"),
    (flow({"type": "wait-until", "config": {"delayMs": "soon"}}), "/steps/0/config/delayMs", "WRONG_TYPE"),
    (flow({"type": "api-call", "config": {}}), "/steps/0/config/http/url", "REQUEST_WITHOUT_URL"),
    (flow({"type": "prompt", "config": {"model": "m"}}), "/steps/0/config/userPrompt", "PROMPT_MISSING"),
    (flow({"type": "prompt", "config": {"userPrompt": "x"}}), "/steps/0/config/model", "MODEL_MISSING"),
    (flow({**TOOL_CALL, "config": {}}), "/steps/0/config/toolId", "TOOL_CALL_STEP_UNKNOWN_CATALOG_TOOL"),
    (flow({**TOOL_CALL, "config": {"toolId": "tool_ab12cd34"}}), "/steps/0/config/toolId", "TOOL_ID_NOT_PORTABLE"),
    (flow({**TOOL_CALL, "when": 3}), "/steps/0/when", "WRONG_TYPE"),
    (
        flow({"type": "tool-call", "config": {"toolId": "tool:x", "errorHandling": "ignore"}}),
        "/steps/0/config/errorHandling",
        "ERROR_HANDLING",
    ),
    (
        flow({"type": "set-variable", "config": {"variableName": "x", "value": ["{{ a | upcase }}"]}}),
        "/steps/0/config/value/0",
        "TEMPLATE_UNSUPPORTED",
    ),
    (
        flow({"type": "set-variable", "config": {"variableName": "x", "value": "{{secret:KEY}}"}}),
        "/steps/0/config/value",
        "SECRET_OUT_OF_PLACE",
    ),
    (
        flow({"type": "set-variable", "config": {"variableName": "x", "value": "{{secrets:KEY}}"}}),
        "/steps/0/config/value",
        "SECRET_FORM",
    ),
    (flow(SET, outputVariable="_x"), "/outputVariable", "OUTPUT_VARIABLE"),
    (flow(SET, outputVariable="nobody"), "/outputVariable", "OUTPUT_VARIABLE"),
]


@pytest.mark.parametrize(("document", "where", "code"), BAD)
def test_what_cannot_be_meant_is_refused_where_it_stands(document: Any, where: str, code: str) -> None:
    found = read_flow(document)
    assert not found.ok
    assert codes(found)[where] == code


@pytest.mark.parametrize(
    "host",
    [
        *("localhost", "127.0.0.1", "10.1.2.3", "169.254.169.254", "[::1]", "2130706433", "0x7f.1", "intranet"),
        *("db.internal", "[::ffff:10.0.0.1]", "router.lan"),
    ],
)
def test_a_document_sends_no_request_to_a_private_address_unless_somebody_agrees(host: str) -> None:
    step = {"type": "api-call", "name": "x", "config": {"http": {"url": f"http://{host}/x"}}}
    assert codes(read_flow(flow(step))) == {"/steps/0/config/http/url": "PRIVATE_ADDRESS"}
    [table] = read_flow(flow(step), private=True).sources.values()
    assert table["allow_private"] is True


def test_a_public_name_that_leads_to_a_private_address_is_not_reached_either() -> None:
    [table] = read_flow(flow({**API_CALL, "when": None})).sources.values()
    assert table["public"] is True


def test_what_has_no_effect_is_said_and_never_passed_over() -> None:
    odd = {**SET, "colour": "red", "config": {**SET["config"], "streamOutput": True}}
    found = read_flow(flow(odd, folder="x"))
    assert found.ok
    assert set(codes(found, Weight.DROPPED)) == {"/folder", "/steps/0/colour", "/steps/0/config/streamOutput"}


def test_a_secret_in_plain_text_is_taken_over_nowhere() -> None:
    secret = "sk-live-3f9a8b7c6d5e4f3a2b1c"
    step = {
        "type": "api-call",
        "name": "x",
        "config": {"http": {"url": "https://a.example.com", "headers": {"Authorization": f"Bearer {secret}"}}},
    }
    found = read_flow(flow(step))
    assert codes(found, Weight.CHANGED) == {"/steps/0/config/http/headers/Authorization": "SECRET_INLINE"}
    assert secret not in json.dumps(
        [found.sources, found.chain, found.origin, [one.to_json() for one in found.findings]]
    )
    again = read_flow(found.origin)
    assert again.sources == found.sources


@pytest.mark.requirement("R10.4")
def test_a_tool_that_the_board_does_not_have_is_refused_with_the_nearest_names() -> None:
    known = Tools(known=["shop.get_orders", "shop.pay"])
    found = read_flow(flow(TOOL_CALL), tools=known)
    [finding] = [one for one in found.findings if one.weight is Weight.REFUSED]
    assert finding.code == "TOOL_CALL_STEP_UNKNOWN_CATALOG_TOOL"
    assert finding.where == "/steps/0/config/toolId"
    assert "shop.get_orders" in str(finding.next_step)
    assert "--map mcp:shop:get_order=TOOL" in str(finding.next_step)


@pytest.mark.parametrize(
    ("id", "known", "tool"),
    [
        ("mcp:shop:get_order", ["shop.get_order"], "shop.get_order"),
        ("tool:get_order", ["shop.get_order"], "shop.get_order"),
        ("get_order", ["shop.get_order"], "shop.get_order"),
        ("builtin:exa", ["exa"], "exa"),
        ("tool_ab12cd34", ["shop.get_order"], "shop.get_order"),
    ],
)
def test_an_id_means_the_tool_that_has_its_name_or_that_somebody_says(id: str, known: list[str], tool: str) -> None:
    step = {**TOOL_CALL, "config": {"toolId": id}}
    found = read_flow(flow(step), tools=Tools(known=known, renamed={"tool_ab12cd34": "shop.get_order"}))
    assert found.chain["steps"][0]["tool"] == tool


def test_a_variable_that_both_branches_assign_is_read_through_a_choice() -> None:
    found = read_flow(flow(CONDITIONAL, {"type": "set-variable", "config": {"variableName": "y", "value": "{{size}}"}}))
    steps = found.chain["steps"]

    def value(**given: Any) -> Any:
        scope: dict[str, Any] = {"input": given}
        for step in steps:
            runs = "when" not in step or Template.parse(f"${{{step['when']}}}").render(scope)
            scope[step["id"]] = Template.parse(step["set"]).render(scope) if runs else None
        return scope["y"]

    assert value(total=50, order={"paid": False}) == "small"
    assert value(total=500, order={"paid": False}) == "big"
    assert value(total=5000, order={"paid": False}) == "huge"
    assert value(total=5000, order={"paid": True}) == "small"
    assert value(total=5000) == "huge"


def test_a_step_of_its_own_condition_leaves_the_variable_as_it_was() -> None:
    rows = [
        {"type": "set-variable", "config": {"variableName": "x", "value": "first"}},
        {"type": "set-variable", "when": "{{again}}", "config": {"variableName": "x", "value": "second"}},
        {"type": "set-variable", "config": {"variableName": "y", "value": "{{x}}"}},
    ]
    steps = read_flow(flow(*rows)).chain["steps"]
    for again, expected in ((True, "second"), (False, "first")):
        scope: dict[str, Any] = {"input": {"again": again}}
        for step in steps:
            runs = "when" not in step or Template.parse(f"${{{step['when']}}}").render(scope)
            scope[step["id"]] = Template.parse(step["set"]).render(scope) if runs else None
        assert scope[steps[-1]["id"]] == expected


def test_a_failed_request_that_feeds_a_script_is_warned_of() -> None:
    fetch: dict[str, Any] = {
        "type": "api-call",
        "name": "f",
        "config": {"http": {"url": "https://a.example.com"}, "outputVariable": "d"},
    }
    script = {"type": "transform-data", "name": "s", "config": {"script": "return input.d.length;"}}
    found = read_flow(flow(fetch, script))
    assert codes(found, Weight.WARNING) == {"/steps/0/config": "FETCH_CLASS_SWALLOWING_FEED"}
    sure = {**fetch, "config": {**fetch["config"], "errorHandling": "fail"}}
    assert not codes(read_flow(flow(sure, script)), Weight.WARNING)


@pytest.mark.parametrize(
    ("handling", "step"),
    [
        ({}, {"on_error": "continue"}),
        ({"errorHandling": "fail"}, {}),
        ({"errorHandling": "continue", "defaultValue": [1]}, {"default": [1]}),
        ({"errorHandling": "retry"}, {"on_error": "retry", "retries": 2}),
        (
            {"errorHandling": {"onError": "fail", "fallbacks": [{"type": "retry"}, {"type": "retry"}]}},
            {"retries": 2},
        ),
    ],
)
def test_what_a_failure_does_is_taken_over(handling: dict[str, Any], step: dict[str, Any]) -> None:
    call = {**TOOL_CALL, "config": {**TOOL_CALL["config"], **handling}}
    [made] = read_flow(flow(call)).chain["steps"]
    assert {key: made[key] for key in made if key not in ("id", "tool", "args")} == step


def test_conditionals_stand_ten_deep_and_no_deeper() -> None:
    def nested(depth: int) -> dict[str, Any]:
        inner: list[Any] = [nested(depth - 1)] if depth > 1 else [SET]
        return {"type": "conditional", "name": f"c{depth}", "config": {"condition": "x", "trueSteps": inner}}

    assert read_flow(flow(nested(10))).ok
    assert set(codes(read_flow(flow(nested(11)))).values()) == {"CONDITIONAL_TOO_DEEP"}


def test_steps_with_odd_names_and_the_same_ones_twice_become_steps_of_their_own() -> None:
    names = ["注文", "for", "None", "input", "a b", "a-b", "1st", "", "__proto__", "é" * 200, "x", "x"]
    rows = [
        {"type": "set-variable", "id": "same", "name": n, "config": {"variableName": f"{n}!", "value": 1}}
        for n in names
    ]
    found = read_flow(flow(*rows))
    assert found.ok, found.findings
    ids = [step["id"] for step in found.chain["steps"]]
    assert len(set(ids)) == len(names)
    assert Chain.read("x", found.chain)


def test_a_large_flow_is_read() -> None:
    rows = [
        {"type": "set-variable", "config": {"variableName": f"v{n}", "value": f"{{{{v{n - 1}}}}}"}}
        for n in range(1, 2000)
    ]
    assert len(read_flow(flow(*rows)).chain["steps"]) == 1999


def test_a_disabled_step_never_runs() -> None:
    [step] = read_flow(flow({**SET, "enabled": False})).chain["steps"]
    assert step["when"] == "false"


@pytest.mark.parametrize("step", [PROMPT, EXECUTE, WAIT, TRANSFORM], ids=lambda step: str(step["type"]))
def test_a_dispatch_request_is_read_as_the_flow_that_it_holds(step: dict[str, Any]) -> None:
    inside = read_flow({"flow": flow(step), "options": {"streamResponse": True}})
    assert inside.chain == read_flow(flow(step)).chain


def call(**config: Any) -> Any:
    """The source of an api-call."""
    step = {"type": "api-call", "name": "c", "config": {"http": {"url": "https://a.example.com/x"}, **config}}
    found = read_flow(flow(step))
    assert found.ok, found.findings
    return found


@pytest.mark.parametrize(
    ("auth", "ours"),
    [
        ({"type": "none"}, None),
        ({"type": "bearer", "token": "{{secret:KEY}}"}, "${env:KEY}"),
        (
            {"type": "basic", "username": "ann", "password": "{{secret:KEY}}"},
            {"username": "ann", "password": "${env:KEY}"},
        ),
        (
            {"type": "api_key", "headerName": "x-key", "token": "{{secret:KEY}}"},
            {"header": "x-key", "value": "${env:KEY}"},
        ),
    ],
)
def test_credentials_become_references(auth: Any, ours: Any) -> None:
    found = call(auth=auth)
    [table] = found.sources.values()
    assert table.get("auth") == ours
    again = write_flow(found.name, found.chain, Around(sources=found.sources))
    assert again.ok
    assert read_flow(again.flow, name=found.name).sources == found.sources


@pytest.mark.parametrize("auth", [{"type": "oauth"}, {"type": "bearer"}])
def test_credentials_that_cannot_be_had_are_refused(auth: Any) -> None:
    step = {"type": "api-call", "name": "c", "config": {"http": {"url": "https://a.example.com"}, "auth": auth}}
    assert not read_flow(flow(step)).ok


def test_a_template_of_the_request_is_its_body_and_a_mapping_of_the_answer_a_step_behind_it() -> None:
    found = call(
        requestTemplate={"q": "{{q}}"}, responseMapping={"id": "$.data.id", "first": "rows[0]"}, outputVariable="got"
    )
    [table] = found.sources.values()
    assert table["http"]["body"] == {"q": "{{q}}"}
    asked, mapped = found.chain["steps"]
    assert mapped["id"] == "got"
    answer = {"data": {"id": 7}}
    assert Template.parse(mapped["set"]).render({asked["id"]: answer}) == {"id": 7, "first": None}


@pytest.mark.parametrize(
    ("success", "until"),
    [
        ("status === 200", "status == 200"),
        ("response.body.state === 'done'", 'default(body.state, null) == "done"'),
        ("state === 'done'", 'default(body.state, null) == "done"'),
        ({"state": "done", "n": 3}, 'default(body.state, null) == "done" and default(body.n, null) == 3'),
    ],
)
def test_what_a_poll_waits_for_is_a_condition_over_the_answer(success: Any, until: str) -> None:
    poll = {"http": {"url": "https://a.example.com/{{id}}"}, "success": success}
    found = read_flow(flow({"type": "wait-until", "name": "w", "config": {"poll": poll}}))
    assert found.ok, found.findings
    [table] = found.sources.values()
    assert table["wait"]["until"] == until


def test_a_poll_that_needs_more_than_a_condition_is_refused() -> None:
    poll = {"http": {"url": "https://a.example.com"}, "success": "body.items.some(x => x.ok)"}
    found = read_flow(flow({"type": "wait-until", "name": "w", "config": {"poll": poll}}))
    assert codes(found) == {"/steps/0/config/poll/success": "POLL_CONDITION"}


def test_an_agent_that_the_config_does_not_have_is_refused_with_the_nearest_one() -> None:
    found = read_flow(flow(EXECUTE), tools=Tools(agents=["clark", "boss"]))
    [finding] = [one for one in found.findings if one.weight is Weight.REFUSED]
    assert (finding.code, finding.where) == ("AGENT_UNKNOWN", "/steps/0/config/agentId")
    assert "clark" in str(finding.next_step)


def test_an_agent_of_a_step_must_be_a_tool_and_that_is_said() -> None:
    found = read_flow(flow(EXECUTE), tools=Tools(agents=["clerk"]))
    assert found.ok
    [finding] = found.findings
    assert "offer = true in [agent.clerk]" in str(finding.next_step)
    assert found.chain["steps"][0]["tool"] == "agents.clerk"


def test_instructions_with_templates_go_in_front_of_the_task() -> None:
    config = {"model": "gpt-4o", "systemPrompt": "You help {{user}}.", "userPrompt": "Go."}
    found = read_flow(flow({"type": "prompt", "name": "p", "config": config}))
    assert found.chain["steps"][0]["args"]["task"] == "You help ${input.user}.\n\nGo."
    assert "INSTRUCTIONS_WITH_TEMPLATES" in codes(found, Weight.CHANGED).values()


@pytest.mark.parametrize(
    ("model", "ours"),
    [("gpt-4o", "openai:gpt-4o"), ("claude-x", "anthropic:claude-x"), ("a:b", "a:b"), ("nobodys", "nobodys")],
)
def test_a_model_is_named_with_its_provider_where_that_is_known(model: str, ours: str) -> None:
    found = read_flow(flow({"type": "prompt", "name": "p", "config": {"model": model, "userPrompt": "x"}}))
    [agent] = found.agents.values()
    assert agent["model"] == ours
    assert ("MODEL_UNMAPPED" in codes(found, Weight.CHANGED).values()) is (model == "nobodys")


def test_what_a_prompt_step_needs_of_the_board_is_refused() -> None:
    config = {
        "model": "gpt-4o",
        "userPrompt": "x",
        "tools": {"mcpServers": [{"id": "a", "url": "https://a.example.com"}]},
    }
    found = read_flow(flow({"type": "prompt", "name": "p", "config": config}))
    assert codes(found) == {"/steps/0/config/tools": "STEP_TOOLS_UNSUPPORTED"}


def test_steps_are_read_in_their_order_where_all_have_one() -> None:
    rows = [{**SET, "name": f"n{n}", "order": n, "config": {"variableName": f"v{n}", "value": n}} for n in (3, 1, 2)]
    assert [step["id"] for step in read_flow(flow(*rows)).chain["steps"]] == ["v1", "v2", "v3"]


def test_deep_branches_of_one_variable_are_read_without_growing() -> None:
    def nested(depth: int) -> dict[str, Any]:
        leaf = {**SET, "config": {"variableName": "v", "value": 1}}
        inner = [nested(depth - 1), nested(depth - 1)] if depth else [leaf]
        branches = {"trueSteps": inner, "falseSteps": [nested(depth - 1)] if depth else []}
        return {"type": "conditional", "name": "c", "config": {"condition": "x", **branches}}

    reads = {"type": "set-variable", "name": "o", "config": {"variableName": "o", "value": "{{v}}"}}
    found = read_flow(flow(nested(4), reads))
    assert found.ok
    assert max(len(str(step.get("set", ""))) for step in found.chain["steps"]) < 400


@pytest.mark.parametrize(
    "text", ["(" * 5000 + "a" + ")" * 5000, "!" * 5000 + "a", " && ".join(["a"] * 3000), "a" + "[0]" * 3000]
)
def test_a_condition_of_any_length_is_read(text: str) -> None:
    assert read_flow(flow({**SET, "when": text})).ok
