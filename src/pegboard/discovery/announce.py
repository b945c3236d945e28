"""What a gateway says of itself: which namespaces there are, and how to find what is not in the list."""

from collections.abc import Iterator

from pegboard.catalog import View
from pegboard.core import ToolSpec

LINE = 100
"""Characters of tool names in a namespace's line."""
WHOLE = 4096
"""Characters of all lines together; clients cut longer instructions themselves, or refuse them."""

_HOW = (
    "Only some of them are in your tool list. tool_search finds the others by what they do; what it finds can be called"
    " by name at once, or through tool_call."
)


def announcement(view: View) -> str:
    """The namespaces, one line each with the number of their tools, and how to find those that are deferred.

    It may tell what the catalog holds, where the definitions of the meta-tools must not: clients read it once, when
    they connect.

    Parameters:
        view: what a client sees.
    """
    groups: dict[str, list[ToolSpec]] = {}
    for spec in (*view.direct, *view.deferred):
        groups.setdefault(spec.name.namespace, []).append(spec)
    head = f"{sum(map(len, groups.values()))} tools in {len(groups)} namespaces:"
    foot = [_HOW] if view.meta and view.deferred else []
    return "\n".join([head, *_within(groups), *foot])


def _within(groups: dict[str, list[ToolSpec]]) -> Iterator[str]:
    """The lines, the names of tools left out where there is no room for them, then the namespaces too."""
    names = sum(len(_line(namespace, specs)) for namespace, specs in groups.items()) <= WHOLE
    lines = [_line(namespace, specs, names=names) for namespace, specs in groups.items()]
    room = WHOLE
    for number, line in enumerate(lines):
        room -= len(line) + 1
        if room < 0:
            yield f"- and {len(lines) - number} more namespaces; list_available_tools names them all"
            return
        yield line


def _line(namespace: str, specs: list[ToolSpec], *, names: bool = True) -> str:
    noun = "tool" if len(specs) == 1 else "tools"
    told = f"- {namespace or '(no namespace)'}: {len(specs)} {noun}"
    return f"{told} ({_few(specs)})" if names else told


def _few(specs: list[ToolSpec]) -> str:
    names = ", ".join(spec.name.name for spec in specs)
    return names if len(names) <= LINE else names[:LINE].rpartition(",")[0] + ", ..."
