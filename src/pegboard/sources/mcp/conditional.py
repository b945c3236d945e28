"""Tools that a server offers only to clients that can be asked: they are listed too, and marked with what they need.

A server may list by what was declared to it. The source itself declares nothing; once a client has declared something,
the server is asked for its list under that declaration, and what comes beside the other tools is added.
"""

from typing import Any, cast

import anyio

from pegboard.core.spec import OWN_META, ToolSpec
from pegboard.schema.types import Json, JsonObject, as_list, as_object, canonical

NEEDS = f"{OWN_META}needs"
"""Where the `meta` of a tool's spec names the features without which its server does not offer it."""
_MOST = 16
"""Different declarations for which a server is asked."""
_GOOD_FOR = 300.0
"""Seconds for which such a list is taken as it was: for a program, each costs a start."""


class Declarations:
    """What clients declared so far, and what the server listed for it.

    Parameters:
        may_ask: which features of a caller's client the server may use.
    """

    def __init__(self, may_ask: frozenset[str]) -> None:
        self._may_ask = may_ask
        self._met: dict[str, JsonObject] = {}
        self._listed: dict[str, tuple[float, list[Json]]] = {}

    def meet(self, features: JsonObject) -> bool:
        """Take note of what a client declared; whether that is new, as far as the server may use it."""
        usable = {name: value for name, value in features.items() if name in self._may_ask}
        key = canonical(usable)
        if not usable or key in self._met or len(self._met) >= _MOST:
            return False
        self._met[key] = usable
        return True

    def due(self) -> list[JsonObject]:
        """The declarations for which the server has to be asked (again)."""
        now = anyio.current_time()
        return [one for key, one in self._met.items() if key not in self._listed or self._listed[key][0] < now]

    def keep(self, features: JsonObject, rows: list[Json]) -> None:
        """Take what the server listed for a declaration."""
        self._listed[canonical(features)] = anyio.current_time() + _GOOD_FOR, rows

    def beside(self, rows: list[Json]) -> list[Json]:
        """The rows that only these declarations bring, each with its needs."""
        known, found = {_name(row) for row in rows}, dict[str, Json]()
        for key, (_, listed) in self._listed.items():
            needs = sorted(self._met[key])
            for row in listed:
                name = _name(row)
                if name and name not in known:
                    found.setdefault(name, {**cast("dict[str, Any]", row), NEEDS: needs})
        return list(found.values())


def _name(row: Json) -> str:
    name = as_object(row).get("name")
    return name if isinstance(name, str) else ""


def needs_of(spec: ToolSpec) -> list[str]:
    """The features under which its server offers a tool, where it does not without; one of them may be enough."""
    return [str(name) for name in as_list(spec.meta.get(NEEDS))]
