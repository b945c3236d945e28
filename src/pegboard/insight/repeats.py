"""Values that come back, where the user's words are not known: does a call repeat an earlier argument, or the user?

The form of a value tells more often than not. What a user says in words of his own (a date, a place on a map, a number
that stood in an answer) a model puts into a form, and repeats that form; names, files and free texts are mostly the
user's own words. Each rule is right more often than not on runs whose users' words are known.
"""

import re
from collections.abc import Sequence

from pegboard.trace.record import CallRecord

_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_DECIMAL = re.compile(r"[-+]?\d+\.\d+")
_NUMBER = re.compile(r"\d+")
_WORD = re.compile(r"[a-z][^\sA-Z\d./:@]*")
_CODE = re.compile(r"[A-Z]{2,5}")
_BLANK = re.compile(r"<[^<>]+>|\[[^\[\]]+\]|\byour_", re.IGNORECASE)
"""A placeholder, which no user says."""


class Repeats:
    """Tells of the values of one run whether a call repeats an earlier argument.

    Parameters:
        calls: the run's calls.
    """

    def __init__(self, calls: Sequence[CallRecord]) -> None:
        self._calls = calls
        self._mute: bool | None = None

    def holds(self, text: str, name: str, place: int, before: tuple[int, str]) -> bool:
        """Whether a value that no result has is more likely an earlier argument than the user's.

        Parameters:
            text: the value, as text.
            name: the argument that holds it.
            place: the call's place in the run.
            before: the place of the first call that had the value, and under which name.
        """
        first, call = self._calls[before[0]], self._calls[place]
        same, together = name == before[1], first.segment == call.segment
        if _DATE.match(text):
            return together or not same or self.mute
        if _DECIMAL.fullmatch(text) or _BLANK.search(text):
            return True
        if not same:
            return False
        if first.tool == call.tool:
            return bool(_WORD.fullmatch(text))
        return bool(_NUMBER.fullmatch(text)) and not together or bool(_CODE.fullmatch(text)) and self.mute

    @property
    def mute(self) -> bool:
        """Whether the run keeps no results: then codes, too, come from results that nobody sees."""
        if self._mute is None:
            self._mute = not any(call.result not in (None, "") or call.values for call in self._calls)
        return self._mute
