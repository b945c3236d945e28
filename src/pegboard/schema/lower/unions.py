"""Unions: `oneOf` becomes `anyOf`, branches stand alone, and a union of objects can be made one object."""

from collections.abc import Iterator
from itertools import combinations
from typing import Any

from pegboard.schema.lower import words
from pegboard.schema.lower.merge import both, merge_all
from pegboard.schema.lower.node import Node, clone, is_any, is_never, never, plain, set_types, types
from pegboard.schema.lower.refs import apart, body, target
from pegboard.schema.lower.vocabulary import ANNOTATIONS
from pegboard.schema.lower.work import Work
from pegboard.schema.types import as_list, as_object, canonical

FATTEST = 3000
"""Bytes that repeating what stands beside a union in each of its branches may take; past them it becomes words."""


def one_to_any(node: Node, work: Work) -> None:
    """`oneOf` becomes `anyOf`; where the branches may overlap, that only one may fit is said in words."""
    node.pop("discriminator", None)
    if "oneOf" not in node:
        return
    branches: list[Node] = node.pop("oneOf")
    if all(_disjoint(a, b, work.root) for a, b in combinations(branches, 2)):
        work.change(node, "`oneOf` is spelled `anyOf`: its branches exclude one another")
    else:
        work.lose(node, "oneOf", f"exactly one of {len(branches)} branches", "exactly one of the forms may fit")
    if "anyOf" in node:
        node["allOf"] = [*node.get("allOf", []), node.like({"anyOf": branches})]
    else:
        node["anyOf"] = branches


def _disjoint(a: Node, b: Node, root: Node) -> bool:
    """Whether no value can fit both: by type, by value, or by required keys that are pinned differently or shut out."""
    a, b = _seen(a, root), _seen(b, root)
    kinds_a, kinds_b = set(types(a)), set(types(b))
    if kinds_a and kinds_b and not kinds_a & kinds_b and not {*kinds_a, *kinds_b} >= {"integer", "number"}:
        return True
    if _apart(_values(a), _values(b)):
        return True
    shared = set(as_list(a.get("required"))) & set(as_list(b.get("required")))
    table_a, table_b = as_object(a.get("properties")), as_object(b.get("properties"))
    if not (kinds_a == kinds_b == {"object"}):
        return False
    if _shuts_out(a, b) or _shuts_out(b, a):
        return True
    return any(_apart(_values(table_a.get(name, {})), _values(table_b.get(name, {}))) for name in sorted(shared))


def _shuts_out(a: Node, b: Node) -> bool:
    """Whether the first takes no other keys than its own, and the second needs one that is not among them."""
    named = as_object(a.get("properties")).keys()
    closed = a.get("additionalProperties") is False and "patternProperties" not in a
    return closed and not named >= set(as_list(b.get("required")))


def _seen(node: Node, root: Node) -> Node:
    for _ in range(8):
        if "$ref" not in node:
            break
        node = target(root, node["$ref"])
    return node


def _values(node: dict[str, Any]) -> set[str] | None:
    values = [node["const"]] if "const" in node else node.get("enum")
    return {canonical(value) for value in values} if values is not None else None


def _apart(a: set[str] | None, b: set[str] | None) -> bool:
    return a is not None and b is not None and not a & b


def tidy(node: Node, work: Work) -> None:
    """Leave out branches that admit nothing or repeat another; unwrap a union of one; flatten unions in unions."""
    if "anyOf" not in node:
        return
    branches: list[Node] = [branch for branch in _flat(node["anyOf"]) if not is_never(branch)]
    seen = {f"{canonical(plain(branch))}{branch.undo}{branch.text}": branch for branch in reversed(branches)}
    kept = list(reversed(seen.values()))
    if not kept:
        node.take(never(node.at))
        return
    if len(kept) < len(node["anyOf"]):
        work.change(node, "branches of a union that say nothing of their own are left out")
    if any(is_any(branch) and not branch.keys() - {"$comment"} for branch in kept):
        del node["anyOf"]
        work.change(node, "a union with a branch that admits anything admits anything")
    elif len(kept) == 1 and ("$ref" not in kept[0] or not node.keys() - ANNOTATIONS - {"anyOf"}):
        del node["anyOf"]
        node.take(both(node, kept[0], work) if node.keys() - ANNOTATIONS else _with_notes(node, kept[0]))
    else:
        node["anyOf"] = kept


def _flat(branches: list[Node]) -> Iterator[Node]:
    for branch in branches:
        if branch.keys() == {"anyOf"} and not (branch.words or branch.maybe or branch.undo):
            yield from _flat(branch["anyOf"])
        else:
            yield branch


def _with_notes(node: Node, only: Node) -> Node:
    """The only branch, with what was said of the union beside what it says itself."""
    merged = clone(only)
    for key, value in node.items():
        merged[key] = f"{value}\n{merged[key]}" if key == "description" and merged.get(key, value) != value else value
    for word in node.words:
        merged.say(word)
    return merged


def push_down(node: Node, work: Work) -> None:
    """What stands beside a union is repeated in its branches, so that each stands alone.

    Where that would take too much room, and all branches are objects, the union becomes one object with its rule
    in words.
    """
    if "anyOf" not in node or not node.keys() - ANNOTATIONS - {"anyOf", "$defs"}:
        return
    branches: list[Node] = node["anyOf"]
    if apart(work, node, [branch["$ref"] for branch in branches if "$ref" in branch]):
        return
    beside = Node({key: value for key, value in node.items() if key not in ANNOTATIONS | {"anyOf", "$defs"}}, node.at)
    size = len(canonical(plain(beside)))
    rules_only = all(
        branch.keys() <= {"required", "type", "properties"} and not branch.get("properties") for branch in branches
    )
    fat = size * (len(branches) - 1) > FATTEST or (rules_only and size * len(branches) > FATTEST // 8)
    if fat and flatten(node, work):
        return
    merged = [_standing(beside, branch, work) for branch in branches]
    for key in beside:
        del node[key]
    node["anyOf"] = merged
    work.change(node, "what stands beside a union is repeated in each of its branches")
    tidy(node, work)


def _standing(beside: Node, branch: Node, work: Work) -> Node:
    if "$ref" in branch:
        branch = body(work.root, branch["$ref"])
    merged = both(beside, branch, work)
    merge_all(merged, work)
    return merged


def flatten(node: Node, work: Work) -> bool:
    """Make a union of objects one object, in place: all keys are there, what every branch requires is required.

    Which keys go together is said in words and reported. False, with the node as it was, where a branch is no object.
    """
    branches = [_without_tables(_seen(branch, work.root)) for branch in node["anyOf"]]
    kinds = set(types(node))
    if not all(set(types(branch)) <= {"object"} or "object" in kinds for branch in branches):
        branches = [branch for branch in branches if "object" in types(branch) or not types(branch)]
    if not branches or any("anyOf" in branch for branch in branches):
        return False
    base = clone(node)
    del base["anyOf"]
    merged = [both(base, clone(branch), work) for branch in branches]
    possible = [branch for branch in merged if not is_never(branch)]
    if not possible:
        node.take(never(node.at))
        return True
    exactly = all(_disjoint(a, b, work.root) for a, b in combinations(branches, 2))
    rule = words.alternatives(branches, _shared(possible), exactly=exactly)
    said = [plain(branch) for branch in branches]
    result = clone(base)
    if not types(result):
        set_types(result, ("object",))
    result["properties"] = _all_properties(base, possible, work)
    required = _shared(possible)
    result.pop("required", None)
    if required:
        result["required"] = required
    _close(result, possible)
    for branch in possible:
        for name, found in branch.maybe.items():
            result.maybe.setdefault(name, []).extend(found)
    node.take(result)
    work.lose(node, "anyOf", said, rule)
    return True


def _without_tables(branch: Node) -> Node:
    copy = clone(branch)
    copy.pop("$defs", None)
    return copy


def _shared(branches: list[Node]) -> list[str]:
    """The names that every branch requires, in the first one's order."""
    sets = [set(as_list(branch.get("required"))) for branch in branches]
    return [name for name in as_list(branches[0].get("required")) if all(name in names for names in sets)]


def _all_properties(base: Node, branches: list[Node], work: Work) -> dict[str, Node]:
    """Every key of any branch, in the order in which they are met, each admitting what some branch admits."""
    names = dict.fromkeys([*base.get("properties", {}), *(n for b in branches for n in b.get("properties", {}))])
    found: dict[str, Node] = {}
    for name in names:
        schemas = [branch["properties"][name] for branch in branches if name in branch.get("properties", {})]
        joined = united([schema for schema in schemas if not is_never(schema)], work)
        if joined is not None:
            found[name] = joined
    return found


def united(schemas: list[Node], work: Work) -> Node | None:
    """A node that admits what any of these admits; None of none."""
    distinct = list({f"{_bare(schema)}{schema.undo}{schema.text}": schema for schema in reversed(schemas)}.values())[
        ::-1
    ]
    if not distinct:
        return None
    if len(distinct) == 1:
        return clone(distinct[0])
    joined = joined_literals(distinct)
    if joined is not None:
        return joined
    return Node({"anyOf": [clone(branch) for branch in _flat(distinct)]}, distinct[0].at)


def _bare(schema: Node) -> str:
    """What a node demands, without what it says."""
    return canonical({key: value for key, value in plain(schema).items() if key not in ANNOTATIONS})


def _literal(schema: Node) -> list[Any] | None:
    if schema.keys() - ANNOTATIONS - {"type", "enum", "const"} or schema.undo:
        return None
    return [schema["const"]] if "const" in schema else schema.get("enum")


def joined_literals(schemas: list[Node]) -> Node | None:
    """One node with the values of nodes that fix their values; None where one of them does not."""
    values = [_literal(schema) for schema in schemas]
    if any(group is None for group in values):
        return None
    joined = clone(schemas[0])
    joined.pop("const", None)
    joined["enum"] = list({canonical(value): value for group in values for value in group or []}.values())
    kinds = [types(schema) for schema in schemas]
    if all(kinds):
        names = tuple(dict.fromkeys(kind for group in kinds for kind in group))
        joined["type"] = names[0] if len(names) == 1 else list(names)
    else:
        joined.pop("type", None)
    described = [schema["description"] for schema in schemas if schema.get("description")]
    if len(set(described)) > 1:
        joined["description"] = "\n".join(dict.fromkeys(described))
    return joined


def _close(result: Node, branches: list[Node]) -> None:
    """The one object is closed to other keys only where every branch is."""
    rests = [branch.get("additionalProperties", True) for branch in branches]
    result.pop("additionalProperties", None)
    given = [rest for rest in rests if rest is not False]
    if not given:
        result["additionalProperties"] = False
    elif len(given) == len(rests) and len({canonical(rest) for rest in rests}) == 1:
        if "additionalProperties" in branches[0]:
            result["additionalProperties"] = rests[0]
    elif any(branch.get("additionalProperties", False) is not False for branch in branches):
        result["additionalProperties"] = True
