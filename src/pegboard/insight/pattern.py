"""What the values of one argument look like, as a regular expression that finds them in a text."""

import re
from dataclasses import dataclass, field
from os.path import commonprefix
from string import ascii_lowercase, ascii_uppercase, digits
from typing import Self

_CLASSES = {"0-9": frozenset(digits), "a-z": frozenset(ascii_lowercase), "A-Z": frozenset(ascii_uppercase)}
_CLASSED = frozenset(digits + ascii_lowercase + ascii_uppercase)
_LOOSE = 48
"""Values that may be longer are no ids, and no expression is offered for them."""


@dataclass(slots=True)
class Pattern:
    """A generalisation of texts, the same in any order of merging.

    Parameters:
        shortest: the least length.
        longest: the greatest length.
        prefix: what all begin with.
        characters: the characters that occur.
        marks: those that are neither letter nor digit, with the most times that a value has each.
    """

    shortest: int = 1 << 30
    longest: int = 0
    prefix: str | None = None
    characters: set[str] = field(default_factory=set[str])
    marks: dict[str, int] = field(default_factory=dict[str, int])

    def add(self, text: str) -> None:
        """Take in a value."""
        size, prefix = len(text), self.prefix
        if prefix is None or size < self.shortest or size > self.longest or not text.startswith(prefix):
            self._widen(size, size, text)
        if not self.characters.issuperset(text):
            self.characters.update(text)
            for mark in self.characters - _CLASSED:
                self.marks.setdefault(mark, 0)
        for mark, most in self.marks.items():
            times = text.count(mark)
            if times > most:
                self.marks[mark] = times

    def merge(self, other: Self) -> None:
        """Take in the values of another part of the traces."""
        if other.prefix is not None:
            self._widen(other.shortest, other.longest, other.prefix)
            self.characters.update(other.characters)
            for mark, times in other.marks.items():
                self.marks[mark] = max(times, self.marks.get(mark, 0))

    @property
    def expression(self) -> str | None:
        """A regular expression that matches each value as a whole; None where they have too little in common."""
        if self.prefix is None or self.longest > _LOOSE or any(character.isspace() for character in self.characters):
            return None
        prefix = (
            "" if len(self.prefix) == self.longest else self.prefix
        )  # one value alone is no pattern, maybe a secret
        fixed = prefix[: max((at for at, item in enumerate(prefix) if not item.isalnum()), default=-1) + 1]
        least, most = self.shortest - len(fixed), self.longest - len(fixed)
        classes = "".join(name for name, members in _CLASSES.items() if not members.isdisjoint(self.characters))
        others = "".join(re.escape(mark) for mark in sorted(self.marks) if self.marks[mark] > fixed.count(mark))
        if least < 1 or not classes + others:
            return None
        return f"{re.escape(fixed)}[{classes}{others}]{{{least}{'' if least == most else f',{most}'}}}"

    def _widen(self, shortest: int, longest: int, prefix: str) -> None:
        if shortest < self.shortest:
            self.shortest = shortest
        if longest > self.longest:
            self.longest = longest
        if self.prefix is None:
            self.prefix = prefix
        elif not prefix.startswith(self.prefix):
            self.prefix = commonprefix([self.prefix, prefix])
