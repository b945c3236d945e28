"""Arrays: tuples become arrays of one kind of item, for dialects without tuples."""

from pegboard.schema.lower import words
from pegboard.schema.lower.node import Node, is_any, is_never, never, plain
from pegboard.schema.lower.unions import united
from pegboard.schema.lower.work import Work
from pegboard.schema.types import canonical


def untuple(node: Node, work: Work) -> None:
    """`prefixItems` becomes `items` that admit each position's schema; the positions are said in words."""
    if "prefixItems" not in node or "prefixItems" in work.dialect.keywords:
        return
    members: list[Node] = node.pop("prefixItems")
    rest = node.pop("items", None)
    if isinstance(rest, Node) and is_never(rest):
        node["maxItems"] = min(node.get("maxItems", len(members)), len(members))
        rest = None
    told = isinstance(rest, Node) and not is_any(rest) and node.get("maxItems", len(members) + 1) > len(members)
    possible = [
        member for member in [*members, *([rest] if told and isinstance(rest, Node) else [])] if not is_never(member)
    ]
    node["items"] = united(possible, work) or Node(at=node.at)
    closed = told or node.get("maxItems", len(members) + 1) <= len(members)
    if closed and len({canonical(plain(member)) for member in possible}) == 1:
        work.change(node, "`prefixItems` of one kind is spelled `items`")
    else:
        positions = ", ".join(_position(index, member) for index, member in enumerate(members, 1))
        work.lose(node, "prefixItems", [plain(member) for member in members], f"in this order: {positions}")


def _position(index: int, member: Node) -> str:
    said = member.get("title") or member.get("description", "").split("\n")[0][:60]
    return f"({index}) {said + ': ' if said else ''}{words.brief(member)}"


def drop_never(node: Node, work: Work) -> None:
    """Properties and items that admit nothing are left out where that says the same, or said in words."""
    items = node.get("items")
    if isinstance(items, Node) and is_never(items):
        node["items"] = Node(at=items.at)
        node["maxItems"] = len(node.get("prefixItems", ()))
        if "prefixItems" in node:
            del node["items"]
        work.change(node, "items that admit nothing are spelled as `maxItems`")
    rest = node.get("additionalProperties")
    if isinstance(rest, Node) and is_never(rest):
        node["additionalProperties"] = False
    patterns: dict[str, Node] = node.get("patternProperties", {})
    for name in [name for name, child in patterns.items() if is_never(child)]:
        del patterns[name]
        work.lose(node, f"patternProperties/{name}", False, f"no key that matches {name}")
    if patterns == {}:
        node.pop("patternProperties", None)
    if is_never(node.get("propertyNames", {})):
        del node["propertyNames"]
        node["maxProperties"] = 0
    if is_never(node.get("contains", {})) and node.get("minContains", 1) > 0:
        node.take(never(node.at))
        return
    table: dict[str, Node] = node.get("properties", {})
    for name in [name for name, child in table.items() if is_never(child)]:
        if name in node.get("required", ()):
            node.take(never(node.at))
            return
        del table[name]
        if node.get("additionalProperties") is False:
            work.change(node, f"the key {name!r}, which no value can have, is left out")
        else:
            work.lose(node, f"properties/{name}", False, f"without the key {name}")
