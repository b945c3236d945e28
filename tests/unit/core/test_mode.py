"""A tool with modes has one more parameter."""

from pegboard.core import Effects, Mode, ToolName, ToolSpec, default_mode, mode_parameter, take_mode, with_modes
from pegboard.core.mode import without_modes

DELETE = ToolSpec(
    name=ToolName("files", "delete"),
    effects=Effects.DESTRUCTIVE,
    input={"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
)


def test_a_destructive_tool_with_a_preview_previews_by_default() -> None:
    spec = with_modes(DELETE, [Mode.PREVIEW])
    assert spec.properties["mode"]["enum"] == ["schema", "dry_run", "preview", "execute"]
    assert default_mode(spec) is Mode.PREVIEW
    assert spec.input["required"] == ["path"]
    assert spec.modes == ("schema", "dry_run", "preview")


def test_a_harmless_or_previewless_tool_executes_by_default() -> None:
    harmless = ToolSpec(name=ToolName("", "find"), effects=Effects.READ_ONLY)
    assert default_mode(with_modes(harmless, [Mode.PREVIEW])) is Mode.EXECUTE
    assert default_mode(with_modes(DELETE, [])) is Mode.EXECUTE
    assert default_mode(DELETE) is Mode.EXECUTE
    costly = ToolSpec(name=ToolName("", "render"), costly=True)
    assert default_mode(with_modes(costly, [Mode.PREVIEW])) is Mode.PREVIEW


def test_the_parameter_is_renamed_where_the_tool_has_one_of_that_name() -> None:
    spec = ToolSpec(
        name=ToolName("", "set"), input={"type": "object", "properties": {"mode": {"type": "string"}, "call_mode": {}}}
    )
    moded = with_modes(spec, [Mode.PREVIEW])
    assert mode_parameter(moded) == "call_mode_2"
    assert take_mode(moded, {"mode": "fast", "call_mode_2": "preview"}) == (Mode.PREVIEW, {"mode": "fast"})
    assert without_modes(moded) == spec


def test_a_word_that_is_no_mode_is_left_for_the_guard() -> None:
    assert take_mode(with_modes(DELETE, [Mode.PREVIEW]), {"mode": "soft"}) == (None, {"mode": "soft"})
