"""The one grammar that picks tools, in every place that picks tools.

    github.*               a glob over `namespace.name`
    *.delete_*             the same
    delete_*               without a dot: a bare name in any namespace
    mcp:*                  tools of a kind of source, by a glob over `namespace.name` or a bare name
    effects:destructive    by effects
    category:x             by category (a glob)
    !github.*              exclude

In a list, a tool is picked when at least one plain selector matches it and no excluding one does; a list of
excluding selectors alone picks all the others.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import translate
from functools import lru_cache
from typing import Self

from pegboard.core.spec import Effects, ToolSpec
from pegboard.errors import DefinitionError, nearest

_KIND = re.compile(r"[a-z][a-z0-9_]*")


@lru_cache(maxsize=4096)
def _glob(pattern: str) -> re.Pattern[str]:
    return re.compile(translate(pattern))


@dataclass(frozen=True, slots=True)
class Selector:
    """One term of the grammar, read. Make it with `Selector.parse`.

    Parameters:
        text: the term as written.
        exclude: whether it excludes.
        field: `name`, `effects`, `category`, or a kind of source.
        pattern: the glob or value.
    """

    text: str
    exclude: bool
    field: str
    pattern: str

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read one term.

        Raises:
            DefinitionError: the term is empty, or names an effect that does not exist.
        """
        exclude = text.startswith("!")
        body = text.removeprefix("!").strip()
        if not body:
            raise DefinitionError(f"The selector {text!r} is empty.", next_step='Write for example "github.*".')
        field, colon, pattern = body.partition(":")
        if not colon or not _KIND.fullmatch(field):
            return cls(text, exclude, "name", body)
        if field == "effects" and pattern not in set(Effects):
            near = nearest(pattern, list(Effects)) or list(Effects)
            raise DefinitionError(
                f"There are no effects {pattern!r}.", where=text, next_step=f"Use {' or '.join(near)}."
            )
        return cls(text, exclude, field, pattern or "*")

    def matches(self, spec: ToolSpec) -> bool:
        """Whether the term, taken without its `!`, fits the tool."""
        match self.field:
            case "name":
                return _matches_name(self.pattern, spec)
            case "effects":
                return spec.effects == self.pattern
            case "category":
                return spec.category is not None and bool(_glob(self.pattern).match(spec.category))
            case kind:
                return spec.source.kind == kind and _matches_name(self.pattern, spec)


def _matches_name(pattern: str, spec: ToolSpec) -> bool:
    names = (spec.name.name, *spec.aliases)
    if "." in pattern and _glob(pattern).match(spec.name.qualified):
        return True
    return "." not in pattern and any(_glob(pattern).match(name) for name in names)


@dataclass(frozen=True, slots=True)
class Selection:
    """A list of selectors, read once and asked often.

    Parameters:
        terms: the selectors.
    """

    terms: tuple[Selector, ...]

    @classmethod
    def parse(cls, texts: Iterable[str]) -> Self:
        """Read a list of terms. Raises `DefinitionError` for a bad one."""
        return cls(tuple(Selector.parse(text) for text in texts))

    def __contains__(self, spec: ToolSpec) -> bool:
        if any(term.exclude and term.matches(spec) for term in self.terms):
            return False
        plain = [term for term in self.terms if not term.exclude]
        return any(term.matches(spec) for term in plain) if plain else bool(self.terms)


def select(texts: Sequence[str], specs: Iterable[ToolSpec]) -> list[ToolSpec]:
    """The specs that a list of selectors picks, in their order."""
    selection = Selection.parse(texts)
    return [spec for spec in specs if spec in selection]
