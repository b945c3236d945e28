"""The catalog of what could be on the board, searched by our own index engine."""

from collections.abc import Iterable, Sequence
from itertools import count
from typing import TypeAlias

from pegboard.core import Discoverable, DiscoverableType, Effects, SourceRef, ToolName, ToolSpec
from pegboard.index import Hit, Index
from pegboard.index import default as default_index

Key: TypeAlias = tuple[DiscoverableType, str]
SURE = 0.35
"""From this confidence on a hit counts whatever its words."""
MOST = 50
"""So many hits are looked at."""
HALF, THIRD = 0.5, 0.33
"""The share of a request's words that a hit must have: by its description, or where its name is among them."""


class Discoverables:
    """Discoverables by key, and found by words: name, description, categories, publisher and the names of their tools.

    Parameters:
        discoverables: what there is, in the order in which it is listed; of two with one key the first counts.
    """

    def __init__(self, discoverables: Iterable[Discoverable] = ()) -> None:
        self.all: dict[Key, Discoverable] = {}
        for one in discoverables:
            self.all.setdefault(one.key, one)
        self._index: Index | None = None
        self._names: dict[ToolName, Discoverable] = {}

    def get(self, type: DiscoverableType, id: str) -> Discoverable | None:
        """The discoverable of a type and id."""
        return self.all.get((type, id))

    def named(self, id: str) -> list[Discoverable]:
        """Those with an id, of either type."""
        return [one for one in self.all.values() if one.id == id]

    @property
    def ids(self) -> list[str]:
        """Every id, in order."""
        return list(dict.fromkeys(one.id for one in self.all.values()))

    def search(self, query: str, limit: int = 8, category: str | None = None) -> Sequence[Discoverable]:
        """What meets a request, best first; what shares too few of its words with it is left out.

        Parameters:
            query: what is looked for, in words.
            limit: how many at most.
            category: only this category.
        """
        if not self.all:
            return ()
        index = self._searched()
        found = index.search(query, limit=max(limit, MOST))
        hits = [self._names[hit.name] for hit in found.hits if _fits(hit)]
        return [one for one in hits if category is None or category in one.categories][:limit]

    def _searched(self) -> Index:
        if self._index is None:
            for one in self.all.values():
                self._names[self._free_name(one)] = one
            self._index = default_index()
            self._index.update(put=[_spec(one, name) for name, one in self._names.items()])
        return self._index

    def _free_name(self, one: Discoverable) -> ToolName:
        """The last part of the id: the rest is a publisher's address, whose words say nothing of what it does."""
        tail = one.id.rpartition("/")[2] or one.id
        numbered = (ToolName(one.type.value, f"{tail}-{number}" if number else tail) for number in count())
        return next(name for name in numbered if name not in self._names)


def _fits(hit: Hit) -> bool:
    words = {word for matched in hit.matched.values() for word in matched}
    share = len(words) / (len(words) + len(hit.unmatched)) if words else 0.0
    named = not {"name", "title", "namespace"}.isdisjoint(hit.matched)
    return share >= HALF or (named and share >= THIRD) or hit.confidence >= SURE


def _spec(one: Discoverable, name: ToolName) -> ToolSpec:
    """A discoverable as something that the index can hold; it is never a tool of the board."""
    told = [one.description, *(f"{topic.name}: {topic.description}" for topic in one.topics)]
    properties = {tool: {"description": tool.replace("_", " ").replace("-", " ")} for tool in one.tools}
    return ToolSpec(
        name=name,
        title=one.name,
        description="\n".join(told),
        input={"type": "object", "properties": properties},
        category=" ".join(one.categories) or None,
        aliases=(one.name, *(part.name for part in one.parts)),
        effects=Effects.UNKNOWN,
        source=SourceRef(one.directory, "directory"),
    )
