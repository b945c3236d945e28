"""Repairs a node and everything below it."""

from typing import Any, cast

from pegboard.schema.repair.keywords import RULES, from_other
from pegboard.schema.repair.record import Record
from pegboard.schema.types import Json, as_list, as_object, pointer
from pegboard.schema.validate import matches
from pegboard.schema.walk import IN_PLACE, MANY, NAMED, ONE, Node, Path, children, ref_target

_FLAGGED = frozenset({"additionalProperties", "unevaluatedItems", "unevaluatedProperties"})
"""Keywords that stay boolean where they are boolean: everyone reads them so."""


class Tree:
    """Repairs one document; `record` holds the notes, `where` the old pointer of every container of the document,
    `mended` the repaired nodes, each with its old pointer and whether it judges a value of its own.
    """

    def __init__(self, record: Record) -> None:
        self.record = record
        self.where: dict[int, str] = {}
        self.mended: list[tuple[Node, str, bool]] = []
        self._locate(record.document, "")

    def _locate(self, value: Json, at: str) -> None:
        if isinstance(value, dict):
            self.where[id(cast("Any", value))] = at
            for key, item in cast("Node", value).items():
                if isinstance(item, dict | list):
                    self._locate(item, at + pointer(key))
        elif isinstance(value, list):
            self.where[id(cast("Any", value))] = at
            for index, item in enumerate(cast("list[Any]", value)):
                if isinstance(item, dict | list):
                    self._locate(item, f"{at}/{index}")

    def mend(self, raw: Json, old: str, new: str, *, own: bool = True, arguments: bool = False) -> Node:
        """The sound node for what stands at `old`, to be placed at `new`.

        Parameters:
            raw: the value that stands for a schema.
            old: its pointer in the author's document.
            new: its pointer in the repaired one.
            own: whether the node judges a value of its own, rather than (in `anyOf`, `if` ...) its parent's.
            arguments: whether it judges a tool's arguments, so that it is an object where it gives no type.
        """
        old = self.where.get(id(raw), old)
        node: Node = dict(cast("Node", raw)) if isinstance(raw, dict) else from_other(raw, old, self.record)
        for rule in RULES:
            rule(node, old, self.record)
        if arguments and "type" not in node:
            node["type"] = "object"
            self.record.note(old, "the root had no type: arguments are an object")
        self.record.moved.setdefault(old, new)
        self._members(node, old)
        for keyword in list(node):
            self._child(node, keyword, old, new)
        self.mended.append((node, old, own))
        if "$ref" in node:
            self.record.refs.append((node, old))
        return node

    def _members(self, node: Node, old: str) -> None:
        """`properties` stands on every object node."""
        types: list[str] = node["type"] if isinstance(node.get("type"), list) else [node.get("type", "")]
        if "properties" in node or "object" in types:
            self._properties(node, old)
        if node.get("items", False) is None:
            del node["items"]
            self.record.note(old, "`items` was null: removed")

    def _properties(self, node: Node, old: str) -> None:
        table = node.get("properties")
        if not isinstance(table, dict):
            node["properties"] = _from_rows(table)
            what = "was missing" if "properties" not in node else "was no table"
            self.record.note(
                old, f"`properties` {'was missing: added' if table is None else what + ': turned into one'}"
            )
        else:
            node["properties"] = dict(cast("Node", table))
        self._lift_required(node, old)

    def _lift_required(self, node: Node, old: str) -> None:
        table: Node = node["properties"]
        names: list[str] = list(node.get("required", ()))
        stray = table.get("required")
        if (
            isinstance(stray, list)
            and stray
            and all(name in table for name in cast("list[Any]", stray) if name != "required")
        ):
            names += [name for name in cast("list[Any]", stray) if isinstance(name, str)]
            del table["required"]
            self.record.note(f"{old}/properties/required", "`required` stood among the properties: moved to the object")
            self._lift_others(node, names, old)
        for name in table:
            flag = as_object(table[name]).get("required")
            if isinstance(flag, bool):
                names += [name] if flag else []
                self.record.note(old + pointer("properties", name), "a boolean `required` is moved to the object")
        if names:
            node["required"] = list(dict.fromkeys(names))

    def _lift_others(self, node: Node, required: list[str], old: str) -> None:
        """Where `required` stood among the properties, so may other keywords of the object, which are no schemas."""
        table: Node = node["properties"]
        for name, misplaced in (
            ("additionalProperties", isinstance(table.get("additionalProperties"), bool)),
            ("type", table.get("type") == "object"),
        ):
            if misplaced and name not in required:
                node.setdefault(name, table.pop(name))
                self.record.note(
                    f"{old}/properties/{name}", f"`{name}` stood among the properties: moved to the object"
                )

    def _child(self, node: Node, keyword: str, old: str, new: str) -> None:
        value = node[keyword]
        own = keyword not in IN_PLACE
        if keyword in _FLAGGED and not isinstance(value, dict):
            self._flag(node, keyword, old)
        elif keyword in ONE:
            node[keyword] = self._mended(value, (keyword,), old, new, own=own)
        elif keyword in MANY:
            node[keyword] = [
                self._mended(child, (keyword, index), old, new, own=own) for index, child in enumerate(as_list(value))
            ]
        elif keyword in NAMED and isinstance(value, dict):
            node[keyword] = {
                name: self._mended(child, (keyword, name), old, new, own=own)
                for name, child in cast("Node", value).items()
            }
            if keyword == "$defs":
                for name in node[keyword]:
                    self.record.tables.setdefault(name, []).append(new + pointer(keyword, name))
        elif keyword in NAMED:
            del node[keyword]
            self.record.note(old, f"`{keyword}` was no table of schemas: removed")

    def _mended(self, child: Json, path: Path, old: str, new: str, *, own: bool) -> Node:
        return self.mend(child, old + pointer(*path), new + pointer(*path), own=own)

    def _flag(self, node: Node, keyword: str, old: str) -> None:
        value = node[keyword]
        if isinstance(value, bool):
            return
        word = str(value).lower()
        if word in ("true", "false"):
            node[keyword] = word == "true"
        else:
            del node[keyword]
        self.record.note(old, f"`{keyword}` was no schema: {'turned into one' if keyword in node else 'removed'}")


def _from_rows(table: Json) -> Node:
    """A table from a list of named schemas, or of names; an empty one from anything else."""
    found: Node = {}
    for row in as_list(table):
        if isinstance(row, str):
            found[row] = {}
        elif isinstance(as_object(row).get("name"), str):
            fields = as_object(row)
            found[fields["name"]] = {key: value for key, value in fields.items() if key != "name"}
    return found


def complete(tree: Tree, root: Node) -> None:
    """Every array node has `items`, and every required name a schema, so that who lists the properties lists it too."""
    closes = any("unevaluatedItems" in node for node, _, _ in tree.mended)  # which `items` would silence
    for node, old, own in tree.mended:
        array = node.get("type") == "array" or "array" in as_list(node.get("type"))
        if array and "items" not in node and not closes:
            node["items"] = {}
            tree.record.note(old, "`items` was missing: added, open to anything")
        if own and node.get("required") and "properties" in node:
            _complete(node, old, tree.record, root)


def _complete(node: Node, old: str, record: Record, root: Node) -> None:
    declared = _declared(node, root, set())
    for name in [name for name in node["required"] if name not in declared and not _patterned(node, name)]:
        rest = node.get("additionalProperties", True)
        if rest is False:
            node["required"] = [kept for kept in node["required"] if kept != name]
            record.note(old, f"`required` named {name!r}, which no value can have: removed")
        else:
            node["properties"][name] = copy_of(rest) if isinstance(rest, dict) else {}
            record.note(old, f"`required` names {name!r}, which had no schema: added")


def _declared(node: Node, root: Node, seen: set[int]) -> set[str]:
    """The names that a node, its branches and what it refers to give a schema."""
    if id(node) in seen:
        return set()
    seen.add(id(node))
    found = set(as_object(node.get("properties")))
    for path, child in children(node):
        if path[0] in IN_PLACE:
            found |= _declared(child, root, seen)
    target = ref_target(root, node["$ref"]) if "$ref" in node else None
    return found | (_declared(target, root, seen) if target is not None else set())


def copy_of(node: Json) -> Json:
    """A deep copy, so that no two places share a node."""
    if isinstance(node, dict):
        return {key: copy_of(value) for key, value in cast("Node", node).items()}
    return [copy_of(item) for item in cast("list[Any]", node)] if isinstance(node, list) else node


def _patterned(node: Node, name: str) -> bool:
    return any(matches(pattern, name) for pattern in cast("Node", node.get("patternProperties", {})))
