"""What the values of one argument look like, as a regular expression that finds them in a text."""

import re
from dataclasses import dataclass, field
from os.path import commonprefix
from typing import Self

_CLASSES = (("0-9", str.isdigit), ("a-z", str.islower), ("A-Z", str.isupper))
_LOOSE = 48
"""Values that may be longer are no ids, and no expression is offered for them."""


@dataclass(slots=True)
class Pattern:
    """A generalisation of texts, the same in any order of merging.

    Parameters:
        shortest: the least length.
        longest: the greatest length.
        prefix: what all begin with.
        characters: the classes (`0-9`, `a-z`, `A-Z`) and the other characters that occur after any common prefix.
    """

    shortest: int = 1 << 30
    longest: int = 0
    prefix: str | None = None
    characters: set[str] = field(default_factory=set[str])

    def add(self, text: str) -> None:
        """Take in a value."""
        self._widen(len(text), len(text), text)
        self.characters.update(map(_class_of, set(text)))

    def merge(self, other: Self) -> None:
        """Take in the values of another part of the traces."""
        if other.prefix is not None:
            self._widen(other.shortest, other.longest, other.prefix)
            self.characters.update(other.characters)

    @property
    def expression(self) -> str | None:
        """A regular expression that matches each value as a whole; None where they have too little in common."""
        if self.prefix is None or self.longest > _LOOSE or any(character.isspace() for character in self.characters):
            return None
        fixed = self.prefix[: max((at for at, item in enumerate(self.prefix) if not item.isalnum()), default=-1) + 1]
        least, most = self.shortest - len(fixed), self.longest - len(fixed)
        classes = "".join(name for name, _ in _CLASSES if name in self.characters)
        others = "".join(re.escape(item) for item in sorted(self.characters) if len(item) == 1 and item not in fixed)
        if least < 1 or not classes + others:
            return None
        return f"{re.escape(fixed)}[{classes}{others}]{{{least}{'' if least == most else f',{most}'}}}"

    def _widen(self, shortest: int, longest: int, prefix: str) -> None:
        self.shortest, self.longest = min(self.shortest, shortest), max(self.longest, longest)
        self.prefix = prefix if self.prefix is None else commonprefix([self.prefix, prefix])


def _class_of(character: str) -> str:
    return next((name for name, holds in _CLASSES if character.isascii() and holds(character)), character)
