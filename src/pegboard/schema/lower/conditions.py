"""Conditions (`not`, `if`, `dependent...`): they become words, and the keys that only they declare stay visible."""

from typing import Any

from pegboard.schema.lower import words
from pegboard.schema.lower.merge import both
from pegboard.schema.lower.node import Node, is_any, is_never, plain, types
from pegboard.schema.lower.unions import united
from pegboard.schema.lower.work import Work
from pegboard.schema.types import as_object
from pegboard.schema.validate import matches

CONDITIONS = ("not", "if", "then", "else", "dependentSchemas", "dependentRequired")


def to_words(node: Node, work: Work) -> None:
    """Conditions that the dialect does not take are said in words; the keys that they declare are kept as optional."""
    barred = [key for key in CONDITIONS if key in node and key not in work.dialect.keywords]
    if not barred or is_never(node):
        return
    parts = {key: node.pop(key) for key in barred}
    said = plain({key: part for key, part in parts.items() if key in CONDITIONS})
    if "if" in parts and ("then" in parts or "else" in parts):
        work.lose(node, "if", {key: said[key] for key in ("if", "then", "else") if key in said}, _if(said))
    for key in ("dependentSchemas", "dependentRequired", "not"):
        if parts.get(key) and any(part != {} for part in as_object(said[key]).values()):
            work.lose(node, key, said[key], words.say(said, [key])[key])
    if "if" in parts:
        for name in as_object(parts["if"].get("properties")):
            node.maybe.setdefault(name, []).append(Node(at=node.at))
    for branch in (parts.get("then"), parts.get("else"), *as_object(parts.get("dependentSchemas")).values()):
        if isinstance(branch, Node):
            _declare(node, branch)


_SIDE = ("contains", "minContains", "maxContains", "unevaluatedItems", "unevaluatedProperties", "contentSchema")


def side_to_words(node: Node, work: Work) -> None:
    """Demands on parts that the dialect does not take are said in words before their schemas are rewritten."""
    going = [key for key in _SIDE if key in node and key not in work.dialect.keywords]
    said = plain({key: node[key] for key in going})
    for key, told in words.say(said, going).items():
        del node[key]
        if said[key] not in (True, {}) or key == "contains":
            work.lose(node, key, said[key], told)


_OF_NAMES = frozenset(["type", "pattern", "minLength", "maxLength", "enum", "const", "format", "description", "title"])


def simple_names(node: Node, work: Work) -> None:
    """`propertyNames` stays where it judges a text alone; another is said in words."""
    names = node.get("propertyNames")
    if (
        isinstance(names, Node)
        and not is_never(names)
        and (names.keys() - _OF_NAMES or types(names) not in ((), ("string",)))
    ):
        said = plain({"propertyNames": node.pop("propertyNames")})
        work.lose(node, "propertyNames", said["propertyNames"], words.say(said, ["propertyNames"])["propertyNames"])


def patterns_into_properties(node: Node, work: Work) -> None:
    """Declared keys that match a key pattern are judged by it too, where the pattern itself cannot stay."""
    if "patternProperties" in work.dialect.keywords:
        return
    table: dict[str, Node] = node.get("properties", {})
    patterns: dict[str, Node] = node.get("patternProperties", {})
    for pattern, schema in patterns.items():
        for name in table:
            if matches(pattern, name):
                table[name] = both(table[name], schema, work)


def _if(parts: dict[str, Any]) -> str:
    told = [f"if {words.brief(parts['if'])} then {words.brief(parts['then'])}"] if "then" in parts else []
    if "else" in parts:
        told.append(
            f"otherwise {words.brief(parts['else'])}"
            if told
            else f"unless {words.brief(parts['if'])}: {words.brief(parts['else'])}"
        )
    return ", ".join(told)


def _declare(node: Node, branch: Node) -> None:
    """Note the keys that a branch declares, so that the object shows them."""
    for name, child in as_object(branch.get("properties")).items():
        if not is_never(child):
            node.maybe.setdefault(name, []).append(child)
    for name, found in branch.maybe.items():
        node.maybe.setdefault(name, []).extend(found)
    for key in ("allOf", "anyOf", "oneOf"):
        for inner in branch.get(key, ()):
            _declare(node, inner)


def show_declared(node: Node, work: Work) -> None:
    """Keys that only conditions declare become optional properties of the object."""
    if not node.maybe:
        return
    declared, node.maybe = node.maybe, {}
    if "object" not in types(node) and "properties" not in node:
        return
    table: dict[str, Node] = node.setdefault("properties", {})
    if not table and "additionalProperties" not in node and node is not work.root:
        node["additionalProperties"] = True  # it was open to any key, and stays so
    rest = node.get("additionalProperties", True)
    for name, found in declared.items():
        if name in table or rest is False or (isinstance(rest, Node) and not is_any(rest)):
            continue
        schema = united(found, work)
        if schema is not None:
            table[name] = schema
            work.change(node, f"{name!r}, which only a condition declares, is shown as an optional property")
