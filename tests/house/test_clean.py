"""Nothing that belongs to one machine or one registry stands in a tracked file."""

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
FORBIDDEN = re.compile(
    r"https?://[^ \"]*(?:py" + r"pi|hosted|npm" + r"js)[^ \"]*/|(?:^|[^A-Za-z0-9_./])/(?:wo" + r"rk|fa" + r"rm)/"
)


def tracked() -> list[Path]:
    listing = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / line for line in listing.splitlines()]


def test_no_tracked_file_names_a_registry_host_or_a_path_of_this_machine() -> None:
    found = []
    for path in tracked():
        try:
            text = path.read_text()
        except (UnicodeDecodeError, FileNotFoundError, IsADirectoryError):
            continue
        found += [
            f"{path.relative_to(ROOT)}:{n}" for n, line in enumerate(text.splitlines(), 1) if FORBIDDEN.search(line)
        ]
    assert found == []
