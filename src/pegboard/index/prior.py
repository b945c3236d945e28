"""What use tells before any request: tools that many runs called, and called well, stand a very little forward.

The signal is small and capped: it decides between tools that meet a request about equally well, and no more, so that
what was popular once cannot keep out what fits. A tool's prior depends on its own use alone; no traces, no prior.
"""

from collections.abc import Mapping
from math import log1p

import numpy as np
import numpy.typing as npt

from pegboard.core import ToolName
from pegboard.index.postings import Floats
from pegboard.index.protocol import Use

MOST = 0.06
"""The most that use adds to a score or takes from it; the best score of a request is mostly between 1 and 3."""
MANY = 50
"""A tool that so many runs called is as popular as can be."""


def prior(use: Use) -> float:
    """From -`MOST` to `MOST`: how popular a tool is, times how far its calls do more than fail every other time."""
    popular = min(1.0, log1p(use.runs) / log1p(MANY))
    well = (use.calls - use.failed + 1) / (use.calls + 2)
    return round(MOST * popular * (2 * well - 1), 4)


class Priors:
    """The priors of some tools.

    Parameters:
        uses: how past runs used them.
    """

    def __init__(self, uses: Mapping[ToolName, Use]) -> None:
        self._of = {name: prior(use) for name, use in uses.items()}

    def __bool__(self) -> bool:
        return bool(self._of)

    def applied(self, values: Floats, slots: npt.NDArray[np.intp], slot_of: Mapping[ToolName, int]) -> Floats:
        """The candidates' scores with their priors.

        Parameters:
            values: the scores.
            slots: the candidates, ascending.
            slot_of: the slot of every tool.
        """
        found = values.copy()
        for name, worth in self._of.items():
            slot = slot_of.get(name)
            if slot is not None and len(slots):
                place = int(np.searchsorted(slots, slot))
                if place < len(slots) and slots[place] == slot:
                    found[place] += np.float32(worth)
        return found
