"""Raising: what a model sent in a lowered shape, turned back into what the author's schema wants; and the way there.

Every rewriting of values stands on the tree that lowering leaves (`Lowered.tree`). Raising walks a value along that
tree, children first, and undoes them, the last one first. A value that does not fit the tree is left as it is: the
author's schema judges it afterwards.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from pegboard.schema.lower import Lowered
from pegboard.schema.lower.node import Node, every, types
from pegboard.schema.lower.undo import Renamed, Settled
from pegboard.schema.lower.vocabulary import BOUNDS
from pegboard.schema.repair.names import type_of
from pegboard.schema.types import Json, as_list, as_object, canonical
from pegboard.schema.validate import validator
from pegboard.schema.violation import Violation
from pegboard.schema.walk import ref_target

DEEPEST = 100
"""Levels of a value that are raised."""


@dataclass(frozen=True, slots=True)
class Raised:
    """Raised arguments, and what the author's schema says of them.

    Parameters:
        value: the arguments in the author's shape.
        violations: what is wrong with them; empty where they are valid.
    """

    value: Json
    violations: tuple[Violation, ...] = ()


def raise_arguments(lowered: Lowered, value: Json) -> Raised:
    """Turn a model's arguments back into the author's shape, and check them against the author's schema.

    Arguments that are valid as they are, and would not be once raised, are taken as they are: a model that knows
    the author's shape may use it.

    Parameters:
        lowered: the lowering of the tool that the model saw.
        value: the arguments as the model sent them, read from JSON.
    """
    judge = validator(lowered.author)
    raised = raise_value(lowered, value)
    violations = judge.violations(raised)
    if violations and not _speaks_lowered(lowered, value) and judge.is_valid(value):
        return Raised(value)
    return Raised(raised, violations)


def _speaks_lowered(lowered: Lowered, value: Json) -> bool:
    """Whether arguments have keys that only the lowered shape has: an open object would take them for its own."""
    undone = lowered.tree.undo if lowered.tree is not None else ()
    new = {name for undo in undone if isinstance(undo, Renamed) for name in undo.names.values()}
    return bool(new & as_object(value).keys())


def raise_value(lowered: Lowered, value: Json) -> Json:
    """Turn a value of the lowered shape back into the author's shape, unchecked."""
    tree = lowered.tree
    return _Walk(tree).raised(value, tree, 0) if tree is not None and _alive(tree) else value


def lower_value(lowered: Lowered, value: Json) -> Json:
    """Turn a value of the author's shape into the lowered shape: what a model would have to send for it."""
    tree = lowered.tree
    return _Walk(tree).lowered(value, tree, 0) if tree is not None and _alive(tree) else value


def _alive(tree: Node) -> bool:
    return any(node.undo for node in every(tree))


class _Walk:
    """One walk along one tree."""

    def __init__(self, root: Node) -> None:
        self.root = root

    def raised(self, value: Json, node: Node, depth: int) -> Json:
        if depth > DEEPEST:
            return value
        node = self._target(node)
        if "anyOf" in node:
            branch = self._pick(value, node["anyOf"])
            value = self.raised(value, branch, depth + 1) if branch is not None else value
        else:
            value = _within(value, node, lambda item, child: self.raised(item, child, depth + 1))
        for undo in reversed(node.undo):
            value = undo.raised(value)
        return value

    def lowered(self, value: Json, node: Node, depth: int) -> Json:
        if isinstance(value, Settled):
            return value.value
        if depth > DEEPEST:
            return value
        node = self._target(node)
        for undo in node.undo:
            value = undo.lowered(value)
        if "anyOf" not in node:
            return _within(value, node, lambda item, child: self.lowered(item, child, depth + 1))
        fitting: list[Json] = []
        for branch in node["anyOf"]:
            candidate = self.lowered(value, branch, depth + 1)
            if self.fits(candidate, branch, 0):
                if same(self.raised(candidate, node.like({"anyOf": node["anyOf"]}), depth + 1), value):
                    return candidate
                fitting.append(candidate)
        return fitting[0] if fitting else value

    def _pick(self, value: Json, branches: list[Node]) -> Node | None:
        """The first branch that a lowered value fits, one that declares all its keys before one that does not."""
        fitting = [branch for branch in branches if self.fits(value, branch, 0)]
        return next((branch for branch in fitting if _declares(value, self._target(branch))), (fitting or [None])[0])

    def fits(self, value: Json, node: Node, depth: int) -> bool:
        """Whether a lowered value fits a node."""
        if depth > DEEPEST:
            return True
        node = self._target(node)
        if "anyOf" in node:
            return any(self.fits(value, branch, depth + 1) for branch in node["anyOf"])
        kinds = types(node)
        if kinds and not _of(value, kinds):
            return False
        if "enum" in node and canonical(value) not in {canonical(item) for item in node["enum"]}:
            return False
        bounds = {key: node[key] for key in BOUNDS if key in node}
        if bounds and not validator(bounds).is_valid(value):
            return False
        if isinstance(value, dict):
            return self._fits_object(cast("dict[str, Any]", value), node, depth)
        items = node.get("items")
        return (
            not isinstance(value, list)
            or not isinstance(items, Node)
            or all(self.fits(item, items, depth + 1) for item in cast("list[Any]", value))
        )

    def _fits_object(self, value: dict[str, Any], node: Node, depth: int) -> bool:
        table: dict[str, Node] = node.get("properties", {})
        rest = node.get("additionalProperties", True)
        if any(name not in value for name in as_list(node.get("required"))):
            return False
        for name, item in value.items():
            child = table.get(name, rest)
            if child is False or (isinstance(child, Node) and not self.fits(item, child, depth + 1)):
                return False
        return True

    def _target(self, node: Node) -> Node:
        for _ in range(DEEPEST):
            target = ref_target(self.root, node["$ref"]) if "$ref" in node else None
            if not isinstance(target, Node):
                break
            node = target
        return node


def _declares(value: Json, node: Node) -> bool:
    return (
        not isinstance(value, dict) or cast("dict[str, Any]", value).keys() <= as_object(node.get("properties")).keys()
    )


def _within(value: Json, node: Node, change: Callable[[Json, Node], Json]) -> Json:
    """The value with each part changed along the part of the node that judges it."""
    if isinstance(value, dict):
        table: dict[str, Node] = node.get("properties", {})
        rest = node.get("additionalProperties")
        found: dict[str, Any] = {}
        for name, item in cast("dict[str, Any]", value).items():
            child = table.get(name, rest)
            found[name] = change(item, child) if isinstance(child, Node) else item
        return found
    items = node.get("items")
    if isinstance(value, list) and isinstance(items, Node):
        return [change(item, items) for item in cast("list[Any]", value)]
    return cast("Json", value)


def _of(value: Json, kinds: tuple[str, ...]) -> bool:
    kind = type_of(value)
    if kind == "number" and "integer" in kinds and float(value).is_integer():
        return True
    return kind in kinds or (kind == "integer" and "number" in kinds)


def same(a: Json, b: Json) -> bool:
    """Whether two values are the same JSON."""
    return canonical(a) == canonical(b)
