"""Compile a schema for the validation engine, leaving out only what the engine cannot use."""

import copy
from collections.abc import Iterator, Mapping
from typing import Any, Protocol, cast

from pegboard.schema.types import Schema, pointer
from pegboard.schema.walk import ref_target


class _Compiled(Protocol):
    def is_valid(self, instance: Any) -> bool: ...
    def iter_errors(self, instance: Any) -> Any: ...


def compile_tolerantly(schema: Schema | bool, *, limit: int) -> tuple[_Compiled | None, tuple[str, ...]]:
    """Compile; each keyword that the engine refuses is dropped and noted, at most `limit` of them.

    Parameters:
        schema: any JSON Schema, of a foreign hand.
        limit: how many keywords may be dropped before the schema counts as unusable.
    """
    notes: list[str] = []
    try:
        node: Any = copy.deepcopy(dict(schema)) if isinstance(schema, Mapping) else schema
    except RecursionError:
        return None, ("The schema is nested too deeply to validate with; nothing is checked.",)
    for _ in range(limit):
        try:
            return _compile(node), tuple(notes)
        except Exception as error:  # the engine raises ValueError and subclasses; a panic is an Exception too
            dropped = _drop_faulty(node, error)
            if dropped is None:
                return None, (*notes, f"The schema cannot be used ({_first_line(error)}); nothing is checked.")
            notes.append(dropped)
    return None, (*notes, f"More than {limit} keywords of the schema are broken; nothing is checked.")


def _compile(node: Any) -> _Compiled:
    import jsonschema_rs

    options: dict[str, Any] = {
        "retriever": _deny,
        "validate_formats": False,
        "pattern_options": jsonschema_rs.RegexOptions(),
    }
    if _has_tuples(node):
        return jsonschema_rs.Draft7Validator(node, **options)
    return jsonschema_rs.validator_for(node, **options)


def _deny(uri: str) -> Any:
    raise ValueError(f"{uri} is not fetched")


def _has_tuples(node: Any) -> bool:
    """Whether a schema that names no draft spells tuples as drafts up to 7 do."""
    if not isinstance(node, Mapping) or "$schema" in node:
        return False
    return any(key == "items" and isinstance(value, list) for _, key, value in _entries(cast("Schema", node)))


def _entries(schema: Schema) -> Iterator[tuple[tuple[str | int, ...], str, Any]]:
    """Every key of every object in the schema, with the path of its owner."""
    todo: list[tuple[tuple[str | int, ...], Any]] = [((), schema)]
    while todo:
        path, node = todo.pop()
        if isinstance(node, Mapping):
            for key, value in cast("Mapping[str, Any]", node).items():
                yield path, key, value
                todo.append(((*path, key), value))
        elif isinstance(node, list):
            todo += [((*path, index), value) for index, value in enumerate(cast("list[Any]", node))]


def _drop_faulty(node: Any, error: Exception) -> str | None:
    """Remove what the engine complains of; says what was removed, or None where nothing can be."""
    path = list(getattr(error, "instance_path", None) or [])
    if not isinstance(node, dict):
        return None
    if path and _remove(node, path):
        return f"{pointer(*path)} is not valid JSON Schema ({_first_line(error)}) and is not checked."
    root = cast("dict[str, Any]", node)
    return _drop_reference(root, str(error)) or _drop_dialect(root)


def _remove(node: Any, path: list[str | int]) -> bool:
    for part in path[:-1]:
        node = node[part]
    try:
        del node[path[-1]]
    except (KeyError, IndexError, TypeError):
        return False
    return True


_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")


def _drop_reference(node: dict[str, Any], complaint: str) -> str | None:
    """Remove one reference that leads nowhere, by preference the one that the engine names."""
    dangling = [
        (path, key, value)
        for path, key, value in _entries(node)
        if key in _REFERENCES and isinstance(value, str) and ref_target(node, value) is None
    ]
    if not dangling:
        return None
    path, key, value = next((found for found in dangling if found[2].lstrip("#") in complaint), dangling[0])
    _remove(node, [*path, key])
    return f"{pointer(*path, key)} leads to {value!r}, which is not here; it is not checked."


def _drop_dialect(node: dict[str, Any]) -> str | None:
    for key in ("$schema", "$id", "id", "$vocabulary"):
        if key in node:
            return f"{pointer(key)} {node.pop(key)!r} is not known here and was left out."
    return None


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
