"""The normal form: nothing stands beside a reference or a union, and no parts are left to be merged."""

from pegboard.schema.lower import words
from pegboard.schema.lower.arrays import drop_never
from pegboard.schema.lower.kinds import declare_required
from pegboard.schema.lower.merge import merge_all
from pegboard.schema.lower.node import Node, bottom_up, every, is_never, never, plain
from pegboard.schema.lower.refs import beside_keywords, expand, recursive, target
from pegboard.schema.lower.unions import one_to_any, push_down, tidy
from pegboard.schema.lower.vocabulary import ANNOTATIONS
from pegboard.schema.lower.work import Work

ROUNDS = 6
"""Rounds of expanding, merging and repeating; what is not normal after them is said in words."""

LARGEST = 6000
"""Nodes of a schema that is still brought into normal form; of a larger one the rest is said in words."""


def normal_form(work: Work) -> None:
    """Expand references that have company, merge `allOf`, and let the branches of unions stand alone."""
    for _ in range(ROUNDS):
        if len(every(work.root)) > LARGEST or not any(_needs(node, work) for node in every(work.root)):
            break
        work.loops |= recursive(work.root)
        expand(work, beside_keywords)
        bottom_up(work.root, lambda node: _settle(node, work))
    for node in every(work.root):
        if _needs(node, work):
            _give_up(node, work)


def without_never(work: Work) -> None:
    """What admits nothing is left out of what holds it, through references too."""
    for _ in range(ROUNDS):
        bottom_up(work.root, lambda node: _drop(node, work))
        led = [node for node in every(work.root) if "$ref" in node and is_never(target(work.root, node["$ref"]))]
        for node in led:
            node.take(never(node.at))
        if not led:
            break


def _drop(node: Node, work: Work) -> None:
    tidy(node, work)
    declare_required(node, work)
    drop_never(node, work)


def _needs(node: Node, work: Work) -> bool:
    beside = node is not work.root and bool({"$ref", "anyOf"} & node.keys()) and _company(node)
    return beside or bool({"allOf", "oneOf"} & node.keys()) or (node is work.root and "anyOf" in node)


def _company(node: Node) -> bool:
    return len(node.keys() - ANNOTATIONS - {"$defs"}) > 1


def _settle(node: Node, work: Work) -> None:
    one_to_any(node, work)
    merge_all(node, work)
    tidy(node, work)
    if node is not work.root:
        push_down(node, work)


def _give_up(node: Node, work: Work) -> None:
    """Leave out what could not be brought into normal form, and say it."""
    for key in ("allOf", "oneOf", *(("anyOf",) if node.keys() - ANNOTATIONS - {"anyOf"} else ())):
        if key in node:
            said = [plain(branch) for branch in node.pop(key)]
            work.lose(node, key, said, f"{key}: {words.listed([words.brief(part) for part in said])}"[:480])
    if "$ref" in node and _company(node):
        for key in list(node.keys() - ANNOTATIONS - {"$ref", "$defs"}):
            said = node.pop(key)
            work.lose(node, key, said, words.say({key: said}, [key])[key])
