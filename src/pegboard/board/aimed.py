"""Tables of a config that are about one tool each: which tool is meant, and what the tools become."""

from collections.abc import Callable, Mapping

from pegboard.catalog import AliasTable, Catalog, Unknown, resolve
from pegboard.core import Tool, ToolName
from pegboard.schema.types import JsonObject


def aimed(
    catalog: Catalog, kind: str, tables: Mapping[str, JsonObject], told: Callable[[Tool, JsonObject], Tool]
) -> tuple[Catalog, tuple[str, ...]]:
    """The catalog with what `[KIND.NAME]` tables say of its tools, and a warning for each table without a tool.

    Parameters:
        catalog: the tools.
        kind: the kind of the tables, for warnings.
        tables: the tables by the tool that each is about.
        told: what a tool becomes by its table.
    """
    found: dict[ToolName, JsonObject] = {}
    warnings: list[str] = []
    for text, table in tables.items():
        target = resolve(text, catalog, AliasTable())
        if isinstance(target, Unknown):
            near = f" Did you mean {' or '.join(target.candidates)}?" if target.candidates else ""
            warnings.append(f"{kind}.{text}: there is no tool {text!r} on the board, so nobody reads it.{near}")
        else:
            found[target] = table
    if not found:
        return catalog, tuple(warnings)
    changed = (told(tool, found[tool.name]) if tool.name in found else tool for tool in catalog)
    return Catalog.of(changed), tuple(warnings)
