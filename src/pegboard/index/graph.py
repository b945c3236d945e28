"""What a tool needs before it can be called: tools that its hints name, and tools that produce what it consumes."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

from pegboard.core import Relation, ToolName, ToolSpec
from pegboard.index.protocol import Prerequisite
from pegboard.index.text import stems, words
from pegboard.schema.types import as_object

DEPTH = 3
"""So many steps back are followed."""
_HANDLE = re.compile(r"(?:^|_)(?:id|ids|key|token|uuid|slug|sha|urn|guid|handle|ref)$")
_FINDS = frozenset(
    stems(("list", "search", "find", "get", "lookup", "resolve", "query", "create", "fetch", "start", "open"))
)
REFUSED = "pegboard/refused_hints"
"""In `ToolSpec.meta`: tools that are not to be derived as what to call first, because the config refuses them."""
_LEVELS = 2
"""So deep are the rows of a result looked for."""
_FOUND = 4
"""The verbs of that rank and below find things; the others fetch or make one."""
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
            for product in dict.fromkeys(_products(spec)):
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
                    yield Prerequisite(name, spec.name, str(hint), hint.parameter)
        for parameter in _required(spec):
            made = None if parameter in hinted else self._maker(parameter, spec)
            if made is not None:
                yield Prerequisite(made[0], spec.name, f"gives {parameter}", parameter, made[1])

    def _named(self, text: str, spec: ToolSpec) -> Sequence[ToolName]:
        """The tool that a hint names: in its own namespace first."""
        if ToolName.parse(text) in self._specs:
            return [ToolName.parse(text)]
        names = self._bare.get(text, [])
        own = [name for name in names if name.namespace == spec.name.namespace]
        return own[:1] or (names if len(names) == 1 else [])

    def _maker(self, parameter: str, spec: ToolSpec) -> tuple[ToolName, float] | None:
        """The tool of the same namespace that finds or makes what a handle such as `user_id` names, and how surely."""
        thing = _thing(parameter)
        if thing is None:
            return None
        refused = spec.meta.get(REFUSED, ())
        makers = [name for name in self._makers.get((spec.name.namespace, thing), ()) if name != spec.name]
        takes = {name: parameter in _required(self._specs[name]) for name in makers}
        free = [name for name in makers if not takes[name] and not {str(name), name.name} & set(refused)]
        best = min(free, key=lambda name: (len(words(name.name)), _rank(name), str(name)), default=None)
        return None if best is None else (best, self._surety(best, parameter, len(free)))

    def _surety(self, maker: ToolName, parameter: str, rivals: int) -> float:
        """How sure it is: most where the result declares the very parameter, less where only names fit, or many do."""
        declared = _outputs(self._specs[maker])
        surety = 0.9 if parameter in declared else 0.8 if "id" in declared else 0.75 if _rank(maker) < _FOUND else 0.6
        return round(surety - (0.1 if rivals > 1 else 0.0), 2)


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
    for name in _outputs(spec):
        thing = _thing(name)
        if thing is not None:
            yield thing


def _outputs(spec: ToolSpec) -> list[str]:
    """The fields that a tool declares to return, at the top or in the rows of a list."""
    found: list[str] = []
    for node in _tables(spec.output, _LEVELS):
        found += [str(name) for name in node]
    return found


def _tables(schema: Any, levels: int) -> Iterator[Mapping[str, Any]]:
    node = as_object(schema)
    properties = as_object(node.get("properties"))
    yield properties
    for child in (node.get("items"), *properties.values()) if levels else ():
        yield from _tables(child, levels - 1)
