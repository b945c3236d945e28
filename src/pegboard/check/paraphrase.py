"""Requests that a tool ought to be found by, made without a model: from its own examples and words, said otherwise."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from pegboard.check.lexicon import DESTROYING
from pegboard.check.words import (
    first_verb,
    is_latin,
    lemma,
    name_words,
    nouns_of,
    sentences,
    telling,
    verb_of,
    words_of,
)
from pegboard.core import ToolSpec
from pegboard.schema.types import Json, as_list, as_object

WORDS = 14
"""A request is as long as a person's: so many words at most are taken of a sentence."""
VALUES = 4
"""So many values of an example are taken."""
RARE = 3
"""So many of the rarest words of a description make a request of catchwords."""

SYNONYMS: Mapping[str, tuple[str, ...]] = {
    "add": ("create", "insert"),
    "cancel": ("call off", "stop"),
    "close": ("shut", "end"),
    "convert": ("turn", "transform"),
    "create": ("make", "add"),
    "delete": ("remove", "get rid of"),
    "describe": ("explain", "show details of"),
    "download": ("get", "save"),
    "edit": ("change", "modify"),
    "execute": ("run", "carry out"),
    "fetch": ("get", "retrieve"),
    "find": ("search for", "look up"),
    "generate": ("create", "make"),
    "get": ("show", "fetch"),
    "list": ("show all", "enumerate"),
    "merge": ("combine", "join"),
    "move": ("transfer", "relocate"),
    "query": ("search", "ask"),
    "read": ("show", "open"),
    "remove": ("delete", "get rid of"),
    "retrieve": ("get", "fetch"),
    "run": ("execute", "start"),
    "search": ("find", "look for"),
    "send": ("deliver", "post"),
    "set": ("change", "assign"),
    "show": ("display", "get"),
    "start": ("begin", "launch"),
    "stop": ("end", "halt"),
    "update": ("change", "edit"),
    "upload": ("send", "put"),
    "write": ("save", "store"),
}
"""What else people say for a verb."""


_LISTING = frozenset({"find", "list", "query", "search"})


class Origin(StrEnum):
    """What a request was made of."""

    ALIAS = "alias"
    EXAMPLE = "example"
    TITLE = "title"
    SENTENCE = "sentence"
    PARAPHRASE = "paraphrase"
    CATCHWORDS = "catchwords"


@dataclass(frozen=True, slots=True)
class Request:
    """One request that a tool ought to be found by.

    Parameters:
        text: as a person or an agent would write it.
        origin: what it was made of.
    """

    text: str
    origin: Origin


def requests(spec: ToolSpec, holders: Mapping[str, int]) -> list[Request]:
    """The requests of a tool, each text once; the same for the same tool and catalog.

    Parameters:
        spec: the tool.
        holders: in how many tools' descriptions each telling stem stands.
    """
    found: dict[str, Request] = {}
    for origin, text in _made(spec, holders):
        plain = " ".join(text.split())
        if plain:
            found.setdefault(plain.casefold(), Request(plain, origin))
    return list(found.values())


def _made(spec: ToolSpec, holders: Mapping[str, int]) -> Iterator[tuple[Origin, str]]:
    nouns = " ".join(nouns_of(name_words(spec.name.name)))
    yield from ((Origin.ALIAS, alias) for alias in spec.aliases)
    for example in spec.examples:
        yield Origin.EXAMPLE, " ".join([*list(_values(example))[:VALUES], nouns])
    if spec.title and spec.title.casefold() != spec.name.name.casefold():
        yield Origin.TITLE, spec.title
    opening = next(iter(sentences(spec.description)), "")
    yield Origin.SENTENCE, " ".join(opening.rstrip(".").split()[:WORDS])
    yield from ((Origin.PARAPHRASE, text) for text in _otherwise(spec, nouns))
    yield Origin.CATCHWORDS, " ".join(_rarest(spec, holders))


def _values(value: Json) -> Iterator[str]:
    """The texts of an example's arguments that read as words."""
    if isinstance(value, str) and len(value) <= 40 and "/" not in value and value.isprintable():
        yield value
    for inner in (*as_object(value).values(), *as_list(value)[:VALUES]):
        yield from _values(inner)


def _otherwise(spec: ToolSpec, nouns: str) -> Iterator[str]:
    """The name said otherwise: its verb by others, as a question and as a wish. English only."""
    verb = lemma(verb_of(name_words(spec.name.name)) or first_verb(spec.description) or "")
    if not verb or not nouns or not is_latin(nouns):
        return
    others = SYNONYMS.get(verb, ())
    if others:
        yield f"{others[0]} {nouns}"
        yield f"I want to {others[-1]} the {nouns}"
    if verb in _LISTING:
        yield f"what {nouns} are there"
    elif verb in DESTROYING:
        yield f"the {nouns} should be gone"
    else:
        yield f"how do I {verb} {nouns}"


def _rarest(spec: ToolSpec, holders: Mapping[str, int]) -> list[str]:
    """The words of a description that fewest other tools hold, in the text's order; none where it has too few."""
    told = list(dict.fromkeys(telling(spec.description)))
    if len(told) < RARE + 2:
        return []
    rare = set(sorted(told, key=lambda stem: (holders.get(stem, 0), told.index(stem)))[:RARE])
    spelled = words_of(spec.description)
    return [spelled[stem] for stem in told if stem in rare and stem in spelled]


def held(specs: Iterable[ToolSpec]) -> dict[str, int]:
    """In how many tools' descriptions each telling stem stands."""
    counts: dict[str, int] = {}
    for spec in specs:
        for stem in set(telling(spec.description)):
            counts[stem] = counts.get(stem, 0) + 1
    return counts
