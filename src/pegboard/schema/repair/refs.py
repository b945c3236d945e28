"""Brings every reference of a repaired document to a pointer that resolves inside it; none is ever fetched."""

from typing import Any, cast
from urllib.parse import unquote

from pegboard.schema.repair.tree import Tree
from pegboard.schema.types import pointer
from pegboard.schema.walk import IN_PLACE, Node, children, look_up, nodes, ref_pointer, ref_target, ref_to, tokens


def settle(tree: Tree, root: Node) -> None:
    """Rewrite, hoist or drop each `$ref` of the document in place."""
    refs = tree.record.refs
    for node, old in refs:  # hoisting a definition may find more: the list grows while we walk it
        _settle_one(tree, root, node, old)
    _hoist_strays(tree, root)
    if refs:
        _break_loops(tree, root)


def _settle_one(tree: Tree, root: Node, node: Node, old: str) -> None:
    ref = node["$ref"]
    if not isinstance(ref, str):
        _drop(tree, node, old, "`$ref` was no string")
        return
    target = _find(tree, ref, old)
    if target is None:
        remote = "://" in ref or ref.startswith("//")
        _drop(tree, node, old, f"{ref!r} {'is remote and never fetched' if remote else 'leads nowhere'}")
        return
    place = tree.record.moved.get(target)
    if place is None:
        place = _hoist(tree, root, target)
    if ref_pointer(ref) != place or not ref:
        node["$ref"] = ref_to(place)
        tree.record.note(old, f"`$ref` {ref!r} is spelled {node['$ref']!r}")


def _drop(tree: Tree, node: Node, old: str, why: str) -> None:
    node.pop("$ref", None)
    tree.record.note(old, f"`$ref` removed, any value is taken: {why}")


def _find(tree: Tree, ref: str, old: str) -> str | None:
    """The old pointer of the place that a reference means, or None."""
    record = tree.record
    base, _, fragment = ref.partition("#")
    start = ""
    if base:
        found = _resource(tree, base)
        if found is None:
            return _definition(tree, base.rpartition("/")[2]) if "/" not in base and not fragment else None
        start = found
    if not fragment:
        return start
    if not fragment.startswith("/"):
        anchor = unquote(fragment)
        return record.anchors.get(anchor) or _definition(tree, anchor)
    for place in (unquote(fragment), fragment):
        for above in _above(start or old):
            if look_up(record.document, above + place)[0]:
                return above + place
    return None if base else _definition(tree, tokens(unquote(fragment))[-1])


def _resource(tree: Tree, base: str) -> str | None:
    ids = tree.record.ids
    if base in ids:
        return ids[base]
    tail = base.rpartition("/")[2]
    near = [at for name, at in ids.items() if name and name.rpartition("/")[2] == tail]
    return near[0] if len(near) == 1 and "://" not in base else None


def _above(old: str) -> list[str]:
    """The root first, as the specification says, then the nearest enclosing places, for tables that were misplaced."""
    parts = old.split("/")
    return ["", *("/".join(parts[:end]) for end in range(len(parts), 1, -1))]


def _definition(tree: Tree, name: str) -> str | None:
    """The old pointer of the only definition of this name, wherever its table stands."""
    places = tree.record.tables.get(name, [])
    olds = [old for old, new in tree.record.moved.items() if new in places]
    return olds[0] if len(olds) == 1 else None


def _hoist(tree: Tree, root: Node, target: str) -> str:
    """Make a definition of what stands at a place that is no schema's (`#/components/schemas/X`)."""
    value = look_up(tree.record.document, target)[1]
    name = _free_name(root, (tokens(target) or ["root"])[-1])
    place = pointer("$defs", name)
    root.setdefault("$defs", {})[name] = {}
    root["$defs"][name] = tree.mend(value, target, place)
    tree.record.note(target, f"referenced from the schema: made the definition {name!r}")
    return place


def _free_name(root: Node, name: str) -> str:
    taken: Node = root.get("$defs", {})
    candidate, count = name or "definition", 2
    while candidate in taken:
        candidate, count = f"{name}_{count}", count + 1
    return candidate


def _hoist_strays(tree: Tree, root: Node) -> None:
    """Definitions of tables below the root, which readers look for at the root only, are moved there."""
    moves: dict[str, str] = {}
    for at, node in list(nodes(root)):
        if at and "$defs" in node:
            for name, schema in cast("dict[str, Any]", node.pop("$defs")).items():
                free = _free_name(root, name)
                root.setdefault("$defs", {})[free] = schema
                moves[at + pointer("$defs", name)] = pointer("$defs", free)
                tree.record.note(at, f"the definition {name!r} is moved to the root")
    for old, new in reversed(moves.items()):
        for _, node in nodes(root):
            place = ref_pointer(node["$ref"]) if isinstance(node.get("$ref"), str) else None
            if place is not None and (place == old or place.startswith(old + "/")):
                node["$ref"] = ref_to(new + place[len(old) :])


def _break_loops(tree: Tree, root: Node) -> None:
    """A value that would have to be judged by itself first (A is B, B is A) is judged by nothing."""
    done: set[int] = set()
    for _, start in list(nodes(root)):
        if id(start) not in done:
            _break_from(tree, root, start, done)


def _break_from(tree: Tree, root: Node, start: Node, done: set[int]) -> None:
    path: list[tuple[Node, list[tuple[Node, bool]], bool]] = [(start, _judges(root, start), False)]
    on_path = {id(start)}
    while path:
        node, left, _ = path[-1]
        if not left:
            path.pop()
            on_path.discard(id(node))
            done.add(id(node))
            continue
        child, by_ref = left.pop()
        if id(child) in on_path:
            _cut(tree, node if by_ref else _last_referrer(path))
        elif id(child) not in done:
            path.append((child, _judges(root, child), by_ref))
            on_path.add(id(child))


def _judges(root: Node, node: Node) -> list[tuple[Node, bool]]:
    """The nodes that judge the same value as this one, each with whether a reference leads there."""
    found = [(child, False) for path, child in children(node) if path[0] in IN_PLACE]
    target = ref_target(root, node["$ref"]) if "$ref" in node else None
    return [*found, (target, True)] if target is not None else found


def _last_referrer(path: "list[tuple[Node, list[tuple[Node, bool]], bool]]") -> Node:
    index = max(index for index, step in enumerate(path) if step[2])
    return path[index - 1][0]


def _cut(tree: Tree, node: Node) -> None:
    old = next((old for other, old in tree.record.refs if other is node), "")
    _drop(tree, node, old, "the reference leads back to itself")
