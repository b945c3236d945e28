"""The tools of an index by slot, with all that they are found by; they come and go without a rebuild."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import cast

import numpy as np
import numpy.typing as npt

from pegboard.core import ToolName, ToolSpec
from pegboard.index import shelf
from pegboard.index.dense import Embedder
from pegboard.index.doing import done_by
from pegboard.index.graph import Graph
from pegboard.index.layer import Layer
from pegboard.index.lexicon import Lexicon
from pegboard.index.names import Names
from pegboard.index.postings import Floats, Mask, Postings, Weighed
from pegboard.index.precedence import Precedence
from pegboard.index.protocol import Where
from pegboard.index.static import StaticEmbedder
from pegboard.index.view import View
from pegboard.index.vocabulary import Vocabulary
from pegboard.index.words import entries

Ints = npt.NDArray[np.int32]
Doings = npt.NDArray[np.int8]
MANY = 500
"""So many tools are read at a time, and at least so many at once are added in bulk."""
FEW = 6
"""Up to so many tools are read one by one."""
MASKS = 64
"""So many filters are remembered."""
_NONE = np.zeros(0, np.bool_)


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
        self._groups: dict[str, int] = {}
        self._grouped = 0
        self._views: dict[Where | None, View] = {}
        self._graphs: dict[Where | None, Graph] = {}
        self.postings = Postings()
        self.layers = [Layer(embedder) for embedder in embedders]
        self.group: Ints = np.zeros(0, np.int32)
        self.name_size: Floats = np.zeros(0, np.float32)
        self.doing: Doings = np.zeros(0, np.int8)
        self._live: Mask = np.zeros(0, np.bool_)
        self._admitted: dict[Where, Mask] = {}

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
        return cast("list[ToolSpec]", self._specs)[slot]

    def specs_in(self, slots: Sequence[int]) -> list[ToolSpec]:
        """The tools in some slots that are in use."""
        return list(map(cast("list[ToolSpec]", self._specs).__getitem__, slots))

    def update(self, *, put: Iterable[ToolSpec] = (), remove: Iterable[ToolName] = ()) -> None:
        """Add or replace tools, and remove others."""
        for name in remove:
            self._drop(name)
        specs = list({spec.name: spec for spec in put}.values())
        if specs:
            self._append(specs)
        self._views.clear()
        self._graphs.clear()
        if self.postings.due or len(self._specs) > 2 * len(self.slots) + 100:
            self._merge()

    def _append(self, specs: Sequence[ToolSpec]) -> None:
        for spec in specs:
            self._drop(spec.name)
        for layer in self.layers:
            layer.reserve(len(self._specs) + len(specs))
        read = self._read(specs)
        if len(specs) >= MANY:
            self.postings.add_many(read)
        else:
            for part in read:
                self.postings.add(part)

    def _read(self, specs: Sequence[ToolSpec]) -> list[Weighed]:
        """Read so many tools at a time that what is read of them is small beside what is kept."""
        lexicon = Lexicon() if len(specs) > FEW else None
        return [self._read_some(specs[start : start + MANY], lexicon) for start in range(0, len(specs), MANY)]

    def _read_some(self, specs: Sequence[ToolSpec], lexicon: Lexicon | None) -> Weighed:
        first = len(self._specs)
        read = entries(specs, first, self.postings.terms, lexicon)
        self.vocabulary.add(read.spelt)
        doing = np.array([done_by(spec) for spec in specs], np.int8)
        self._place(specs, [b""] * len(specs), read.name_sizes, doing)
        for layer in self.layers:
            layer.append(specs, first, lexicon)
        return read.held

    def _place(self, specs: Sequence[ToolSpec], prints: Iterable[bytes], sizes: Floats, doing: Doings) -> None:
        """Give each tool the next slot, and its namespace's number; one without a namespace is a group of its own."""
        first, grouped, known = len(self._specs), self._grouped, self._groups
        self._specs += specs
        self.slots.update(zip([spec.name for spec in specs], range(first, len(self._specs)), strict=True))
        self.names.add(*specs)
        for spec in specs:
            if spec.successor or spec.meta:
                self.precedence.add(spec)
        spaces = enumerate([spec.name.namespace for spec in specs], grouped + 1)
        groups = [known.setdefault(space, n) if space else n for n, space in spaces]
        self._grouped += len(specs)
        self._prints += prints
        self.group = np.append(self.group, np.array(groups, np.int32))
        self.doing = np.append(self.doing, doing)
        self.name_size = np.append(self.name_size, sizes)
        self._live = np.append(self._live, np.ones(len(specs), np.bool_))

    def _drop(self, name: ToolName) -> None:
        slot = self.slots.pop(name, None)
        if slot is not None and (spec := self._specs[slot]):
            self.names.remove(spec)
            self.precedence.remove(name)
            self._specs[slot] = None
            self._live[slot] = False

    def _merge(self) -> None:
        """Close the gaps that removed tools left."""
        kept = np.array([slot for slot, spec in enumerate(self._specs) if spec is not None], np.intp)
        moved = np.full(len(self._specs), -1, np.int32)
        moved[kept] = np.arange(len(kept), dtype=np.int32)
        self.postings.merge(moved)
        self._views.clear()
        if len(kept) < len(self._specs):
            self._specs = [self._specs[slot] for slot in kept.tolist()]
            self._prints = [self._prints[slot] for slot in kept.tolist()]
            self.slots = {spec.name: slot for slot, spec in enumerate(self._specs) if spec is not None}
            self.group, self.name_size, self.doing = self.group[kept], self.name_size[kept], self.doing[kept]
            self._live = np.ones(len(kept), np.bool_)
            self._admitted.clear()
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
        """Which slots may be shown; a tool is looked at once for each filter."""
        if where is None:
            return self._live.copy()
        known = self._admitted.get(where, _NONE)
        if len(known) < len(self._specs):
            new = self._specs[len(known) :]
            admitted = np.fromiter((spec is not None and where.admits(spec) for spec in new), np.bool_, len(new))
            if len(self._admitted) >= MASKS:
                self._admitted.clear()
            known = self._admitted[where] = np.append(known, admitted)
        return known & self._live

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
        shelf.write(
            path,
            self._version,
            terms,
            spelt,
            prints,
            {**postings, **vectors, "sizes": self.name_size, "doing": self.doing},
        )

    def load(self, path: Path, specs: Iterable[ToolSpec]) -> int:
        """Hold these tools and no others, reading only those that `path` does not know.

        Returns:
            How many of them were taken from the file; 0 where it is missing, damaged or of another version.
        """
        specs = list({spec.name: spec for spec in specs}.values())
        prints = list(map(shelf.fingerprint, specs))
        stored = shelf.read(path, self._version)
        self.__init__(self.embedders)
        if stored is None:
            self.update(put=specs)
            return 0
        wanted = dict(zip(prints, specs, strict=True))
        held = list(map(wanted.get, stored.prints))
        taken = [spec for spec in held if spec is not None]
        self.vocabulary.add(stored.spelt)
        self.postings = Postings.of(stored.terms, stored.arrays)
        kept = np.array([n for n, spec in enumerate(held) if spec is not None], np.intp)
        self._place(
            taken,
            [known for known in stored.prints if known in wanted],
            stored.arrays["sizes"][kept],
            stored.arrays["doing"][kept],
        )
        if len(kept) < len(held):
            moved = np.full(len(held), -1, np.int32)
            moved[kept] = np.arange(len(kept), dtype=np.int32)
            self.postings.merge(moved)
        for n, layer in enumerate(self.layers):
            layer.adopt(stored.arrays[f"layer{n}"][kept], taken)
        if len(taken) < len(specs):
            self.update(put=[spec for spec in specs if spec.name not in self.slots])
        return len(taken)
