"""Skills of a plugin, read as documentation topics. Nothing of a skill is ever run.

Source: the Agent Skills format (a folder with a SKILL.md, whose front matter is YAML).
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from pegboard.core.discoverable import Topic
from pegboard.directory.reading import Unreadable, text_of
from pegboard.errors import PegboardError
from pegboard.sources.document import read_document

FILE = "SKILL.md"
_FRONT = re.compile(r"\A\ufeff?---[ \t]*\r?\n(.*?)^---[ \t]*\r?$", re.DOTALL | re.MULTILINE)
_LARGEST = 1_000_000


def read_skill(path: Path) -> Topic:
    """The topic of one SKILL.md.

    Raises:
        Unreadable: it has no front matter with a name and a description.
    """
    try:
        text = path.read_bytes()[:_LARGEST].decode("utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        raise Unreadable(f"{FILE} cannot be read: {problem}.") from problem
    found = _FRONT.match(text)
    if found is None:
        raise Unreadable(f"{FILE} has no front matter.", "Begin it with ---, name, description, and --- again.")
    try:
        front = read_document(found[1].encode(), str(path))
    except PegboardError as problem:
        raise Unreadable(problem.message, problem.next_step or "") from problem
    if not isinstance(front, Mapping):
        raise Unreadable("Its front matter is no table.", "Write name and description there.")
    fields = cast("Mapping[str, Any]", front)
    name = text_of(fields, "name", longest=100)
    more = {key: value for key, value in fields.items() if key not in ("name", "description")}
    return Topic(name, text_of(fields, "description"), str(path), more)


def body_of(topic: Topic) -> str:
    """What a topic teaches: its text without the front matter; untrusted text."""
    text = Path(topic.path).read_text(encoding="utf-8")
    found = _FRONT.match(text)
    return (text[found.end() :] if found else text).strip()
