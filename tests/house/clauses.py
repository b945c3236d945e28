"""Ties the clauses of `tests/journeys/requirements.toml` to the tests that show them. Run it to list the open ones."""

import ast
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parents[1]
FILE = TESTS / "journeys" / "requirements.toml"


def clauses() -> dict[str, dict[str, Any]]:
    """Each clause by its id."""
    return {clause["id"]: clause for clause in tomllib.loads(FILE.read_text())["requirement"]}


def built() -> set[str]:
    """The issues that are finished."""
    return set(tomllib.loads(FILE.read_text())["built"])


def shown(tests: Path = TESTS, mark: str = "requirement") -> dict[str, list[str]]:
    """The tests that name each id in a mark, as `file::test`."""
    found: dict[str, list[str]] = {}
    for path in sorted(tests.rglob("test_*.py")):
        for test, name in _marks(ast.parse(path.read_text()), mark):
            found.setdefault(name, []).append(f"{path.relative_to(tests)}::{test}")
    return found


def open_clauses(tests: Path = TESTS) -> dict[str, dict[str, Any]]:
    """The clauses that no test shows."""
    named = shown(tests)
    return {name: clause for name, clause in clauses().items() if name not in named}


def _marks(tree: ast.Module, mark: str) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        for decorator in getattr(node, "decorator_list", []):
            yield from ((node.name, name) for name in _ids(decorator, mark))
        if isinstance(node, ast.Assign) and any(getattr(target, "id", "") == "pytestmark" for target in node.targets):
            values = node.value.elts if isinstance(node.value, ast.List) else [node.value]
            yield from (("*", name) for value in values for name in _ids(value, mark))


def _ids(decorator: ast.expr, mark: str) -> list[str]:
    if not isinstance(decorator, ast.Call) or not ast.unparse(decorator.func).endswith(f"mark.{mark}"):
        return []
    return [ast.literal_eval(argument) for argument in decorator.args]


def main() -> None:
    """Print the open clauses, and how many are shown."""
    missing = open_clauses()
    for name, clause in missing.items():
        sys.stdout.write(f"{name:8} {clause['issue']:24} {clause['says']}\n")
    sys.stdout.write(f"\n{len(clauses()) - len(missing)} of {len(clauses())} clauses are shown by a test.\n")


if __name__ == "__main__":
    main()
