"""Which way a change of one keyword turns a schema (JSON Schema 2020-12, validation vocabulary)."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pegboard.schema.diff.difference import Turn, brief
from pegboard.schema.types import Json, as_list, canonical

TYPES = ("string", "number", "integer", "boolean", "object", "array", "null")

WORDS = frozenset({"title", "description", "examples", "$comment", "deprecated", "readOnly", "writeOnly"})
"""Keywords that say something and demand nothing."""

SILENT = frozenset({"$schema", "$id", "$anchor", "$dynamicAnchor", "$defs", "definitions", "$vocabulary"})
"""Keywords whose change alone is none: where a definition is used, it is compared there."""

Verdict = tuple[Turn, str] | None
"""The turn and what to say of it; None where nothing changed."""


def types(node: Mapping[str, Any]) -> frozenset[str]:
    """The types that a node admits; a whole number is a number, too."""
    named = node.get("type")
    found = {named} if isinstance(named, str) else {str(kind) for kind in as_list(named)}
    found = found or set(TYPES)
    return frozenset(found | {"integer"} if "number" in found else found)


def of_types(old: Mapping[str, Any], new: Mapping[str, Any]) -> Verdict:
    """Compare what types two nodes admit."""
    before, after = types(old), types(new)
    said = f"type {_names(old)} is now {_names(new)}"
    return None if before == after else (_sets(before, after), said)


def of_values(old: Mapping[str, Any], new: Mapping[str, Any]) -> Verdict:
    """Compare `enum` and `const`, which are the same demand."""
    before, after = _values(old), _values(new)
    if before is None or after is None:
        if before is after:
            return None
        return (Turn.NARROWER, "only some values are left") if before is None else (Turn.WIDER, "any value is taken")
    if before.keys() == after.keys():
        return None
    lost = [brief(value) for text, value in before.items() if text not in after]
    won = [brief(value) for text, value in after.items() if text not in before]
    said = [f"{', '.join(lost)} left out"] if lost else []
    said += [f"{', '.join(won)} added"] if won else []
    return _sets(before.keys(), after.keys()), f"values: {'; '.join(said)}"


def of_keyword(keyword: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Verdict:
    """Compare one keyword that demands something by itself."""
    before, after = old.get(keyword), new.get(keyword)
    if _same(before, after):
        return None
    if keyword in _ALWAYS_OTHER:
        return Turn.OTHER, _moved(keyword, before, after)
    if before is None or after is None:
        turn = Turn.NARROWER if before is None else Turn.WIDER
        return turn, f"{keyword} {brief(after)} is new" if before is None else f"{keyword} {brief(before)} is gone"
    return _TURNS.get(keyword, _other)(before, after), _moved(keyword, before, after)


def _moved(keyword: str, before: Json, after: Json) -> str:
    return f"{keyword} {brief(before)} is now {brief(after)}"


def _names(node: Mapping[str, Any]) -> str:
    named = node.get("type")
    return named if isinstance(named, str) else " or ".join(map(str, as_list(named))) or "any"


def _values(node: Mapping[str, Any]) -> dict[str, Json] | None:
    if "const" in node:
        return {canonical(node["const"]): node["const"]}
    return {canonical(value): value for value in as_list(node["enum"])} if "enum" in node else None


def _sets(before: Iterable[str], after: Iterable[str]) -> Turn:
    old, new = set(before), set(after)
    if new < old:
        return Turn.NARROWER
    return Turn.WIDER if old < new else Turn.OTHER


def _same(before: Json, after: Json) -> bool:
    return isinstance(before, bool) is isinstance(after, bool) and before == after


def _low(before: Json, after: Json) -> Turn:
    if not (_is_number(before) and _is_number(after)):
        return Turn.OTHER
    return Turn.NARROWER if after > before else Turn.WIDER


def _high(before: Json, after: Json) -> Turn:
    return _low(after, before)


def _steps(before: Json, after: Json) -> Turn:
    if not (isinstance(before, int) and isinstance(after, int) and before and after):
        return Turn.OTHER
    if after % before == 0:
        return Turn.NARROWER
    return Turn.WIDER if before % after == 0 else Turn.OTHER


def _flag(before: Json, after: Json) -> Turn:
    return Turn.NARROWER if after is True else Turn.WIDER


def _other(before: Json, after: Json) -> Turn:
    return Turn.OTHER


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_ALWAYS_OTHER = frozenset({"contentEncoding", "contentMediaType"})
"""How the value is written: any change of it makes the old way of writing wrong."""

_TURNS: Mapping[str, Callable[[Json, Json], Turn]] = {
    **dict.fromkeys(("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties", "minContains"), _low),
    **dict.fromkeys(("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties", "maxContains"), _high),
    "multipleOf": _steps,
    "uniqueItems": _flag,
}

DEMANDS = (*_TURNS, "pattern", "format", "dependentRequired", *sorted(_ALWAYS_OTHER))
"""The keywords that `of_keyword` compares."""
