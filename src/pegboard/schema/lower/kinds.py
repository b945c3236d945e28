"""Types: every node says what it is, and keeps only the keywords that judge what it is."""

from typing import Any

from pegboard.schema.lower.node import Node, clone, is_any, is_never, never, set_types, types
from pegboard.schema.lower.vocabulary import ANNOTATIONS, KIND_OF
from pegboard.schema.lower.work import Work
from pegboard.schema.repair.names import infer_types
from pegboard.schema.types import as_list
from pegboard.schema.validate import matches

ALL = ("string", "number", "boolean", "object", "array", "null")
"""Every type; a number may be whole."""

ANY = "any_value"
"""The definition of a value of any kind, for dialects in which every node and every array's items need a type."""


def fit_keywords(node: Node, work: Work) -> None:
    """Keywords that judge another type than the node has say nothing, and are left out; nothing is lost by it."""
    kinds = types(node)
    if not kinds:
        return
    if isinstance(node["type"], list) and len(kinds) == 1:
        set_types(node, kinds)
    judged = {"number" if kind == "integer" else kind for kind in kinds}
    idle = [key for key in node if key in KIND_OF and KIND_OF[key] not in judged]
    for key in idle:
        del node[key]
    if idle:
        work.change(node, f"left out, for {'/'.join(kinds)} they say nothing: {', '.join(idle)}")
    if "integer" in kinds and "number" in kinds:
        set_types(node, tuple(kind for kind in kinds if kind != "integer"))


def name_type(node: Node, work: Work) -> None:
    """A node without a type gets the one that its keywords show; one that shows none may hold anything."""
    if "type" in node or "anyOf" in node or "$ref" in node or "oneOf" in node or node.text or is_never(node):
        return
    shown = infer_types({key: value for key, value in node.items() if key not in ("default", "examples")})
    if shown:
        set_types(node, tuple(shown))
        work.change(node, f"taken to be of type {shown[0]}, as its keywords show")
    elif not is_any(node):
        stay = {key: value for key, value in node.items() if key in ANNOTATIONS or key in ("$defs", "not")}
        if len(stay) == len(node):
            return
        node.clear()
        node.update(stay)


def complete(node: Node, work: Work) -> None:
    """Objects have `properties` and arrays have `items`."""
    kinds = types(node)
    if "object" in kinds and "properties" not in node:
        node["properties"] = {}
    if "array" in kinds and "items" not in node and "prefixItems" not in node:
        node["items"] = Node(at=node.at)


def declare_required(node: Node, work: Work) -> None:
    """Every required key has a schema; an object that requires a key which it forbids admits nothing."""
    for key in ("patternProperties", "dependentRequired", "dependentSchemas"):
        if node.get(key) == {}:
            del node[key]
    names = node.get("propertyNames")
    if isinstance(names, Node) and is_any(names):
        del node["propertyNames"]
    if "object" not in types(node) or not node.get("required"):
        return
    table: dict[str, Node] = node.setdefault("properties", {})
    rest = node.get("additionalProperties", True)
    for name in as_list(node["required"]):
        if name in table:
            continue
        fitting = [part for pattern, part in node.get("patternProperties", {}).items() if matches(pattern, name)]
        if fitting or rest is not False:
            table[name] = clone(fitting[0]) if fitting else clone(rest) if isinstance(rest, Node) else Node(at=node.at)
            work.change(node, f"the required key {name!r} is declared")
        else:
            node.take(never(node.at))
            return


def any_as_union(node: Node, work: Work) -> None:
    """A value of any kind is spelled as the union of all types."""
    if not _open(node) or node is work.root:
        return
    table: dict[str, Any] = work.root.setdefault("$defs", {})
    if ANY not in table:
        anything = Node({"description": "any JSON value", "type": list(ALL), "properties": {}}, node.at)
        anything["items"] = Node({"$ref": f"#/$defs/{ANY}"}, node.at)
        table[ANY] = anything
    keywords = table[ANY] if node.keys() & ANNOTATIONS else None
    work.change(node, "a value of any kind is spelled as the union of all types")
    if keywords is None:
        node["$ref"] = f"#/$defs/{ANY}"
    else:
        node |= {"type": list(ALL), "properties": {}, "items": clone(table[ANY]["items"])}


def _open(node: Node) -> bool:
    return is_any(node) and not node.keys() & {"anyOf", "type"}


def any_is_no_strict(node: Node, work: Work) -> None:
    """A value of any kind cannot be given in strict mode."""
    if _open(node) and node is not work.root:
        work.obstruct(node, "a value of any kind")


def any_as_text(node: Node, work: Work) -> None:
    """A value of any kind, and an object open to any key, are written as JSON text."""
    open_object = (
        "object" in types(node) and not node.get("properties") and node.get("additionalProperties") is not False
    )
    typed_map = isinstance(node.get("additionalProperties"), Node) or "patternProperties" in node
    if node is not work.root and (_open(node) or (open_object and not typed_map)):
        write_as_text(node, work)


def write_as_text(node: Node, work: Work) -> None:
    """Let the node's value be written as JSON text."""
    kinds = types(node)
    said = {key: node[key] for key in ANNOTATIONS if key in node}
    work.change(node, "written as JSON text and read back, for the dialect has no such object")
    node.clear()
    node.update(said)
    node.text = True
    node.say("any JSON value, as JSON text" if not kinds or len(kinds) > 2 else f"{_words(kinds)}, as JSON text")


def _words(kinds: tuple[str, ...]) -> str:
    return " or ".join(
        "an " + kind if kind[0] in "aeiou" else kind if kind == "null" else "a " + kind for kind in kinds
    )
