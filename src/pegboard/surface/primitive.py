"""The rows of a board's lists of resources, templates and prompts: under its own names, all else as it came."""

from collections.abc import Callable

from pegboard.catalog.uri import board_uri
from pegboard.core.primitive import Primitive
from pegboard.schema.types import JsonObject
from pegboard.surface.forms import PRIMITIVES, trim


def row(
    kind: Primitive, found: JsonObject, source: str, wire_name: Callable[[str], str]
) -> tuple[JsonObject, list[str]]:
    """One row of a list, and JSON pointers of the fields that were left out, for no client would take them.

    Parameters:
        kind: of which list.
        found: the row as it came, with its key.
        source: the source's name.
        wire_name: the name on the board of a prompt of the source.
    """
    lost: list[str] = []
    kept = dict(trim(found, PRIMITIVES[kind.value], "", lost))
    key = str(found[kind.key])
    if kind is Primitive.PROMPTS:
        kept["name"] = wire_name(key)
    else:
        kept[kind.key] = board_uri(source, key)
        kept.setdefault("name", key)
    return kept, lost
