"""How much evidence stands behind something: runs, distinct tasks, and examples, in any order of merging the same."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple, Self

from pegboard.trace.record import Run

EXAMPLES = 3
MOST_TASKS = 1024
"""Distinct tasks are counted exactly up to here, and beyond it estimated from the smallest hashes."""
_SPACE = 1 << 64
_MOST = MOST_TASKS + 200
"""Some hashes too many are put up with before the greatest are looked for: for each hash that would be too slow."""


class RunRef(NamedTuple):
    """A run as evidence: a hash of its task, a hash of itself to choose examples by, and its id."""

    task: int
    order: int
    id: str


def reference(run: Run) -> RunRef:
    """The run as evidence. A run without a task counts by its first user message, else for itself."""
    said = run.user_messages[0] if run.user_messages else None
    return RunRef(stable_hash(run.task or said or run.id), stable_hash(run.id), run.id)


def stable_hash(text: str) -> int:
    """64 bits that are the same in every process."""
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


@dataclass(slots=True)
class Support:
    """Runs, distinct tasks and a few examples.

    Tasks are kept as the smallest hashes (a K-minimum-values sketch: Bar-Yossef et al., "Counting distinct elements
    in a data stream", 2002), so that merging is exact, bounded and independent of order.
    """

    runs: int = 0
    hashes: set[int] = field(default_factory=set[int])
    examples: tuple[tuple[int, str], ...] = ()
    _ceiling: int = field(default=_SPACE, init=False, repr=False, compare=False)

    def add(self, ref: RunRef) -> None:
        """Count a run."""
        self.runs += 1
        task, order, run = ref
        if task < self._ceiling:
            hashes = self.hashes
            hashes.add(task)
            if len(hashes) > _MOST:
                self._trim()
        examples = self.examples
        if len(examples) < EXAMPLES or order <= examples[-1][0]:
            self._examples(((order, run),))

    def merge(self, other: Self) -> None:
        """Take in what another part of the traces showed."""
        self.runs += other.runs
        self._tasks(other.hashes)
        self._examples(other.examples)

    @property
    def tasks(self) -> int:
        """How many distinct tasks, exactly or estimated."""
        self._trim()
        if len(self.hashes) < MOST_TASKS:
            return len(self.hashes)
        return round((MOST_TASKS - 1) * _SPACE / max(self.hashes))

    @property
    def example_runs(self) -> list[str]:
        """A few run ids, always the same ones."""
        return [run for _, run in self.examples]

    def _tasks(self, hashes: Iterable[int]) -> None:
        self.hashes.update(hashes)
        if len(self.hashes) > _MOST:
            self._trim()

    def _trim(self) -> None:
        """Keep the smallest hashes; from here on, what is not below the greatest of them has no place."""
        if len(self.hashes) > MOST_TASKS:
            kept = sorted(self.hashes)[:MOST_TASKS]
            self.hashes, self._ceiling = set(kept), kept[-1]

    def _examples(self, examples: Iterable[tuple[int, str]]) -> None:
        self.examples = tuple(sorted({*self.examples, *examples})[:EXAMPLES])
