"""What one provider accepts, as a record: the keywords, the limits, and the passes that bring a schema there."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pegboard.schema.lower.node import Node
from pegboard.schema.lower.patterns import anything
from pegboard.schema.lower.work import Work

Pass = Callable[[Work], None]


def any_format(name: str, kinds: tuple[str, ...]) -> bool:
    """Every format."""
    return True


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """One target of lowering.

    Parameters:
        name: what it is called.
        passes: what brings a repaired schema into the dialect, in order.
        emit: the wire form of the tree; None for a tool without arguments, where the provider wants it unset.
        strict: whether the provider holds the model to the schema.
        loose: the dialect that a tool goes out in which cannot be strict.
        keywords: the keywords that a node may have, besides those of its structure.
        formats: whether a format is taken on a node of these types.
        patterns: whether a regular expression is taken.
        most_min_items: the largest `minItems` that is taken; None for any.
        key_pattern: what property keys must match; None for any key.
        top_keys_only: whether that holds for the root's properties only.
        hoists_root: whether a reference to the whole schema is led to a definition.
        name_pattern: what tool names must match.
        description_limit: characters of a tool's description that are taken; None for any.
        tools_limit: tools of one request; None for any.
    """

    name: str
    passes: tuple[Pass, ...]
    emit: Callable[[Node], dict[str, Any] | None]
    strict: bool = False
    loose: str | None = None
    keywords: frozenset[str] = frozenset()
    formats: Callable[[str, tuple[str, ...]], bool] = any_format
    patterns: Callable[[str], bool] = anything
    most_min_items: int | None = None
    key_pattern: str | None = None
    top_keys_only: bool = False
    hoists_root: bool = False
    name_pattern: str = r"[a-zA-Z0-9_-]{1,64}"
    description_limit: int | None = None
    tools_limit: int | None = None
