"""The demo board's own tools do what they say."""

import importlib.util
import json
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from pegboard.sources.python import PythonSource

DEMO = Path(__file__).parents[2] / "examples/demo"
_spec = importlib.util.spec_from_file_location("desk", DEMO / "desk.py")
assert _spec is not None
assert _spec.loader is not None
desk: Any = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(desk)


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("2 + 3 * 4", 14),
        ("(2 + 3) * 4", 20),
        ("-7 // 2", -4),
        ("sqrt(16) + abs(-1)", 5),
        ("2 ** 10", 1024),
        ("max(1, e)", 2.718281828459045),
    ],
)
def test_calculate_works_out_arithmetic(expression: str, value: float) -> None:
    assert desk.calculate(expression) == value


@pytest.mark.parametrize(
    "expression", ["__import__('os')", "open('x')", "(1).real", "'a' * 9", "[1]", "1 if 1 else 2", "9 ** 9 ** 9"]
)
def test_calculate_does_nothing_but_arithmetic(expression: str) -> None:
    with pytest.raises((ValueError, OverflowError)):
        desk.calculate(expression)


def test_units_are_converted_within_a_quantity() -> None:
    assert desk.convert_unit(1, "mile", "km") == pytest.approx(1.609344)
    assert desk.convert_unit(2, "KiB", "kB") == pytest.approx(2.048)
    with pytest.raises(ValueError, match="kg is a unit of mass"):
        desk.convert_unit(1, "kg", "km")


@pytest.mark.parametrize(
    ("start", "end", "days", "working"), [((2026, 5, 1), (2026, 5, 11), 10, 6), ((2026, 5, 11), (2026, 5, 1), -10, -6)]
)
def test_days_are_counted(start: tuple[int, int, int], end: tuple[int, int, int], days: int, working: int) -> None:
    assert desk.days_between(date(*start), date(*end)) == days
    assert desk.days_between(date(*start), date(*end), working_days=True) == working


def test_today_is_today() -> None:
    assert abs(desk.today().date - datetime.now().astimezone().date()) <= timedelta(1)  # midnight may come between


def test_a_csv_is_summarized(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("\ufeffname,age\nann,30\nben,\nann,50\n", encoding="utf-8")
    summary = desk.summarize_csv(path)
    assert summary["rows"] == 3
    assert summary["columns"]["age"] == {"filled": 2, "distinct": 2, "min": 30, "max": 50, "mean": 40, "median": 40}
    assert summary["columns"]["name"]["frequent"] == {"ann": 2, "ben": 1}


def test_a_value_is_read_out_of_a_json_file(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps({"a/b": [{"c": 1}]}))
    assert desk.read_json_value(path, "/a~1b/0/c") == 1
    assert desk.read_json_value(path) == {"a/b": [{"c": 1}]}


def test_texts_are_compared_searched_and_counted() -> None:
    assert desk.compare_texts("a\nb", "a\nb") == ""
    assert "+c" in desk.compare_texts("a\nb", "a\nc")
    text = "Mail ann@example.org or ann@example.org by 2026-05-31, see https://example.org/a."
    assert desk.extract_matches(text, "email") == ["ann@example.org"]
    assert desk.extract_matches(text, "date") == ["2026-05-31"]
    assert desk.count_words("A b a", top=1) == {"characters": 5, "words": 3, "lines": 1, "frequent": {"a": 2}}


def test_files_are_hashed_and_counted(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("1\n2\n")
    (tmp_path / "b.bin").write_bytes(b"\0\n")
    (tmp_path / ".hidden").write_text("1\n")
    assert desk.count_code_lines(tmp_path) == {".py": 2}
    (tmp_path / "empty").touch()
    assert desk.hash_file(tmp_path / "empty").startswith("e3b0c44298fc1c14")


@pytest.mark.anyio
async def test_each_tool_has_a_description_and_described_parameters() -> None:
    source = PythonSource("desk", "desk", path=DEMO)
    async with source.session():
        listing = await source.listing()
    assert len(listing.tools) == 11
    assert listing.notes == ()
    for tool in listing.tools:
        assert tool.spec.description
        assert all("description" in schema for schema in tool.spec.properties.values()), tool.name
