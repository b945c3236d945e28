"""A chain's parameters led to places in its input: `parameter_mapping`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from pegboard.errors import DefinitionError, nearest
from pegboard.schema.embed import at_path
from pegboard.schema.types import Json, JsonObject, Schema, as_object


@dataclass(frozen=True, slots=True)
class Mapped:
    """What a chain takes as a tool, and how its input is made of that.

    Parameters:
        input: the tool's input schema.
        paths: by parameter, the path in the chain's input that it fills; other parameters fill their own name.
    """

    input: Schema
    paths: Mapping[str, tuple[str, ...]]

    def into(self, arguments: JsonObject) -> JsonObject:
        """The chain's input."""
        found = {key: value for key, value in arguments.items() if key not in self.paths}
        for name, path in self.paths.items():
            if name in arguments:
                _put(found, path, arguments[name])
        return found


def mapped(schema: Schema, mapping: Mapping[str, str]) -> Mapped:
    """Lead parameters to a chain's input.

    Parameters:
        schema: the chain's input.
        mapping: by parameter, a path in it such as `customer.id`. Inputs that it does not name keep their own.

    Raises:
        DefinitionError: a path leads nowhere, or two parameters fill one place.
    """
    if not mapping:
        return Mapped(schema, {})
    properties = as_object(schema.get("properties"))
    required = list(schema.get("required", ()))
    paths = {name: tuple(path.removeprefix("input.").split(".")) for name, path in mapping.items()}
    _check(paths, properties)
    filled = {path[0] for path in paths.values()}
    kept = {name: node for name, node in properties.items() if name not in filled}
    for name, path in paths.items():
        if name in kept:
            raise _twice(name, f"input.{name}")
        kept[name] = at_path(schema, path) or {}
    needed = [*(n for n in required if n not in filled), *(n for n, path in paths.items() if path[0] in required)]
    return Mapped({**schema, "properties": kept, "required": needed}, paths)


def _check(paths: Mapping[str, tuple[str, ...]], properties: Mapping[str, Json]) -> None:
    seen: dict[tuple[str, ...], str] = {}
    for name, path in paths.items():
        if path[0] not in properties:
            near = nearest(path[0], properties) or list(properties)
            raise DefinitionError(
                f"The chain has no input {path[0]!r}.",
                where=f"parameter_mapping.{name}",
                next_step=f"It has: {', '.join(near)}." if near else "Its steps read nothing of `input`.",
            )
        for other in seen:
            if _overlap(path, other):
                raise _twice(name, f"parameter {seen[other]}")
        seen[path] = name


def _overlap(one: Sequence[str], other: Sequence[str]) -> bool:
    shorter = min(len(one), len(other))
    return tuple(one[:shorter]) == tuple(other[:shorter])


def _twice(name: str, other: str) -> DefinitionError:
    return DefinitionError(
        f"{name} and {other} fill the same place.",
        where=f"parameter_mapping.{name}",
        next_step="Give each place of the input one parameter.",
    )


def _put(target: dict[str, Any], path: Sequence[str], value: Json) -> None:
    for part in path[:-1]:
        target = cast("dict[str, Any]", target.setdefault(part, {}))
    target[path[-1]] = value
