"""The house stays small and says what it does."""

import ast
from collections.abc import Iterator
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
LONGEST_FILE = 450
MEDIAN_FUNCTION = 10
VAGUE = {"utils", "util", "helpers", "helper", "manager", "base", "common", "misc"}


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """The lines of code of a function's body, its docstring left out."""
    body = node.body[1:] if ast.get_docstring(node) is not None else node.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


def undocumented(path: Path) -> Iterator[str]:
    """The public names of a module that have no docstring; an override of a protocol's dunder needs none."""
    tree = ast.parse(path.read_text())
    if not ast.get_docstring(tree) and path.read_text().strip():
        yield f"{path.relative_to(ROOT)}"
    yield from _undocumented(tree.body, f"{path.relative_to(ROOT)}")


def _undocumented(body: list[ast.stmt], where: str) -> Iterator[str]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            if not ast.get_docstring(node) and not _is_overload(node):
                yield f"{where}:{node.lineno} {node.name}"
            if isinstance(node, ast.ClassDef):
                yield from _undocumented(node.body, where)


def _is_overload(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> bool:
    names = [ast.unparse(decorator) for decorator in node.decorator_list]
    return any(name in ("overload", "override") or name.endswith(".setter") for name in names)


def test_no_file_is_too_long() -> None:
    sizes = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in SOURCES}
    assert {name: size for name, size in sizes.items() if size > LONGEST_FILE} == {}


def test_half_of_all_functions_are_short() -> None:
    assert median(lines(node) for path in SOURCES for node in functions(ast.parse(path.read_text()))) < MEDIAN_FUNCTION


def test_every_public_name_says_what_it_is() -> None:
    assert [name for path in SOURCES for name in undocumented(path)] == []


def test_no_module_has_a_vague_name() -> None:
    assert [str(path.relative_to(ROOT)) for path in SOURCES if path.stem in VAGUE] == []


def test_unit_tests_lie_as_the_source_does() -> None:
    rooms = {path.relative_to(ROOT / "src/pegboard").parts[0].removesuffix(".py") for path in SOURCES}
    tests = [path for path in (ROOT / "tests/unit").iterdir() if path.is_dir() and not path.name.startswith("__")]
    assert {path.name for path in tests} - rooms == set()
