"""The project's own documentation, by topic and by search."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

TOPICS: Mapping[str, tuple[str, ...]] = {
    "agent-design": ("howto/agents", "howto/approvals", "howto/limit-calls"),
    "subagent-delegation": ("howto/agents#Subagents",),
    "tool-design": ("howto/python-tools", "howto/findable-tools", "howto/compose", "howto/check-tools"),
}
"""Topics that are made of several pages, or of a part of one; every other page is a topic of its own."""
MOST = 5
_WORD = re.compile(r"[a-z0-9_]+")
_HEADING = re.compile(r"^(#+) (.+)$", re.M)
_SHORTEST = 3


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a topic, from one heading to the next.

    Parameters:
        topic: the topic.
        heading: its heading.
        text: what stands under it.
    """

    topic: str
    heading: str
    text: str

    def score(self, words: Iterable[str]) -> float:
        """How well it meets the words of a question: each counts once in the text and thrice in topic or heading."""
        text, head = set(_WORD.findall(self.text.lower())), set(_WORD.findall(f"{self.topic} {self.heading}".lower()))
        return sum((word in text) + 3 * (word in head) for word in words)


def folder() -> Path | None:
    """Where the documentation lies: beside the sources, or in the package where that was built; None where nowhere."""
    package = Path(__file__).parents[1]
    for found in (package.parents[1] / "docs", package / "documentation"):
        if (found / "glossary.md").is_file():
            return found
    return None


def topics() -> dict[str, str]:
    """Every topic with its text, in order. Blocks."""
    home = folder()
    if home is None:
        return {}
    pages = {path.stem: path.read_text("utf-8") for path in sorted(home.rglob("*.md"))}
    made = {name: "\n\n".join(_part(pages, part) for part in parts) for name, parts in TOPICS.items()}
    return {**made, **pages}


def search(texts: Mapping[str, str], query: str) -> list[Section]:
    """The sections that meet a question best, at most one of the same words."""
    words = {word for word in _WORD.findall(query.lower()) if len(word) >= _SHORTEST}
    found = [section for name, text in texts.items() if name not in TOPICS for section in sections(name, text)]
    scored = [(section.score(words), at, section) for at, section in enumerate(found)]
    best = sorted((row for row in scored if row[0] > 0), key=lambda row: (-row[0], row[1]))
    return [section for _, _, section in best[:MOST]]


def sections(topic: str, text: str) -> Sequence[Section]:
    """A topic's text cut at its headings."""
    heads = list(_HEADING.finditer(text))
    ends = [*(head.start() for head in heads[1:]), len(text)]
    return [Section(topic, head[2], text[head.end() : end].strip()) for head, end in zip(heads, ends, strict=True)] or [
        Section(topic, topic, text.strip())
    ]


def _part(pages: Mapping[str, str], name: str) -> str:
    page, _, heading = name.partition("#")
    text = pages.get(page.rpartition("/")[2], "")
    if not heading:
        return text
    return next((f"# {one.heading}\n\n{one.text}" for one in sections(page, text) if one.heading == heading), text)
