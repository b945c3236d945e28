"""Two schemas compared node by node: what callers must send anew, and what they may receive anew."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

from pegboard.schema.diff.branches import UNIONS, branches, is_union, match
from pegboard.schema.diff.difference import Difference, Side, Turn, Weight, brief
from pegboard.schema.diff.keywords import DEMANDS, SILENT, WORDS, of_keyword, of_types, of_values
from pegboard.schema.diff.objects import compare_objects
from pegboard.schema.repair import repair
from pegboard.schema.types import Json, as_list, as_object, pointer
from pegboard.schema.walk import Node, ref_target

Step: TypeAlias = tuple[Node, Node, str]
"""Two nodes to be compared, and the pointer of the newer."""

_HELD = ("items", "contains", "propertyNames", "unevaluatedItems", "unevaluatedProperties", "contentSchema")
_TABLES = ("patternProperties", "dependentSchemas")
_OPAQUE = ("not", "if", "then", "else")


@dataclass(slots=True)
class Comparison:
    """The state of one comparison: what is left to do, what was found, which pairs were seen.

    Parameters:
        side: which way the values travel.
        old: the older document, for its references.
        new: the newer document, for its references.
    """

    side: Side
    old: Node
    new: Node
    found: list[Difference] = field(default_factory=list[Difference])
    todo: list[Step] = field(default_factory=list[Step])
    seen: set[tuple[int, int]] = field(default_factory=set[tuple[int, int]])
    kept: dict[int, tuple[Node, Node]] = field(default_factory=dict[int, tuple[Node, Node]])

    def say(self, weight: Weight, at: str, message: str, before: Json = None, after: Json = None) -> None:
        """List one difference."""
        self.found.append(Difference(weight, at, message, before, after))

    def turn(self, turn: Turn, at: str, message: str, before: Json = None, after: Json = None) -> None:
        """List a difference that makes the set of values narrower, wider or other."""
        self.say(turn.weight(self.side), at, f"{message} ({_EFFECT[self.side][turn]})", before, after)

    def resolve(self, node: Node, root: Node) -> Node:
        """The node with its reference followed; the same object each time, so that cycles are seen."""
        if "$ref" not in node:
            return node
        if id(node) not in self.kept:
            self.kept[id(node)] = (node, _followed(node, root))
        return self.kept[id(node)][1]


_EFFECT: Mapping[Side, Mapping[Turn, str]] = {
    Side.INPUT: {
        Turn.NARROWER: "it takes less than before",
        Turn.WIDER: "it takes more than before",
        Turn.OTHER: "what was right before may be refused",
    },
    Side.OUTPUT: {
        Turn.NARROWER: "it answers less than before",
        Turn.WIDER: "it may answer what it never did",
        Turn.OTHER: "it may answer what it never did",
    },
}


def diff_schemas(before: Json, after: Json, side: Side, *, at: str = "") -> tuple[Difference, ...]:
    """Where two schemas differ, and what that means for callers.

    Both are repaired first, so that spellings of other drafts make no difference; order makes none either.
    References are followed; each pair of nodes is compared once, so that the work is bounded.

    Parameters:
        before: the older schema, any JSON.
        after: the newer schema, any JSON.
        side: which way its values travel.
        at: the pointer of the schema in the definition.

    Returns:
        The differences in the newer schema's order; empty where both say the same.
    """
    arguments = side is Side.INPUT
    old, new = (cast("Node", repair(schema, arguments=arguments).schema) for schema in (before, after))
    work = Comparison(side, old, new, todo=[(old, new, at)])
    while work.todo:
        step = work.todo.pop()
        below = list(_compare(work, *step))
        work.todo.extend(reversed(below))
    return tuple(work.found)


def _compare(work: Comparison, old: Node, new: Node, at: str) -> Iterator[Step]:
    """Compare two nodes, and hand out the pairs below them."""
    old, new = work.resolve(old, work.old), work.resolve(new, work.new)
    if old is new or (id(old), id(new)) in work.seen:
        return
    work.seen.add((id(old), id(new)))
    work.kept.setdefault(id(old), (old, old))
    work.kept.setdefault(id(new), (new, new))
    _words(work, old, new, at)
    left, right = branches(old), branches(new)
    if (is_union(old) or is_union(new)) and (left != [old] or right != [new]) and not _mixed(old, new, left, right):
        _default(work, old, new, at)
        yield from _union(work, left, right, at)
        return
    _demands(work, old, new, at)
    yield from compare_objects(work, old, new, at)
    yield from _below(work, old, new, at)
    if is_union(old) or is_union(new):
        yield from _union(work, _alternatives(old), _alternatives(new), at)


def _mixed(old: Node, new: Node, left: list[Node], right: list[Node]) -> bool:
    """Whether a node demands something beside its union; then the rest is compared as well."""
    return (is_union(old) and left == [old]) or (is_union(new) and right == [new])


def _alternatives(node: Node) -> list[Node]:
    return [as_object(branch) for keyword in UNIONS for branch in as_list(node.get(keyword))] or [{}]


def _union(work: Comparison, left: list[Node], right: list[Node], at: str) -> Iterator[Step]:
    for old, new in match(left, right):
        if old is None:
            work.turn(Turn.WIDER, at, f"one more alternative: {brief(_bare(new))}", None, new)
        elif new is None:
            work.turn(Turn.NARROWER, at, f"an alternative is gone: {brief(_bare(old))}", old, None)
        else:
            yield old, new, at


def _bare(branch: Node | None) -> Json:
    return {key: value for key, value in (branch or {}).items() if key not in WORDS}


def _words(work: Comparison, old: Node, new: Node, at: str) -> None:
    """Texts, and keywords that no one here knows: they demand nothing."""
    known = {*DEMANDS, *SILENT, *UNIONS, *_HELD, *_TABLES, *_OPAQUE, *_ELSEWHERE}
    for keyword in dict.fromkeys((*old, *new)):
        before, after = old.get(keyword), new.get(keyword)
        if keyword not in known and before != after:
            work.say(Weight.DOCS, at + pointer(keyword), f"{keyword} changed", before, after)


def _demands(work: Comparison, old: Node, new: Node, at: str) -> None:
    _default(work, old, new, at)
    for keyword, verdict in _verdicts(old, new):
        if verdict is not None:
            work.turn(verdict[0], at + pointer(keyword), verdict[1], old.get(keyword), new.get(keyword))


def _verdicts(old: Node, new: Node) -> Iterable[tuple[str, tuple[Turn, str] | None]]:
    yield "type", of_types(old, new)
    yield "const" if "const" in new else "enum", of_values(old, new)
    yield from ((keyword, of_keyword(keyword, old, new)) for keyword in DEMANDS)


def _default(work: Comparison, old: Node, new: Node, at: str) -> None:
    """A default says what a call means that leaves the value out."""
    before, after = old.get("default"), new.get("default")
    if before == after and ("default" in old) is ("default" in new):
        return
    silent = "default" not in old or work.side is Side.OUTPUT
    said = f"the default {brief(before)} is {f'now {brief(after)}' if 'default' in new else 'gone'}"
    work.say(
        Weight.DOCS if silent else Weight.BREAKING,
        at + pointer("default"),
        f"the default {brief(after)} is told now"
        if "default" not in old
        else f"{said}: calls that leave it out differ",
        before,
        after,
    )


def _below(work: Comparison, old: Node, new: Node, at: str) -> Iterator[Step]:
    """The pairs below two nodes, outside of their properties."""
    for keyword in _HELD:
        yield from _pair(work, old.get(keyword), new.get(keyword), at + pointer(keyword), keyword)
    for keyword in _TABLES:
        before, after = as_object(old.get(keyword)), as_object(new.get(keyword))
        for name in dict.fromkeys((*before, *after)):
            yield from _pair(work, before.get(name), after.get(name), at + pointer(keyword, name), keyword)
    for keyword in ("prefixItems", "allOf"):
        before, after = as_list(old.get(keyword)), as_list(new.get(keyword))
        for index in range(max(len(before), len(after))):
            old_part, new_part = (rows[index] if index < len(rows) else None for rows in (before, after))
            yield from _pair(work, old_part, new_part, at + pointer(keyword, index), keyword)
    for keyword in _OPAQUE:
        if old.get(keyword) != new.get(keyword):
            work.turn(Turn.OTHER, at + pointer(keyword), f"{keyword} changed", old.get(keyword), new.get(keyword))


def _pair(work: Comparison, before: Json, after: Json, at: str, keyword: str) -> Iterator[Step]:
    """Two values of a keyword that holds a schema; a demand appears or goes where one has none."""
    if isinstance(before, dict) and isinstance(after, dict):
        yield cast("Node", before), cast("Node", after), at
    elif before != after and _bare(as_object(before)) != _bare(as_object(after)):
        turn = Turn.NARROWER if before is None else Turn.WIDER if after is None else Turn.OTHER
        work.turn(turn, at, f"a demand of {keyword} is {'new' if before is None else 'gone'}", before, after)


def _followed(node: Node, root: Node) -> Node:
    """The target of a reference, with what stands beside the reference laid over it."""
    beside: dict[str, Any] = {key: value for key, value in node.items() if key != "$ref"}
    seen: set[str] = set()
    while isinstance(node.get("$ref"), str) and node["$ref"] not in seen:
        seen.add(node["$ref"])
        target = ref_target(root, node["$ref"])
        if target is None:
            break
        node = target
        beside = (
            {**{key: value for key, value in node.items() if key != "$ref"}, **beside} if "$ref" in node else beside
        )
    return {**node, **beside} if beside else node


_ELSEWHERE = (
    "type",
    "enum",
    "const",
    "default",
    "$ref",
    "properties",
    "required",
    "additionalProperties",
    "allOf",
    "prefixItems",
)
"""Keywords that are compared on their own ground."""
