"""Who hears what sources say of their resources and prompts; sources come, go and start anew meanwhile."""

from collections.abc import Callable

from pegboard.board.attached import LIVE
from pegboard.board.primitives import Primitives
from pegboard.core import SourceState, SourceStatus
from pegboard.core.primitive import Notice, Supplying, supplying


class Heeding:
    """Passes the notices of every source on to whoever listens.

    Parameters:
        primitives: the board's resources and prompts.
    """

    def __init__(self, primitives: Primitives) -> None:
        self._primitives = primitives
        self._heeded: dict[str, tuple[Supplying, Callable[[], None]]] = {}
        self._listeners: dict[object, Callable[[str, Notice], None]] = {}
        self._last: dict[str, SourceState] = {}

    def listen(self, listener: Callable[[str, Notice], None]) -> Callable[[], None]:
        """Hear every notice, with its source's name; the listener must not block. Returns what ends it."""
        token = object()
        self._listeners[token] = listener
        return lambda: self._listeners.pop(token, None) and None

    def on_status(self, status: SourceStatus) -> None:
        """Hear how a source is: one that has started may bring lists that nobody has seen, one that ends takes some.

        Parameters:
            status: how it is.
        """
        attached = self._primitives.sources().get(status.name)
        before, self._last[status.name] = self._last.get(status.name), status.state
        supplier = supplying(attached.source) if attached is not None and status.state in LIVE else None
        came = supplier is not None and self._follow(status.name, supplier)
        if came or (before in LIVE and status.state not in LIVE):
            self._changed(status.name)

    def _follow(self, name: str, supplier: Supplying) -> bool:
        """Whether it is another one than was followed until now."""
        known = self._heeded.get(name)
        if known is not None and known[0] is supplier:
            return False
        if known is not None:
            known[1]()
        self._heeded[name] = supplier, supplier.heed(lambda notice: self._tell(name, notice))
        return True

    def _changed(self, name: str) -> None:
        for kind in self._primitives.given:
            self._tell(name, Notice(changed=kind))

    def _tell(self, name: str, notice: Notice) -> None:
        for listener in list(self._listeners.values()):
            listener(name, notice)
