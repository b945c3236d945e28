"""What a key of `pegboard.toml` is, as data: the parser, the template and the reference page are made from it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


class BadValue(ValueError):
    """A value that a key cannot take.

    Parameters:
        message: what is wrong.
        next_step: what to write.
        at: the place inside the value, such as `[1]`.
    """

    def __init__(self, message: str, next_step: str, *, at: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.next_step = next_step
        self.at = at


@dataclass(frozen=True, slots=True)
class Type:
    """What a key takes.

    Parameters:
        name: as the reference page says it.
        read: from the TOML value and the config's folder to the value that the board uses; raises `BadValue`.
    """

    name: str
    read: Callable[[Any, Path], Any]


@dataclass(frozen=True, slots=True)
class Key:
    """One key of a table.

    Parameters:
        name: as written.
        type: what it takes.
        doc: what it does, in one or two sentences.
        default: what holds when it is not written, as written in TOML; None where nothing holds.
        example: a value to show in the template, in TOML, where the default says too little.
        required: whether the table cannot do without it.
        only_for: for a key of a source that not every target of its kind can use: `program` or `address`.
    """

    name: str
    type: Type
    doc: str
    default: Any = None
    example: str | None = None
    required: bool = False
    only_for: str | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """One table of the file.

    Parameters:
        name: as written between the brackets.
        doc: what it is for.
        keys: its keys, in the order in which they are documented.
        named: whether it holds one table per name (`[NAME.x]`) instead of keys.
        hints: what to write instead of a key that people bring from elsewhere.
    """

    name: str
    doc: str
    keys: tuple[Key, ...]
    named: bool = False
    hints: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class SourceKind:
    """One kind of source: the key that names what to serve, and the keys that only this kind has.

    Parameters:
        key: names the source; its name is the kind's.
        keys: what else this kind takes.
    """

    key: Key
    keys: tuple[Key, ...] = ()

    @property
    def name(self) -> str:
        """The kind, as selectors spell it."""
        return self.key.name
