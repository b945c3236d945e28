"""The root of a tool's arguments: one object, without unions or conditions of its own."""

from pegboard.schema.lower import words
from pegboard.schema.lower.kinds import declare_required
from pegboard.schema.lower.merge import merge_all
from pegboard.schema.lower.node import Node, is_never, plain, types
from pegboard.schema.lower.refs import expand_zone
from pegboard.schema.lower.unions import flatten, one_to_any, tidy
from pegboard.schema.lower.work import Refused, Work
from pegboard.schema.repair.names import type_of
from pegboard.schema.types import Json, as_object, canonical


def be_object(work: Work) -> None:
    """The root's type is object and nothing else.

    Raises:
        Refused: the root can be no object.
    """
    root = work.root
    kinds = types(root)
    if kinds and "object" not in kinds:
        raise Refused(f"the root must be of type object, and is {' or '.join(kinds)}: arguments are always an object")
    if is_never(root):
        raise Refused("the root admits nothing, so the tool can never be called")
    if root.get("type") != "object":
        root["type"] = "object"
        work.change(root, "the root is of type object")
    root.setdefault("properties", {})


def plain_root(work: Work) -> None:
    """No `anyOf`, `oneOf`, `allOf` at the root: they are merged, and the rule of a union is said in words."""
    root = work.root
    expand_zone(work)
    for _ in range(8):
        if not {"anyOf", "oneOf", "allOf"} & root.keys():
            break
        one_to_any(root, work)
        merge_all(root, work)
        if "anyOf" in root:
            _one_object(root, work)
    for key in ("enum", "const"):
        if key in root:
            _fixed(root, key, work)
    declare_required(root, work)
    be_object(work)


def _fixed(root: Node, key: str, work: Work) -> None:
    value = root.pop(key)
    values: list[Json] = [value] if key == "const" else value
    found = [as_object(item) for item in values if isinstance(item, dict)]
    if not found:
        raise Refused("the root admits no object, and arguments are always an object")
    _declare(root, found)
    work.lose(
        root, key, value, f"exactly {words.text_of(value)}" if key == "const" else f"one of {words.text_of(value)}"
    )


def _declare(root: Node, values: list[dict[str, Json]]) -> None:
    """The keys of fixed values are declared with what they hold, so that a closed object can still be one of them."""
    table: dict[str, Node] = root.setdefault("properties", {})
    for name in dict.fromkeys(name for value in values for name in value):
        held = {canonical(value[name]): value[name] for value in values if name in value}
        if name not in table:
            table[name] = root.like({"enum": list(held.values())})
    everywhere = [name for name in values[0] if all(name in value for value in values)]
    root["required"] = list(dict.fromkeys([*root.get("required", ()), *everywhere]))


def _one_object(root: Node, work: Work) -> None:
    for branch in list[Node](root["anyOf"]):
        one_to_any(branch, work)
        merge_all(branch, work)
        if "anyOf" in branch:
            flatten(branch, work)
        for key in [key for key in ("enum", "const") if key in branch]:
            if "object" in map(type_of, branch["enum"] if key == "enum" else [branch["const"]]):
                _fixed(branch, key, work)
                branch["type"] = "object"
    tidy(root, work)
    if "anyOf" in root and not flatten(root, work):
        branches: list[Node] = root.pop("anyOf")
        said = [plain(branch) for branch in branches]
        work.lose(root, "anyOf", said, f"fits one of: {words.listed([words.brief(one) for one in said])}")


def unset_root(work: Work) -> None:
    """A root without properties is not sent at all, so what it demands of their number goes."""
    root = work.root
    if root.get("properties") or root.get("additionalProperties"):
        return
    for key in ("minProperties", "maxProperties"):
        if root.get(key):
            work.lose(root, key, root.pop(key))
