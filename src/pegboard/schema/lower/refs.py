"""References: every one leads into the root's `$defs`, or is replaced by what it leads to."""

from collections.abc import Callable
from typing import Any

from pegboard.schema.lower.merge import both
from pegboard.schema.lower.node import Node, below, bottom_up, clone, every, plain
from pegboard.schema.lower.vocabulary import ANNOTATIONS
from pegboard.schema.lower.work import Work
from pegboard.schema.types import canonical
from pegboard.schema.walk import ref_pointer, ref_target, ref_to, tokens

SMALL = 100
"""Bytes of a definition that is rather repeated than referred to."""

DEEPEST = 24
"""Levels of inlining, for dialects without references; deeper parts are written as JSON text."""

LARGEST = 4000
"""Nodes of a schema that inlining may lead to, for dialects without references."""


def target(root: Node, ref: str) -> Node:
    """The node that a repaired schema's reference leads to."""
    found = ref_target(root, ref)
    return found if isinstance(found, Node) else Node()


def body(root: Node, ref: str) -> Node:
    """A copy of what a reference leads to, without the document's own tables."""
    copy = clone(target(root, ref))
    for key in ("$defs", "$schema"):
        copy.pop(key, None)
    return copy


def expanded(root: Node, node: Node, work: Work) -> Node:
    """The node with its reference replaced by what it leads to, and merged with what stands beside it."""
    found = body(root, node["$ref"])
    beside = clone(node)
    del beside["$ref"]
    if not beside:
        return found
    notes = {key: beside.pop(key) for key in list(beside) if key in ANNOTATIONS}
    merged = both(found, beside, work) if beside else found
    merged.update(notes)  # what is said at the place of use is about this use
    return merged


def into_definitions(work: Work) -> None:
    """References to other places (`#/properties/a`) lead to definitions; `#` stays where the dialect takes it."""
    moved: dict[str, str] = {}
    for node in every(work.root):
        place = ref_pointer(node["$ref"]) if "$ref" in node else None
        if place is None or (place == "" and not work.dialect.hoists_root) or _is_definition(place):
            continue
        if place not in moved:
            moved[place] = _define(work.root, (tokens(place) or ["arguments"])[-1], body(work.root, node["$ref"]))
        node["$ref"] = moved[place]
        work.change(node, f"the reference to {place or '#'} leads to a definition")
    for name in moved.values():  # the copies refer to the same places
        for node in every(target(work.root, name)):
            place = ref_pointer(node["$ref"]) if "$ref" in node else None
            if place in moved:
                node["$ref"] = moved[place]


def _is_definition(place: str) -> bool:
    parts = tokens(place)
    return len(parts) == 2 and parts[0] == "$defs"


def _define(root: Node, name: str, part: Node) -> str:
    table: dict[str, Any] = root.setdefault("$defs", {})
    free, count = name, 2
    while free in table:
        free, count = f"{name}_{count}", count + 1
    table[free] = part
    return ref_to("/$defs/" + free.replace("~", "~0").replace("/", "~1"))


def _definitions(root: Node) -> dict[str, Node]:
    """The root's definitions by the reference that leads to each."""
    table: dict[str, Node] = root.get("$defs", {})
    return {"/$defs/" + name.replace("~", "~0").replace("/", "~1"): body for name, body in table.items()}


def recursive(root: Node) -> set[str]:
    """The pointers of the definitions that lead back to themselves, the root's `` among them."""
    bodies = {"": root, **_definitions(root)}
    edges = {place: _referred(body, inside=place != "") for place, body in bodies.items()}
    found: set[str] = set()
    for start in edges:
        seen, stack = set[str](), list(edges[start])
        while stack:
            place = stack.pop()
            if place not in seen:
                seen.add(place)
                stack.extend(edges.get(place, ()))
        if start in seen:
            found.add(start)
    return found


def _referred(body: Node, *, inside: bool) -> set[str]:
    skip = set[int]() if inside else {id(child) for child in _definitions(body).values()}
    found, stack = set[str](), [body]
    while stack:
        node = stack.pop()
        if "$ref" in node:
            found.add(ref_pointer(node["$ref"]) or "")
        stack.extend(child for child in below(node) if id(child) not in skip)
    return found


def inline_small(work: Work) -> None:
    """Definitions that are used once, or are small and final, are replaced by what they say; recursive ones stay."""
    loops = recursive(work.root)
    uses: dict[str, int] = {}
    for node in every(work.root):
        if "$ref" in node:
            place = ref_pointer(node["$ref"]) or ""
            uses[place] = uses.get(place, 0) + 1
    wanted: set[str] = set()
    for place, body in _definitions(work.root).items():
        final = not _referred(body, inside=True)
        if place not in loops and (uses.get(place) == 1 or (final and len(canonical(plain(body))) <= SMALL)):
            wanted.add(place)
    for _ in range(DEEPEST):
        todo = [node for node in every(work.root) if "$ref" in node and ref_pointer(node["$ref"]) in wanted]
        for node in todo:
            work.change(node, f"the reference {node['$ref']} is replaced by what it leads to")
            node.take(expanded(work.root, node, work))
        if not todo:
            return


def expand(work: Work, wanted: Callable[[Node], bool]) -> None:
    """Replace the references in the nodes that are `wanted` by what they lead to, so that they can be merged."""
    queue = every(work.root)
    for node in queue:
        for _ in range(DEEPEST):
            refs = _own_refs(node)
            if not refs or not wanted(node) or apart(work, node, refs, crowded=len(queue) > LARGEST):
                break
            _expand_once(work, node)
            queue.extend(every(node)[1:])


def apart(work: Work, node: Node, refs: list[str], *, crowded: bool = False) -> bool:
    """Set a node apart before it is expanded, where expanding it in place might not end.

    A node that may hold itself, or would make the schema too large, becomes a definition, and every node with the
    same text refers to it: so expansion ends, and grows with the schema and not with its unfolding.

    Returns:
        Whether the node is a reference now, and no longer to be expanded.
    """
    if not crowded and not any(ref_pointer(ref) in work.loops for ref in refs):
        return False
    table: dict[str, Node] = work.root.get("$defs", {})
    if node is work.root or any(node is definition for definition in table.values()):
        return False
    key = canonical(plain(node))
    if key not in work.parts:
        part = clone(node)
        if len(work.parts) > LARGEST // 4:
            work.lose(part, "$ref", refs[0])
            part.clear()
        name = (tokens(ref_pointer(refs[0]) or "") or ["part"])[-1]
        work.parts[key] = _define(work.root, name, part)
        work.loops.add(ref_pointer(work.parts[key]) or "")
    node.take(node.like({"$ref": work.parts[key]}))
    return True


def _own_refs(node: Node) -> list[str]:
    """The references that judge the node's own value by way of `$ref` and `allOf`."""
    found = [node["$ref"]] if "$ref" in node else []
    for branch in node.get("allOf", ()):
        found += _own_refs(branch)
    return found


def _expand_once(work: Work, node: Node) -> None:
    for branch in node.get("allOf", ()):
        _expand_once(work, branch)
    if "$ref" in node:
        node.take(expanded(work.root, node, work))


def in_all_of(node: Node) -> bool:
    """Whether the node has parts that refer elsewhere."""
    return "allOf" in node


def beside_keywords(node: Node) -> bool:
    """Whether the node has a reference with keywords beside it that judge, or parts."""
    return "allOf" in node or ("$ref" in node and bool(node.keys() - ANNOTATIONS - {"$ref", "$defs"}))


def wrap_described(work: Work) -> None:
    """A reference that has only notes beside it moves into an `anyOf` of its own, which may have them."""

    def wrap(node: Node) -> None:
        if "$ref" in node and len(node) > 1:
            inner = node.like({"$ref": node.pop("$ref")})
            node["anyOf"] = [inner]

    bottom_up(work.root, wrap)


def inline_everything(work: Work) -> None:
    """Every reference is replaced; where that would not end, the value is written as JSON text."""
    left = LARGEST
    root = work.root

    def unfold(node: Node, path: tuple[str, ...], depth: int) -> None:
        nonlocal left
        while "$ref" in node:
            ref = node["$ref"]
            if path.count(ref) > 1 or left < 0 or depth > DEEPEST:
                _as_text(node, work)
                return
            work.change(node, f"the reference {ref} is replaced by what it leads to")
            node.take(expanded(root, node, work))
            path = (*path, ref)
        children = below(node)
        left -= len(children)
        for child in children:
            unfold(child, path, depth + 1)

    definitions: dict[str, Node] = root.get("$defs", {})
    for child in below(root):
        if not any(child is body for body in definitions.values()):
            unfold(child, (), 1)
    root.pop("$defs", None)


def _as_text(node: Node, work: Work) -> None:
    work.change(node, "a part that repeats itself is written as JSON text from here on")
    said = node.get("description")
    name = tokens(ref_pointer(node["$ref"]) or "")[-1:] or ["the arguments"]
    node.take(node.like({"description": said} if said else {}))
    node.text = True
    node.say(f"again of the form of {name[0]}, as JSON text")


def expand_zone(work: Work) -> None:
    """The root, and the branches and parts that judge the same value, say themselves what they are."""
    zone = [work.root]
    for node in zone:
        for _ in range(DEEPEST):
            if "$ref" not in node or len(zone) > LARGEST:
                break
            table = node.get("$defs")
            work.change(node, f"the reference {node['$ref']} is replaced by what it leads to")
            node.take(expanded(work.root, node, work))
            if table:
                node["$defs"] = table
        zone += [branch for key in ("allOf", "anyOf", "oneOf") for branch in node.get(key, ())]


def prune(work: Work) -> None:
    """Definitions that nothing leads to are left out."""
    bodies = _definitions(work.root)
    if not bodies:
        work.root.pop("$defs", None)
        return
    seen, stack = set[str](), list(_referred(work.root, inside=False))
    while stack:
        place = stack.pop()
        if place not in seen and place in bodies:
            seen.add(place)
            stack.extend(_referred(bodies[place], inside=True))
    kept = {name: body for (place, body), name in zip(bodies.items(), work.root["$defs"], strict=True) if place in seen}
    work.root.pop("$defs")
    if kept:
        work.root["$defs"] = kept


def forget(work: Work) -> None:
    """`$schema`, `$id` and comments are of no use to a model."""

    def strip(node: Node) -> None:
        for key in ("$schema", "$id", "$comment"):
            if node.pop(key, None) is not None:
                work.change(node, f"`{key}` left out")

    bottom_up(work.root, strip)
