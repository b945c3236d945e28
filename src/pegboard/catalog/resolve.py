"""From what a caller wrote to the tool that is meant."""

from dataclasses import dataclass

from pegboard.catalog.alias import AliasTable
from pegboard.catalog.snapshot import Catalog
from pegboard.catalog.view import View
from pegboard.core import ToolName
from pegboard.errors import nearest


@dataclass(frozen=True, slots=True)
class Unknown:
    """No tool is meant, or several are.

    Parameters:
        text: what the caller wrote.
        candidates: the tools that share the bare name, or the nearest names.
        ambiguous: whether the candidates all have exactly this bare name.
    """

    text: str
    candidates: tuple[str, ...]
    ambiguous: bool = False


def resolve(text: str, catalog: Catalog | View, aliases: AliasTable) -> ToolName | Unknown:
    """Find the tool that `ns.tool`, `ns__tool`, `mcp__ns__tool`, its wire name or a unique bare name means.

    A name without a version means the tool without one; else the newest version that is not deprecated.
    """
    for spelling in (text, text.removeprefix("mcp__")):
        found = aliases.full.get(spelling)
        if found is not None and found in catalog:
            return found
        found = _qualified(spelling, catalog)
        if found is not None:
            return found
    bare = catalog.by_bare_name.get(text) or _bare_version(text, catalog)
    if len({name.qualified for name in bare}) == 1:
        plain = ToolName(bare[0].namespace, bare[0].name)
        return bare[0] if len(bare) == 1 else catalog.by_version.get(plain, plain)
    if bare:
        return Unknown(text, tuple(str(name) for name in bare), ambiguous=True)
    return Unknown(text, tuple(_nearest(text, catalog)))


def _qualified(text: str, catalog: Catalog | View) -> ToolName | None:
    for separator in (".", "__", "/"):
        start = text.find(separator)
        while start != -1:
            name = _versioned(text[:start], text[start + len(separator) :], catalog)
            if name is not None:
                return name
            start = text.find(separator, start + 1)
    return _versioned("", text, catalog)


def _versioned(namespace: str, rest: str, catalog: Catalog | View) -> ToolName | None:
    plain = ToolName(namespace, rest)
    if plain in catalog:
        return plain
    name, at, version = rest.rpartition("@")
    versioned = ToolName(namespace, name, version) if at else plain
    return versioned if versioned in catalog else catalog.by_version.get(plain)


def _bare_version(text: str, catalog: Catalog | View) -> tuple[ToolName, ...]:
    """The tools that a bare name with a version means, such as `send@2`."""
    name, _, version = text.rpartition("@")
    return tuple(found for found in catalog.by_bare_name.get(name, ()) if found.version == version)


def _nearest(text: str, catalog: Catalog | View) -> list[str]:
    qualified = {name.qualified: name.qualified for name in catalog.tools}
    by_bare = {bare: names[0].qualified for bare, names in catalog.by_bare_name.items()}
    last = text.replace("__", ".").rpartition(".")[2]
    found = [*nearest(text.replace("__", "."), qualified), *(by_bare[bare] for bare in nearest(last, by_bare))]
    return list(dict.fromkeys(found))[:3]
