"""Several versions of one tool, side by side: which of them a name without a version means."""

import re
from collections.abc import Iterable

from pegboard.core import ToolSpec


def newest(specs: Iterable[ToolSpec]) -> ToolSpec:
    """The version that a name without one means: the newest that is not deprecated, else the newest.

    Parameters:
        specs: the versions of one tool, at least one.
    """
    return max(specs, key=lambda spec: (spec.deprecated is None, version_key(spec.name.version)))


def version_key(version: str | None) -> tuple[tuple[int, int, str], ...]:
    """Sorts versions as people do: `2` before `10`, `1.9` before `1.10`, `2.0-beta` before `2.0`; none comes first."""
    if version is None:
        return ()
    plain, _, early = version.lower().removeprefix("v").partition("-")
    return (*_parts(plain), (1, 0, "") if not early else (0, 0, early))


def _parts(text: str) -> Iterable[tuple[int, int, str]]:
    for part in re.findall(r"\d+|[a-z]+", text):
        yield (2, int(part), "") if part.isdecimal() else (1, 0, part)
