"""Property keys that a provider refuses are renamed, and the arguments' keys turned back."""

import hashlib
import re
import unicodedata

from pegboard.schema.lower import words
from pegboard.schema.lower.node import Node, plain, types
from pegboard.schema.lower.undo import Renamed
from pegboard.schema.lower.work import Work
from pegboard.schema.types import as_list


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
    node["properties"] = {names.get(name, name): child for name, child in table.items()}
    if "required" in node:
        node["required"] = [names.get(name, name) for name in as_list(node["required"])]
    node.undo.append(Renamed(names))
    work.change(
        node, f"keys renamed, and turned back when called: {', '.join(f'{a} to {b}' for a, b in names.items())}"
    )


def _free(name: str, taken: set[str]) -> str:
    folded = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    plain = re.sub(r"[^A-Za-z0-9_]+", "_", folded).strip("_")[:54] or "key"
    plain = f"k_{plain}" if plain[0].isdigit() else plain
    if plain not in taken:
        return plain
    return f"{plain}_{hashlib.sha256(name.encode()).hexdigest()[:8]}"
