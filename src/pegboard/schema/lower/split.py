"""Type lists become unions of single types, for dialects whose nodes have one type."""

from pegboard.schema.lower.node import Node, clone, set_types, types
from pegboard.schema.lower.vocabulary import ANNOTATIONS, KIND_OF
from pegboard.schema.lower.work import Work


def split_types(node: Node, work: Work) -> None:
    """A node of several types (null aside) becomes a union with one branch for each."""
    kinds = tuple(kind for kind in types(node) if kind != "null")
    if len(kinds) < 2 or "enum" in node:
        if len(kinds) == 1 and "null" in types(node):
            set_types(node, (*kinds, "null"))
        return
    null = "null" in types(node)
    branches = [_branch(node, kind, null=null) for kind in kinds]
    stay = {key: value for key, value in node.items() if key in ANNOTATIONS or key == "$defs"}
    node.clear()
    node.update({**stay, "anyOf": branches})
    work.change(node, "a list of types is spelled as a union of single types")


def split_maps(node: Node, work: Work) -> None:
    """A map that may also be something else becomes a branch of its own, so that it can be rewritten alone."""
    rest = node.get("additionalProperties")
    if "object" in types(node) and (isinstance(rest, Node) or "patternProperties" in node):
        split_types(node, work)


def _branch(node: Node, kind: str, *, null: bool) -> Node:
    judge = "number" if kind == "integer" else kind
    branch = Node({key: value for key, value in node.items() if KIND_OF.get(key) == judge}, node.at)
    branch = clone(branch)
    set_types(branch, (kind, "null") if null else (kind,))
    return branch


def null_into_branches(node: Node, work: Work) -> None:
    """The null branch of a union becomes a mark on the others, for dialects that spell null as `nullable`."""
    if "anyOf" not in node:
        return
    branches: list[Node] = node["anyOf"]
    others = [branch for branch in branches if types(branch) != ("null",)]
    if len(others) == len(branches) or not others:
        return
    for branch in others:
        _mark(branch)
    node["anyOf"] = others
    work.change(node, "null in a union is spelled as `nullable`")


def _mark(branch: Node) -> None:
    if "anyOf" in branch:
        for inner in branch["anyOf"]:
            _mark(inner)
    elif types(branch) and "null" not in types(branch):
        set_types(branch, (*types(branch), "null"))
        if "enum" in branch and None not in branch["enum"]:
            branch["enum"] = [*branch["enum"], None]


LONGEST = 200
"""Characters of a description that is repeated in each branch of a union."""


def describe_branches(node: Node, work: Work) -> None:
    """What is said of a union is said of its branches, for a union may have nothing beside it."""
    if "anyOf" not in node:
        return
    branches: list[Node] = node["anyOf"]
    said = node.pop("description", "")
    for key in [key for key in node if key in ANNOTATIONS]:
        del node[key]
    for word in node.words:
        for branch in branches:
            branch.say(word)
    node.words = []
    if not said:
        return
    for branch in branches if len(said) <= LONGEST else branches[:1]:
        own = branch.get("description", "")
        if said not in own:
            branch["description"] = f"{said}\n{own}" if own else said
    work.change(node, "the description of a union is moved to its branches")


def emit_gemini(node: Node) -> dict[str, object]:
    """The tree as Gemini's `Schema`: upper-case types, null as `nullable`."""
    out: dict[str, object] = {}
    for key, value in node.items():
        if key == "type":
            kinds = types(node)
            out["type"] = next((kind for kind in kinds if kind != "null"), "null").upper()
            if "null" in kinds and len(kinds) > 1:
                out["nullable"] = True
        elif key == "properties":
            table: dict[str, Node] = value
            out["properties"] = {name: emit_gemini(child) for name, child in table.items()}
        elif key == "items":
            out["items"] = emit_gemini(value)
        elif key == "anyOf":
            branches: list[Node] = value
            out["anyOf"] = [emit_gemini(branch) for branch in branches]
        elif key == "enum":
            out["enum"] = [item for item in value if item is not None]
        else:
            out[key] = value
    return out
