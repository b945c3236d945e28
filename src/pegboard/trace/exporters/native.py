"""Pegboard's own JSON Lines."""

import json
from collections.abc import Iterator

from pegboard.trace.codec import run_to_json
from pegboard.trace.record import Run


def lines(run: Run) -> Iterator[str]:
    """One line: the whole run, nothing left out."""
    yield json.dumps(run_to_json(run), ensure_ascii=False, default=str)
