"""Board versions: the tools as they are now, frozen under a name; and the one that a board is held to."""

import re
from collections.abc import Iterable, Mapping

from pegboard.catalog.frozen import Frozen, freeze
from pegboard.core import Tool
from pegboard.errors import PegboardError, nearest
from pegboard.schema.types import JsonObject
from pegboard.store.published import BOARD, Published

LIVE = "live"
"""In the place of a version: what the config says now."""
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,99}")


def draft(version: str, tools: Iterable[Tool], tables: Mapping[str, JsonObject], note: str) -> Published:
    """A board version that is still to be kept.

    Parameters:
        version: what it shall be called.
        tools: the board's tools.
        tables: the config's tables of composed and deprecated tools.
        note: what is new in it.

    Raises:
        PegboardError: the name cannot be a version's.
    """
    check_name(version)
    frozen = freeze(version, tools, tables)
    return Published(kind=BOARD, name="", version=version, digest=frozen.digest, note=note, content=frozen.to_json())


def check_name(version: str) -> None:
    """See that a text can be the name of a version.

    Raises:
        PegboardError: it cannot.
    """
    if version == LIVE or not _NAME.fullmatch(version):
        reason = "means what the config says now" if version == LIVE else "cannot be the name of a version"
        step = "Use letters, digits and _ . + - only, such as v1 or 2027-01."
        raise PegboardError(f"{version!r} {reason}.", next_step=step)


def thaw(found: Published | None, wanted: str, known: Iterable[str]) -> Frozen:
    """The definitions of a board version.

    Parameters:
        found: what the store has of it.
        wanted: the version that is wanted.
        known: the versions that there are.

    Raises:
        PegboardError: it is not there, or cannot be read.
    """
    if found is None:
        raise unknown(wanted, known)
    try:
        return Frozen.from_json(found.version, found.content)
    except ValueError as problem:
        step = "Publish the board anew under another name."
        raise PegboardError(str(problem), where=found.version, next_step=step) from problem


def unknown(wanted: str, known: Iterable[str]) -> PegboardError:
    """The error for a version that is not there."""
    names = list(known)
    near = nearest(wanted, names) or names[-3:]
    step = f"There are: {', '.join(near)}." if near else "Publish one first: pegboard publish board NAME."
    return PegboardError(f"There is no version {wanted!r}.", next_step=step)
