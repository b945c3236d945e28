"""Clauses and tests are tied both ways."""

from pathlib import Path

from clauses import built, clauses, open_clauses, shown


def test_a_test_never_names_an_unknown_clause() -> None:
    known = clauses()
    assert {name: tests for name, tests in shown().items() if name not in known} == {}


def test_once_its_issues_are_built_a_clause_is_shown_by_a_test() -> None:
    done = built()
    due = [name for name, clause in open_clauses().items() if set(clause["issue"].split(", ")) <= done]
    assert due == []


def test_built_names_issues_that_exist() -> None:
    issues = {issue for clause in clauses().values() for issue in clause["issue"].split(", ")}
    assert built() - issues == set()


def test_marks_are_found_on_functions_classes_and_modules(tmp_path: Path) -> None:
    (tmp_path / "test_x.py").write_text(
        "import pytest\n"
        'pytestmark = [pytest.mark.slow, pytest.mark.requirement("A")]\n'
        '@pytest.mark.requirement("B", "C")\n'
        "def test_one(): ...\n"
        '@pytest.mark.requirement("D")\n'
        "class TestTwo:\n"
        '    @pytest.mark.requirement("B")\n'
        "    async def test_three(self): ...\n"
    )
    assert shown(tmp_path) == {
        "A": ["test_x.py::*"],
        "B": ["test_x.py::test_one", "test_x.py::test_three"],
        "C": ["test_x.py::test_one"],
        "D": ["test_x.py::TestTwo"],
    }
