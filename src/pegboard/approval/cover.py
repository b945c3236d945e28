"""What a yes to a composed call covers while that call runs, and what such a call would do, found out beforehand."""

from collections import Counter
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from contextvars import ContextVar

from pegboard.approval.request import Item

_COVER: ContextVar["Cover | None"] = ContextVar("pegboard_approval_cover", default=None)
_FORESEEN: ContextVar[list[Item] | None] = ContextVar("pegboard_approval_foreseen", default=None)


class Cover:
    """The inner calls that one yes covers, each as often as it was shown.

    Parameters:
        items: the calls.
        outer: what an outer composite covers besides.
    """

    def __init__(self, items: Iterable[Item], outer: "Cover | None" = None) -> None:
        self._left = Counter(item.fingerprint for item in items)
        self._outer = outer

    def take(self, item: Item) -> bool:
        """Use a covered call up; False for one that is not (or no longer) covered."""
        if self._left[item.fingerprint] > 0:
            self._left[item.fingerprint] -= 1
            return True
        return self._outer is not None and self._outer.take(item)

    def holds(self, item: Item) -> bool:
        """Whether a call is covered, without using that up."""
        return self._left[item.fingerprint] > 0 or (self._outer is not None and self._outer.holds(item))

    def give_back(self, item: Item) -> None:
        """The call has failed; the same may be tried again."""
        self._left[item.fingerprint] += 1


def covered_by() -> Cover | None:
    """What the composite around the present call was allowed, if there is one."""
    return _COVER.get()


@contextmanager
def covering(items: Iterable[Item]) -> Generator[None]:
    """Let these calls pass, as parts of the call that runs inside."""
    token = _COVER.set(Cover(items, _COVER.get()))
    try:
        yield
    finally:
        _COVER.reset(token)


@contextmanager
def foreseeing() -> Generator[list[Item]]:
    """Collect the calls that would need a yes, of a composite that runs without effect inside."""
    found: list[Item] = []
    token = _FORESEEN.set(found)
    try:
        yield found
    finally:
        _FORESEEN.reset(token)


def foreseen() -> list[Item] | None:
    """Where calls that would need a yes are collected; None while nobody does."""
    return _FORESEEN.get()
