"""The tools of an index by slot, with all that they are found by; they come and go without a rebuild."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pegboard.core import ToolName, ToolSpec
from pegboard.index import shelf
from pegboard.index.dense import Embedder
from pegboard.index.doing import done_by
from pegboard.index.graph import Graph
from pegboard.index.layer import Layer
from pegboard.index.names import Names
from pegboard.index.postings import Floats, Mask, Postings
from pegboard.index.precedence import Precedence
from pegboard.index.protocol import Where
from pegboard.index.static import StaticEmbedder
from pegboard.index.view import View
from pegboard.index.vocabulary import Vocabulary
from pegboard.index.words import Entry, entry

Ints = npt.NDArray[np.intp]
MANY = 200
"""So many tools at once are added in bulk."""
MASKS = 64
"""So many filters are remembered."""


class Tools:
    """What an index holds.

    Parameters:
        embedders: texts to vectors, each a layer.
    """

    def __init__(self, embedders: Sequence[Embedder]) -> None:
        self.embedders = embedders
        self.slots: dict[ToolName, int] = {}
        self.names = Names()
        self.precedence = Precedence()
        known = [embedder.rows for embedder in embedders if isinstance(embedder, StaticEmbedder)]
        self.vocabulary = Vocabulary(known[0] if known else {})
        self._specs: list[ToolSpec | None] = []
        self._prints: list[bytes] = []
        self._groups: dict[str, int] = {"": 0}
        self._views: dict[Where | None, View] = {}
        self._graphs: dict[Where | None, Graph] = {}
        self.postings = Postings()
        self.layers = [Layer(embedder) for embedder in embedders]
        self.group: Ints = np.zeros(0, np.intp)
        self.name_size: Floats = np.zeros(0, np.float32)
        self.doing: npt.NDArray[np.int8] = np.zeros(0, np.int8)

    def __len__(self) -> int:
        return len(self.slots)

    @property
    def size(self) -> int:
        """How many slots there are, those of removed tools included."""
        return len(self._specs)

    @property
    def specs(self) -> list[ToolSpec]:
        """The tools, in the order of their slots."""
        return [spec for spec in self._specs if spec is not None]

    def spec(self, slot: int | np.intp) -> ToolSpec:
        """The tool in a slot."""
        spec = self._specs[slot]
        assert spec is not None
        return spec

    def update(self, *, put: Iterable[ToolSpec] = (), remove: Iterable[ToolName] = ()) -> None:
        """Add or replace tools, and remove others."""
        for name in remove:
            self._drop(name)
        specs = list({spec.name: spec for spec in put}.values())
        if specs:
            self._append(specs, [entry(spec) for spec in specs])
        self._views.clear()
        self._graphs.clear()
        if self.postings.due or len(self._specs) > 2 * len(self.slots) + 100:
            self._merge()

    def _append(self, specs: Sequence[ToolSpec], entries: Sequence[Entry]) -> None:
        for spec in specs:
            self._drop(spec.name)
        first = len(self._specs)
        if len(specs) > MANY:
            self.postings.add_many(first, [found.terms for found in entries])
        else:
            for n, found in enumerate(entries):
                self.postings.add(first + n, found.terms)
        for found in entries:
            self.vocabulary.add(found.spelt)
        self._place(specs, [b""] * len(specs))
        sizes = np.array([found.name_size for found in entries], np.float32)
        self.name_size = np.append(self.name_size, sizes)
        for layer in self.layers:
            layer.append(specs, first)

    def _place(self, specs: Iterable[ToolSpec], prints: Iterable[bytes]) -> None:
        """Give each tool the next slot."""
        groups: list[int] = []
        doing: list[int] = []
        for spec in specs:
            self.slots[spec.name] = len(self._specs)
            self._specs.append(spec)
            self.names.add(spec)
            self.precedence.add(spec)
            groups.append(self._groups.setdefault(spec.name.namespace, len(self._groups)))
            doing.append(done_by(spec))
        self._prints += prints
        self.group = np.append(self.group, np.array(groups, np.intp))
        self.doing = np.append(self.doing, np.array(doing, np.int8))

    def _drop(self, name: ToolName) -> None:
        slot = self.slots.pop(name, None)
        if slot is not None and (spec := self._specs[slot]):
            self.names.remove(spec)
            self.precedence.remove(name)
            self._specs[slot] = None

    def _merge(self) -> None:
        """Close the gaps that removed tools left."""
        kept = np.array([slot for slot, spec in enumerate(self._specs) if spec is not None], np.intp)
        moved = np.full(len(self._specs), -1, np.int32)
        moved[kept] = np.arange(len(kept), dtype=np.int32)
        self.postings.merge(moved)
        if len(kept) < len(self._specs):
            self._specs = [self._specs[slot] for slot in kept.tolist()]
            self._prints = [self._prints[slot] for slot in kept.tolist()]
            self.slots = {spec.name: slot for slot, spec in enumerate(self._specs) if spec is not None}
            self.group, self.name_size, self.doing = self.group[kept], self.name_size[kept], self.doing[kept]
            for layer in self.layers:
                layer.keep(kept, (self.spec(slot) for slot in range(len(kept))))

    def view(self, where: Where | None) -> View:
        """What a search with this filter may show."""
        known = self._views.get(where)
        if known is None:
            if len(self._views) >= MASKS:
                self._views.clear()
            mask = None if where is None and len(self.slots) == len(self._specs) else self._mask(where)
            count = len(self._specs) if mask is None else int(np.count_nonzero(mask))
            known = self._views[where] = View(self.vocabulary, self.postings, mask, count)
        return known

    def _mask(self, where: Where | None) -> Mask:
        admitted = (spec is not None and (where is None or where.admits(spec)) for spec in self._specs)
        return np.fromiter(admitted, np.bool_, len(self._specs))

    def graph(self, where: Where | None) -> Graph:
        """Who produces what whom needs, among the tools that may be shown."""
        if where not in self._graphs:
            self._graphs[where] = Graph(spec for spec in self.specs if where is None or where.admits(spec))
        return self._graphs[where]

    # -- kept between runs -----------------------------------------------------------------------

    @property
    def _version(self) -> str:
        return " ".join([shelf.FORMAT, *(embedder.name for embedder in self.embedders)])

    def save(self, path: Path) -> None:
        """Write what the tools are found by, so that `load` need not read them anew."""
        self._merge()
        prints = [known or shelf.fingerprint(self.spec(slot)) for slot, known in enumerate(self._prints)]
        self._prints = prints
        terms, postings = self.postings.arrays()
        spelt = self.vocabulary.spelt
        vectors = {f"layer{n}": layer.vectors.rows[: len(prints)] for n, layer in enumerate(self.layers)}
        shelf.write(path, self._version, terms, spelt, prints, {**postings, **vectors, "sizes": self.name_size})

    def load(self, path: Path, specs: Iterable[ToolSpec]) -> int:
        """Hold these tools and no others, reading only those that `path` does not know.

        Returns:
            How many of them were taken from the file; 0 where it is missing, damaged or of another version.
        """
        specs = list({spec.name: spec for spec in specs}.values())
        prints = [shelf.fingerprint(spec) for spec in specs]
        stored = shelf.read(path, self._version)
        self.__init__(self.embedders)
        if stored is None:
            self.update(put=specs)
            return 0
        wanted = dict(zip(prints, specs, strict=True))
        held = [wanted.get(known) for known in stored.prints]
        self.vocabulary.add(stored.spelt)
        self.postings = Postings.of(stored.terms, stored.arrays)
        self._place([spec for spec in held if spec is not None], [known for known in stored.prints if known in wanted])
        if len(self.slots) < len(held):
            kept = np.array([n for n, spec in enumerate(held) if spec is not None], np.intp)
            moved = np.full(len(held), -1, np.int32)
            moved[kept] = np.arange(len(kept), dtype=np.int32)
            self.postings.merge(moved)
        else:
            kept = np.arange(len(held))
        self.name_size = stored.arrays["sizes"][kept]
        for n, layer in enumerate(self.layers):
            layer.adopt(stored.arrays[f"layer{n}"][kept], [self.spec(slot) for slot in range(len(kept))])
        count = len(self.slots)
        self.update(put=[spec for spec in specs if spec.name not in self.slots])
        return count
