"""What could be on the board, as the meta-tools name it where nothing on the board fits well."""

from collections.abc import Iterable, Sequence

from pegboard.core import Discoverable
from pegboard.discovery.answers import one_line
from pegboard.index import Found
from pegboard.schema.types import JsonObject

GOOD, MOSTLY = 0.5, 0.75
"""A hit is good from this confidence on, or with its name and this share of the words; without one others are named."""
FITS = 0.3
"""A search less sure than this found nothing that fits."""


def is_good(found: Found) -> bool:
    """Whether the best hit is one by its words: sure, or with its name and most of what was asked for."""
    if not found.hits:
        return False
    best = found.hits[0]
    words = {word for matched in best.matched.values() for word in matched}
    share = len(words) / (len(words) + len(best.unmatched)) if words else 0.0
    return best.confidence >= GOOD or ("name" in best.matched and share >= MOSTLY)


def rows(found: Iterable[Discoverable]) -> list[JsonObject]:
    """Which id to ask for, what it is, and what it needs."""
    return [{**one.to_json(), "description": one_line(one.description)} for one in found]


def told(found: Sequence[JsonObject], head: str = "Not on this server, and can be asked for") -> list[str]:
    """The same as text, with how to ask for one."""
    if not found:
        return []
    return [f"{head} with request_plugin_install:", *map(_line, found)]


def _line(row: JsonObject) -> str:
    named = f"tool_id {row['tool_id']!r}, tool_type {row['tool_type']}, action_type {row['action_type']}"
    return f"- {row['name']} ({named}): {row.get('description', '')}"
