"""What a tool needs before it can be called: tools that its hints name, and tools that produce what it consumes."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

from pegboard.core import Relation, ToolName, ToolSpec
from pegboard.index.protocol import Prerequisite
from pegboard.index.text import stems, words

DEPTH = 3
"""So many steps back are followed."""
_HANDLE = re.compile(r"(?:^|_)(?:id|ids|key|token|uuid|slug|sha|urn|guid|handle|ref)$")
_FINDS = frozenset(
    stems(("list", "search", "find", "get", "lookup", "resolve", "query", "create", "fetch", "start", "open"))
)
_GENERIC = frozenset(
    ("id", "ids", "key", "token", "uuid", "slug", "sha", "urn", "guid", "handl", "ref", "user", "name")
)


class Graph:
    """Who produces what whom needs, among some tools.

    Parameters:
        specs: the tools; none outside them is ever named.
    """

    def __init__(self, specs: Iterable[ToolSpec]) -> None:
        self._specs = {spec.name: spec for spec in sorted(specs, key=lambda spec: str(spec.name))}
        self._bare: dict[str, list[ToolName]] = {}
        self._makers: dict[tuple[str, str], list[ToolName]] = {}
        for spec in self._specs.values():
            self._bare.setdefault(spec.name.name, []).append(spec.name)
            for product in _products(spec):
                self._makers.setdefault((spec.name.namespace, product), []).append(spec.name)

    def before(self, name: ToolName, *, depth: int = DEPTH) -> list[Prerequisite]:
        """What to call before a tool, in the order of calling; a circle is entered once."""
        found: dict[ToolName, Prerequisite] = {}
        self._collect(name, depth, {name}, found)
        return list(found.values())

    def _collect(self, name: ToolName, depth: int, seen: set[ToolName], found: dict[ToolName, Prerequisite]) -> None:
        spec = self._specs.get(name)
        if spec is None or not depth:
            return
        for needed in self._needs(spec):
            if needed.name not in seen:
                seen.add(needed.name)
                self._collect(needed.name, depth - 1, seen, found)
                found[needed.name] = needed

    def _needs(self, spec: ToolSpec) -> Iterator[Prerequisite]:
        hinted: set[str] = set()
        for hint in spec.hints:
            if hint.relation is Relation.FIRST:
                for name in self._named(hint.tool, spec):
                    hinted.add(hint.parameter or "")
                    yield Prerequisite(name, spec.name, str(hint))
        for parameter in _required(spec):
            maker = None if parameter in hinted else self._maker(parameter, spec)
            if maker is not None:
                yield Prerequisite(maker, spec.name, f"gives {parameter}")

    def _named(self, text: str, spec: ToolSpec) -> Sequence[ToolName]:
        """The tool that a hint names: in its own namespace first."""
        if ToolName.parse(text) in self._specs:
            return [ToolName.parse(text)]
        names = self._bare.get(text, [])
        own = [name for name in names if name.namespace == spec.name.namespace]
        return own[:1] or (names if len(names) == 1 else [])

    def _maker(self, parameter: str, spec: ToolSpec) -> ToolName | None:
        """The tool of the same namespace that finds or makes what a handle such as `user_id` names."""
        thing = _thing(parameter)
        if thing is None:
            return None
        makers = [name for name in self._makers.get((spec.name.namespace, thing), ()) if name != spec.name]
        takes = {name: parameter in _required(self._specs[name]) for name in makers}
        free = [name for name in makers if not takes[name]]
        return min(free, key=lambda name: (len(words(name.name)), _rank(name), str(name)), default=None)


def _rank(name: ToolName) -> int:
    order = stems(("search", "find", "list", "lookup", "resolve", "query", "get", "fetch"))
    verb = next(iter(stems(words(name.name)[:1])), "")
    return order.index(verb) if verb in order else len(order)


def _required(spec: ToolSpec) -> list[str]:
    required = spec.input.get("required")
    names = cast("list[Any]", required) if isinstance(required, list) else []
    return [name for name in names if isinstance(name, str)]


def _thing(parameter: str) -> str | None:
    """What a handle names: `user_id` and `userId` name a user."""
    found = words(parameter)
    parts = [word for word in found if "".join(found[:2]) != word] or found
    if not _HANDLE.search("_".join(parts)):
        return None
    kept = [stem for stem in stems(parts) if stem not in _GENERIC or stem == "user"]
    return kept[-1] if kept else None


def _products(spec: ToolSpec) -> Iterator[str]:
    """The things that a tool finds or makes: by its name, and by the handles in what it declares to return."""
    found = stems(words(spec.name.name))
    if found and found[0] in _FINDS:
        yield from dict.fromkeys(stem for stem in found[1:] if stem not in _FINDS)
    output = cast("Mapping[str, Any]", spec.output or {}).get("properties")
    if isinstance(output, Mapping):
        for name in cast("Mapping[Any, Any]", output):
            thing = _thing(str(name))
            if thing is not None:
                yield thing
