"""Words of names and descriptions: which are verbs, what they tell, and how alike two texts are."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from pegboard.check.lexicon import FILLER, NOUNISH, VERBS
from pegboard.core import ToolSpec
from pegboard.index.text import is_spaceless, stems, words


@dataclass(frozen=True)
class Said:
    """The words of one tool.

    Parameters:
        name: the words of its name, folded, in order.
        verb: the verb of its name, else the first one of its description; None where neither has one.
        text: the stems of the words that tell something, of its description.
        beyond: those of them that its name does not hold.
    """

    name: tuple[str, ...]
    verb: str | None
    text: frozenset[str]
    beyond: frozenset[str]


_NOISE = re.compile(r"^.*\b[1-5]\d\d\s*:.*$|^\s*error responses:\s*$", re.MULTILINE | re.IGNORECASE)
"""Lines of status codes, which generators leave in descriptions."""


def content(spec: ToolSpec, text: str | None = None) -> Said:
    """The words of a tool's name and description.

    Parameters:
        spec: the tool.
        text: what its description says of itself, where some of it is said of other tools, too.
    """
    name = tuple(name_words(spec.name.name))
    said = frozenset(telling(_NOISE.sub("", spec.description if text is None else text)))
    own = frozenset(stems(name)) | frozenset(stems(words(spec.title or "")))
    verb = verb_of(name) or first_verb(spec.description)
    return Said(name, lemma(verb) if verb else None, said, said - own)


def name_words(name: str) -> list[str]:
    """The words of an identifier: split at separators and at camelCase."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    return [word for word in re.split(r"[\W_]+", spaced.casefold()) if word]


def verb_of(words: Sequence[str]) -> str | None:
    """The verb among the words of a name, as it stands there; a word that is mostly a noun only where none other is."""
    found = [word for word in words if is_verb(word)]
    return next((word for word in found if lemma(word) not in NOUNISH), found[0] if found else None)


def nouns_of(words: Sequence[str]) -> list[str]:
    """The other words of a name: what the tool is about."""
    verb = verb_of(words)
    return [word for word in words if word != verb]


def telling(text: str) -> list[str]:
    """The stems of the words of a text that tell one tool from another, in order."""
    return stems(word for word in words(text) if word not in FILLER and (len(word) > 1 or is_spaceless(word)))


def words_of(text: str) -> dict[str, str]:
    """The telling stems of a text, each with the first word that it stands for there."""
    spelled: dict[str, str] = {}
    kept = [word for word in words(text) if word not in FILLER and (len(word) > 1 or is_spaceless(word))]
    for word, stem in zip(kept, stems(kept), strict=True):
        spelled.setdefault(stem, word)
    return spelled


@cache
def lemma(word: str) -> str:
    """A verb in the form that `VERBS` has, where it is one in another form: `Shows`, `listing`, `created`."""
    word = word.casefold()
    for candidate in _forms(word):
        if candidate in VERBS:
            return candidate
    return word


def is_verb(word: str) -> bool:
    """Whether a word is a form of a verb that tools are described with."""
    return lemma(word) in VERBS


def first_verb(text: str) -> str | None:
    """The first verb of a text, as it stands there."""
    return next((word for word in re.findall(r"[A-Za-z]+", text) if is_verb(word)), None)


def _forms(word: str) -> Iterable[str]:
    yield word
    if word.endswith("ies"):
        yield f"{word[:-3]}y"
    if word.endswith("es"):
        yield word[:-2]
    if word.endswith("s"):
        yield word[:-1]
    for ending in ("ing", "ed", "er", "or", "ion", "ation"):
        if word.endswith(ending) and len(word) > len(ending) + 2:
            stem = word[: -len(ending)]
            yield from (stem, f"{stem}e")
            if len(stem) > 2 and stem[-1] == stem[-2]:
                yield stem[:-1]
            if stem.endswith("i"):
                yield f"{stem[:-1]}y"


def alike(one: frozenset[str], two: frozenset[str]) -> float:
    """How much two sets of words have in common, from 0 to 1 (Jaccard, 1901); 0 for two empty ones."""
    return len(one & two) / len(one | two) if one or two else 0.0


def is_latin(text: str) -> bool:
    """Whether most letters of a text are Latin: what rules about English words can judge."""
    letters = [character for character in text if character.isalpha()]
    return bool(letters) and sum(character < "\u0250" for character in letters) * 2 > len(letters)


def without_boilerplate(descriptions: Sequence[str]) -> list[str]:
    """Descriptions without the sentences that at least three of them hold; a first sentence stays."""
    split = [sentences(text) for text in descriptions]
    counts = Counter(sentence for parts in split for sentence in set(parts[1:]))
    return [" ".join([*parts[:1], *(part for part in parts[1:] if counts[part] < 3)]) for parts in split]


def sentences(text: str) -> list[str]:
    """The sentences of a text, roughly: cut after `.`, `!`, `?` and their wide forms, and at line ends."""
    return [part.strip() for part in re.split(r"(?<=[.!?。！？])\s+|\n+|(?<=[。！？])", text) if part.strip()]
