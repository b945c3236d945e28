"""Wire names: the one legal, stable name of each tool on every provider's wire.

A wire name has at most 64 characters of `[A-Za-z0-9_-]`, the first no digit and no hyphen, which every provider
takes (specs 1). It is readable first
(`namespace__name`); where that is not legal, not short enough or already taken, a hash of the full name makes it
unique. The table is stored: a newcomer never renames a tool that already has its name.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Self

from pegboard.core import ToolName

LIMIT = 64
_HASH = 8


def readable_name(name: ToolName) -> str:
    """The legal spelling of a full name, before shortening: `namespace__name`, foreign letters folded or dropped."""
    parts = [_fold(part) for part in (name.namespace, name.name, name.version or "")]
    joined = "__".join(part for part in parts[:2] if part)
    spelled = f"{joined}_{parts[2]}" if parts[2] else joined
    return f"_{spelled}" if spelled and not re.match(r"[A-Za-z_]", spelled) else spelled  # Gemini wants such a start


def _fold(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return re.sub(r"[^A-Za-z0-9_-]+", "_", plain).strip("_-" if plain != text else "")


def _legal(name: ToolName) -> bool:
    text = f"{name.namespace}__{name.name}" if name.namespace else name.name
    return (
        name.version is None and len(readable_name(name)) <= LIMIT and re.fullmatch(r"[A-Za-z0-9_-]+", text) is not None
    )


def _hashed(name: ToolName) -> str:
    suffix = hashlib.sha256(repr((name.namespace, name.name, name.version)).encode()).hexdigest()[:_HASH]
    stem = readable_name(name)[: LIMIT - _HASH - 1].rstrip("_-")
    return f"{stem}_{suffix}" if stem else f"tool_{suffix}"


@dataclass(frozen=True)
class AliasTable:
    """Which wire name each tool has; both directions are by table only, never by taking a name apart.

    Parameters:
        wire: wire name by full name.
    """

    wire: Mapping[ToolName, str] = field(default_factory=dict[ToolName, str])

    def extend(self, names: Iterable[ToolName], *, reserved: Iterable[str] = ()) -> Self:
        """A table that also covers `names`; the names that it has already stay as they are.

        Parameters:
            names: the tools of the board now.
            reserved: wire names that tools may not take (the meta-tools').
        """
        wire = dict(self.wire)
        taken = {*wire.values(), *reserved}
        for name in sorted(set(names) - wire.keys(), key=lambda name: (not _legal(name), name_key(name))):
            alias = readable_name(name)
            if not _legal(name) or alias in taken:
                alias = _hashed(name)
            wire[name] = alias
            taken.add(alias)
        return type(self)(wire)

    @cached_property
    def full(self) -> Mapping[str, ToolName]:
        """Full name by wire name."""
        return {alias: name for name, alias in self.wire.items()}

    def __getitem__(self, name: ToolName) -> str:
        return self.wire[name]


def name_key(name: ToolName) -> tuple[str, str, str]:
    """Sorts names, those without a version first."""
    return (name.namespace, name.name, name.version or "")
