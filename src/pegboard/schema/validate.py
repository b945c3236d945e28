"""Judge a value by a JSON Schema, and say what is wrong so that a model can put it right.

The engine is `jsonschema-rs` with a linear regex engine and no retrieval: nothing that a foreign schema says makes
it fetch, hang or crash. The words are ours.
"""

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol, cast

from pegboard.schema.types import Json, Schema, digest
from pegboard.schema.violation import Violation, explain

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError

MAX_DEPTH = 200
"""Deeper values are refused: past some thousands the engine's own recursion would end the process."""

MAX_VIOLATIONS = 20
"""More than these are counted, not told."""

_MAX_DROPPED = 50


class _Engine(Protocol):
    def is_valid(self, instance: Any) -> bool: ...
    def iter_errors(self, instance: Any) -> "Iterable[ValidationError]": ...


@dataclass(frozen=True, slots=True)
class Validator:
    """A schema, compiled. Make it with `validator`.

    Parameters:
        schema: the schema as it was given.
        engine: the compiled schema, or None where nothing of it can be used: then every value passes.
        notes: what of the schema could not be used, and is therefore not checked.
    """

    schema: Schema
    engine: _Engine | None
    notes: tuple[str, ...] = ()

    def is_valid(self, value: Json) -> bool:
        """Whether the value satisfies the schema. Never raises."""
        if not _shallow(value):
            return False
        try:
            return self.engine is None or self.engine.is_valid(value)
        except ValueError:
            return False

    def violations(self, value: Json) -> tuple[Violation, ...]:
        """Each fault of the value, by place; empty if and only if the value is valid. Never raises."""
        if self.is_valid(value):
            return ()
        if not _shallow(value):
            return (Violation("", f"is nested more than {MAX_DEPTH} levels deep, or holds itself"),)
        try:
            errors = list(self.engine.iter_errors(value)) if self.engine else []
        except ValueError as error:
            return (Violation("", f"is not JSON: {error}"),)
        return explain(errors, self.schema, value, limit=MAX_VIOLATIONS)


_CONTAINERS = (dict, list, tuple)


def _shallow(value: Json) -> bool:
    level: list[Any] = [value] if isinstance(value, _CONTAINERS) else []
    for _ in range(MAX_DEPTH):
        if not level:
            return True
        level = [
            child
            for parent in level
            for child in (cast("dict[str, Any]", parent).values() if isinstance(parent, dict) else parent)
            if isinstance(child, _CONTAINERS)
        ]
    return not level


class _Cache:
    """The most recently used validators: by identity first, since hashing a schema costs more than a validation."""

    def __init__(self, size: int = 4096) -> None:
        self._by_id: OrderedDict[int, tuple[Schema | bool, Validator]] = OrderedDict()
        self._by_digest: OrderedDict[str, Validator] = OrderedDict()
        self._size = size
        self._lock = Lock()

    def get(self, schema: Schema | bool) -> Validator:
        found = self._by_id.get(id(schema))
        if found is not None and found[0] is schema:
            return found[1]
        return self._add(schema)

    def _add(self, schema: Schema | bool) -> Validator:
        try:
            key = digest(schema)
        except (RecursionError, ValueError, TypeError):
            return _compile(schema)
        with self._lock:
            made = self._by_digest.pop(key, None) or _compile(schema)
            self._by_digest[key] = made
            self._by_id[id(schema)] = (schema, made)
            for table in (self._by_digest, self._by_id):
                while len(table) > self._size:
                    table.popitem(last=False)
        return made


_cache = _Cache()


def validator(schema: Schema | bool) -> Validator:
    """The validator of a schema, from the cache where it is there.

    Draft 2020-12 unless the schema names another; `format` is not checked. What of the schema is broken (a bad
    keyword, a pattern that the linear engine cannot run, a reference that leads nowhere) is left out and noted,
    and the rest still validates.

    Parameters:
        schema: any JSON Schema; it must not be changed afterwards.
    """
    return _cache.get(schema)


def matches(pattern: str, text: str) -> bool:
    """Whether a pattern is found in a text, in linear time; a pattern that cannot be run matches nothing."""
    judge = validator({"pattern": pattern})
    return not judge.notes and judge.is_valid(text)


def _compile(schema: Schema | bool) -> Validator:
    from pegboard.schema.compile import compile_tolerantly

    engine, notes = compile_tolerantly(schema, limit=_MAX_DROPPED)
    given: Schema = schema if isinstance(schema, Mapping) else ({} if schema else {"not": {}})
    return Validator(given, engine, notes)
