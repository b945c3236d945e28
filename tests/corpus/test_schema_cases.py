"""Failures that people reported, on schemas, names and texts: each comes out right."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from tests.checkers import anthropic, gemini, openai

from pegboard.catalog import AliasTable
from pegboard.core import SourceRef, ToolName, ToolSpec
from pegboard.normalise import normalise
from pegboard.schema.lower import lower
from pegboard.schema.raise_ import raise_arguments
from pegboard.schema.repair.intake import utf8
from pegboard.schema.validate import validator
from pegboard.surface.definition import Definition, define_all
from pegboard.surface.describing import Cap

CASES = {case["id"]: case for case in map(json.loads, (Path(__file__).parent / "cases/schema-cases.jsonl").open())}
S = {"type": "string"}


def dialects(case: dict[str, Any]) -> list[str]:
    given = case["input"]
    strict = given.get("strict", False)
    named = [target for target in given.get("targets", [given.get("target", "openai-chat")])]
    plain = [name.replace(" strict", "-strict").replace("gemini parameters", "gemini").split(" ")[0] for name in named]
    return [f"{name}-strict" if strict else name for name in plain]


def specs(case: dict[str, Any]) -> list[ToolSpec]:
    given = case["input"]
    rows = given.get("tools", [given.get("tool")])
    found = [normalise(row, namespace="", source=SourceRef("", "file"), trusted=False).spec for row in rows]
    return [spec for spec in found if spec is not None]


def defined(case: dict[str, Any], dialect: str, **more: Any) -> list[Definition]:
    """The tools of a case in a dialect; every definition that goes out is one that its provider takes."""
    found = define_all(specs(case), dialect, **more)
    for one in found:
        if one.tool is not None:
            assert faults_of(dialect, one.tool) == []
    return found


def faults_of(dialect: str, tool: dict[str, Any]) -> list[str]:
    if dialect.startswith("openai"):
        return openai.tool_faults(tool, chat="chat" in dialect)
    if dialect.startswith("anthropic") or dialect == "bedrock":
        return anthropic.tool_faults(tool)
    if dialect.startswith("gemini"):
        return gemini.tool_faults(tool)
    Draft202012Validator.check_schema(tool["inputSchema"])
    return [] if tool["inputSchema"].get("type") == "object" else ["no object"]


def parameters(one: Definition) -> Any:
    assert one.tool is not None
    body = one.tool.get("function", one.tool)
    return next(
        (body[key] for key in ("parameters", "input_schema", "inputSchema", "parametersJsonSchema") if key in body),
        None,
    )


def check_root_union(case: dict[str, Any]) -> None:
    for dialect in dialects(case):
        (one,) = defined(case, dialect)
        schema = parameters(one)
        assert list(schema["properties"]) == ["page", "content", "source_url", "file_id"]
        assert schema["required"] == ["page"]
        assert all(name in json.dumps(one.tool) for name in ("(1) content", "(2) source_url", "(3) file_id"))
        assert_calls(case, one)
        assert one.lowered is not None
        (violation,) = raise_arguments(one.lowered, {"page": "p1"}).violations
        assert violation.message == "needs content or source_url or file_id"


def assert_calls(case: dict[str, Any], one: Definition) -> None:
    assert one.lowered is not None
    for call in case["input"].get("calls", []):
        assert (raise_arguments(one.lowered, call["args"]).violations == ()) is call["ok"]


def check_all_of(case: dict[str, Any]) -> None:
    for dialect in dialects(case):
        data = parameters(defined(case, dialect)[0])["properties"]["data"]
        assert list(data["properties"]) == ["page_id", "title", "archived"]
        assert data["required"] == ["page_id"]


def check_media(case: dict[str, Any]) -> None:
    schema = parameters(defined(case, "openai-chat")[0])
    assert Draft202012Validator(schema).is_valid({"mode": "raw"})
    assert not Draft202012Validator(schema).is_valid({"mode": "other"})
    assert schema["additionalProperties"] is False


def check_recursion(case: dict[str, Any]) -> None:
    for dialect in dialects(case):
        (one,) = defined(case, dialect)
        assert any("moved to the root" in change.message for change in one.changes)
    assert "Filter" in parameters(defined(case, "openai-chat")[0])["$defs"]


def check_sibling(case: dict[str, Any]) -> None:
    items = parameters(defined(case, "openai-chat")[0])["properties"]["statusFilter"]["items"]
    assert items == {"type": "string", "enum": ["open", "done"]}


def check_uri(case: dict[str, Any]) -> None:
    (one,) = defined(case, "openai-responses-strict")
    properties = parameters(one)["properties"]
    assert properties["url"] == {"type": "string", "description": "A URI"}
    assert properties["when"]["format"] == "date-time"
    assert [loss.keyword for loss in one.losses] == ["format"]


def check_string_root(case: dict[str, Any]) -> None:
    lookup, healthy = defined(case, "openai-chat")
    assert "type object" in (lookup.refused or "")
    assert lookup.tool is None
    assert healthy.tool is not None


def check_misplaced_required(case: dict[str, Any]) -> None:
    for dialect in dialects(case):
        price, time = defined(case, dialect)
        assert parameters(price) == {"type": "object", "properties": {"coin": S}, "required": ["coin"]}
        assert any("required" in change.message for change in price.changes)
        assert time.refused is None


def check_open_items(case: dict[str, Any]) -> None:
    (one,) = defined(case, "openai-responses-strict")
    assert not one.strict
    assert parameters(one)["properties"]["ops"]["items"]["additionalProperties"] is True
    assert any("/properties/ops/items" in change.message for change in one.changes)
    assert_calls(case, one)


def check_free_object(case: dict[str, Any]) -> None:
    execute, echo = defined(case, "openai-chat-strict")
    assert (execute.strict, echo.strict) == (False, True)
    assert parameters(execute)["properties"]["fn_args"] == {"type": "object", "properties": {}}
    assert execute.lowered is not None
    assert raise_arguments(execute.lowered, {"fn": "f", "fn_args": {"k": 1}}).value == {"fn": "f", "fn_args": {"k": 1}}


def check_nullable_enum(case: dict[str, Any]) -> None:
    mode = parameters(defined(case, "openai-responses-strict")[0])["properties"]["mode"]
    assert all(Draft202012Validator(mode).is_valid(value) for value in ("A", "B", None))


def check_default(case: dict[str, Any]) -> None:
    (one,) = defined(case, "openai-chat-strict")
    admin = parameters(one)["properties"]["admin"]
    assert admin == {"type": ["boolean", "null"], "description": "Default: false"}
    (call,) = case["input"]["calls"]
    assert one.lowered is not None
    assert raise_arguments(one.lowered, call["model_args"]).value == call["upstream_args"]


def check_strict_budget(case: dict[str, Any]) -> None:
    wide = {"name": "wide", "inputSchema": {"type": "object", "properties": {f"p{n}": S for n in range(18)}}}
    rest = [
        {"name": f"t{n}", "inputSchema": {"type": "object", "properties": {"a": S} if n < 8 else {}}} for n in range(14)
    ]
    found = defined({"input": {"tools": [wide, *rest]}}, "anthropic-strict")
    assert [one.strict for one in found] == [False, *[True] * 14]


def check_integer_enum(case: dict[str, Any]) -> None:
    (one,) = defined(case, "gemini")
    assert parameters(one)["properties"]["depth"]["enum"] == ["0", "2", "4", "8"]
    assert one.lowered is not None
    for sent in case["input"]["calls"][0]["model_args_any_of"]:
        assert raise_arguments(one.lowered, sent).value == {"depth": 4}
    assert raise_arguments(one.lowered, {"depth": "5"}).violations


def check_untyped_enum(case: dict[str, Any]) -> None:
    assert parameters(defined(case, "gemini")[0])["properties"]["key"]["type"] == "STRING"


def check_keywords(case: dict[str, Any]) -> None:
    schema = parameters(defined(case, "gemini")[0])
    assert "$schema" not in schema
    assert schema["properties"]["max"] == {"type": "INTEGER", "nullable": True, "minimum": 1, "maximum": 999999}


def check_idle_keywords(case: dict[str, Any]) -> None:
    assert parameters(defined(case, "gemini")[0])["properties"]["data"] == {"type": "STRING"}


def check_discriminated(case: dict[str, Any]) -> None:
    block = parameters(defined(case, "gemini")[0])["properties"]["block"]
    assert [branch["properties"]["kind"]["enum"] for branch in block["anyOf"]] == [["text"], ["image"]]


def check_empty_enum(case: dict[str, Any]) -> None:
    (one,) = defined(case, "gemini")
    assert parameters(one)["properties"] == {"a": {"type": "STRING"}, "b": {"type": "STRING"}}
    assert any("empty `enum`" in change.message and change.pointer == "/properties/b" for change in one.changes)


def check_empty_objects(case: dict[str, Any]) -> None:
    spaces, run = defined(case, "openai-chat")
    assert parameters(spaces) == {"type": "object", "properties": {}}
    assert parameters(run)["properties"]["params"] == {"type": "object", "properties": {}}
    spaces, run = defined(case, "gemini")
    assert parameters(spaces) is None
    assert run.lowered is not None
    assert raise_arguments(run.lowered, {"params": '{"a": 1}'}).value == {"params": {"a": 1}}


def check_at_least_one(case: dict[str, Any]) -> None:
    (one,) = defined(case, "anthropic")
    assert_calls(case, one)
    assert one.lowered is not None
    (violation,) = raise_arguments(one.lowered, {"id": "1"}).violations
    assert violation.message == "needs title or priority"


def check_untyped_root(case: dict[str, Any]) -> None:
    for dialect in dialects(case):
        send, peek = defined(case, dialect)
        assert parameters(send)["type"] == "object"
        assert any("arguments are an object" in change.message for change in send.changes)
        assert peek.tool is not None


def check_draft_04(case: dict[str, Any]) -> None:
    for dialect in dialects(case):
        properties = parameters(defined(case, dialect)[0])["properties"]
        assert properties["ttl"] == {"type": "integer", "maximum": 9007199254740991, "exclusiveMinimum": 0}
        assert properties["prio"] == {"type": "integer", "minimum": 1}
        assert not validator(properties["ttl"]).is_valid(0)


def check_listed(case: dict[str, Any]) -> None:
    assert len(specs(case)) == 2
    assert all(one.tool is not None for one in define_all(specs(case), "mcp"))


def check_names(case: dict[str, Any]) -> None:
    for dialect in dialects(case):
        found = defined(case, dialect)
        names = {(one.tool or {}).get("function", one.tool)["name"] for one in found}
        assert len(names) == len(found)
        assert [one.spec.name.name for one in found if one.spec] == [row["name"] for row in case["input"]["tools"]]


def check_title(case: dict[str, Any]) -> None:
    check_names(case)
    for dialect in dialects(case):
        assert "Create CIFS Share" in json.dumps(defined(case, dialect)[0].tool) or "create cifs share" in json.dumps(
            defined(case, dialect)[0].tool
        ).lower().replace("_", " ")


def check_servers(case: dict[str, Any]) -> None:
    given = case["input"]
    servers = given.get(
        "servers", [{"name": given.get("server"), "tools": [t["name"] for t in given.get("tools", [])]}]
    )
    names = [ToolName(server["name"], tool) for server in servers for tool in server["tools"]]
    table = AliasTable().extend(names)
    wired = [table[name] for name in names]
    assert len(set(wired)) == len(names)
    assert all(openai.NAME.fullmatch(name) and not name.startswith("_") and "___" not in name for name in wired)
    assert [table.full[name] for name in wired] == names


def check_capped(case: dict[str, Any]) -> None:
    (one,) = defined(case, "openai-chat", cap=Cap(1024))
    assert one.tool is not None
    assert 1020 <= len(one.tool["function"]["description"]) <= 1024
    assert [move.to for move in one.moves] == ["shortened"]


def check_surrogates(case: dict[str, Any]) -> None:
    assert utf8(case["input"]["tool_result"]) == "price \ufffd ok \U0001f600"
    schema = {"type": "object", "properties": {"a": {"type": "string", "description": case["input"]["tool_result"]}}}
    for dialect in ("openai-chat", "anthropic", "gemini", "mcp", "codex"):
        json.dumps(lower(schema, dialect).schema, ensure_ascii=False).encode()


def check_null_description(case: dict[str, Any]) -> None:
    for dialect in dialects(case):
        (one,) = defined(case, dialect)
        assert [move.to for move in one.moves] == ["filled from the name"]


CHECKS: dict[str, Callable[[dict[str, Any]], None]] = {
    "oa-01": lambda case: assert_exact(case),
    "oa-04": check_root_union,
    "oa-07": check_all_of,
    "oa-08": check_media,
    "oa-09": check_recursion,
    "oa-10": check_sibling,
    "oa-12": check_uri,
    "oa-13": check_string_root,
    "oa-14": check_misplaced_required,
    "st-03": check_open_items,
    "st-04": check_free_object,
    "st-06": check_nullable_enum,
    "st-07": check_default,
    "st-11": check_strict_budget,
    "gm-01": check_integer_enum,
    "gm-03": check_untyped_enum,
    "gm-07": check_keywords,
    "gm-08": check_idle_keywords,
    "gm-10": check_discriminated,
    "gm-11": check_empty_enum,
    "gm-12": check_empty_objects,
    "an-01": check_at_least_one,
    "an-02": check_untyped_root,
    "an-06": check_draft_04,
    "mc-02": check_listed,
    "mc-04": check_listed,
    "nm-02": check_names,
    "nm-03": check_title,
    "nm-05": check_servers,
    "nm-06": check_servers,
    "nm-07": check_names,
    "nm-12": check_names,
    "tx-01": check_capped,
    "tx-03": check_surrogates,
    "tx-05": check_null_description,
}


def assert_exact(case: dict[str, Any]) -> None:
    assert parameters(defined(case, "openai-chat")[0]) == case["right"]["exact"]


def test_every_case_has_its_check() -> None:
    assert CHECKS.keys() == CASES.keys()


@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
@pytest.mark.case("mc-02", "mc-04", "nm-02", "nm-03", "nm-05", "nm-06", "nm-07", "nm-12")
def test_a_reported_failure_comes_out_right(case: dict[str, Any]) -> None:
    CHECKS[case["id"]](case)
