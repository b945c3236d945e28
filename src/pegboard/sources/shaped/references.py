"""References of a schema, so that a piece of it can be taken without the rest."""

from typing import Any

from pegboard.schema.types import Json, Schema, as_object, pointer
from pegboard.schema.walk import Node, look_up, map_children, ref_pointer, ref_to, tokens

_DEFINED = ("$defs", "definitions")


def defined(root: Schema) -> dict[str, Json]:
    """The schema, with every part that a reference names as a definition of its own.

    A reference to a part (`#/properties/rows/items`) would bring the whole schema along wherever it is taken. One to
    the schema as a whole can only mean the old shape: it says nothing any more.

    Parameters:
        root: the schema.
    """
    return _Definer(dict(root)).schema()


class _Definer:
    def __init__(self, root: Node) -> None:
        self.root = root
        self.made: dict[str, Json] = {}
        self.names: dict[str, str] = {}

    def schema(self) -> dict[str, Json]:
        changed = self.node(self.root)
        if not self.made:
            return changed
        return {**changed, "$defs": {**changed.get("$defs", {}), **self.made}}

    def node(self, node: Node) -> Node:
        changed = map_children(node, lambda child, _: self.node(child))
        for keyword in ("$ref", "$dynamicRef"):
            place = ref_pointer(changed[keyword]) if isinstance(changed.get(keyword), str) else None
            if place is None:
                continue
            parts = tokens(place)
            if not parts:
                del changed[keyword]
            elif parts[0] not in _DEFINED or len(parts) > 2:
                changed[keyword] = self.target(place, parts)
        return changed

    def target(self, place: str, parts: list[str]) -> str:
        if place not in self.names:
            found, target = look_up(self.root, place)
            taken: Any = {*self.made, *self.root.get("$defs", {}), *self.root.get("definitions", {})}
            name = next(one for one in (f"part{n}" for n in range(1, len(taken) + 2)) if one not in taken)
            self.names[place] = name
            self.made[name] = {}  # claimed before its own references are followed: cycles end here
            self.made[name] = self.node(as_object(target)) if found else {}
        return ref_to(pointer("$defs", self.names[place]))
