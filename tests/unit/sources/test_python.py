"""A Python module is a source: its tools, in its order; what is broken costs only itself."""

from pathlib import Path

import pytest

from pegboard.core import Call, Listing
from pegboard.errors import SourceError
from pegboard.sources.python import PythonSource

pytestmark = pytest.mark.anyio


async def listed(folder: Path, text: str, module: str = "ops_tools", **more: str) -> Listing:
    (folder / f"{module}.py").write_text(text)
    source = PythonSource("ops", module, folder, **more)
    async with source.session():
        return await source.listing()


async def test_tools_come_in_the_order_of_the_module(tmp_path: Path) -> None:
    listing = await listed(
        tmp_path,
        '"""Things to do."""\n'
        "from pegboard import tool\n"
        "@tool\ndef zebra() -> int:\n    return 1\n"
        "@tool(name='b', namespace='own')\ndef apple() -> int:\n    return 2\n"
        "def plain() -> int:\n    return 3\n"
        "again = zebra\n",
    )
    assert [str(tool.name) for tool in listing.tools] == ["ops.zebra", "own.b"]
    assert {(tool.spec.source.name, tool.spec.source.kind) for tool in listing.tools} == {("ops", "python")}
    assert listing.instructions == "Things to do."
    assert listing.notes == ()


async def test_a_list_of_tools_may_hold_plain_functions(tmp_path: Path) -> None:
    listing = await listed(tmp_path, "def plus(a: int, b: int) -> int:\n    return a + b\ntools = [plus, 5]\n")
    [tool] = listing.tools
    result = await tool.handler(Call(tool=tool.name, arguments={"a": 1, "b": 2}))
    assert result.value == 3
    assert [note.tool for note in listing.notes] == ["tools[1]"]


async def test_a_prefix_replaces_the_namespace(tmp_path: Path) -> None:
    listing = await listed(tmp_path, "from pegboard import tool\n@tool\ndef f() -> int:\n    return 1\n", prefix="x")
    assert [str(tool.name) for tool in listing.tools] == ["x.f"]


async def test_a_tool_that_cannot_be_defined_is_set_aside_alone(tmp_path: Path) -> None:
    listing = await listed(
        tmp_path,
        "from pegboard import tool\n"
        "class Thing: ...\n"
        "@tool\ndef bad(thing: Thing) -> int:\n    return 1\n"
        "@tool\ndef good() -> int:\n    return 1\n"
        "@tool(name='good')\ndef twice() -> int:\n    return 1\n",
    )
    assert [str(tool.name) for tool in listing.tools] == ["ops.good"]
    assert [(note.kind, note.tool) for note in listing.notes] == [("set_aside", "bad"), ("set_aside", "twice")]
    assert "Thing" in listing.notes[0].message


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("x = 1\ny = 1 / 0\n", 2, "ZeroDivisionError"),
        ("def f(:\n", 1, "SyntaxError"),
        ("\n\nimport not_there_at_all\n", 3, "Install 'not_there_at_all'"),
        ("import sys\nsys.exit(3)\n", 2, "SystemExit"),
    ],
)
async def test_a_module_that_fails_says_in_which_line(tmp_path: Path, text: str, line: int, says: str) -> None:
    with pytest.raises(SourceError) as caught:
        await listed(tmp_path, text, module="broken_tools")
    assert caught.value.where == f"{tmp_path / 'broken_tools.py'}:{line}"
    assert says in str(caught.value)


async def test_a_module_that_is_not_there_says_where_it_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no Python module 'nowhere_at_all'") as caught:
        async with PythonSource("ops", "nowhere_at_all.tools", tmp_path).session():
            pass
    assert str(tmp_path) in str(caught.value)


async def test_two_boards_have_modules_of_one_name(tmp_path: Path) -> None:
    text = "from pegboard import tool\n@tool\ndef {}() -> int:\n    return 1\n"
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        listing = await listed(tmp_path / name, text.format(name), module="same_name")
        assert [tool.name.name for tool in listing.tools] == [name]


async def test_the_folder_stays_on_the_path_for_imports_inside_of_tools(tmp_path: Path) -> None:
    (tmp_path / "late_helper.py").write_text("VALUE = 7\n")
    (tmp_path / "late_tools.py").write_text(
        "from pegboard import tool\n@tool\ndef f() -> int:\n    import late_helper\n    return late_helper.VALUE\n"
    )
    source = PythonSource("ops", "late_tools", tmp_path)
    async with source.session():
        [tool] = (await source.listing()).tools
        assert (await tool.handler(Call(tool=tool.name, arguments={}))).value == 7
