"""The pages of the documentation, taken apart into blocks."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
_FENCE = re.compile(r"^(?P<indent> *)```(?P<language>\w*)\n(?P<text>.*?)^(?P=indent)```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """One fenced block: its language, its text, and the line that it starts at."""

    language: str
    text: str
    line: int

    @property
    def file_name(self) -> str | None:
        """The file that its first line names (`# name.py`), if it does."""
        found = re.match(r"# ([\w.-]+\.(?:py|toml))\n", self.text)
        return found[1] if found else None


def pages() -> list[Path]:
    """Every page."""
    return sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def blocks(page: Path) -> Iterator[Block]:
    """The fenced blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    for found in _FENCE.finditer(text):
        yield Block(found["language"], found["text"], text.count("\n", 0, found.start()) + 1)


def commands(block: Block) -> Iterator[tuple[str, int]]:
    """The commands of a console block, each with the exit code that it must end with."""
    for line in block.text.splitlines():
        if line.startswith("$ "):
            found = re.search(r"# exit code (\d+)", line)
            yield line.removeprefix("$ "), int(found[1]) if found else 0
