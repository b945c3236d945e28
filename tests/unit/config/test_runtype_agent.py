"""Agents of Runtype are taken over with their `config.tools`, and come back; what cannot be is said by its code."""

import copy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pegboard.agent.definition import Definition
from pegboard.config.load import parse
from pegboard.config.runtype.agent import AgentImport, read_agent
from pegboard.config.runtype.agentout import write_agent
from pegboard.config.runtype.finding import Weight
from pegboard.config.runtype.known import Tools
from pegboard.config.runtype.runtimetools import normal_name

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
EXTERNAL: dict[str, Any] = {
    "name": "get_weather",
    "description": "Weather of a city.",
    "toolType": "external",
    "parametersSchema": SCHEMA,
    "config": {
        "url": "https://api.example.com/weather/{{city}}",
        "method": "GET",
        "headers": {"x-api-key": "{{secret:WEATHER_KEY}}"},
        "timeout": 5000,
    },
    "idempotent": True,
}
CUSTOM: dict[str, Any] = {
    "name": "shout",
    "description": "Shout a city.",
    "toolType": "custom",
    "parametersSchema": SCHEMA,
    "config": {"code": "return input.city.toUpperCase();", "timeout": 2000},
}
SUBAGENT: dict[str, Any] = {
    "name": "researcher",
    "description": "Finds things out.",
    "toolType": "subagent",
    "parametersSchema": {"type": "object", "properties": {"task": {"type": "string"}}, "required": ["task"]},
    "config": {
        "agent": {"model": "claude-haiku-4-5", "systemPrompt": "Dig."},
        "allowedTools": ["mcp:docs:*"],
        "maxTurns": 4,
        "timeoutMs": 90000,
    },
}
FLOW: dict[str, Any] = {
    "name": "check_order",
    "description": "Check an order.",
    "toolType": "flow",
    "parametersSchema": {"type": "object", "properties": {}},
    "config": {"flowId": "flow:check_order"},
}
TOOLS: dict[str, Any] = {
    "toolIds": ["builtin:exa", "tool:send_mail", "mcp:github:create_issue"],
    "runtimeTools": [EXTERNAL, CUSTOM, SUBAGENT, FLOW],
    "mcpServers": [
        {
            "id": "docs",
            "url": "https://mcp.example.com/docs",
            "transport": "streamable_http",
            "auth": {"type": "bearer", "token": "{{secret:DOCS_TOKEN}}"},
            "allowedTools": ["search", "read"],
            "timeout": 20000,
        },
        {"id": "old", "url": "https://mcp.example.com/old", "enabled": False},
    ],
    "maxToolCalls": 25,
    "toolCallStrategy": "auto",
    "approval": {"require": ["delete_files", "mcp:*"], "timeout": 300000, "requestReason": True},
    "codeModeConfig": {"toolPool": ["mcp:github:create_issue", "mcp:*"], "description": "Loop.", "timeoutMs": 30000},
    "subagentConfig": {"toolPool": ["mcp:docs:*"], "maxTurnsLimit": 6, "maxSpawnsPerRun": 2, "allowNesting": False},
    "toolSearch": {"enabled": False, "threshold": 30, "alwaysLoaded": ["tool:send_mail"]},
    "perToolLimits": {"tool:send_mail": {"maxCalls": 3}},
}
AGENT: dict[str, Any] = {
    "name": "Clerk",
    "description": "Keeps things in order.",
    "config": {
        "model": "gpt-4o",
        "systemPrompt": "Be brief. {{name}} is the user.",
        "temperature": 0.2,
        "loopConfig": {"maxTurns": 12, "maxCost": 1.5, "enableReflection": True},
        "tools": TOOLS,
    },
}


def agent(**tools: Any) -> dict[str, Any]:
    return {"name": "try", "config": {"model": "gpt-4o", "tools": tools}}


def external(changed: dict[str, Any]) -> dict[str, Any]:
    return agent(runtimeTools=[{**EXTERNAL, **changed}])


def custom(changed: dict[str, Any]) -> dict[str, Any]:
    return agent(runtimeTools=[{**CUSTOM, **changed}])


def codes(found: AgentImport, weight: Weight = Weight.REFUSED) -> dict[str, str]:
    return {one.where: one.code for one in found.findings if one.weight is weight}


def tables_of(found: AgentImport) -> dict[str, Any]:
    """What the config's file holds after it was taken over."""
    chains = {"check_order": {"description": "Check an order.", "steps": [{"id": "a", "set": 1}]}}
    agents = {found.name: dict(found.agent), **found.agents}
    return {"agent": agents, "sources": dict(found.sources), "chain": chains, **copy.deepcopy(dict(found.board))}


def test_an_agent_is_taken_over_with_everything_that_it_may() -> None:
    found = read_agent(AGENT)
    assert found.ok, found.findings
    assert found.agent["tools"] == [
        "exa",
        "send_mail",
        "github.create_issue",
        "clerk.get_weather",
        "clerk.shout",
        "agents.clerk_researcher",
        "check_order",
        "docs.*",
        "old.*",
        "run_code",
    ]
    assert (found.agent["max_tool_calls"], found.agent["max_turns"], found.agent["max_cost"]) == (25, 12, 1.5)
    assert found.agent["subagents"] == {"tools": ["docs.*"], "max_spawns": 2, "max_turns": 6, "nesting": False}
    assert found.agents["clerk_researcher"]["model"] == "anthropic:claude-haiku-4-5"
    assert found.sources["docs"] == {
        "mcp": "https://mcp.example.com/docs",
        "headers": {"Authorization": "Bearer ${env:DOCS_TOKEN}"},
        "allow": ["docs.search", "docs.read"],
        "call_timeout": 20.0,
    }
    assert found.sources["old"]["disabled"] is True


@pytest.mark.requirement("R1.4")
def test_tool_search_that_is_switched_off_sends_every_tool_here_as_well() -> None:
    found = read_agent(agent(toolSearch={"enabled": False, "threshold": 30}))
    config = parse(tables_of(found), folder=Path())
    assert Definition.of("try", config.tables["agent"]).search == "off"
    assert config.board.max_direct == 50
    assert found.board["board"] == {"threshold": 30}
    assert "BOARD_WIDE" in codes(found, Weight.CHANGED).values()
    assert read_agent(agent(toolSearch={"enabled": True})).agent["search"] == "auto"


@pytest.mark.requirement("R8.1")
@pytest.mark.parametrize(
    ("require", "ours"),
    [
        (True, ["*"]),
        (["delete_files"], ["delete_files"]),
        (["mcp:*", "tool:delete_files"], ["mcp:*", "delete_files"]),
        (["mcp:github:delete_repo"], ["github.delete_repo"]),
    ],
)
def test_what_waits_for_a_yes_there_waits_here(require: Any, ours: list[str]) -> None:
    found = read_agent(agent(approval={"require": require, "timeout": 60000}))
    assert found.board["approval"] == {"require": ours, "timeout": 60}
    assert codes(found, Weight.CHANGED)["/config/tools/approval"] in ("BOARD_WIDE", "APPROVAL_STRICTER")
    parse(tables_of(found), folder=Path())


def test_what_was_taken_over_is_a_config_that_can_be_read() -> None:
    found = read_agent(AGENT)
    config = parse(tables_of(found), folder=Path())
    clerk = Definition.of("clerk", config.tables["agent"])
    assert clerk.max_tool_calls == 25
    assert clerk.subagents is not None
    assert config.tables["codemode"]["timeout_ms"] == 30000
    assert config.tables["budget"]["limits"]


def test_what_has_no_effect_here_is_said() -> None:
    dropped = set(codes(read_agent(AGENT), Weight.DROPPED))
    assert dropped == {
        "/config/temperature",
        "/config/loopConfig/enableReflection",
        "/config/tools/approval/requestReason",
    }


REFUSED: list[tuple[Any, str, str]] = [
    (external({"name": "runtype_set_state"}), "0/name", "RESERVED_TOOL_NAME"),
    (external({"name": "Tool Search!"}), "0/name", "RESERVED_TOOL_NAME"),
    (agent(runtimeTools=[EXTERNAL, {**CUSTOM, "name": "Get-Weather"}]), "1/name", "TOOL_NAME_AMBIGUOUS"),
    (agent(runtimeTools={}), "", "RUNTIME_TOOLS_INVALID"),
    (agent(runtimeTools=["x"]), "0", "RUNTIME_TOOLS_INVALID"),
    (external({"name": 3}), "0/name", "RUNTIME_TOOLS_INVALID"),
    (external({"name": "é"}), "0/name", "RUNTIME_TOOLS_INVALID"),
    (external({"name": "n" * 101}), "0/name", "RUNTIME_TOOLS_INVALID"),
    (external({"description": ""}), "0/description", "RUNTIME_TOOLS_INVALID"),
    (external({"description": "d" * 501}), "0/description", "RUNTIME_TOOLS_INVALID"),
    (external({"config": None}), "0/config", "RUNTIME_TOOLS_INVALID"),
    (external({"parametersSchema": {"type": "array"}}), "0/parametersSchema", "RUNTIME_TOOLS_INVALID"),
    (custom({"config": {"code": "1", "timeout": 30001}}), "0/config/timeout", "RUNTIME_TOOLS_INVALID"),
    (custom({"toolType": "magic"}), "0/toolType", "RUNTIME_TOOLS_INVALID"),
    (custom({"hiddenParameterNames": ["_internal_x"]}), "0/hiddenParameterNames", "RUNTIME_TOOLS_INVALID"),
    (custom({"hiddenParameterNames": ["_tenant"]}), "0/hiddenParameterNames", "HIDDEN_PARAMETERS"),
    (custom({"toolType": "local"}), "0/toolType", "RUNTIME_TOOL_TYPE_UNSUPPORTED"),
    (custom({"config": {"code": "1", "networkAccess": {}, "secrets": ["a"]}}), "0/config", "CODE_REACHES_OUT"),
    (custom({"config": {"code": "1", "language": "python"}}), "0/config/language", "LANGUAGE_UNSUPPORTED"),
    (external({"config": {"url": "http://10.0.0.1/{{city}}"}}), "0/config/url", "PRIVATE_ADDRESS"),
    (external({"config": {"url": "https://{{city}}.example.com"}}), "0/config/url", "HOST_NOT_FIXED"),
    (external({"config": {"url": "https://a.example.com/{{town}}"}}), "0/config", "TEMPLATE_UNSUPPORTED"),
    (agent(runtimeTools=[{**FLOW, "config": {"flowId": "flow_ab12cd34"}}]), "0/config/flowId", "TOOL_ID_NOT_PORTABLE"),
]


@pytest.mark.parametrize(("document", "where", "code"), REFUSED)
def test_a_tool_that_runtype_would_not_save_is_refused_by_the_same_code(document: Any, where: str, code: str) -> None:
    found = read_agent(document)
    assert not found.ok
    place = "/config/tools/runtimeTools" + (f"/{where}" if where else "")
    assert codes(found)[place] == code


def test_there_are_at_most_fifty_runtime_tools() -> None:
    rows = [{**CUSTOM, "name": f"t{number}"} for number in range(51)]
    assert read_agent(agent(runtimeTools=rows[:50])).ok
    assert codes(read_agent(agent(runtimeTools=rows))) == {"/config/tools/runtimeTools": "RUNTIME_TOOLS_INVALID"}


WITH_JSON = {"type": "object", "properties": {"q": {"type": "string", "description": "A JSON string."}}}
WARNED: list[tuple[Any, str]] = [
    (
        agent(runtimeTools=[{**EXTERNAL, "parametersSchema": {**SCHEMA, "required": []}}]),
        "OPTIONAL_PARAM_IN_TOOL_TEMPLATE",
    ),
    (agent(toolIds=["a"], toolCallStrategy="none"), "TOOL_STRATEGY_NONE_WITH_TOOLS"),
    (agent(toolIds=["a"], toolCallStrategy="required"), "TOOL_STRATEGY_REQUIRED_MULTISTEP"),
    (agent(toolIds=["builtin:openai_web_search", "builtin:anthropic_web_search"]), "PROVIDER_TOOLS_MIXED_OWNERS"),
    (custom({"parametersSchema": WITH_JSON}), "TOOL_PARAM_EMBEDDED_JSON_STRING"),
]


@pytest.mark.parametrize(("document", "code"), WARNED)
def test_what_is_likely_wrong_is_said_by_runtypes_own_code(document: Any, code: str) -> None:
    found = read_agent(document)
    assert found.ok
    assert code in {one.code for one in found.findings}


SERVER = {"id": "x", "url": "https://a.example.com"}
ODD: list[tuple[Any, str]] = [
    ({}, "/config"),
    ([], "/config"),
    ({"name": "x", "config": {}}, "/config"),
    ({"name": "x", "config": {"tools": {}}}, "/config/model"),
    ({"name": "x", "config": {"model": "m", "tools": []}}, "/config/tools"),
    (agent(toolIds="a"), "/config/tools/toolIds"),
    (agent(toolIds=[3]), "/config/tools/toolIds/0"),
    (agent(toolIds=["tool_ab12cd34"]), "/config/tools/toolIds/0"),
    (agent(maxToolCalls=0), "/config/tools/maxToolCalls"),
    (agent(maxToolCalls="many"), "/config/tools/maxToolCalls"),
    (agent(mcpServers={}), "/config/tools/mcpServers"),
    (agent(mcpServers=[{"id": "x"}]), "/config/tools/mcpServers/0"),
    (agent(mcpServers=[{"id": "x", "url": "http://localhost:3"}]), "/config/tools/mcpServers/0/url"),
    (agent(mcpServers=[{**SERVER, "transport": "rest"}]), "/config/tools/mcpServers/0/transport"),
    (agent(mcpServers=[SERVER] * 2), "/config/tools/mcpServers/1/id"),
    (agent(codeModeConfig={"toolPool": []}), "/config/tools/codeModeConfig/toolPool"),
    (agent(approval={"require": "all"}), "/config/tools/approval/require"),
    (agent(toolCallStrategy="maybe"), "/config/tools/toolCallStrategy"),
]


@pytest.mark.parametrize(("document", "where"), ODD)
def test_what_cannot_be_meant_is_refused_where_it_stands(document: Any, where: str) -> None:
    found = read_agent(document)
    assert not found.ok
    assert where in codes(found)


def test_an_id_of_one_account_is_taken_for_what_somebody_says() -> None:
    document = agent(toolIds=["tool_ab12cd34"], approval={"require": ["tool_ab12cd34"]})
    found = read_agent(document, tools=Tools(renamed={"tool_ab12cd34": "crm.find"}))
    assert found.ok
    assert found.agent["tools"] == ["crm.find"]
    made = write_agent(found.name, tables_of(found), document)
    assert (made.as_it_was, made.agent) == (True, document)


def test_a_secret_in_plain_text_is_taken_over_nowhere() -> None:
    secret = "sk-live-3f9a8b7c6d5e4f3a2b1c"
    server = {"id": "x", "url": "https://a.example.com", "auth": {"type": "bearer", "token": secret}}
    headers = {"id": "y", "url": "https://a.example.com", "auth": {"type": "headers", "headers": {"x-key": secret}}}
    found = read_agent(agent(mcpServers=[server, headers]))
    assert found.ok
    assert secret not in repr(found)
    assert found.sources["x"]["headers"] == {"Authorization": "Bearer ${env:X_TOKEN}"}


def test_an_agent_comes_back_to_the_letter_while_nothing_is_changed() -> None:
    found = read_agent(AGENT)
    tables = tables_of(found)
    made = write_agent(found.name, tables, AGENT)
    assert (made.as_it_was, made.agent) == (True, AGENT)
    tables["agent"]["clerk"]["max_tool_calls"] = 7
    changed = write_agent(found.name, tables, AGENT)
    assert not changed.as_it_was
    assert changed.agent["config"]["tools"]["maxToolCalls"] == 7  # type: ignore[index,call-overload]


def kept(found: AgentImport) -> Any:
    return dict(found.agent), dict(found.sources), dict(found.agents), {k: dict(v) for k, v in found.board.items()}


def test_without_its_origin_an_agent_becomes_one_that_means_the_same() -> None:
    found = read_agent(AGENT)
    made = write_agent(found.name, tables_of(found))
    assert made.ok, made.findings
    again = read_agent(made.agent, name=found.name)
    first, second = kept(found), kept(again)
    assert set(first[0].pop("tools")) == set(second[0].pop("tools"))
    assert first == second


IDS = st.sampled_from(["builtin:exa", "tool:find", "mcp:crm:get", "mcp:*", "mcp:crm:*"])
OWN = [EXTERNAL, CUSTOM, SUBAGENT]
NINE, TWICE = st.just(9000), st.just({"maxCalls": 2})
POOL = st.lists(IDS, min_size=1, max_size=3, unique=True)
ANY_TOOLS = st.fixed_dictionaries(
    {},
    optional={
        "toolIds": st.lists(IDS, max_size=4, unique=True),
        "runtimeTools": st.lists(st.sampled_from(OWN), max_size=3, unique_by=lambda row: str(row["name"])),
        "mcpServers": st.sampled_from([[], TOOLS["mcpServers"], TOOLS["mcpServers"][:1]]),
        "maxToolCalls": st.integers(1, 500),
        "approval": st.fixed_dictionaries({"require": st.one_of(st.just(True), POOL)}, optional={"timeout": NINE}),
        "codeModeConfig": st.fixed_dictionaries({"toolPool": POOL}, optional={"timeoutMs": st.integers(10, 99999)}),
        "subagentConfig": st.fixed_dictionaries(
            {"toolPool": POOL},
            optional={
                "maxTurnsLimit": st.integers(1, 9),
                "maxSpawnsPerRun": st.integers(1, 9),
                "allowNesting": st.booleans(),
                "defaultTimeoutMs": st.sampled_from([1000, 2500]),
            },
        ),
        "toolSearch": st.fixed_dictionaries({}, optional={"enabled": st.booleans(), "threshold": st.integers(1, 99)}),
        "perToolLimits": st.dictionaries(st.sampled_from(["tool:find", "mcp:crm:get"]), TWICE, max_size=2),
        "parallelCalls": st.booleans(),
    },
)


@settings(max_examples=40, deadline=None)
@given(ANY_TOOLS)
def test_any_config_tools_comes_back(tools: Any) -> None:
    document = agent(**tools)
    found = read_agent(document)
    assert found.ok, found.findings
    tables = tables_of(found)
    parse(copy.deepcopy(tables), folder=Path())
    assert write_agent(found.name, tables, document).agent == document
    made = write_agent(found.name, tables)
    assert made.ok, made.findings
    first, second = kept(found), kept(read_agent(made.agent, name=found.name))
    assert set(first[0].pop("tools")) == set(second[0].pop("tools"))
    assert first == second


def test_what_cannot_be_said_there_is_refused() -> None:
    tables = {"agent": {"a": {"model": "openai:gpt-5", "tools": ["effects:read_only", "!x.*", "crm.get"]}}}
    made = write_agent("a", tables)
    assert [one.where for one in made.findings if one.weight is Weight.REFUSED] == [
        "/agent/a/tools/0",
        "/agent/a/tools/1",
    ]
    every = write_agent("a", {"agent": {"a": {"model": "openai:gpt-5"}}})
    assert [one.code for one in every.findings] == ["ALL_TOOLS"]


def test_rules_of_the_board_that_runtype_does_not_have_are_said() -> None:
    tables = {
        "agent": {"a": {"model": "m", "tools": ["crm.get"], "base_url": "http://127.0.0.1:1/v1"}},
        "approval": {"deny": ["crm.drop"]},
        "sources": {"crm": {"mcp": ["crm-server"]}},
    }
    said = {one.where: one.code for one in write_agent("a", tables).findings}
    assert said == {"/agent/a/base_url": "KEY_WITHOUT_EFFECT", "/approval/deny": "BOARD_WIDE"}


@pytest.mark.parametrize(
    ("name", "normal"),
    [("Get Weather!", "get_weather"), ("2nd", "tool_2nd"), ("a--b__c", "a_b_c"), ("_x_", "x"), ("é", "")],
)
def test_names_are_normalised_as_there(name: str, normal: str) -> None:
    assert normal_name(name) == normal
