"""The search engines in the form that retrieval evaluations ask for.

`build(tools) -> search`, `search(query, k) -> ids`, `search.confidence(query) -> 0..1`; a tool is
`{"id", "name", "namespace", "description", "parameters": <JSON Schema>}`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pegboard import index
from pegboard.core import ToolName, ToolSpec
from pegboard.index import Index


def spec_of(tool: Mapping[str, Any]) -> ToolSpec:
    """A set's tool as a spec."""
    return ToolSpec(
        name=ToolName(tool.get("namespace") or "", tool["name"]),
        description=tool.get("description") or "",
        input=tool.get("parameters") or {"type": "object"},
    )


class Search:
    """A search over the tools of one evaluation set.

    Parameters:
        engine: an empty index.
        tools: the set's tools.
    """

    def __init__(self, engine: Index, tools: Sequence[Mapping[str, Any]]) -> None:
        self._engine = engine
        self._ids: dict[ToolName, str] = {}
        engine.update(put=[self._spec(tool) for tool in tools])

    def _spec(self, tool: Mapping[str, Any]) -> ToolSpec:
        """Tools that share a full name are told apart by a version, which is not searched."""
        spec = spec_of(tool)
        if spec.name in self._ids:
            spec = replace(spec, name=replace(spec.name, version=str(tool["id"])))
        self._ids[spec.name] = tool["id"]
        return spec

    def __call__(self, query: str, k: int) -> list[str]:
        return [self._ids[hit.name] for hit in self._engine.search(query, limit=k).hits]

    def confidence(self, query: str) -> float:
        """How likely the set holds a tool that meets the request."""
        return self._engine.search(query).confidence


def default(tools: Sequence[Mapping[str, Any]]) -> Search:
    """The engine of a plain install."""
    return Search(index.default(), tools)
