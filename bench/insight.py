"""How fast traces are mined, and against what.

    python bench/insight.py TRACES... [--calls 1000000] [--jobs 2]

Prints, for the traces as they are and for copies of them up to `--calls`: seconds, calls a second and the memory of one
process; the time of several processes; and beside it a pandas count of n-grams and prefixspan on the same sequences,
where these are installed. Both only count sequences: no arguments, no loops, no findings.
"""

import argparse
import json
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pegboard.insight.mine import files, local, mine
from pegboard.insight.processes import processes
from pegboard.insight.suggest import suggest
from pegboard.trace import Run
from pegboard.trace.codec import run_to_json
from pegboard.trace.importers import Skipped, read


def timed(work: Callable[[], Any]) -> tuple[float, float, Any]:
    """Seconds on the clock, seconds of this process's CPU, and what came of it."""
    clock, cpu = time.perf_counter(), time.process_time()
    result = work()
    return time.perf_counter() - clock, time.process_time() - cpu, result


def runs_of(paths: list[Path]) -> list[Run]:
    """The runs of some files."""
    return [item for path in files(paths) for item in read(path) if not isinstance(item, Skipped)]


def copies(runs: list[Run], calls: int, path: Path) -> int:
    """Write the runs again and again under other ids, until there are so many calls."""
    total = round_ = 0
    lines = [(len(run.calls), json.dumps(run_to_json(run))) for run in runs]
    with path.open("w") as file:
        while total < calls:
            for size, line in lines:
                file.write(line.replace('"id": "', f'"id": "{round_}-', 1) + "\n")
                total += size
            round_ += 1
    return total


def pandas_ngrams(runs: list[Run]) -> Any:
    """Count sequences of two to four tools with pandas."""
    import pandas

    frame = pandas.DataFrame(
        [(run.id, call.segment, call.tool) for run in runs for call in run.calls], columns=["run", "segment", "tool"]
    )
    group = frame.groupby(["run", "segment"])["tool"]
    for size in range(1, 4):
        frame[f"next{size}"] = group.shift(-size)
    return [
        frame.dropna(subset=[f"next{size}"])
        .groupby(["tool", *(f"next{step}" for step in range(1, size + 1))])["run"]
        .nunique()
        for size in range(1, 4)
    ]


def prefixspan(runs: list[Run]) -> Any:
    """Frequent subsequences of two to four tools with prefixspan."""
    from prefixspan import PrefixSpan  # type: ignore[import-not-found]

    miner = PrefixSpan([[call.tool for call in run.calls] for run in runs])
    miner.minlen, miner.maxlen = 2, 4
    return miner.frequent(max(5, len(runs) // 50))


def peers(runs: list[Run], own: float) -> None:
    """The peers' times beside our own, on the same runs."""
    for name, work in (("pandas n-grams", pandas_ngrams), ("prefixspan", prefixspan)):
        try:
            seconds, _, _ = timed(lambda work=work: work(runs))
        except ImportError:
            print(f"  {name:<28} not installed")
        else:
            print(f"  {name:<28} {seconds:8.2f} s   {seconds / own:6.2f} x ours")


def main() -> None:
    """Run the bench."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("traces", nargs="+", type=Path)
    parser.add_argument("--calls", type=int, default=1_000_000)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    paths = [path for path in files(options.traces) if not path.name.endswith(".key.jsonl.gz")]
    runs = runs_of(paths)
    seconds, cpu, found = timed(lambda: suggest(mine(paths).evidence))
    print(f"as they are: {len(runs)} runs, {sum(len(run.calls) for run in runs)} calls, {len(found)} findings")
    print(f"  {'mined and suggested':<28} {seconds:8.2f} s   {cpu:6.2f} s of CPU")
    peers(runs, seconds)
    with tempfile.TemporaryDirectory() as folder:
        big = Path(folder) / "big.jsonl"
        calls = copies(runs, options.calls, big)
        print(f"copies: {calls} calls, {big.stat().st_size / 1e6:.0f} MB")
        for name, engine in (("one process", local), (f"{options.jobs} processes", processes(options.jobs))):
            seconds, cpu, _ = timed(lambda engine=engine: suggest(mine([big], engine=engine).evidence))
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            print(
                f"  {name:<28} {seconds:8.2f} s   {cpu:6.2f} s of CPU   {calls / seconds:9.0f} calls/s   {peak:.0f} MB"
            )


if __name__ == "__main__":
    main()
