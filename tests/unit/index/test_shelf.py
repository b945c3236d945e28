"""What an index keeps between runs: all of it or nothing, and nothing of tools that have changed."""

from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import pytest

from pegboard import index
from pegboard.core import ToolName, ToolSpec
from pegboard.index.engine import ToolIndex
from pegboard.index.shelf import fingerprint
from pegboard.index.static import bundled

TOOLS = [
    ToolSpec(name=ToolName("mail", "send"), description="Send an email"),
    ToolSpec(name=ToolName("mail", "send", "2"), description="Send an email to many"),
    ToolSpec(name=ToolName("日本", "検索"), description="天気を検索する", aliases=("Wetter",)),
]


def kept(path: Path, tools: list[ToolSpec]) -> Path:
    engine = index.default()
    engine.update(put=tools)
    assert isinstance(engine, ToolIndex)
    engine.save(path / "index.bin")
    return path / "index.bin"


def taken(path: Path, tools: list[ToolSpec]) -> int:
    """How many tools an index takes from a file; it finds as much as one that was made anew."""
    table = bundled()
    assert table is not None
    engine, anew = ToolIndex(table), ToolIndex(table)
    found = engine.load(path, tools)
    anew.update(put=tools)
    assert engine.search("send an email") == anew.search("send an email")
    return found


def test_what_is_kept_is_taken_but_for_what_has_changed(tmp_path: Path) -> None:
    path = kept(tmp_path, TOOLS)
    assert taken(path, TOOLS) == len(TOOLS)
    assert taken(path, [replace(TOOLS[0], title="Send"), *TOOLS[1:]]) == len(TOOLS) - 1
    assert taken(path, TOOLS[:1]) == 1


@pytest.mark.parametrize("place", [0, 40, 400, -1])
def test_a_damaged_file_is_not_used(tmp_path: Path, place: int) -> None:
    path = kept(tmp_path, TOOLS)
    whole = path.read_bytes()
    damaged = bytearray(whole)
    damaged[place] ^= 1
    path.write_bytes(damaged)
    assert taken(path, TOOLS) == 0
    path.write_bytes(whole[:-5])
    assert taken(path, TOOLS) == 0


def test_an_index_without_tools_can_be_kept(tmp_path: Path) -> None:
    assert taken(kept(tmp_path, []), TOOLS) == 0


def test_equal_definitions_have_one_fingerprint() -> None:
    schema = {"type": "object", "properties": {"to": {"description": "who"}}}
    spec = replace(TOOLS[0], input=schema)
    same = replace(TOOLS[0], input={"type": "".join(["obj", "ect"]), "properties": {"to": {"description": "who"}}})
    assert fingerprint(spec) == fingerprint(same)
    assert fingerprint(spec) != fingerprint(replace(spec, input={}))
    assert fingerprint(replace(spec, input=MappingProxyType(schema))) == fingerprint(
        replace(spec, input=MappingProxyType(dict(schema)))
    )
