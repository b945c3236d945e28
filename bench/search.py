"""How fast search is, what it weighs, and how it compares: 1,000, 10,000 and 100,000 tools.

    python bench/search.py [--sizes 1000,10000,100000] [--encoder] [--bench DIR]

Tools and requests come from a folder of sets (`pool` of it, or all of them); beyond their number, tools are made by
joining the names and descriptions of two. FastMCP's index answers the same requests on the same machine, so that the
ratio stands whatever the machine. Every size is measured in a process of its own, on one thread; a column `CPU` is
processor time, which the machine's other work does not lengthen.
"""

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import median

ONE_THREAD = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
SEED = 7340


def catalog(folder: Path, size: int) -> tuple[list[dict], list[str]]:
    """So many tools, and requests to them."""
    from pegboard.bench.sets import read_sets

    sets = {found.name: found for found in read_sets(folder)}
    chosen = [sets["pool"]] if "pool" in sets else list(sets.values())
    tools = {(tool.get("namespace") or "", tool["name"]): tool for found in chosen for tool in found.tools}
    queries = [query["query"] for found in chosen for query in found.queries]
    rng = random.Random(SEED)
    rows, made = list(tools.values()), []
    rng.shuffle(rows)
    while len(rows) + len(made) < size:
        a, b = rng.sample(rows, 2)
        name = f"{a['name']}_{b['name']}_{len(made)}"[-60:]
        text = f"{a.get('description') or ''} {b.get('description') or ''}"
        made.append({**a, "id": f"made{len(made)}", "name": name, "description": text})
    rng.shuffle(queries)
    return (rows + made)[:size], queries[:300]


def timed(run: Callable[[str], object], queries: Iterable[str]) -> tuple[float, float, float]:
    """Milliseconds a request: median, 95th percentile, and median processor time."""
    wall, processor = [], []
    for query in queries:
        started, used = time.perf_counter(), time.process_time()
        run(query)
        wall.append((time.perf_counter() - started) * 1000)
        processor.append((time.process_time() - used) * 1000)
    return median(wall), sorted(wall)[int(0.95 * len(wall))], median(processor)


def memory() -> float:
    """Megabytes that this process holds now."""
    with Path("/proc/self/statm").open() as stream:
        return int(stream.read().split()[1]) * resource.getpagesize() / 2**20


def measure(options: argparse.Namespace) -> dict:
    """One size, in this process."""
    from dataclasses import replace

    from pegboard import index
    from pegboard.bench import spec_of
    from pegboard.bench.peers import fastmcp

    rows, queries = catalog(options.bench, options.size)
    specs = [spec_of(row) for row in rows]
    del rows[options.peer :]
    make = index.with_encoder if options.encoder else index.default
    before = memory()
    engine = make()
    started = time.process_time()
    engine.update(put=specs)
    engine.wait()
    found: dict[str, float] = {"build s": time.process_time() - started, "memory MB": memory() - before}
    for query in queries[:20]:
        engine.search(query)
    found["p50 ms"], found["p95 ms"], found["p50 CPU ms"] = timed(engine.search, queries)
    started = time.process_time()
    for spec in specs[:50]:
        engine.update(put=[replace(spec, description=spec.description + " anew")])
    found["change one, ms"] = (time.process_time() - started) / 50 * 1000
    with tempfile.TemporaryDirectory() as place:
        engine.save(Path(place) / "index.npz")
        again = make()
        started = time.process_time()
        again.load(Path(place) / "index.npz", engine.tools.specs)
        found["load s"] = time.process_time() - started
    if options.size <= options.peer:
        peer = fastmcp(rows)
        found["FastMCP p50 ms"], _, found["FastMCP CPU ms"] = timed(lambda query: peer(query, 8), queries[:60])
        found["ratio"] = found["FastMCP CPU ms"] / found["p50 CPU ms"]
    return found


def first_query(options: argparse.Namespace) -> dict:
    """A stored catalog of 1,000 tools: import, load and first request, in a fresh process."""
    rows, queries = catalog(options.bench, 1000)
    with tempfile.TemporaryDirectory() as place:
        stored = Path(place) / "rows.json"
        stored.write_text(json.dumps(rows))
        script = (
            "import json, sys, time; rows = json.load(open(sys.argv[1])); used = time.process_time()\n"
            "from pathlib import Path; from pegboard import index; from pegboard.bench import spec_of\n"
            "engine = index.default(); path = Path(sys.argv[1]).with_name('index.npz')\n"
            "engine.load(path, [spec_of(row) for row in rows]); engine.search(sys.argv[2])\n"
            "print(time.process_time() - used); engine.save(path)\n"
        )
        times = []
        for _ in range(6):
            done = subprocess.run(
                [sys.executable, "-c", script, str(stored), queries[0]], capture_output=True, check=True
            )
            times.append(float(done.stdout))
        return {"build and first": times[0], "load and first": median(times[1:])}


def main() -> None:
    """Print one line a size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="1000,10000,100000")
    parser.add_argument("--bench", type=Path, default=Path("../shared/bench"))
    parser.add_argument("--encoder", action="store_true")
    parser.add_argument("--peer", type=int, default=10_000, help="measure FastMCP up to so many tools")
    parser.add_argument("--size", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.size:
        print(json.dumps(measure(options)))
        return
    for size in options.sizes.split(","):
        command = [sys.executable, __file__, *sys.argv[1:], "--size", size]
        done = subprocess.run(command, env={**os.environ, **ONE_THREAD}, capture_output=True, text=True, check=True)
        found = json.loads(done.stdout)
        print(
            f"{int(size):>7,} tools  " + "  ".join(f"{name} {value:.3g}" for name, value in found.items()), flush=True
        )
    print(
        "stored catalog of 1,000 tools, CPU s: ",
        {name: round(value, 3) for name, value in first_query(options).items()},
    )


if __name__ == "__main__":
    main()
