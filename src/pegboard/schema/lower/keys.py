"""Property keys that a provider refuses are renamed, and the arguments' keys turned back."""

import hashlib
import re
import unicodedata

from pegboard.schema.lower import words
from pegboard.schema.lower.node import Node, plain, types
from pegboard.schema.lower.undo import Renamed
from pegboard.schema.lower.work import Work
from pegboard.schema.types import as_list, as_object


def rename_keys(node: Node, work: Work) -> None:
    """Give properties whose keys the dialect does not take other keys; the description tells the author's."""
    legal = work.dialect.key_pattern
    if legal is None or "object" not in types(node) or (work.dialect.top_keys_only and node is not work.root):
        return
    table: dict[str, Node] = node.get("properties", {})
    bad = [name for name in table if not re.fullmatch(legal, name)]
    if not bad:
        return
    if "propertyNames" in node:  # it judges the author's keys
        told = words.say(node, ["propertyNames"])["propertyNames"]
        work.lose(node, "propertyNames", plain(node.pop("propertyNames")), told)
    names: dict[str, str] = {}
    for name in bad:
        names[name] = _free(name, {*table, *names.values()})
        table[name].say(f"the tool's own key: {name}")
    _rename(node, names)
    node.undo.append(Renamed(names))
    work.change(
        node, f"keys renamed, and turned back when called: {', '.join(f'{a} to {b}' for a, b in names.items())}"
    )


def _rename(node: Node, names: dict[str, str]) -> None:
    """The keys of an object, wherever it and the conditions on it speak of them."""
    for keyword in ("properties", "dependentRequired", "dependentSchemas"):
        if keyword in node:
            node[keyword] = {names.get(name, name): held for name, held in as_object(node[keyword]).items()}
    if "dependentRequired" in node:
        node["dependentRequired"] = {
            name: [names.get(one, one) for one in as_list(needed)] for name, needed in node["dependentRequired"].items()
        }
    if "required" in node:
        node["required"] = [names.get(name, name) for name in as_list(node["required"])]
    alone = [node[keyword] for keyword in ("not", "if", "then", "else") if keyword in node]
    many = [branch for keyword in ("allOf", "anyOf", "oneOf") for branch in as_list(node.get(keyword))]
    for child in (*alone, *many, *as_object(node.get("dependentSchemas")).values()):
        if isinstance(child, Node):
            _rename(child, names)


def _free(name: str, taken: set[str]) -> str:
    folded = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    plain = re.sub(r"[^A-Za-z0-9_]+", "_", folded).strip("_")[:54] or "key"
    plain = f"k_{plain}" if plain[0].isdigit() else plain
    if plain not in taken:
        return plain
    return f"{plain}_{hashlib.sha256(name.encode()).hexdigest()[:8]}"
