"""Our engines, over the tools of a set."""

from collections.abc import Collection, Mapping, Sequence
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
        self.ids: dict[ToolName, str] = {}
        self._specs = {tool["id"]: self._spec(tool) for tool in tools}
        engine.update(put=self._specs.values())

    def _spec(self, tool: Mapping[str, Any]) -> ToolSpec:
        """Tools that share a full name are told apart by a version, which is not searched."""
        spec = spec_of(tool)
        if spec.name in self.ids:
            spec = replace(spec, name=replace(spec.name, version=str(tool["id"])))
        self.ids[spec.name] = tool["id"]
        return spec

    def without(self, ids: Collection[str]) -> list[ToolSpec]:
        """Take some tools out; what is returned puts them back with `restore`."""
        specs = [self._specs[i] for i in sorted(ids)]
        self._engine.update(remove=[spec.name for spec in specs])
        return specs

    def restore(self, specs: Sequence[ToolSpec]) -> None:
        """Put tools back."""
        self._engine.update(put=specs)

    def __call__(self, query: str, k: int) -> list[str]:
        return [self.ids[hit.name] for hit in self._engine.search(query, limit=k).hits]

    def confidence(self, query: str) -> float:
        """How likely the set holds a tool that meets the request."""
        return self._engine.search(query).confidence


def default(tools: Sequence[Mapping[str, Any]]) -> Search:
    """The engine of a plain install."""
    return Search(index.default(), tools)


def encoder(tools: Sequence[Mapping[str, Any]]) -> Search:
    """The engine with the sentence encoder (extra `encoder`)."""
    engine = index.with_encoder()
    search = Search(engine, tools)
    engine.wait()
    return search
