"""One model's view of the tools: their vectors by slot, computed at once or, for a slow model, in the background."""

import atexit
import threading
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple
from weakref import WeakSet

import numpy as np
import numpy.typing as npt

from pegboard.core import ToolSpec
from pegboard.index.ask import Request
from pegboard.index.dense import Embedder, Ints, Question, Vectors, quantised
from pegboard.index.fields import gist, passage
from pegboard.index.languages import ENGLISH
from pegboard.index.lexicon import Lexicon
from pegboard.index.static import StaticEmbedder
from pegboard.index.vocabulary import Shown, Vocabulary

BATCH = 16
"""So many tools are embedded at a time in the background."""
_WORKING: "WeakSet[Layer]" = WeakSet()
_MANY = 3
"""So many needs of a request are read each by themselves: below it their reading costs more than it finds."""


class Asked(NamedTuple):
    """A request as one model sees it.

    Parameters:
        question: its own vector, then those of its needs, where it names several.
        known: the share of its words that the model may know.
        foreign: whether it is read in another language than the model's own.
    """

    question: Question
    known: float
    foreign: bool = False


class Layer:
    """The vectors of one embedder.

    Parameters:
        embedder: the model.
    """

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder
        self.vectors = Vectors(embedder.dim, ordered=embedder.ordered, axes=getattr(embedder, "axes", None))
        self._waiting: deque[ToolSpec] = deque()
        self._slots: dict[int, int] = {}
        self._lock = threading.Lock()
        self._idle = threading.Event()
        self._idle.set()
        self._stopped = False
        self.failure: str | None = None
        """Why the model does not take part, where it failed; the next change of the catalog tries again."""

    @property
    def slow(self) -> bool:
        """Whether the model needs so long for a tool that it reads them in the background."""
        return not isinstance(self.embedder, StaticEmbedder)

    @property
    def ready(self) -> bool:
        """Whether every tool has its vector."""
        return not self._waiting and self._idle.is_set()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until it is ready; whether it is."""
        return self._idle.wait(seconds)

    def stop(self) -> None:
        """Embed no more, and wait until the batch at hand is done."""
        self._stopped = True
        self._idle.wait(10)

    def reserve(self, count: int) -> None:
        """Make room for so many tools, where they are many more than there are."""
        if count > len(self.vectors) * 2:
            self.vectors.reserve(count)

    def append(self, specs: Sequence[ToolSpec], first: int, lexicon: Lexicon | None = None) -> None:
        """Add tools in the slots from `first` on."""
        if isinstance(self.embedder, StaticEmbedder):
            self.vectors.append(quantised(self.embedder.embed_gists([gist(spec) for spec in specs], lexicon)))
            return
        with self._lock:
            self.vectors.append(np.zeros((len(specs), self.embedder.dim), np.int8))
            self._await(specs, first)

    def _await(self, specs: Sequence[ToolSpec], first: int) -> None:
        for n, spec in enumerate(specs):
            self._slots[id(spec)] = first + n
        self._waiting.extend(specs)
        if self._waiting and self._idle.is_set():
            self._idle.clear()
            _WORKING.add(self)
            threading.Thread(target=self._work, name="pegboard-embed", daemon=True).start()

    def adopt(self, rows: npt.NDArray[Any], specs: Sequence[ToolSpec]) -> None:
        """Take vectors over from a file; rows of zeros are computed anew."""
        with self._lock:
            first = len(self.vectors)
            self.vectors.append(rows)
            if not isinstance(self.embedder, StaticEmbedder):
                for n in np.flatnonzero(~rows.any(axis=1)).tolist():
                    self._await([specs[n]], first + n)

    def keep(self, slots: Ints, specs: Iterable[ToolSpec]) -> None:
        """Keep these slots alone, in this order."""
        with self._lock:
            self.vectors.keep(slots)
            if self._slots:
                places = {id(spec): n for n, spec in enumerate(specs)}
                self._slots = {key: places[key] for key in self._slots if key in places}

    def _work(self) -> None:
        while True:
            with self._lock:
                batch = [self._waiting.popleft() for _ in range(min(BATCH, len(self._waiting)))]
                if not batch or self._stopped:
                    self._slots.clear()
                    self._idle.set()
                    return
            try:
                rows = quantised(self.embedder.embed_docs([passage(spec) for spec in batch]))
            except Exception as problem:  # a model that fails leaves the words and the other layers
                with self._lock:
                    self._waiting.extendleft(reversed(batch))
                    self.failure = f"{self.embedder.name}: {problem}"
                    self._idle.set()
                return
            with self._lock:
                for spec, row in zip(batch, rows, strict=True):
                    slot = self._slots.get(id(spec))
                    if slot is not None:
                        self.vectors.put(slot, row)

    def asked(self, request: Request, vocabulary: Vocabulary, held: Shown, least: float) -> Asked | None:
        """Read a request; None where it has no meaning to the model, or where that knows less of it than `least`."""
        embedder = self.embedder
        right = vocabulary.corrected(request.words, held) if request.language == ENGLISH else {}
        known = vocabulary.known_share(request, right) if embedder.english else 1.0
        spoken = None
        if known < least and isinstance(embedder, StaticEmbedder):
            spoken, known = embedder.asked(request)
        if known < least:
            return None
        if isinstance(embedder, StaticEmbedder):
            parts = [request.words, *request.needs]
            read = [[right.get(word, word) for word in part] for part in parts] if right else parts
            found = embedder.embed_words(read, spoken)
        else:
            try:
                needs = request.needs if len(request.needs) >= _MANY else ()
                texts = [request.text, *(" ".join(need) for need in needs)]
                found = np.array([embedder.embed_query(_corrected(text, right)) for text in texts], np.float32)
            except Exception as problem:
                self.failure = f"{embedder.name}: {problem}"
                return None
        question = Question.of(found)
        return Asked(question, known, spoken is not None) if question.told else None


def _corrected(text: str, right: Mapping[str, str]) -> str:
    changed = {word: meant for word, meant in right.items() if word != meant}
    return " ".join(changed.get(word.lower(), word) for word in text.split()) if changed else text


@atexit.register
def _stop_all() -> None:
    """A runtime that is torn down while it works would abort the process."""
    for layer in list(_WORKING):
        layer.stop()
