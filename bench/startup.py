"""CPU seconds of `import pegboard` and `pegboard --help`, beside a bare interpreter. Medians of a few runs."""

import resource
import subprocess
import sys
from pathlib import Path
from statistics import median

PEGBOARD = str(Path(sys.executable).with_name("pegboard"))
CASES = {
    "bare interpreter": [sys.executable, "-c", "pass"],
    "import pegboard": [sys.executable, "-c", "import pegboard"],
    "pegboard --help": [PEGBOARD, "--help"],
    "pegboard list --help": [PEGBOARD, "list", "--help"],
}
RUNS = 9


def cpu_seconds(command: list[str]) -> float:
    """User and system time of one run of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Print one line a case."""
    base = 0.0
    for name, command in CASES.items():
        seconds = median(cpu_seconds(command) for _ in range(RUNS))
        base = base or seconds
        print(f"{name:<22}{seconds:7.3f} s CPU  {seconds / base:5.1f} x")


if __name__ == "__main__":
    main()
