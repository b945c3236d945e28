"""How fast search is, what it weighs, and how it compares: 1,000, 10,000 and 100,000 tools.

    python bench/search.py [--sizes 1000,10000,100000] [--bench DIR] [--peer 10000] [--no-encoder]

Tools and requests come from a folder of sets (its `pool`, or all of them); without one, tools are the recorded ones of
the tests and requests are made of their descriptions. Beyond their number, tools are made by joining the names and
descriptions of two. All requests differ: `cold` is the first pass over them, `warm` the second. FastMCP's index and
plain BM25 answer the same requests on the same machine, so that the ratios stand whatever the machine. Every size is
measured in a process of its own, on one thread; CPU is processor time, which the machine's other work does not lengthen
much. The encoder's documents are 500 vectors over and over: how long a request takes does not depend on them.
"""

import argparse
import gzip
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

ONE_THREAD = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
SEED = 7340
REQUESTS = 300
RECORDED = Path(__file__).parents[1] / "tests/corpus/mcp"
BARS = {
    "p50 ms, cold": {1_000: 0.3, 10_000: 0.8, 100_000: 6},
    "p50 ms, warm": {1_000: 0.3, 10_000: 0.8, 100_000: 6},
    "p50 CPU ms, warm": {1_000: 0.3, 10_000: 0.8, 100_000: 6},
    "build CPU s": {10_000: 2},
    "load CPU s": {10_000: 0.3},
    "add one, CPU ms": {1_000: 1, 10_000: 1, 100_000: 1},
    "memory MB": {100_000: 400},
    "encoder p50 ms": {10_000: 5},
    "times FastMCP": {10_000: 20},
}
"""What issue 5 asks for, by the number of tools; a ratio must be greater, all else smaller."""


def catalog(folder: Path, size: int) -> tuple[list[dict[str, Any]], list[str]]:
    """So many tools, and requests to them."""
    tools, queries = _of_sets(folder) if folder.is_dir() else _recorded()
    rng = random.Random(SEED)
    rows, made = list({(tool.get("namespace") or "", tool["name"]): tool for tool in tools}.values()), []
    rng.shuffle(rows)
    while len(rows) + len(made) < size:
        a, b = rng.sample(rows, 2)
        name = f"{a['name']}_{b['name']}_{len(made)}"[-60:]
        text = f"{a.get('description') or ''} {b.get('description') or ''}"
        made.append({**a, "id": f"made{len(made)}", "name": name, "description": text})
    queries = sorted(set(queries))
    rng.shuffle(queries)
    return (rows + made)[:size], queries[:REQUESTS]


def _of_sets(folder: Path) -> tuple[list[dict[str, Any]], list[str]]:
    from pegboard.bench.sets import read_sets

    sets = {found.name: found for found in read_sets(folder)}
    chosen = [sets["pool"]] if "pool" in sets else list(sets.values())
    return [dict(tool) for found in chosen for tool in found.tools], [
        query["query"] for found in chosen for query in found.queries
    ]


def _recorded() -> tuple[list[dict[str, Any]], list[str]]:
    """Recorded tools, and requests of the beginnings of their descriptions."""
    tools: list[dict[str, Any]] = []
    for path in sorted(RECORDED.glob("*.json*")):
        text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        space = path.name.split(".")[0]
        for tool in json.loads(text)["tools"]:
            tools.append(
                {**tool, "id": f"{space}.{tool['name']}", "namespace": space, "parameters": tool["inputSchema"]}
            )
    told = [(tool.get("description") or "").split() for tool in tools]
    return tools, [f"I need to {' '.join(words[:16]).rstrip('.')}, please" for words in told if len(words) > 5]


def timed(run: Callable[[str], object], queries: Sequence[str]) -> tuple[float, float, float]:
    """Milliseconds a request: median, 95th percentile, and median processor time."""
    wall: list[float] = []
    processor: list[float] = []
    for query in queries:
        used = time.process_time()
        started = time.perf_counter()
        run(query)
        wall.append((time.perf_counter() - started) * 1000)
        processor.append((time.process_time() - used) * 1000)
    return median(wall), sorted(wall)[int(0.95 * len(wall))], median(processor)


def used(run: Callable[[], object]) -> float:
    """The processor seconds that something takes."""
    started = time.process_time()
    run()
    return time.process_time() - started


def memory() -> float:
    """Megabytes that this process holds now."""
    with Path("/proc/self/statm").open() as stream:
        return int(stream.read().split()[1]) * resource.getpagesize() / 2**20


def measure(options: argparse.Namespace) -> dict[str, float]:
    """One size, in this process."""
    from pegboard import index
    from pegboard.bench import spec_of
    from pegboard.bench.peers import fastmcp, plain_bm25
    from pegboard.index.engine import ToolIndex
    from pegboard.index.static import bundled

    rows, queries = catalog(options.bench, options.size)
    specs = [spec_of(row) for row in rows]
    before = memory()
    engine = ToolIndex(*filter(None, [bundled()]))
    found = {"build CPU s": used(lambda: engine.update(put=specs))}
    found["p50 ms, cold"], found["p95 ms, cold"], found["p50 CPU ms, cold"] = timed(engine.search, queries)
    found["p50 ms, warm"], found["p95 ms, warm"], found["p50 CPU ms, warm"] = timed(engine.search, queries)
    found["memory MB"] = memory() - before
    found |= changes(engine, specs)
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "index.bin"
        found["save CPU s"] = used(lambda: engine.save(path))
        again = index.default()
        found["load CPU s"] = used(lambda: again.load(path, engine.tools.specs))  # type: ignore[attr-defined]
    if options.size <= options.peer:
        for name, build in (("plain BM25", plain_bm25), ("FastMCP", fastmcp)):
            peer = build(rows)
            _, _, found[f"{name} CPU ms"] = timed(lambda query, peer=peer: peer(query, 8), queries[:60])
            found[f"times {name}"] = found[f"{name} CPU ms"] / found["p50 CPU ms, cold"]
        if options.encoder:
            found |= with_encoder(specs, queries)
    return found


def changes(engine: Any, specs: Sequence[Any]) -> dict[str, float]:
    """Tools that are changed, added and removed one by one, each looked for at once."""
    some = specs[:: max(1, len(specs) // 50)][:50]
    new = [replace(spec, name=replace(spec.name, name=f"{spec.name.name}_anew")) for spec in some]
    changed = [replace(spec, description=f"{spec.description} changed") for spec in some]
    found = {
        "change one, CPU ms": median(used(lambda spec=spec: engine.update(put=[spec])) for spec in changed) * 1000,
        "add one, CPU ms": median(used(lambda spec=spec: engine.update(put=[spec])) for spec in new) * 1000,
        "first request after it, CPU ms": 0.0,
    }
    later: list[float] = []
    for spec in new:
        engine.update(put=[replace(spec, description=f"{spec.description} again")])
        later.append(used(lambda spec=spec: engine.search(spec.description[:100])))
        assert str(engine.search(str(spec.name)).hits[0].name) == str(spec.name)
    found["first request after it, CPU ms"] = median(later) * 1000
    removed = [used(lambda spec=spec: engine.update(remove=[spec.name])) for spec in new]
    assert all(str(spec.name) not in map(str, (hit.name for hit in engine.search(str(spec.name)).hits)) for spec in new)
    return {**found, "remove one, CPU ms": median(removed) * 1000}


class Repeated:
    """The sentence encoder, whose documents are those of the first tools over and over."""

    def __init__(self, encoder: Any, texts: int = 500) -> None:
        self.name, self.dim, self.ordered, self.english = encoder.name, encoder.dim, encoder.ordered, encoder.english
        self.axes = encoder.axes
        self.embed_query = encoder.embed_query
        self._encoder = encoder
        self._texts = texts
        self._rows: list[Any] = []
        self._next = 0

    def embed_docs(self, texts: Sequence[str]) -> Any:
        """One row a text."""
        import numpy as np

        if len(self._rows) < self._texts:
            self._rows += list(self._encoder.embed_docs(texts))
        first, self._next = self._next, self._next + len(texts)
        return np.array([self._rows[n % len(self._rows)] for n in range(first, self._next)])


def with_encoder(specs: Sequence[Any], queries: Sequence[str]) -> dict[str, float]:
    """The time of a request with the sentence encoder, where it is installed."""
    from pegboard.errors import MissingExtraError
    from pegboard.index.encoder import bundled_encoder
    from pegboard.index.engine import ToolIndex
    from pegboard.index.static import bundled

    try:
        engine = ToolIndex(*filter(None, [bundled()]), Repeated(bundled_encoder()))
    except MissingExtraError:
        return {}
    engine.update(put=specs)
    engine.wait()
    wall, slow, processor = timed(engine.search, queries[:150])
    return {"encoder p50 ms": wall, "encoder p95 ms": slow, "encoder p50 CPU ms": processor}


def first_query(options: argparse.Namespace) -> list[tuple[str, float]]:
    """A stored catalog of 1,000 tools: import, load and first request, in a fresh process whose modules are compiled.

    A machine whose settings forbid to keep compiled modules would measure the compiler.
    """
    rows, queries = catalog(options.bench, 1000)
    with tempfile.TemporaryDirectory() as place:
        stored = Path(place) / "rows.json"
        stored.write_text(json.dumps(rows))
        script = (
            "import json, sys, time; rows = json.load(open(sys.argv[1])); used = time.process_time()\n"
            "from pathlib import Path; from pegboard import index; from pegboard.bench import spec_of\n"
            "engine = index.default(); path = Path(sys.argv[1]).with_name('index.bin')\n"
            "engine.load(path, [spec_of(row) for row in rows]); engine.search(sys.argv[2])\n"
            "print(time.process_time() - used); engine.save(path)\n"
        )
        compiled = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": place}

        def run(script: str) -> float:
            command = [sys.executable, "-c", script, str(stored), queries[0]]
            done = subprocess.run(command, capture_output=True, check=True, env=os.environ | ONE_THREAD | compiled)
            return float(done.stdout)

        run("import pegboard.index.engine, pegboard.bench; print(0)")
        built = run(script)
        loaded = median(run(script) for _ in range(5))
        floor = median(run(NUMPY) for _ in range(5))
    return [
        ("import, build and first request, 1,000 tools, CPU s", built),
        (FIRST, loaded),
        ("of it the import of numpy", floor),
    ]


NUMPY = "import time; used = time.process_time(); import numpy; print(time.process_time() - used)"
FIRST = "import, load and first request, 1,000 stored tools, CPU s"


def table(columns: dict[int, dict[str, float]]) -> None:
    """A row a figure, a column a size, the bar in brackets."""
    print("| figure |" + "".join(f" {size:,} |" for size in columns))
    print("|---|" + "---|" * len(columns))
    for name in dict.fromkeys(name for found in columns.values() for name in found):
        cells = [
            f"{found[name]:.3g}" + (f" ({BARS[name][size]:g})" if size in BARS.get(name, {}) else "")
            if name in found
            else ""
            for size, found in columns.items()
        ]
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="1000,10000,100000")
    parser.add_argument("--bench", type=Path, default=Path(__file__).parents[2] / "shared/bench")
    parser.add_argument("--encoder", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument(
        "--peer", type=int, default=10_000, help="measure FastMCP, plain BM25 and the encoder up to so many tools"
    )
    parser.add_argument("--size", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.size:
        print(json.dumps(measure(options)))
        return
    from pegboard.index import kernel

    if told := kernel.slower(kernel.compiled):
        print(told, file=sys.stderr)
    columns: dict[int, dict[str, float]] = {}
    for size in map(int, options.sizes.split(",")):
        command = [sys.executable, __file__, *sys.argv[1:], "--size", str(size)]
        done = subprocess.run(command, env=os.environ | ONE_THREAD, stdout=subprocess.PIPE, text=True, check=True)
        columns[size] = json.loads(done.stdout)
        print(f"{size:,} tools are measured", file=sys.stderr, flush=True)
    table(columns)
    for name, value in first_query(options):
        print(f"{name}: {value:.3f}" + (" (0.4)" if name == FIRST else ""))


if __name__ == "__main__":
    main()
