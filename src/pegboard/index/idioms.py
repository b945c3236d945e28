"""Everyday phrases, and what they ask for in the words of tools: who asks where something is wants to search for it.

Most of such a phrase are function words, which carry no meaning one by one ("where did I put ...", "did I forget to
..."), and the one that does may mislead ("don't forget that ...").
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, compress, count, product

from pegboard.index.remembered import Remembered
from pegboard.index.shipped import shipped

Words = tuple[str, ...]
NOTHING = ""
"""How the words on the list `NONE` are read: they are read over."""
FIRST = ("BE", "DO", "HAVE")
"""The lists whose words begin a phrase only where they are the first: "is it done?", but not "see that it is done"."""
FIGURE = "NUMBER"
"""The list of the words for numbers; figures are on it."""
GAP = ".."
REMEMBERED = 50_000
"""So many words are remembered with how they are read."""
BETWEEN = 4
"""So many words may stand in a gap."""


@dataclass(frozen=True, slots=True)
class Idioms:
    """The phrases of `data/idioms.txt`.

    Parameters:
        kinds: the list that a word is in; a word that is in none is read as it is.
        whole: what phrases without a gap stand for.
        around: of phrases with a gap, by the words before it: the words after it, by their first, and what the phrase
            stands for.
        closing: of each single word that begins a phrase, or a phrase's gap, those of which one must follow: the first
            after a gap, or the word itself.
        begins: the first two words of longer beginnings.
        longest: how many words a beginning with some word has at most.
    """

    kinds: Mapping[str, str]
    whole: Mapping[Words, Words]
    around: Mapping[Words, Mapping[str, Sequence[tuple[Words, Words]]]]
    closing: Mapping[str, frozenset[str]]
    begins: frozenset[Words]
    longest: Mapping[str, int]

    def replaced(self, words: list[str]) -> list[str]:
        """Words in which each phrase is replaced by what it asks for; the same list where there is none."""
        said: list[str] = list(filter(None, map(self.kinds.__getitem__, words)))
        heads = compress(count(), map(self.longest.__contains__, said))
        places = [n for n in heads if self._may_begin(said, n)]
        return self._with(words, tuple(said), places) if places else words

    def _may_begin(self, said: list[str], at: int) -> bool:
        """Whether a phrase may begin at a place, by the next two words and by whether what closes it is said."""
        word = said[at]
        if at and word in FIRST:
            return False
        closing = self.closing.get(word)
        return tuple(said[at : at + 2]) in self.begins or (closing is not None and not closing.isdisjoint(said))

    def _with(self, words: list[str], said: Words, begun: Sequence[int]) -> list[str]:
        """The same, where phrases may begin at some places of what is said."""
        parts: list[Sequence[str]] = []
        places: list[int] = []
        at = 0
        for place in begun:
            if place >= at and (found := self._phrase(said, place)):
                if not parts:
                    parts = [(word,) for word in words]
                    places = [n for n, word in enumerate(words) if self.kinds[word]]
                used, instead = found
                for n in used:
                    parts[places[n]] = ()
                parts[places[place]] = instead
                at = used[-1] + 1
        return list(chain.from_iterable(parts)) if parts else words

    def _phrase(self, said: Words, at: int) -> tuple[Sequence[int], Words] | None:
        """The longest phrase at a place."""
        for size in range(min(self.longest[said[at]], len(said) - at), 0, -1):
            head, after = said[at : at + size], at + size
            if ends := self.around.get(head):
                for start in range(after + 1, min(after + 1 + BETWEEN, len(said))):
                    for end, instead in ends.get(said[start], ()):
                        if said[start : start + len(end)] == end:
                            return [*range(at, after), *range(start, start + len(end))], instead
            if head in self.whole:
                return range(at, after), self.whole[head]
        return None


@cache
def idioms() -> Idioms:
    """Those of this package."""
    listed: dict[str, str] = {}
    whole: dict[Words, Words] = {}
    around: dict[Words, dict[Words, Words]] = {}
    for line in shipped("idioms.txt").read_text(encoding="utf8").splitlines():
        name, colon, members = line.partition(": ")
        said, equals, meant = line.partition(" = ")
        head, gap, end = said.partition(f" {GAP} ")
        if colon and name.isupper():
            listed |= dict.fromkeys(members.split(), NOTHING if name == "NONE" else name)
        elif equals and gap:
            ends = dict.fromkeys(_spelt(end, listed), tuple(meant.split()))
            for begun in _spelt(head, listed):
                around.setdefault(begun, {}).update(ends)
        elif equals:
            whole |= dict.fromkeys(_spelt(said, listed), tuple(meant.split()))
    begun = [*whole, *around]
    begins = frozenset([words[:2] for words in begun if len(words) > 1])
    ends_of = {words: _by_first(ends) for words, ends in around.items()}
    single = [words for words in begun if len(words) == 1]
    closing = {words[0]: frozenset([*ends_of.get(words, ()), *(words if words in whole else ())]) for words in single}
    longest = {words[0]: len(words) for words in sorted(begun, key=len)}

    def kind(word: str) -> str:
        return FIGURE if word.isdigit() else listed.get(word, word)

    kinds = Remembered(kind, REMEMBERED)
    return Idioms(kinds, whole, ends_of, closing, begins, longest)


def _by_first(ends: Mapping[Words, Words]) -> dict[str, list[tuple[Words, Words]]]:
    """By their first word, the longest first."""
    found: dict[str, list[tuple[Words, Words]]] = {}
    for end in sorted(ends, key=len, reverse=True):
        found.setdefault(end[0], []).append((end, ends[end]))
    return found


def _spelt(said: str, listed: Mapping[str, str]) -> Iterator[Words]:
    """All ways to say a phrase."""
    places: list[list[str]] = []
    for word in said.split():
        choice = [listed.get(part, part) for part in word.rstrip("?").split("|")]
        places.append([*dict.fromkeys(choice), *([NOTHING] if word.endswith("?") else ())])
    for chosen in product(*places):
        if found := tuple([word for word in chosen if word != NOTHING]):
            yield found
