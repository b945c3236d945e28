"""The documentation that installed plugins bring."""

from contextlib import suppress
from pathlib import Path

from pegboard.core.discoverable import Topic
from pegboard.directory.reading import Unreadable
from pegboard.directory.skill import FILE, read_skill
from pegboard.directory.state import State


def installed_topics(state: State) -> tuple[Topic, ...]:
    """The topics of every installed plugin that is not switched off, in order. Blocks."""
    found: list[Topic] = []
    for folder in dict.fromkeys(one.folder for one in state.sources.values() if not state.switched.get(one.name)):
        for path in [] if folder is None else sorted(Path(folder, "plugin", "skills").glob(f"*/{FILE}")):
            with suppress(Unreadable):
                found.append(read_skill(path))
    return tuple(found)
