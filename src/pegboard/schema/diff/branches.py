"""Unions: which branch of the older one became which branch of the newer one."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from pegboard.schema.diff.keywords import SILENT, WORDS
from pegboard.schema.types import as_list, as_object, canonical
from pegboard.schema.walk import Node

UNIONS = ("anyOf", "oneOf")

Pair: TypeAlias = tuple[Node | None, Node | None]
"""A branch before and after; None on the side that does not have it."""


def branches(node: Node) -> list[Node]:
    """The branches of a node that is a union and nothing else; the node itself where it is none.

    A list of types is a union of them, so that both spellings compare as one.
    """
    for keyword in UNIONS:
        if keyword in node and _only(node, keyword):
            return [as_object(branch) for branch in as_list(node[keyword])]
    named = as_list(node.get("type"))
    if len(named) < 2 or "enum" in node:
        return [node]
    demands = {key: value for key, value in node.items() if key not in WORDS and key != "default"}
    return [{**demands, "type": kind} for kind in named]


def is_union(node: Node) -> bool:
    """Whether a node has alternatives, whatever else it demands."""
    return any(keyword in node for keyword in UNIONS)


def match(old: list[Node], new: list[Node]) -> Iterator[Pair]:
    """Pair the branches: equal ones first, then those of one label, then those of one type, then by order."""
    left, right = list(old), list(new)
    for key in (_bare, _label, _type):
        yield from _by(key, left, right)
    yield from zip(left, right, strict=False)
    yield from ((branch, None) for branch in left[len(right) :])
    yield from ((None, branch) for branch in right[len(left) :])


def _by(key: Callable[[Node], str], left: list[Node], right: list[Node]) -> Iterator[Pair]:
    """Take the pairs of one key out of both lists."""
    waiting: dict[str, list[Node]] = {}
    for branch in right:
        waiting.setdefault(key(branch), []).append(branch)
    for branch in list(left):
        name = key(branch)
        if name and waiting.get(name):
            other = waiting[name].pop(0)
            _take(left, branch)
            _take(right, other)
            yield branch, other


def _take(rows: list[Node], row: Node) -> None:
    del rows[next(at for at, one in enumerate(rows) if one is row)]


def _bare(branch: Node) -> str:
    return canonical({key: value for key, value in branch.items() if key not in WORDS})


def _label(branch: Node) -> str:
    """What names a branch: its title, the definition that it refers to, or the fixed values of its properties."""
    fixed = {name: values for name, values in _fixed(as_object(branch.get("properties")))}
    return str(branch.get("title") or branch.get("$ref") or (canonical(fixed) if fixed else ""))


def _fixed(properties: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
    for name, schema in properties.items():
        node = as_object(schema)
        values = [node["const"]] if "const" in node else as_list(node.get("enum"))
        if len(values) == 1:
            yield name, values


def _type(branch: Node) -> str:
    return canonical(branch["type"]) if "type" in branch else ""


def _only(node: Node, keyword: str) -> bool:
    return all(key == keyword or key in WORDS or key in SILENT or key == "default" for key in node)
