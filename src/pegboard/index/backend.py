"""Search beyond one process: an engine elsewhere names candidates, and the ranking here puts them in order.

A `SearchBackend` keeps words and vectors for catalogs that many processes share, or that are too large for one. It
answers with names; what is shown, in which order and why is decided by the same code as in one process, over the
candidates alone, so that the answers have the same contract.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from pegboard.core import ToolName, ToolSpec
from pegboard.index.ask import read
from pegboard.index.dense import Floats
from pegboard.index.engine import ToolIndex
from pegboard.index.fields import Field, gist, texts
from pegboard.index.protocol import Found, Where
from pegboard.index.static import StaticEmbedder
from pegboard.index.text import stems, words

CANDIDATES = 100
"""So many candidates are asked for by words, and as many by meaning."""
MOST = 6400
"""A filter that the backend does not know is met by asking for more, up to so many."""
_HEAD = frozenset((Field.NAME, Field.TITLE))


@dataclass(frozen=True, slots=True)
class Document:
    """A tool as a backend keeps it.

    Parameters:
        spec: the tool.
        head: the terms of its names.
        body: all its other terms.
        vector: its meaning.
    """

    spec: ToolSpec
    head: Sequence[str]
    body: Sequence[str]
    vector: Floats


class SearchBackend(Protocol):
    """Keeps documents, and names those nearest to a request."""

    def put(self, documents: Sequence[Document]) -> None:
        """Add or replace tools."""
        ...

    def remove(self, names: Sequence[ToolName]) -> None:
        """Remove tools; unknown names are ignored."""
        ...

    def nearest(self, terms: Sequence[str], vector: Floats, count: int, where: Where | None) -> list[ToolName]:
        """At most `count` tools by words and `count` by meaning; a filter that it cannot apply it may leave out."""
        ...

    def __len__(self) -> int: ...


class BackendIndex:
    """An `Index` whose tools are kept by a backend.

    Parameters:
        backend: keeps words and vectors.
        table: the embedder of documents and requests.
        lookup: gives the specs of some names, as the catalog has them now; what it does not give is not shown.
    """

    def __init__(
        self,
        backend: SearchBackend,
        table: StaticEmbedder,
        lookup: Callable[[Sequence[ToolName]], Iterable[ToolSpec]],
    ) -> None:
        self._backend = backend
        self._table = table
        self._lookup = lookup

    def __len__(self) -> int:
        return len(self._backend)

    def update(self, *, put: Iterable[ToolSpec] = (), remove: Iterable[ToolName] = ()) -> None:
        """Add or replace tools, and remove others."""
        gone = list(remove)
        if gone:
            self._backend.remove(gone)
        specs = list({spec.name: spec for spec in put}.values())
        vectors = self._table.embed_gists([gist(spec) for spec in specs])
        if specs:
            self._backend.put([_document(spec, vector) for spec, vector in zip(specs, vectors, strict=True)])

    def search(self, query: str, *, limit: int = 8, where: Where | None = None) -> Found:
        """The tools that meet the request best."""
        request = read(query)
        asked = list(dict.fromkeys(stem for term in request.terms for stem in (term.stem, *term.also)))
        vector = self._table.embed_query(request.text)
        count = CANDIDATES
        while True:
            names = self._backend.nearest(asked, vector, count, where)
            specs = [spec for spec in self._lookup(names) if where is None or where.admits(spec)]
            if len(specs) >= limit or len(names) < count or count >= MOST:
                break
            count *= 4
        local = ToolIndex(self._table)
        local.update(put=specs)
        return local.search(query, limit=limit)


def _document(spec: ToolSpec, vector: Floats) -> Document:
    found = [(field in _HEAD, stems(words(text))) for field, text in texts(spec)]
    head = [term for is_head, terms in found if is_head for term in terms]
    return Document(spec, head, [term for is_head, terms in found if not is_head for term in terms], vector)
