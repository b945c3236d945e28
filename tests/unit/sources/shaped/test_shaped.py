"""A reshaped tool takes, answers and says only what its shape shows."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pegboard.board import Board
from pegboard.compose import bind, scatter
from pegboard.compose.merge import key
from pegboard.core import (
    Call,
    Effects,
    FailureCode,
    Hint,
    Mode,
    NoteKind,
    Relation,
    Report,
    Result,
    Source,
    Tool,
    ToolName,
    ToolSpec,
    with_modes,
)
from pegboard.errors import DefinitionError
from pegboard.schema.canonical import Model
from pegboard.schema.validate import validator
from pegboard.sources.shaped import Shape, Shaping, reshape, shaped
from pegboard.surface import mcp
from pegboard.testing import FakeSource, RecordingHandler

pytestmark = pytest.mark.anyio

INPUT: dict[str, Any] = {
    "type": "object",
    "required": ["USR_ID", "TENANT"],
    "additionalProperties": False,
    "properties": {
        "USR_ID": {"type": "integer", "description": "The USR_ID within TENANT.", "minimum": 1, "maximum": 10_000},
        "TENANT": {"type": "string"},
        "DEBUG": {"type": "boolean"},
        "ST": {"type": "string", "enum": ["A", "I"]},
        "BODY": {"$ref": "#/$defs/BODY_REC"},
        "LIMIT": {"type": "integer"},
    },
    "$defs": {
        "BODY_REC": {
            "type": "object",
            "required": ["CRT_BY"],
            "properties": {"ADR": {"type": "string"}, "CRT_BY": {"type": "string"}, "NOTE_TX": {"type": "string"}},
        }
    },
}
OUTPUT: dict[str, Any] = {
    "type": "object",
    "required": ["RESULT"],
    "properties": {
        "RESULT": {"type": "object", "properties": {"ROWS": {"type": "array", "items": {"$ref": "#/$defs/R"}}}}
    },
    "$defs": {
        "R": {
            "type": "object",
            "required": ["USR_ID"],
            "properties": {
                "USR_ID": {"type": "integer"},
                "NM": {"type": "object", "properties": {"FIRST": {"type": "string"}, "LAST": {"type": "string"}}},
                "ST": {"type": "string"},
                "CRT": {"type": "string"},
                "SSN": {"type": "string"},
            },
        }
    },
}
ROW = {"USR_ID": 7, "NM": {"FIRST": "Al", "LAST": "Bo"}, "ST": "A", "CRT": "20240203", "SSN": "123"}
ANSWER = {"RESULT": {"ROWS": [ROW]}}
SHAPE = Shape(
    name="get_user",
    input={"USR_ID": "user_id", "TENANT": {"fix": "acme-corp"}, "DEBUG": False, "BODY": False},
    records="RESULT.ROWS",
    output={
        "id": "USR_ID",
        "name": "${NM.FIRST} ${NM.LAST}",
        "status": {"path": "ST", "values": {"active": "A", "inactive": ["I", "X"]}},
        "created": {"path": "CRT", "date": "%Y%m%d"},
    },
)


def tool(script: Any = None, **more: Any) -> tuple[Tool, RecordingHandler]:
    handler = RecordingHandler(Result(value=ANSWER) if script is None else script)
    spec = ToolSpec(
        name=ToolName("crm", "usr_get"), description="usr_get: read by USR_ID.", input=INPUT, output=OUTPUT, **more
    )
    return Tool(spec, handler), handler


def crm(script: Any = None, **more: Any) -> tuple[FakeSource, RecordingHandler]:
    made, _ = tool(**more)
    source = FakeSource("crm", kind="openapi")
    source.put("usr_get", Result(value=ANSWER) if script is None else script, spec=made.spec)
    return source, source.handlers["usr_get"]


def board(source: Source, shape: Shape = SHAPE, **more: Any) -> Board:
    return Board.of(shaped(source, Shaping(tools={"usr_get": shape}, **more)))


def wire(spec: ToolSpec) -> str:
    return json.dumps(mcp.tool(spec, str(spec.name)))


@pytest.mark.requirement("C13.2", "C13.3")
async def test_the_old_shape_is_in_neither_schema_nor_answer() -> None:
    source, handler = crm()
    async with board(source) as opened:
        [spec] = opened.catalog.specs
        assert list(spec.properties) == ["user_id", "ST", "LIMIT"]
        assert spec.input["required"] == ["user_id"]
        result = await opened.call("crm.get_user", {"user_id": 7})
    assert result.value == [{"id": 7, "name": "Al Bo", "status": "active", "created": "2024-02-03"}]
    assert spec.output is not None
    assert spec.output["items"]["properties"]["status"] == {
        "type": "string",
        "enum": ["active", "inactive"],
    }
    assert spec.output["items"]["required"] == ["id"]
    assert handler.calls[0].arguments == {"USR_ID": 7, "TENANT": "acme-corp"}
    shown = wire(spec) + json.dumps(mcp.output(result, spec))
    for word in (
        "USR_ID",
        "usr_get",
        "TENANT",
        "acme",
        "DEBUG",
        "BODY",
        "RESULT",
        "ROWS",
        "NM",
        "FIRST",
        "CRT",
        "SSN",
        "123",
    ):
        assert word not in shown


@pytest.mark.requirement("C13.3")
@pytest.mark.parametrize(
    "failed",
    [
        Result.failed(FailureCode.FAILED, "USR_ID 7 of TENANT acme-corp: SSN is bad", where="/USR_ID"),
        Result.failed(FailureCode.UPSTREAM, "422", details={"status": 422, "body": {"SSN": "1", "USR_ID": 7}}),
        Result.failed(FailureCode.UPSTREAM, "No", next_step="Call usr_get with DEBUG.", where="/TENANT"),
        replace(
            Result.failed(FailureCode.FAILED, "no"),
            content=({"type": "text", "text": "crm__usr_get says: /RESULT/ROWS, USR_ID!"},),
            report=Report(notes=("TENANT was guessed.",)),
        ),
    ],
)
async def test_the_old_shape_is_in_no_error(failed: Result) -> None:
    source, _ = crm(failed)
    async with board(source) as opened:
        result = await opened.call("crm.get_user", {"user_id": 7})
    assert result.failure is not None
    shown = json.dumps(mcp.output(result, None)) + str(result)
    for word in ("USR_ID", "usr_get", "TENANT", "acme", "DEBUG", "SSN", "ROWS"):
        assert word not in shown
    assert result.failure.where in (None, "/user_id", "")


@pytest.mark.requirement("C13.2")
@pytest.mark.parametrize(
    "arguments",
    [{"USR_ID": 7}, {"user_id": 7, "TENANT": "other"}, {"user_id": 7, "DEBUG": True}, {"user_id": 0}, {}],
)
async def test_only_what_is_shown_is_taken(arguments: dict[str, Any]) -> None:
    source, handler = crm()
    async with board(source) as opened:
        result = await opened.call("crm.get_user", arguments)
    assert result.failure is not None
    assert result.failure.code is FailureCode.INVALID_ARGUMENTS
    assert handler.calls == []


async def test_an_open_tool_does_not_take_what_is_hidden_as_an_additional_argument() -> None:
    made, handler = tool()
    loose = Tool(replace(made.spec, input={**INPUT, "additionalProperties": True}), handler)
    one = reshape(loose, SHAPE)
    source = FakeSource("crm")
    async with Board.of(_single(source, one)) as opened:
        bad = [await opened.call("crm.get_user", {"user_id": 7, name: 1}) for name in ("TENANT", "USR_ID", "DEBUG")]
        good = await opened.call("crm.get_user", {"user_id": 7, "extra": 1})
    assert [result.failure and result.failure.code for result in bad] == [FailureCode.INVALID_ARGUMENTS] * 3
    assert good.ok
    assert handler.calls[0].arguments == {"USR_ID": 7, "extra": 1, "TENANT": "acme-corp"}


def _single(source: FakeSource, one: Tool) -> FakeSource:
    source.put(one.name.name, spec=one.spec)
    source.handlers[one.name.name] = one.handler  # pyright: ignore[reportArgumentType]
    return source


@pytest.mark.requirement("C13.2")
async def test_parameters_are_narrowed_given_words_and_defaults_and_shaped_inside() -> None:
    source, handler = crm()
    shape = Shape(
        input={
            "USR_ID": {"rename": "user_id", "maximum": 100, "description": "Whom."},
            "ST": {"rename": "status", "values": {"active": "A", "inactive": "I"}},
            "LIMIT": {"default": 20, "maximum": 50},
            "TENANT": {"fix": "t"},
            "BODY": {"rename": "details"},
            "BODY.ADR": "address",
            "BODY.CRT_BY": {"fix": "pegboard"},
        }
    )
    shape = replace(shape, input={key: value for key, value in shape.input.items() if key != "BODY"})
    async with board(source, shape) as opened:
        [spec] = opened.catalog.specs
        assert spec.properties["user_id"] == {
            "type": "integer", "description": "Whom.", "minimum": 1, "maximum": 100,
        }  # fmt: skip
        assert spec.properties["LIMIT"] == {"type": "integer", "maximum": 50, "default": 20}
        assert spec.properties["BODY"]["properties"].keys() == {"address", "NOTE_TX"}
        assert (await opened.call("crm.usr_get", {"user_id": 101})).failure is not None
        assert (await opened.call("crm.usr_get", {"user_id": 1, "status": "A"})).failure is not None
        sent = {"user_id": 1, "status": "inactive", "BODY": {"address": "x"}}
        assert (await opened.call("crm.usr_get", sent)).ok
        assert (await opened.call("crm.usr_get", {"user_id": 1, "LIMIT": 3})).ok
    assert [call.arguments for call in handler.calls] == [
        {"LIMIT": 20, "USR_ID": 1, "ST": "I", "BODY": {"ADR": "x", "CRT_BY": "pegboard"}, "TENANT": "t"},
        {"LIMIT": 3, "USR_ID": 1, "BODY": {"CRT_BY": "pegboard"}, "TENANT": "t"},
    ]


WRONG: dict[str, tuple[Shape, str]] = {
    "a parameter that is not there": (Shape(input={"USRID": "x"}), "USR_ID"),
    "a needed one just hidden": (Shape(input={"TENANT": False}), "fix"),
    "two of one name": (Shape(input={"ST": "USR_ID"}), "another name"),
    "an unknown key": (Shape(input={"ST": {"renam": "s"}}), "rename"),
    "a value that the tool does not take": (Shape(input={"ST": {"enum": ["A", "Z"]}}), "Z"),
    "a word for a code that it does not take": (Shape(input={"ST": {"values": {"x": "Q"}}}), "Q"),
    "a path that is not in the answer": (Shape(records="RESULT.ROW"), "RESULT"),
    "no such model": (Shape(output="Usr"), "User"),
    "a model without a map": (Shape(output="User"), "models.User"),
    "an unknown key of a field": (Shape(output={"a": {"pth": "x"}}), "path"),
    "two conversions": (Shape(output={"a": {"path": "x", "date": "iso", "type": "integer"}}), "one of"),
    "a form that is none": (Shape(output={"a": {"path": "x", "date": "%Q"}}), "date"),
    "two codes for one": (Shape(output={"a": {"path": "x", "values": {"m": 1, "n": 1}}}), "one meaning"),
    "an unknown unit": (Shape(output={"a": {"path": "x", "unit": "stone -> kg"}}), "kg"),
    "an empty name": (Shape(input={"ST": {"rename": ""}}), "text"),
    "a keyword that is none": (Shape(input={"ST": {"pattern": "("}}), "narrowed"),
    "nothing to choose from": (Shape(input={"ST": {"enum": []}}), "enum"),
    "a fixed value that the tool does not take": (Shape(input={"USR_ID": {"fix": "seven"}}), "integer"),
    "a default that the tool does not take": (Shape(input={"ST": {"default": "Z"}}), "Z"),
    "words for nothing": (Shape(input={"ST": {"values": {}}}), "table"),
    "a word for no code": (Shape(output={"a": {"path": "x", "values": {"m": []}}}), "no code"),
    "a factor that is none": (Shape(output={"a": {"path": "x", "scale": "much"}}), "numbers"),
    "fields that are none": (Shape(output={"a": {"path": "x", "fields": 5}}), "table"),
    "a list of what are no paths": (Shape(output=[5]), "text"),  # pyright: ignore[reportArgumentType]
    "an output of no kind": (Shape(output=5), "model"),  # pyright: ignore[reportArgumentType]
    "a preview of no kind": (Shape(preview=5), "parameter"),
    "a template that is broken": (Shape(output={"a": "${x +}"}), "Write"),
}


@pytest.mark.parametrize("case", WRONG)
async def test_a_shape_that_does_not_fit_sets_its_tool_aside_alone_and_says_what_to_write(case: str) -> None:
    shape, hint = WRONG[case]
    source, _ = crm()
    source.put("other", spec=ToolSpec(name=ToolName("crm", "other")))
    async with board(source, shape) as opened:
        assert [spec.name.name for spec in opened.catalog.specs] == ["other"]
        [status] = await opened.statuses()
    [note] = [note for note in status.notes if note.kind is NoteKind.SET_ASIDE]
    assert note.tool == "usr_get"
    assert hint in note.message


async def test_a_model_that_cannot_be_turned_back_is_not_taken() -> None:
    source, _ = crm()
    shaping = Shaping(tools={"usr_get": Shape(takes="User")}, maps={"User": {"id": "${USR_ID}"}})
    async with Board.of(shaped(source, shaping)) as opened:
        [status] = await opened.statuses()
    assert "back" in status.notes[0].message


async def test_a_shape_for_a_tool_that_is_gone_is_told() -> None:
    source, _ = crm()
    async with Board.of(
        shaped(source, Shaping(every=Shape(input={"TENNANT": False}), tools={"usr_gt": SHAPE}))
    ) as opened:
        [status] = await opened.statuses()
    assert [(note.where, "usr_get" in note.message or "TENANT" in note.message) for note in status.notes] == [
        ("tools.usr_gt", True),
        ("input.TENNANT", True),
    ]


async def test_what_holds_for_every_tool_holds_for_those_that_have_it_and_beside_their_own() -> None:
    source, handler = crm()
    source.put("list", spec=ToolSpec(name=ToolName("crm", "list"), input={"type": "object", "properties": {"q": {}}}))
    every = Shape(input={"TENANT": {"fix": "t"}}, drop=["SSN", "C*"])
    shaping = Shaping(every=every, tools={"usr_get": Shape(input={"USR_ID": "id"})})
    async with Board.of(shaped(source, shaping)) as opened:
        result = await opened.call("crm.usr_get", {"id": 7})
        assert (await opened.call("crm.list", {"q": 1})).ok
    assert handler.calls[0].arguments == {"USR_ID": 7, "TENANT": "t"}
    assert result.value == {"RESULT": {"ROWS": [{"USR_ID": 7, "NM": {"FIRST": "Al", "LAST": "Bo"}, "ST": "A"}]}}


async def test_answers_are_kept_in_part_flattened_and_read_from_text() -> None:
    text = Result(content=({"type": "text", "text": json.dumps(ANSWER)},), meta={"SSN": 1})
    source, _ = crm(text)
    async with board(source, Shape(records="RESULT.ROWS[0]", output=["USR_ID", "NM"], flatten=True)) as opened:
        [spec] = opened.catalog.specs
        result = await opened.call("crm.usr_get", {"USR_ID": 7, "TENANT": "t"})
    assert result.value == {"USR_ID": 7, "NM_FIRST": "Al", "NM_LAST": "Bo"}
    assert spec.output is not None
    assert list(spec.output["properties"]) == ["USR_ID", "NM_FIRST", "NM_LAST"]
    assert "SSN" not in json.dumps(mcp.output(result, spec))


async def test_a_record_that_fits_no_shape_costs_itself_alone_and_is_told() -> None:
    rows = [ROW, {**ROW, "ST": "?"}, {**ROW, "CRT": "soon"}, {"NM": {}}, 5]
    source, _ = crm(Result(value={"RESULT": {"ROWS": rows}}))
    async with board(source) as opened:
        result = await opened.call("crm.get_user", {"user_id": 7})
    assert [record["id"] for record in result.value] == [7]
    assert result.report is not None
    told = [note.partition(":")[0] for note in result.report.notes]
    assert told == [f"Record {index} was left out" for index in (1, 2, 3, 4)]
    assert "ST" not in str(result.report.notes)


@pytest.mark.parametrize("answer", [{"x": 1}, "text", 5, None, {"RESULT": 3}])
async def test_an_answer_of_another_shape_is_a_failure_that_shows_none_of_it(answer: Any) -> None:
    source, _ = crm(Result(value=answer, content=({"type": "text", "text": "SSN 1"},)))
    shape = replace(SHAPE, many=False)
    async with board(source, shape) as opened:
        result = await opened.call("crm.get_user", {"user_id": 7})
    assert result.failure is not None
    assert result.failure.code is FailureCode.UPSTREAM
    assert "SSN" not in str(result)
    assert result.failure.next_step


async def test_modes_pass_and_keep_the_shape() -> None:
    made, handler = tool(effects=Effects.DESTRUCTIVE)
    one = reshape(Tool(with_modes(made.spec, [Mode.PREVIEW, Mode.EXPLORE, Mode.SCHEMA]), handler), SHAPE)
    async with Board.of(_single(FakeSource("crm"), one)) as opened:
        assert one.spec.properties["mode"]["default"] == "preview"
        shown = await opened.call("crm.get_user", {"user_id": 7})
        done = await opened.call("crm.get_user", {"user_id": 7, "mode": "execute"})
        explored = await opened.call("crm.get_user", {"mode": "explore"})
        schema = await opened.call("crm.get_user", {"user_id": 7, "mode": "schema"})
    assert shown.mode is Mode.PREVIEW
    assert shown.value == done.value == [{"id": 7, "name": "Al Bo", "status": "active", "created": "2024-02-03"}]
    assert done.report is not None
    assert done.report.data["preview"]["same"] is True
    assert "USR_ID" not in str(explored)
    assert "USR_ID" not in str(schema)
    assert schema.value["properties"].keys() == {"user_id", "ST", "LIMIT", "mode"}
    assert [call.mode for call in handler.calls] == [Mode.PREVIEW, Mode.EXECUTE, Mode.EXPLORE]


@pytest.mark.parametrize(
    ("wish", "tried", "done"),
    [
        ("dryRun", True, False),
        ({"parameter": "dryRun", "value": "all", "execute": "none"}, "all", "none"),
        ({"parameter": "dryRun", "value": "all"}, "all", None),
    ],
)
async def test_a_parameter_of_the_tool_gives_it_a_preview(wish: Any, tried: Any, done: Any) -> None:
    spec = ToolSpec(
        name=ToolName("fs", "wipe"),
        effects=Effects.DESTRUCTIVE,
        input={"type": "object", "properties": {"path": {"type": "string"}, "dryRun": {}, "mode": {"type": "string"}}},
    )
    handler = RecordingHandler(Result(value={"gone": ["a"]}))
    one = reshape(Tool(spec, handler), Shape(preview=wish))
    assert "dryRun" not in one.spec.properties
    async with Board.of(_single(FakeSource("fs"), one)) as opened:
        shown = await opened.call("fs.wipe", {"path": "/x"})
        executed = await opened.call("fs.wipe", {"path": "/x", "call_mode": "execute", "mode": "quick"})
        [status] = await opened.statuses()
    assert ["call_mode" in note.message for note in status.notes] == [True]
    assert (shown.mode, executed.mode) == (Mode.PREVIEW, Mode.EXECUTE)
    assert [call.arguments.get("dryRun") for call in handler.calls] == [tried, done]
    assert handler.calls[1].arguments["mode"] == "quick"


MAP = {
    "id": "USR_ID",
    "name": "NM.FIRST",
    "active": {"path": "ST", "type": "boolean"},
    "created_at": {"path": "CRT", "date": "unix"},
}


@pytest.mark.requirement("C14.1", "C14.2")
async def test_canonical_records_go_both_ways_and_the_tool_says_so() -> None:
    row = {"USR_ID": 7, "NM": {"FIRST": "Al"}, "ST": "true", "CRT": 0, "SSN": "9"}
    source = FakeSource("crm")
    record: dict[str, Any] = {
        "type": "object",
        "properties": {"USR_ID": {"type": "integer"}, "NM": {"type": "object"}, "ST": {"type": "string"}, "CRT": {}},
        "required": ["USR_ID"],
    }
    source.put("get", Result(value=row), spec=ToolSpec(name=ToolName("crm", "get"), output=record))
    source.put("save", None, spec=ToolSpec(name=ToolName("crm", "save"), input=record))
    nested = {
        "type": "object",
        "properties": {"USR": record, "TENANT": {"type": "string"}},
        "required": ["USR", "TENANT"],
    }
    source.put("put", None, spec=ToolSpec(name=ToolName("crm", "put"), input=nested))
    tools = {
        "get": Shape(output="User"),
        "save": Shape(takes="User"),
        "put": Shape(input={"USR": {"rename": "user", "model": "User"}, "TENANT": {"fix": "t"}}),
    }
    async with Board.of(shaped(source, Shaping(tools=tools, maps={"User": MAP}))) as opened:
        specs = {spec.name.name: spec for spec in opened.catalog.specs}
        got = await opened.call("crm.get")
        assert (await opened.call("crm.save", got.value)).ok
        assert (await opened.call("crm.put", {"user": got.value})).ok
        refused = await opened.call("crm.put", {"user": {"name": "x"}})
        unable = await opened.call("crm.save", {"id": "seven"})
    user = {"id": "7", "name": "Al", "active": True, "created_at": "1970-01-01T00:00:00Z"}
    assert got.value == user
    assert specs["get"].output is not None
    assert specs["get"].output["properties"].keys() >= {"id", "name", "email"}
    assert "User" in specs["get"].description
    kept = {key: value for key, value in row.items() if key != "SSN"}
    assert source.handlers["save"].calls[0].arguments == kept
    assert source.handlers["put"].calls[0].arguments == {"USR": kept, "TENANT": "t"}
    assert specs["save"].input["additionalProperties"] is False
    for result in (refused, unable):
        assert result.failure is not None
        assert result.failure.code is FailureCode.INVALID_ARGUMENTS
        assert "USR" not in str(result.failure)


async def test_models_of_ones_own_come_from_python_and_are_checked() -> None:
    from dataclasses import dataclass

    @dataclass
    class Lead:
        key: str
        score: int | None = None

    model = Model.of(Lead)
    source = FakeSource("crm", {"all": Result(value=[{"K": 1, "S": None}, {"S": 2}])})
    shaping = Shaping(
        tools={"all": Shape(output="Lead", many=True)},
        maps={"Lead": {"key": "K", "score": "S"}},
        models={"Lead": model},
    )
    async with Board.of(shaped(source, shaping)) as opened:
        result = await opened.call("crm.all")
    assert result.value == [{"key": "1", "score": None}]
    assert result.report is not None
    assert "key" in result.report.notes[0]
    with pytest.raises(DefinitionError, match="no record"):
        Model.of(int)
    lacking = replace(shaping, maps={"Lead": {"score": "S"}})
    async with Board.of(shaped(source, lacking)) as opened:
        assert len(opened.catalog) == 0


async def test_the_raw_answer_is_an_asset_where_it_is_wanted(tmp_path: Any) -> None:
    from pegboard.config import load

    source, _ = crm()
    (tmp_path / "pegboard.toml").write_text("")
    async with Board.open(load(tmp_path / "pegboard.toml")) as keeper:
        assert keeper.assets is not None
        wrapped = shaped(source, Shaping(tools={"usr_get": replace(SHAPE, raw=True)}), keeper.assets)
        async with Board.of(wrapped) as opened:
            result = await opened.call("crm.get_user", {"user_id": 7})
        [handle] = result.assets
        kept = await keeper.assets.get(handle)
        assert isinstance(kept, tuple)
        assert json.loads(kept[1]) == ANSWER
    assert "SSN" not in json.dumps(mcp.output(result, None))


# What is hidden is nowhere

NAMES = st.lists(st.from_regex(r"[A-Z][A-Z_]{4,8}[A-Z]", fullmatch=True), min_size=4, max_size=8, unique=True).filter(
    lambda names: not any(one != other and one in other for one in names for other in names)
)


@st.composite
def legacies(draw: st.DrawFn) -> tuple[list[str], list[str], dict[str, Any], dict[str, Any], str]:
    names = draw(NAMES)
    shown = draw(st.lists(st.sampled_from(names), min_size=1, unique=True))
    patches: dict[str, Any] = {name: f"p{number}" for number, name in enumerate(shown)}
    patches |= {name: draw(st.sampled_from([False, {"hide": True}, {"fix": 1}])) for name in names if name not in shown}
    output = {f"o{number}": draw(st.sampled_from([name, f"deep.{name}"])) for number, name in enumerate(shown)}
    text = draw(st.sampled_from(["{}", "bad {}", "'{}'", "/{}/0", "`{}`.", "see {},{}", '{{"{}": 1}}']))
    return names, shown, patches, output, text


@pytest.mark.requirement("C13.3")
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(legacies())
async def test_what_is_hidden_never_appears(
    case: tuple[list[str], list[str], dict[str, Any], dict[str, Any], str],
) -> None:
    names, shown, patches, output, text = case
    record = {**dict.fromkeys(names, 5), "deep": dict.fromkeys(names, 6)}
    said = " ".join(text.format(*[name] * text.count("{}")) for name in names)
    properties = {name: {"type": "integer", "description": said} for name in names}
    spec = ToolSpec(
        name=ToolName("old", "get"),
        description=said,
        input={"type": "object", "properties": properties, "description": said},
        output={"type": "object", "properties": {**properties, "deep": {"type": "object", "properties": properties}}},
    )
    for answer in (Result(value=record), Result.failed(FailureCode.FAILED, said, where=f"/{names[0]}", next_step=said)):
        one = reshape(Tool(spec, RecordingHandler(answer)), Shape(input=patches, output=output))
        async with Board.of(_single(FakeSource("old"), one)) as opened:
            results = [
                await opened.call("old.get", {f"p{number}": 1 for number in range(len(shown))}),
                await opened.call("old.get", {}, mode=Mode.SCHEMA),
                await opened.call("old.get", {}, mode=Mode.EXPLORE),
            ]
        everything = wire(one.spec) + "".join(
            json.dumps(mcp.output(result, one.spec)) + str(result) for result in results
        )
        assert not [name for name in names if name in everything]
        if answer.ok:
            assert results[0].value == {f"o{n}": 6 if "." in output[f"o{n}"] else 5 for n in range(len(shown))}


async def test_lists_of_codes_are_lists_of_words_and_a_tool_of_no_known_parameters_stays_open() -> None:
    listed = {"type": "array", "items": {"type": "string", "enum": ["A", "I"]}}
    source = FakeSource("crm")
    listing = ToolSpec(name=ToolName("crm", "list"), input={"type": "object", "properties": {"ST": listed}})
    source.put("list", spec=listing)
    source.put("any", spec=ToolSpec(name=ToolName("crm", "any"), input={"type": "object"}))
    tools = {
        "list": Shape(input={"ST": {"rename": "states", "values": {"active": "A", "inactive": "I"}}}),
        "any": Shape(name="whatever"),
    }
    async with Board.of(shaped(source, Shaping(tools=tools))) as opened:
        assert (await opened.call("crm.list", {"states": ["inactive", "active"]})).ok
        assert (await opened.call("crm.whatever", {"x": 1})).ok
        refused = await opened.call("crm.list", {"states": ["A"]})
    assert refused.failure is not None
    assert source.handlers["list"].calls[0].arguments == {"ST": ["I", "A"]}
    assert source.handlers["any"].calls[0].arguments == {"x": 1}


async def test_what_a_tool_says_of_its_siblings_is_in_our_words_too() -> None:
    failing = Result.failed(FailureCode.FAILED, "Give TENANT, or call usr_lst first.")
    hints = (Hint(Relation.FIRST, "usr_lst", when="you have no USR_ID", parameter="USR_ID"),)
    source = FakeSource("crm")
    properties = {"USR_ID": {"type": "string"}}
    spec = ToolSpec(name=ToolName("crm", "usr_get"), input={"type": "object", "properties": properties}, hints=hints)
    source.put("usr_get", failing, spec=spec)
    source.put("usr_lst", spec=ToolSpec(name=ToolName("crm", "usr_lst")))
    tools = {"usr_get": Shape(input={"USR_ID": "user_id"}), "usr_lst": Shape(name="list_users")}
    shaping = Shaping(every=Shape(input={"TENANT": {"fix": "acme"}}), tools=tools)
    async with Board.of(shaped(source, shaping)) as opened:
        failure = (await opened.call("crm.usr_get", {"user_id": "7"})).failure
        [hint] = opened.catalog.tools[ToolName("crm", "usr_get")].spec.hints
    assert failure is not None
    assert failure.message == "Give …, or call list_users first."
    assert str(hint) == "user_id: call list_users first if you have no user_id"


@pytest.mark.requirement("C13.3")
def test_a_reference_into_the_old_schema_does_not_bring_it_along() -> None:
    node = {"type": "object", "properties": {"kids": {"type": "array", "items": {"$ref": "#/properties/TREE"}}}}
    properties = {"TREE": node, "SECRET": {"type": "string"}, "SELF": {"$ref": "#"}}
    schema = {"type": "object", "properties": properties}
    spec = ToolSpec(name=ToolName("a", "x"), input=schema, output=schema)
    shape = Shape(input={"TREE": "tree", "SECRET": False, "SELF": "again"}, output={"tree": "TREE", "again": "SELF"})
    made = reshape(Tool(spec, RecordingHandler()), shape).spec
    for shown in (made.input, made.output):
        assert shown is not None
        assert "SECRET" not in json.dumps(shown)
        assert "TREE" not in json.dumps(shown)
        judge = validator(shown)
        assert judge.notes == ()
        assert judge.is_valid({"tree": {"kids": [{"kids": []}]}})
        assert not judge.is_valid({"tree": {"kids": [{"kids": 5}]}})


@pytest.mark.requirement("C14.1")
async def test_a_scatter_over_tools_of_one_model_merges_like_to_like() -> None:
    crm = FakeSource("crm", {"find": Result(value=[{"UID": 1, "MAIL": "a@x", "NM": "Ada"}])})
    hr = FakeSource("hr", {"find": Result(value={"rows": [{"no": "p1", "email": "a@x", "tel": "5"}]})})
    theirs = {"User": {"id": "UID", "email": "MAIL", "name": "NM"}}
    ours = {"User": {"id": "no", "email": "email", "phone": "tel"}}
    found = scatter("find_person", {"crm": "crm.find", "hr": "hr.find"}, merge=key("email"))
    async with Board.of(
        shaped(crm, Shaping(tools={"find": Shape(output="User")}, maps=theirs)),
        shaped(hr, Shaping(tools={"find": Shape(records="rows", many=True, output="User")}, maps=ours)),
    ) as opened:
        bound = bind(opened.catalog, opened.run, [found.handler.composite])  # pyright: ignore[reportFunctionMemberAccess]
        one = bound.catalog.tools[ToolName("", "find_person")]
        result = await one.handler(Call(tool=one.name, arguments={}))
    assert "Each record is a User" in one.spec.description
    assert one.spec.output is not None
    assert one.spec.output["properties"]["records"]["items"]["properties"].keys() >= {"id", "email", "phone"}
    [person] = result.value["records"]
    assert {name: person[name] for name in ("name", "email", "phone")} == {"name": "Ada", "email": "a@x", "phone": "5"}
