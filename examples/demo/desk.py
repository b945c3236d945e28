"""Tools for everyday desk work, as plain Python functions: sums, dates, tables, texts and files."""

import ast
import csv
import hashlib
import json
import math
import operator
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from difflib import unified_diff
from pathlib import Path
from statistics import mean, median
from typing import Annotated, Any, Literal

from pegboard import Effects, tool

_SUMS: dict[type, Callable[..., float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
}
_FUNCTIONS: dict[str, Callable[..., float]] = {
    "sqrt": math.sqrt,
    "log": math.log,
    "exp": math.exp,
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "round": round,
    "abs": abs,
    "min": min,
    "max": max,
}
_UNITS: dict[str, tuple[str, float]] = {
    **{name: ("length", size) for name, size in (("mm", 0.001), ("cm", 0.01), ("m", 1), ("km", 1000))},
    **{name: ("length", size) for name, size in (("inch", 0.0254), ("ft", 0.3048), ("yd", 0.9144), ("mile", 1609.344))},
    **{name: ("mass", size) for name, size in (("g", 0.001), ("kg", 1), ("oz", 0.028349523125), ("lb", 0.45359237))},
    **{name: ("time", size) for name, size in (("s", 1), ("min", 60), ("h", 3600), ("day", 86400), ("week", 604800))},
    **{name: ("data", size) for name, size in (("kB", 1e3), ("MB", 1e6), ("GB", 1e9))},
    **{name: ("data", size) for name, size in (("KiB", 2**10), ("MiB", 2**20), ("GiB", 2**30))},
}
Unit = Literal[
    "mm", "cm", "m", "km", "inch", "ft", "yd", "mile",
    "g", "kg", "oz", "lb",
    "s", "min", "h", "day", "week",
    "kB", "MB", "GB", "KiB", "MiB", "GiB",
]  # fmt: skip


@tool(effects=Effects.READ_ONLY)
def calculate(expression: str) -> float:
    """Work out an arithmetic expression, such as `(3 + 4) * sqrt(2)`.

    Args:
        expression: Numbers, + - * / // % **, brackets, pi, e and the functions sqrt, log, exp, sin, cos, tan,
            round, abs, min, max.
    """
    if len(expression) > 1000:
        raise ValueError("The expression is longer than 1000 characters.")
    return _value(ast.parse(expression, mode="eval").body)


@tool(effects=Effects.READ_ONLY)
def convert_unit(amount: float, source: Unit, target: Unit) -> float:
    """Convert an amount between units of length, mass, time or data.

    Args:
        amount: How much of the source unit.
        source: The unit that it is in.
        target: The unit to convert to, of the same quantity.
    """
    (quantity, size), (other, target_size) = _UNITS[source], _UNITS[target]
    if quantity != other:
        raise ValueError(f"{source} is a unit of {quantity}, {target} one of {other}.")
    return amount * size / target_size


@dataclass(frozen=True)
class Day:
    """A day, and where it stands in its year."""

    date: date
    weekday: str
    week: int
    day_of_year: int


@tool(effects=Effects.READ_ONLY)
def today() -> Day:
    """Tell today's date on this machine, its weekday, ISO week and day of the year."""
    now = datetime.now().astimezone().date()
    return Day(now, now.strftime("%A"), now.isocalendar().week, now.timetuple().tm_yday)


@tool(effects=Effects.READ_ONLY)
def days_between(start: date, end: date, working_days: bool = False) -> int:
    """Count the days from one date to another, the start not included.

    Args:
        start: The first date, as YYYY-MM-DD.
        end: The last date, as YYYY-MM-DD.
        working_days: Count Monday to Friday only.
    """
    days = (end - start).days
    if not working_days:
        return days
    step = 1 if days >= 0 else -1
    return step * sum((start + timedelta(n * step)).weekday() < 5 for n in range(1, abs(days) + 1))


@tool(effects=Effects.READ_ONLY)
def summarize_csv(path: Path) -> dict[str, Any]:
    """Describe a CSV file: its columns, number of rows, and for each column the range or the most frequent values.

    Args:
        path: The file.
    """
    with path.open(newline="", encoding="utf-8-sig") as file:
        reader = csv.DictReader(file)
        rows = list(reader)
        columns = reader.fieldnames or []
    return {"rows": len(rows), "columns": {name: _column([row[name] or "" for row in rows]) for name in columns}}


@tool(effects=Effects.READ_ONLY)
def read_json_value(path: Path, pointer: str = "") -> Any:
    """Read one value out of a JSON file.

    Args:
        path: The file.
        pointer: A JSON Pointer to the value, such as `/users/0/name`; empty for the whole file.
    """
    value: Any = json.loads(path.read_text(encoding="utf-8"))
    for part in pointer.split("/")[1:]:
        step = part.replace("~1", "/").replace("~0", "~")
        value = value[int(step)] if isinstance(value, list) else value[step]
    return value


@tool(effects=Effects.READ_ONLY)
def compare_texts(before: str, after: str, context: int = 3) -> str:
    """Show the differences between two texts as a unified diff; empty where they are equal.

    Args:
        before: The older text.
        after: The newer text.
        context: How many unchanged lines to show around each change.
    """
    lines = unified_diff(before.splitlines(), after.splitlines(), "before", "after", lineterm="", n=context)
    return "\n".join(lines)


@tool(effects=Effects.READ_ONLY)
def hash_file(path: Path, algorithm: Literal["sha256", "sha1", "md5", "blake2b"] = "sha256") -> str:
    """Compute a file's checksum in hexadecimal.

    Args:
        path: The file.
        algorithm: The hash function.
    """
    with path.open("rb") as file:
        return hashlib.file_digest(file, algorithm).hexdigest()


@tool(effects=Effects.READ_ONLY)
def extract_matches(text: str, kind: Literal["email", "url", "date", "number"]) -> list[str]:
    """Find all e-mail addresses, web addresses, ISO dates or numbers in a text, in order and without repeats.

    Args:
        text: The text to look in.
        kind: What to look for.
    """
    patterns = {
        "email": r"[\w.+-]+@[\w-]+\.[\w.-]*\w",
        "url": r"https?://[^\s<>\"')\]]+",
        "date": r"\b\d{4}-\d{2}-\d{2}\b",
        "number": r"-?\d+(?:[.,]\d+)*",
    }
    return list(dict.fromkeys(re.findall(patterns[kind], text)))


@tool(effects=Effects.READ_ONLY)
def count_words(
    text: Annotated[str, "The text"], top: Annotated[int, "How many of the most frequent words to list"] = 5
) -> dict[str, Any]:
    """Count the characters, words and lines of a text, and list its most frequent words."""
    words = re.findall(r"\w+", text.lower())
    frequent = sorted(Counter(words).items(), key=lambda item: (-item[1], item[0]))[:top]
    return {"characters": len(text), "words": len(words), "lines": len(text.splitlines()), "frequent": dict(frequent)}


@tool(effects=Effects.READ_ONLY)
def count_code_lines(folder: Path) -> dict[str, int]:
    """Count the lines of text files below a folder by file extension, hidden and dependency folders left out.

    Args:
        folder: Where to start.
    """
    counts: Counter[str] = Counter()
    for path in _text_files(folder):
        counts[path.suffix or path.name] += path.read_bytes().count(b"\n")
    return dict(counts.most_common())


def _value(node: ast.expr) -> float:
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return number
        case ast.Name(id="pi" | "e" as name):
            return getattr(math, name)
        case ast.UnaryOp(op=operation, operand=operand) if type(operation) in _SUMS:
            return _SUMS[type(operation)](_value(operand))
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            return math.pow(_value(left), _value(right))  # floats only: an integer power could fill the memory
        case ast.BinOp(left=left, op=operation, right=right) if type(operation) in _SUMS:
            return _SUMS[type(operation)](_value(left), _value(right))
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _FUNCTIONS:
            return _FUNCTIONS[name](*(_value(arg) for arg in args))
    raise ValueError(f"{ast.unparse(node)!r} is not arithmetic.")


def _column(values: list[str]) -> dict[str, Any]:
    filled = [value for value in values if value]
    summary: dict[str, Any] = {"filled": len(filled), "distinct": len(set(filled))}
    try:
        numbers = [float(value) for value in filled]
    except ValueError:
        return {**summary, "frequent": dict(Counter(filled).most_common(5))}
    if numbers:
        summary |= {"min": min(numbers), "max": max(numbers), "mean": mean(numbers), "median": median(numbers)}
    return summary


def _text_files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder).parts
        skipped = any(part.startswith(".") or part in ("node_modules", "__pycache__") for part in inside)
        if not skipped and path.is_file() and b"\0" not in path.open("rb").read(1024):
            yield path
