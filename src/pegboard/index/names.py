"""Requests that name a tool: its exact name in any case and with any separators, or the beginning of it."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import compress

from pegboard.core import ToolName, ToolSpec
from pegboard.index.remembered import Remembered
from pegboard.index.text import fold

_IDENTIFIER = re.compile(r"\w[_./-]+\w|[a-z0-9][A-Z]|[A-Z]{2}[a-z]")
_APART = ",;:!?()[]{}<>\"'`|&"
_TOKEN = re.compile(rf"[^\s{re.escape(_APART)}]+")
_SPACED = bytes(ord(" ") if chr(code) in _APART else code for code in range(256))
_SEPARATORS = re.compile(r"[\W_]+")
_DROPPED = bytes(code for code in range(128) if not chr(code).isalnum())
_BETWEEN = _DROPPED.replace(b"\n", b"")
_JOINERS = frozenset(("and", "or", "then", "the", "tool", "tools", "use", "call", "und", "y", "et", "和"))
WINDOW = 8
"""So many words may make up one name."""
WORDS = 64
"""Of so many words at most a request can be nothing but names."""
BEGINNING = 5
"""No name is looked for whose first so many letters begin none."""
PREFIX = 3
"""The beginning of a name needs so many letters."""


REMEMBERED = 50_000
"""So many words of requests are remembered."""


def _is_spelt_apart(token: str) -> bool:
    """Whether only a name is spelt so."""
    plain = token.isalpha() and (token.islower() or token.istitle())
    return not plain and _IDENTIFIER.search(token) is not None


_SPELT = Remembered(_is_spelt_apart, REMEMBERED)


def _tokens(text: str) -> list[str]:
    return text.encode().translate(_SPACED).decode().split() if text.isascii() else _TOKEN.findall(text)


def key(text: str) -> str:
    """A name without case, separators and diacritics: `Create_Issue`, `create issue` -> `createissue`."""
    if text.isascii():
        return text.lower().encode().translate(None, _DROPPED).decode()
    return _SEPARATORS.sub("", fold(text))


def _keyed(texts: Sequence[str]) -> list[str]:
    """The keys of many names, of plain ones all at once."""
    odd = [n for n, text in enumerate(texts) if not text.isascii() or "\n" in text]
    plain = list(texts)
    for n in odd:
        plain[n] = ""
    found = "\n".join(plain).lower().encode().translate(None, _BETWEEN).decode().split("\n") if texts else []
    for n in odd:
        found[n] = key(texts[n])
    return found


def keys(specs: Sequence[ToolSpec]) -> Iterator[Sequence[str]]:
    """Every spelling by which each tool may be named: bare, qualified, without what a host put before it, by alias."""
    spaces = {space: key(space) for space in {spec.name.namespace for spec in specs}}
    for spec, bare in zip(specs, _keyed([spec.name.name for spec in specs]), strict=True):
        space, name = spec.name.namespace, spec.name.name
        if space and bare and not spec.aliases and "__" not in name and "." not in name and "/" not in name:
            yield bare, spaces[space] + bare
        else:
            tails = [name.rpartition(separator)[2] for separator in ("__", ".", "/") if separator in name]
            found = (bare, spaces[space] + bare, *map(key, (*spec.aliases, *tails)))
            yield list(filter(None, dict.fromkeys(found)))


class Names:
    """Tools by the keys of their names, updated in place."""

    def __init__(self) -> None:
        self._tools: dict[str, ToolName | dict[ToolName, None]] = {}
        self._beginnings: set[str] = set()
        self._begin: dict[str, list[str]] | None = None
        """Keys by their beginnings, from when the first is looked for."""

    def add(self, *specs: ToolSpec) -> None:
        """Add tools."""
        known, new = self._tools, list[str]()
        for spec, spellings in zip(specs, keys(specs), strict=True):
            name = spec.name
            for found in spellings:
                there = known.setdefault(found, name)
                if there is name:
                    new.append(found)
                elif isinstance(there, dict):
                    there[name] = None
                else:
                    known[found] = {there: None, name: None}
        self._beginnings.update([found[:BEGINNING] for found in new])
        if self._begin is not None:
            _by_beginning(new, self._begin)

    def remove(self, spec: ToolSpec) -> None:
        """Remove one tool."""
        for found in next(keys((spec,))):
            known = self._tools.get(found)
            if isinstance(known, dict):
                known.pop(spec.name, None)
            if (not known or known == spec.name) and self._tools.pop(found, None) is not None and self._begin:
                self._begin[found[:PREFIX]].remove(found)

    def _of(self, found: str) -> list[ToolName]:
        """The tools of a key."""
        known = self._tools.get(found, ())
        return [known] if isinstance(known, ToolName) else list(known)

    def named(self, query: str) -> list[list[ToolName]]:
        """The tools that the request names, one list for each name in it, in the request's order."""
        whole = key(query.strip()) if len(query) < 200 else ""
        if whole in self._tools:
            return [self._of(whole)]
        tokens = _tokens(query[:4000])
        may = not whole or self._may_begin(whole) or tokens[0].lower() in _JOINERS
        return (self._all_names(tokens) if may else []) or self._identifiers(tokens) or self._begun(tokens, whole)

    def _may_begin(self, whole: str) -> bool:
        """Whether a name may begin a key: one of as many letters as are looked for, or a shorter one."""
        return whole[:BEGINNING] in self._beginnings or any([whole[:n] in self._tools for n in range(1, BEGINNING)])

    def _all_names(self, tokens: list[str]) -> list[list[ToolName]]:
        """Where the request is nothing but names (and words such as `and`), each of them."""
        if not 1 < len(tokens) <= WORDS:
            return []
        found: list[list[ToolName]] = []
        start = 0
        while start < len(tokens):
            length, tools = self._longest(tokens, start)
            if not tools and tokens[start].lower() not in _JOINERS:
                return []
            found += [tools] if tools else []
            start += length
        return found

    def _longest(self, tokens: list[str], start: int) -> tuple[int, list[ToolName]]:
        found = (1, "")
        joined = ""
        for length, token in enumerate(tokens[start : start + WINDOW], 1):
            joined += token
            name = key(joined)
            if name in self._tools:
                found = (length, name)
            elif len(name) >= BEGINNING and name[:BEGINNING] not in self._beginnings and joined.isascii():
                break
        return found[0], self._of(found[1])

    def _identifiers(self, tokens: Sequence[str]) -> list[list[ToolName]]:
        """Words that only a name is spelt like (`create_issue`, `createIssue`), where they are names."""
        spelt = compress(tokens, map(_SPELT.__getitem__, tokens))
        return [tools for token in spelt if (tools := self._of(_plain(token)))]

    def _begun(self, tokens: list[str], whole: str) -> list[list[ToolName]]:
        """Names that the request, a single word, begins."""
        if len(tokens) != 1 or len(whole) < PREFIX:
            return []
        begun = list(dict.fromkeys(self._starting_with(whole)))
        return [begun] if begun else []

    def _starting_with(self, beginning: str) -> Iterator[ToolName]:
        if self._begin is None:
            self._begin = _by_beginning(self._tools, {})
        for found in sorted(self._begin.get(beginning[:PREFIX], ())):
            if found.startswith(beginning):
                yield from self._of(found)


def _by_beginning(keys: Iterable[str], found: dict[str, list[str]]) -> dict[str, list[str]]:
    for name in keys:
        found.setdefault(name[:PREFIX], []).append(name)
    return found


def _plain(token: str) -> str:
    return key(token.rstrip(".").removeprefix("mcp__"))
