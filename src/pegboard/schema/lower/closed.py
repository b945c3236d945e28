"""Objects where keys are known: closed, maps as lists of entries, and every key required where it must be."""

from typing import Any

from pegboard.schema.lower import words
from pegboard.schema.lower.keep import write_words
from pegboard.schema.lower.merge import both
from pegboard.schema.lower.node import Node, clone, every, is_any, is_never, plain, set_types, types
from pegboard.schema.lower.refs import target
from pegboard.schema.lower.undo import Boxed, Entries, Extras, Nulls, Settled, Text
from pegboard.schema.lower.unions import united
from pegboard.schema.lower.vocabulary import ANNOTATIONS
from pegboard.schema.lower.work import Work
from pegboard.schema.types import as_list

MORE = "more_entries"
"""The key under which an object's undeclared keys stand."""


def close(node: Node, work: Work) -> None:
    """Close an object to keys that it does not declare; say why it cannot be where its author left it open."""
    if "object" not in types(node):
        return
    rest, patterns = node.get("additionalProperties"), node.get("patternProperties")
    named = node.get("properties") or patterns or node is work.root  # a tool without arguments takes none
    unsaid = rest is None and not named
    if rest is True or unsaid or (isinstance(rest, Node) and is_any(rest)):
        work.obstruct(node, "an object open to any key")
    elif isinstance(rest, Node) or patterns:
        map_to_entries(node, work)
    elif rest is None:
        node["additionalProperties"] = False
        work.change(node, "closed: its author names its keys and says nothing of others")


def map_to_entries(node: Node, work: Work) -> None:
    """A map becomes a list of entries; an object that also declares keys gets the others as such a list."""
    value = _value(node, work)
    if value is None:
        return
    if "additionalProperties" not in node:
        work.change(node, "closed: its author names its keys by patterns and says nothing of others")
    key = _key(node, work)
    entry = Node({"type": "object", "properties": {"key": key, "value": value}, "required": ["key", "value"]}, node.at)
    if "additionalProperties" in work.dialect.keywords:
        entry["additionalProperties"] = False
    kinds = types(node)
    if node.get("properties") or node is work.root:
        _extras(node, entry, work)
        return
    said = {name: node[name] for name in (*ANNOTATIONS, "$defs") if name in node}
    sizes = {
        to: node[name] for name, to in (("minProperties", "minItems"), ("maxProperties", "maxItems")) if name in node
    }
    node.clear()
    node.update({**said, **sizes, "items": entry})
    set_types(node, tuple("array" if kind == "object" else kind for kind in kinds))
    node.undo.append(Entries())
    work.change(node, "a map is written as a list of entries, each with key and value")


def patterns_to_rest(node: Node, work: Work) -> None:
    """For a dialect without `patternProperties`, what the keys hold is said of all undeclared keys."""
    patterns: dict[str, Node] = node.get("patternProperties", {})
    if not patterns:
        return
    rest = node.get("additionalProperties")
    value = _value(node, work) if rest is False or isinstance(rest, Node) else None
    said = {name: plain(part) for name, part in patterns.items()}
    work.lose(
        node,
        "patternProperties",
        said,
        words.say({"patternProperties": said}, ["patternProperties"])["patternProperties"],
    )
    del node["patternProperties"]
    node["additionalProperties"] = True if value is None or is_any(value) else value


def _value(node: Node, work: Work) -> Node | None:
    """What the undeclared keys hold; the keys' patterns are joined."""
    rest = node.get("additionalProperties")
    parts = list[Node](node.get("patternProperties", {}).values()) + ([rest] if isinstance(rest, Node) else [])
    if any(is_any(part) or isinstance(rest, Node) and Text() in rest.undo for part in parts):
        return clone(rest) if isinstance(rest, Node) and rest.undo else Node(at=node.at)
    return united([part for part in parts if not is_never(part)], work)


def _key(node: Node, work: Work) -> Node:
    key = Node({"type": "string"}, node.at)
    names = node.pop("propertyNames", None)
    if isinstance(names, Node):
        key = both(key, names, work)
    patterns = dict(node.pop("patternProperties", {}))
    rest = node.pop("additionalProperties", None)
    if len(patterns) == 1 and not isinstance(rest, Node):
        key = both(key, Node({"pattern": next(iter(patterns))}, node.at), work)
    elif patterns:
        work.lose(node, "patternProperties", {name: plain(part) for name, part in patterns.items()}, _told(patterns))
    return key


def _told(patterns: dict[str, Any]) -> str:
    return f"its keys match {' or '.join(patterns)}"


def _extras(node: Node, entry: Node, work: Work) -> None:
    table: dict[str, Node] = node.setdefault("properties", {})
    name = MORE
    while name in table:
        name += "_"
    node.undo.append(Extras(name, frozenset(table)))
    more = Node({"type": "array", "description": "other keys of this object, as entries", "items": entry}, node.at)
    table[name] = more
    if "additionalProperties" in work.dialect.keywords:
        node["additionalProperties"] = False
    work.change(node, f"its undeclared keys are written as a list of entries under {name!r}")


def open_to_entries(node: Node, work: Work) -> None:
    """For a dialect without open objects: undeclared keys become entries, an empty object a fixed value."""
    if "object" not in types(node):
        return
    rest = node.get("additionalProperties")
    if rest is True and (node.get("properties") or node is work.root or "patternProperties" in node):
        node["additionalProperties"] = rest = Node(at=node.at)
    if isinstance(rest, Node) and is_any(rest):
        rest.text = True
        rest.say("any JSON value, as JSON text")
        as_text(rest, work)
        write_words(rest, work)
    if isinstance(rest, Node) or "patternProperties" in node:
        map_to_entries(node, work)
    elif not node.get("properties") and node is not work.root:
        node["enum"] = [{}, *([None] if "null" in types(node) else [])]
        node.pop("properties", None)
    if node.pop("additionalProperties", None) is False:
        work.change(node, "`additionalProperties: false` left out: only declared keys are given")


def separate(node: Node, work: Work) -> None:
    """Branches of a union that are rewritten are boxed where another branch has the same type."""
    branches: list[Node] = node.get("anyOf", [])
    for branch in [branch for branch in branches if branch.undo or branch.text or _rewritten_list(branch)]:
        mine = _shown(branch) & {"string", "array"}
        others = {kind for other in branches if other is not branch for kind in _shown(other)}
        if mine & others:
            _box(branch, work)


def _rewritten_list(branch: Node) -> bool:
    return "array" in types(branch) and any(node.undo or node.text for node in every(branch))


def _shown(branch: Node) -> set[str]:
    if "$ref" in branch or "anyOf" in branch:
        return {"string", "array", "object", "number", "boolean", "null"}
    return {"string"} if branch.text else set(types(branch))


def _box(branch: Node, work: Work) -> None:
    key = "json" if branch.text else "entries" if any(isinstance(undo, Entries) for undo in branch.undo) else "value"
    inner = clone(branch)
    box = Node({"type": "object", "properties": {key: inner}, "required": [key]}, branch.at)
    if "additionalProperties" in work.dialect.keywords:
        box["additionalProperties"] = False
    branch.take(box)
    branch.undo = [Boxed(key)]
    work.change(branch, f"held in an object under {key!r}, to be told from the other branches of its union")


def as_text(node: Node, work: Work) -> None:
    """Values that are to be JSON text become strings."""
    if node.text:
        set_types(node, ("string",))
        node.undo.append(Text())
        node.text = False


def all_required(node: Node, work: Work) -> None:
    """Every key is required; what was optional may be null, which stands for its absence."""
    table: dict[str, Node] = node.get("properties", {})
    if "object" not in types(node):
        return
    optional = tuple(name for name in table if name not in as_list(node.get("required")))
    if table or "required" in node:
        node["required"] = list(table)
    spelled: dict[str, Settled] = {}
    for name in optional:
        child = table[name]
        if _takes_null(child, work):
            if child.get("default", 0) is not None:
                spelled[name] = _spell_null(child)
        else:
            let_null_in(child)
    if optional:
        node.undo.append(Nulls(optional, spelled))
        work.change(node, f"optional, so required and null where left out: {', '.join(optional)}")


def _takes_null(node: Node, work: Work, depth: int = 0) -> bool:
    if "$ref" in node:
        return depth < 16 and _takes_null(target(work.root, node["$ref"]), work, depth + 1)
    if "anyOf" in node:
        return any(_takes_null(branch, work, depth + 1) for branch in node["anyOf"])
    kinds = types(node)
    return not node.text and (not kinds or "null" in kinds) and None in node.get("enum", [None])


def let_null_in(node: Node) -> None:
    """Let null be a value of the node."""
    if "$ref" in node:
        node["anyOf"] = [node.like({"$ref": node.pop("$ref")}), node.like({"type": "null"})]
    elif "anyOf" in node:
        node["anyOf"] = [*node["anyOf"], node.like({"type": "null"})]
    else:
        kinds = types(node)
        if "null" not in kinds:
            set_types(node, (*kinds, "null"))
        if "enum" in node and None not in node["enum"]:
            node["enum"] = [*node["enum"], None]


def _spell_null(child: Node) -> Settled:
    """Give a key whose null is a value of its own a second spelling for it, and return it."""
    inner = Node({key: child.pop(key) for key in list(child) if key not in ANNOTATIONS}, child.at)
    inner.undo, child.undo = child.undo, []
    marker = Settled({"explicit": None})
    spelling = Node(
        {
            "type": "object",
            "description": "null itself",
            "properties": {"explicit": Node({"type": "null"}, child.at)},
            "required": ["explicit"],
            "additionalProperties": False,
        },
        child.at,
    )
    branches: list[Node] = inner["anyOf"] if inner.keys() == {"anyOf"} and not inner.undo else [inner]
    child["anyOf"] = [*branches, spelling]
    child.say("null where it is left out")
    return marker
