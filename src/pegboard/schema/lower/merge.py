"""One node that admits what two nodes both admit; `allOf` and siblings of references and unions are merged with it."""

import math
from collections.abc import Callable
from typing import Any

from pegboard.schema.lower.node import Node, clone, is_any, is_never, never, set_types, types
from pegboard.schema.lower.vocabulary import BOUNDS
from pegboard.schema.lower.work import Work
from pegboard.schema.repair.names import type_of
from pegboard.schema.types import Json, as_list, canonical
from pegboard.schema.validate import matches, validator

WIDEST = 12
"""Branches of a union that merging two unions may lead to."""


def both(a: Node, b: Node, work: Work) -> Node:
    """What both nodes admit, as a new node in the place of the first; its keywords stand in the first one's order."""
    if is_never(a) or is_never(b):
        return never(a.at)
    if a.text or b.text:
        return clone(a if a.text else b)
    merged = clone(a)
    for name, found in b.maybe.items():
        merged.maybe.setdefault(name, []).extend(found)
    for word in b.words:
        merged.say(word)
    other = clone(b)
    if {"properties", "additionalProperties", "patternProperties"} & merged.keys() & other.keys() or (
        merged.get("additionalProperties") is not None or other.get("additionalProperties") is not None
    ):
        _objects(merged, other, work)
    if "prefixItems" in merged or "prefixItems" in other:
        _tuples(merged, other, work)
    for keyword, value in other.items():
        merged[keyword] = _RULES.get(keyword, _other)(merged, keyword, value, work) if keyword in merged else value
    return _settled(merged, a)


def _settled(merged: Node, a: Node) -> Node:
    """The merged node, or one that admits nothing where the two contradict each other."""
    if merged.pop("\0never", None) or merged.get("enum") == []:
        return never(a.at)
    if any(is_never(merged.get("properties", {}).get(name, {})) for name in as_list(merged.get("required"))):
        return never(a.at)
    return merged


def _other(merged: Node, keyword: str, value: Json, work: Work) -> Json:
    """Two demands that one keyword cannot carry: the first stays, the second is lost."""
    if canonical(merged[keyword]) != canonical(value):
        work.lose(
            merged,
            keyword,
            value,
            "" if keyword in ("if", "then", "else") else f"also {keyword} {canonical(value)}"[:240],
        )
    return merged[keyword]


def _ref(merged: Node, keyword: str, value: Json, work: Work) -> Json:
    """Two references: the second becomes a part, to be expanded and merged in its turn."""
    if merged[keyword] != value:
        merged["allOf"] = [*merged.get("allOf", []), Node({"$ref": value}, merged.at)]
    return merged[keyword]


def _parts(merged: Node, keyword: str, value: Json, work: Work) -> Json:
    return [*merged[keyword], *value]


def _first(merged: Node, keyword: str, value: Json, work: Work) -> Json:
    return merged[keyword]


def _types(merged: Node, keyword: str, value: Json, work: Work) -> Json:
    mine, theirs = types(merged), types({"type": value})
    kept = tuple(kind for kind in mine if kind in theirs or (kind == "integer" and "number" in theirs))
    if "number" in mine and "integer" in theirs and "integer" not in kept:
        kept += ("integer",)
    if not kept:
        merged["\0never"] = True
        return merged[keyword]
    probe = Node()
    set_types(probe, kept)
    return probe["type"]


def _enum(merged: Node, keyword: str, value: Json, work: Work) -> Json:
    theirs = {canonical(item) for item in as_list(value)}
    return [item for item in as_list(merged[keyword]) if canonical(item) in theirs]


def _const(merged: Node, keyword: str, value: Json, work: Work) -> Json:
    if canonical(merged[keyword]) != canonical(value):
        merged["\0never"] = True
    return merged[keyword]


def _description(merged: Node, keyword: str, value: Json, work: Work) -> Json:
    mine = merged[keyword]
    if not value or value in mine:
        return mine
    return value if mine in value else f"{mine}\n{value}"


def _union(merged: Node, keyword: str, value: Json, work: Work) -> Json:
    """Two unions that must both hold: each pair of branches, while they are few."""
    mine: list[Node] = merged[keyword]
    if canonical(mine) == canonical(value):
        return mine
    pairs = [both(a, b, work) for a in mine for b in value] if len(mine) * len(value) <= WIDEST else []
    kept = [pair for pair in pairs if not is_never(pair)]
    if pairs and not kept:
        merged["\0never"] = True
        return mine
    if kept:
        return kept
    return _other(merged, keyword, value, work)


def _not(merged: Node, keyword: str, value: Json, work: Work) -> Json:
    if canonical(merged[keyword]) == canonical(value):
        return merged[keyword]
    return Node({"anyOf": [merged[keyword], value]}, merged.at)


def _names(merged: Node, keyword: str, value: Json, work: Work) -> Json:
    return list(dict.fromkeys([*as_list(merged[keyword]), *as_list(value)]))


def _table(merged: Node, keyword: str, value: Json, work: Work) -> Json:
    mine: dict[str, Any] = merged[keyword]
    together = {name: both(child, value[name], work) if name in value else child for name, child in mine.items()}
    return {**together, **{name: child for name, child in value.items() if name not in mine}}


def _needs(merged: Node, keyword: str, value: Json, work: Work) -> Json:
    mine: dict[str, list[str]] = merged[keyword]
    return {name: list(dict.fromkeys([*mine.get(name, []), *value.get(name, [])])) for name in {**mine, **value}}


def _schema(merged: Node, keyword: str, value: Json, work: Work) -> Json:
    return both(merged[keyword], value, work) if isinstance(merged[keyword], Node) else merged[keyword]


def _rest(merged: Node, keyword: str, value: Json, work: Work) -> Json:
    """`additionalProperties` of both: false wins, true yields, schemas are merged."""
    mine = merged[keyword]
    if mine is False or value is False:
        return False
    if mine is True or value is True:
        return value if mine is True else mine
    return both(mine, value, work)


def _number(merged: Node, keyword: str, value: Json, work: Work) -> Json:
    mine = merged[keyword]
    if keyword == "multipleOf":
        whole = isinstance(mine, int) and isinstance(value, int)
        return math.lcm(mine, value) if whole else _other(merged, keyword, value, work)
    low = keyword.startswith("min") or keyword == "exclusiveMinimum"
    return max(mine, value) if low else min(mine, value)


def _flag(merged: Node, keyword: str, value: Json, work: Work) -> Json:
    return bool(merged[keyword] or value)


Rule = Callable[[Node, str, Json, Work], Json]
_RULES: dict[str, Rule] = {
    **dict.fromkeys(
        ("title", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment", "$id", "$schema"), _first
    ),
    **dict.fromkeys(("properties", "patternProperties", "dependentSchemas", "$defs"), _table),
    **dict.fromkeys(("minimum", "minLength", "minItems", "minProperties", "minContains"), _number),
    **dict.fromkeys(("maximum", "maxLength", "maxItems", "maxProperties", "maxContains"), _number),
    **dict.fromkeys(("exclusiveMinimum", "exclusiveMaximum", "multipleOf"), _number),
    **dict.fromkeys(("items", "propertyNames"), _schema),
    "$ref": _ref,
    "additionalProperties": _rest,
    "allOf": _parts,
    "anyOf": _union,
    "const": _const,
    "dependentRequired": _needs,
    "description": _description,
    "enum": _enum,
    "not": _not,
    "required": _names,
    "type": _types,
    "uniqueItems": _flag,
}


def _objects(a: Node, b: Node, work: Work) -> None:
    """Let each side's rule for other keys judge the keys that only the other side names."""
    rules = [(a, b), (b, a)]
    judged = [(named, _foreign(named, other)) for named, other in rules]
    for named, table in judged:
        for name, extra in table.items():
            named["properties"][name] = both(named["properties"][name], extra, work)


def _foreign(named: Node, other: Node) -> dict[str, Node]:
    """What `other` demands of the keys that `named` declares and `other` does not."""
    found: dict[str, Node] = {}
    rest = other.get("additionalProperties", True)
    patterns: dict[str, Node] = other.get("patternProperties", {})
    for name in named.get("properties", {}):
        if name in other.get("properties", {}):
            continue
        fitting = [schema for pattern, schema in patterns.items() if matches(pattern, name)]
        if not fitting and rest is False:
            found[name] = never(named.at)
        elif not fitting and isinstance(rest, Node) and not is_any(rest):
            found[name] = clone(rest)
    return found


def _tuples(a: Node, b: Node, work: Work) -> None:
    """Give both sides the same number of positions, so that they can be merged one by one."""
    longest = max(len(as_list(side.get("prefixItems"))) for side in (a, b))
    for side in (a, b):
        rest = side.get("items")
        have = as_list(side.get("prefixItems"))
        more = [clone(rest) if isinstance(rest, Node) else Node(at=side.at) for _ in range(longest - len(have))]
        side["prefixItems"] = [*have, *more]
    a["prefixItems"] = [both(x, y, work) for x, y in zip(a["prefixItems"], b.pop("prefixItems"), strict=True)]


def merge_all(node: Node, work: Work) -> None:
    """Replace `allOf` by the merged node, in place; its branches hold no further `allOf` and no reference."""
    if "allOf" not in node:
        return
    branches: list[Node] = node.pop("allOf")
    kind = types(node)
    merged = clone(node)
    for branch in branches:
        merged = both(merged, branch, work)
    if is_never(merged) and kind:
        work.lose(node, "allOf", "its parts contradict each other", "")
    node.take(merged)
    work.change(node, "`allOf` merged into one schema")


def keep_fitting_values(node: Node, work: Work) -> None:
    """Drop the values of `enum` that the node's types and bounds refuse; the bounds say nothing more then."""
    kinds = types(node)
    values = as_list(node.get("enum"))
    if not kinds or not values:
        return
    bounds = {key: node.pop(key) for key in list(node) if key in BOUNDS}
    judge = validator(bounds)
    kept = [value for value in values if _fits(value, kinds) and judge.is_valid(value)]
    shown = tuple(kind for kind in kinds if any(_fits(value, (kind,)) for value in kept))
    if len(shown) < len(kinds) and kept:
        set_types(node, shown)  # no value is of the others
    if len(kept) < len(values):
        work.change(node, "values of `enum` that the node itself refuses are left out")
        if kept:
            node["enum"] = kept
        else:
            node.take(never(node.at))


def _fits(value: Json, kinds: tuple[str, ...]) -> bool:
    kind = type_of(value)
    whole = kind == "number" and "integer" in kinds and float(value).is_integer()
    return kind in kinds or (kind == "integer" and "number" in kinds) or whole
