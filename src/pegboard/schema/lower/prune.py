"""The steps that make a schema smaller, the least valuable part first: the deep before the shallow, the optional
before the required, the last before the first. No step empties a required top-level argument."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from pegboard.schema.lower import words
from pegboard.schema.lower.node import Node, below, every, plain, set_types, types
from pegboard.schema.lower.refs import target
from pegboard.schema.lower.unions import flatten, joined_literals, one_to_any
from pegboard.schema.lower.vocabulary import ANNOTATIONS
from pegboard.schema.lower.work import Work
from pegboard.schema.text import shorten
from pegboard.schema.types import as_list, as_object

MANY_VALUES = 24
"""Values of an `enum` that are all shown; of a longer one the first are named in words."""

SUMMARY = 160
"""Bytes of the words that stand for a part that is left out, unless there is room for more."""

_PARTS = frozenset(
    {
        "properties",
        "items",
        "prefixItems",
        "additionalProperties",
        "patternProperties",
        "anyOf",
        "oneOf",
        "allOf",
        "$ref",
    }
)


@dataclass(frozen=True, slots=True)
class Step:
    """One way to make a schema smaller.

    Parameters:
        kind: `enum` (name a few of many values), `union` (one object for all variants), `leaf` (leave an optional key
            out, named in its object's description) or `stub` (a part becomes its type and a summary).
        at: the author's pointer of the node.
        key: the key, for `leaf`; `at` is its object then.
    """

    kind: str
    at: str
    key: str = ""


@dataclass(frozen=True, slots=True)
class _Seat:
    """Where a node stands: how deep, whether it must be given, and under which object and key."""

    node: Node
    depth: int
    required: bool
    holder: Node | None = None
    key: str = ""


def steps(root: Node, *, join: bool) -> list[Step]:
    """Every step for a tree, in the order in which they are taken.

    Parameters:
        root: the tree.
        join: whether variants are joined before single ones go; else after.
    """
    ranked: list[tuple[tuple[float, bool, int], Step]] = []
    for order, seat in enumerate(_seats(root)):
        rank = (-seat.depth, seat.required, -order)
        node, at = seat.node, seat.node.at
        if len(as_list(node.get("enum"))) > MANY_VALUES:
            ranked.append((rank, Step("enum", at)))
        if seat.depth and len(node.get("anyOf", node.get("oneOf", ()))) > 1:
            ranked.append(((-seat.depth - (1.5 if join else 0), seat.required, -order), Step("union", at)))
        if seat.holder is not None and seat.depth > 2 and not _needed(seat) and not _PARTS & node.keys():
            ranked.append((rank, Step("leaf", seat.holder.at, seat.key)))
        top_argument = seat.depth == 1 and seat.required
        if seat.depth and not top_argument and _PARTS & node.keys():
            ranked.append((rank, Step("stub", at)))
    ranked.sort(key=lambda pair: pair[0])
    optional = [
        Step("leaf", root.at, key)
        for key in reversed(root.get("properties", {}))
        if key not in root.get("required", ())
    ]
    return [step for _, step in ranked] + optional


def _needed(seat: _Seat) -> bool:
    return seat.holder is not None and seat.key in as_list(seat.holder.get("required"))


def depths(root: Node) -> dict[str, int]:
    """How deep each node stands, by its pointer."""
    return {seat.node.at: seat.depth for seat in _seats(root)}


def _seats(root: Node) -> list[_Seat]:
    """Every node that the root leads to, the shallow first; a definition stands where it is first used."""
    queue, seen = [_Seat(root, 0, True)], {id(root)}
    for seat in queue:
        node = seat.node
        needed = as_list(node.get("required"))
        table: dict[str, Node] = node.get("properties", {})
        found = [
            _Seat(child, seat.depth + 1, seat.required and name in needed, node, name) for name, child in table.items()
        ]
        named = {id(child) for child in table.values()} | {id(child) for child in as_object(node.get("$defs")).values()}
        found += [_Seat(child, seat.depth + 1, False) for child in below(node) if id(child) not in named]
        if "$ref" in node:
            found.append(_Seat(target(root, node["$ref"]), seat.depth, seat.required))
        for child in found:
            if id(child.node) not in seen:
                seen.add(id(child.node))
                queue.append(child)
    return queue


def take(work: Work, chosen: Iterable[Step], summary: int = SUMMARY) -> None:
    """Take some steps on a planted tree.

    Parameters:
        work: the lowering that begins.
        chosen: the steps.
        summary: bytes of the words that stand for each part that goes.
    """
    places: dict[str, list[Node]] = {}
    for node in every(work.root):
        places.setdefault(node.at, []).append(node)
    for step in chosen:
        for node in places.get(step.at, ()):
            _TAKE[step.kind](node, step, work, summary)


def _enum(node: Node, step: Step, work: Work, summary: int) -> None:
    values = as_list(node.get("enum"))
    if len(values) > MANY_VALUES:
        del node["enum"]
        few = shorten(", ".join(words.text_of(value) for value in values), summary)
        work.lose(node, "enum", values, f"one of {len(values)} values: {few}")


def _union(node: Node, step: Step, work: Work, summary: int) -> None:
    one_to_any(node, work)
    branches: list[Node] = node.get("anyOf", [])
    joined = joined_literals(branches) if branches and not node.keys() - ANNOTATIONS - {"anyOf"} else None
    if joined is None:
        if branches:
            flatten(node, work)
        return
    told = [(words.listed([words.text_of(value) for value in _values(branch)]), branch) for branch in branches]
    said = "; ".join(f"{values}: {branch['description']}" for values, branch in told if branch.get("description"))
    joined.pop("description", None)
    notes = {key: node[key] for key in node if key in ANNOTATIONS}
    node.clear()
    node.update({**{key: joined[key] for key in ("type", "enum") if key in joined}, **notes})
    if said:
        node.say(shorten(said, summary))
        work.change(node, "the variants, each a fixed value, are listed in one `enum`")


def _values(branch: Node) -> list[Any]:
    return [branch["const"]] if "const" in branch else as_list(branch.get("enum"))


def _leaf(node: Node, step: Step, work: Work, summary: int) -> None:
    table: dict[str, Node] = node.get("properties", {})
    child = table.pop(step.key, None)
    if child is None:
        return
    if work.dialect.strict:
        node.setdefault("additionalProperties", False)
    elif node.get("additionalProperties") is False:
        del node["additionalProperties"]
    if node is not work.root:
        node.say(f"also {step.key}")
    work.lose(node, f"properties/{step.key}", plain(child), f"also {step.key}" if node is not work.root else "")


def _stub(node: Node, step: Step, work: Work, summary: int) -> None:
    if not _PARTS & node.keys():
        return
    seen = _followed(node, work.root)
    kinds = _kinds(seen, work.root)
    said = shorten(_summary(seen, work.root), summary)
    item = seen.get("items")
    inner = _kinds(_followed(item, work.root), work.root) if isinstance(item, Node) else ()
    notes = {key: node[key] for key in ANNOTATIONS if key in node}
    if "description" not in notes and seen.get("description"):
        notes["description"] = seen["description"]
    lost = {key: plain({key: node[key]})[key] for key in node if key in _PARTS}
    node.clear()
    node.update(notes)
    if work.dialect.strict:
        node.text = True
        said = f"{'/'.join(kinds) or 'any value'} as JSON text{'; ' + said if said else ''}"
    elif kinds:
        set_types(node, kinds)
        if "object" in kinds:
            node["additionalProperties"] = True
        if "array" in kinds and inner:
            node["items"] = node.like({})
            set_types(node["items"], inner)
    work.lose(node, next(iter(lost)), lost, said)


def _followed(node: Node, root: Node) -> Node:
    for _ in range(8):
        if "$ref" not in node:
            break
        node = target(root, node["$ref"])
    return node


def _kinds(node: Node, root: Node) -> tuple[str, ...]:
    """The types that a node may have, its variants' where it names none."""
    if types(node):
        return types(node)
    branches = [_followed(branch, root) for key in ("anyOf", "oneOf", "allOf") for branch in node.get(key, ())]
    kinds = [types(branch) for branch in branches]
    return tuple(dict.fromkeys(kind for group in kinds for kind in group)) if all(kinds) else ()


def _summary(node: Node, root: Node) -> str:
    """A part in a few words: its keys, or its variants by their discriminator."""
    item = node.get("items")
    if isinstance(item, Node):
        inner = _summary(_followed(item, root), root)
        return f"items with {inner}" if inner else ""
    branches = [_followed(branch, root) for key in ("anyOf", "oneOf") for branch in node.get(key, ())]
    if branches:
        pins = [pin for branch in branches for pin in _pins(branch)]
        return "forms: " + ", ".join(dict.fromkeys(pins)) if pins else ""
    table: dict[str, Any] = node.get("properties", {})
    needed = as_list(node.get("required"))
    return "keys: " + ", ".join(f"{key}{'' if key in needed else '?'}" for key in table) if table else ""


def _pins(branch: Node) -> list[str]:
    table: dict[str, Node] = branch.get("properties", {})
    pinned = [
        f"{key} {words.brief(child)}"
        for key, child in table.items()
        if "const" in child or len(as_list(child.get("enum"))) == 1
    ]
    return pinned[:1] or [f"{{{', '.join(list(table)[:4])}}}"] if table else [words.brief(plain(branch))[:40]]


_TAKE = {"enum": _enum, "union": _union, "leaf": _leaf, "stub": _stub}
