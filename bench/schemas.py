"""Schemas, measured side by side: what is lost per dialect, what compaction keeps, and how fast both ways are.

Run it from the top of the repository: `python bench/schemas.py [FOLDER]`, where FOLDER holds recorded `tools/list`
answers (by default those of the tests). Times are medians of one run; ratios are what to look at.
"""

import gzip
import json
import statistics
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter_ns
from typing import Any

from pegboard.schema.lower import DIALECTS, Lowered, lower
from pegboard.schema.repair import repair
from pegboard.schema.validate import validator

HOME = Path(__file__).parents[1] / "tests/corpus/mcp"
BUDGET = 2_000


def tools(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for path in sorted(folder.glob("*.json*")):
        text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        yield from ((f"{path.name.split('.')[0]}:{tool['name']}", tool) for tool in json.loads(text)["tools"])


def size(value: Any) -> int:
    return len(json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode())


def text(value: Any) -> int:
    """Characters of description text in a schema."""
    if isinstance(value, list):
        return sum(map(text, value))
    if not isinstance(value, dict):
        return 0
    own = value.get("description")
    return (len(own) if isinstance(own, str) else 0) + sum(map(text, value.values()))


def median_us(run: Callable[[], object], rounds: int = 200) -> float:
    times: list[int] = []
    for _ in range(rounds):
        start = perf_counter_ns()
        run()
        times.append(perf_counter_ns() - start)
    return statistics.median(times) / 1000


def losses(rows: list[tuple[str, dict[str, Any]]]) -> None:
    print(f"{'dialect':26}{'tools':>6}{'no loss':>9}{'in words':>9}{'strict':>8}{'ms p50':>8}{'ms p95':>8}  losses")
    for dialect in [name for name in DIALECTS if name != "codex"]:  # which reports nothing of what it drops
        found: list[Lowered] = []
        times: list[int] = []
        for _, tool in rows:
            start = perf_counter_ns()
            found.append(lower(tool["inputSchema"], dialect))
            times.append(perf_counter_ns() - start)
        whole = sum(not one.losses for one in found) / len(found)
        told = sum(all(loss.went == "description" for loss in one.losses) for one in found) / len(found)
        kinds = Counter(f"{loss.keyword}" for one in found for loss in one.losses)
        times.sort()
        print(
            f"{dialect:26}{len(found):6}{whole:9.1%}{told:9.1%}{sum(one.strict for one in found):8}"
            f"{times[len(times) // 2] / 1e6:8.2f}{times[int(len(times) * 0.95)] / 1e6:8.2f}"
            f"  {sum(kinds.values())}: {', '.join(f'{kind} {count}' for kind, count in kinds.most_common(6))}"
        )


def compaction(rows: list[tuple[str, dict[str, Any]]]) -> None:
    largest = sorted(rows, key=lambda row: -size(row[1]["inputSchema"]))[:5]
    heads = "".join(f"{head:>8}" for head in ("before", "ours", "filled", "text", "codex", "filled", "text"))
    print(f"\n{f'under a budget of {BUDGET} bytes':40}{heads}")
    for name, tool in largest:
        schema = tool["inputSchema"]
        ours = lower(schema, "openai-responses", budget=BUDGET).schema
        theirs = lower(schema, "codex", budget=BUDGET).schema
        whole = text(schema) or 1
        print(
            f"{name:40}{size(schema):8}{size(ours):8}{size(ours) / BUDGET:8.0%}{text(ours) / whole:8.0%}"
            f"{size(theirs):8}{size(theirs) / BUDGET:8.0%}{text(theirs) / whole:8.0%}"
        )


def validating(rows: list[tuple[str, dict[str, Any]]]) -> None:
    from jsonschema import Draft202012Validator
    from pydantic import TypeAdapter, create_model

    schema = repair(
        {
            "type": "object",
            "properties": {
                "path": {"type": "string"},
                "depth": {"type": "integer", "minimum": 0, "maximum": 9},
                "kinds": {"type": "array", "items": {"enum": ["file", "folder"]}},
                "options": {"type": "object", "properties": {"hidden": {"type": "boolean"}}},
            },
            "required": ["path"],
        },
        arguments=True,
    ).schema
    value = {"path": "/srv", "depth": 3, "kinds": ["file"], "options": {"hidden": True}}
    ours = median_us(lambda: validator(schema).violations(value), 2000)
    plain = Draft202012Validator(dict(schema))
    theirs = median_us(lambda: plain.is_valid(value), 500)
    model = create_model(
        "Arguments", path=(str, ...), depth=(int, 0), kinds=(list[str], []), options=(dict[str, bool], {})
    )
    adapter: Any = TypeAdapter(model)
    pydantic = median_us(lambda: adapter.validate_python(value), 2000)
    print(f"\nvalidating one call, us: ours {ours:.1f}, jsonschema {theirs:.1f}, pydantic {pydantic:.1f}")
    print(f"ratio to ours: jsonschema {theirs / ours:.1f}, pydantic {pydantic / ours:.1f}")


if __name__ == "__main__":
    corpus = list(tools(Path(sys.argv[1]) if len(sys.argv) > 1 else HOME))
    losses(corpus)
    compaction(corpus)
    validating(corpus)
