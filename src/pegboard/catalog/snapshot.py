"""The catalog: an immutable, ordered snapshot of tools. A change makes a new one and a diff."""

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Self

from pegboard.catalog.versions import newest
from pegboard.core import Tool, ToolName, ToolSpec


@dataclass(frozen=True, slots=True)
class Diff:
    """What changed between two catalogs, each in the newer one's order (removed: in the older one's)."""

    added: tuple[ToolName, ...] = ()
    removed: tuple[ToolName, ...] = ()
    changed: tuple[ToolName, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)


@dataclass(frozen=True)
class Catalog:
    """Every tool of the board by its full name, grouped by namespace in the sources' order.

    Parameters:
        tools: the tools by name. Make it with `Catalog.of`.
    """

    tools: Mapping[ToolName, Tool] = field(default_factory=dict[ToolName, Tool])

    @classmethod
    def of(cls, tools: Iterable[Tool]) -> Self:
        """A catalog of these tools; of two with one name the first stays."""
        found: dict[ToolName, Tool] = {}
        for tool in tools:
            found.setdefault(tool.name, tool)
        return cls(found)

    def __len__(self) -> int:
        return len(self.tools)

    def __iter__(self) -> Iterator[Tool]:
        return iter(self.tools.values())

    def __contains__(self, name: object) -> bool:
        return name in self.tools

    def get(self, name: ToolName) -> Tool | None:
        """The tool of this full name, or None."""
        return self.tools.get(name)

    @cached_property
    def specs(self) -> tuple[ToolSpec, ...]:
        """The specs, in order."""
        return tuple(tool.spec for tool in self)

    @cached_property
    def namespaces(self) -> Mapping[str, tuple[ToolSpec, ...]]:
        """The specs by namespace, both in order."""
        groups: dict[str, list[ToolSpec]] = {}
        for spec in self.specs:
            groups.setdefault(spec.name.namespace, []).append(spec)
        return {namespace: tuple(specs) for namespace, specs in groups.items()}

    @cached_property
    def by_bare_name(self) -> Mapping[str, tuple[ToolName, ...]]:
        """The full names that share a bare name or alias."""
        return by_bare_name(self.specs)

    @cached_property
    def by_version(self) -> Mapping[ToolName, ToolName]:
        """Of each name without a version, under which a tool has versions only, the version that it means."""
        return by_version(self.specs, self.tools)

    def diff(self, newer: "Catalog") -> Diff:
        """What `newer` adds, removes and changes."""
        kept = [name for name in newer.tools if name in self.tools]
        return Diff(
            added=tuple(name for name in newer.tools if name not in self.tools),
            removed=tuple(name for name in self.tools if name not in newer.tools),
            changed=tuple(name for name in kept if _changed(self.tools[name].spec, newer.tools[name].spec)),
        )


def by_bare_name(specs: Iterable[ToolSpec]) -> Mapping[str, tuple[ToolName, ...]]:
    """The full names of tools that share a bare name or alias."""
    found: dict[str, list[ToolName]] = {}
    for spec in specs:
        for bare in dict.fromkeys((spec.name.name, *spec.aliases)):
            found.setdefault(bare, []).append(spec.name)
    return {bare: tuple(names) for bare, names in found.items()}


def by_version(specs: Iterable[ToolSpec], known: Container[ToolName]) -> Mapping[ToolName, ToolName]:
    """Of each name without a version, under which a tool has versions only, the version that it means."""
    found: dict[ToolName, list[ToolSpec]] = {}
    for spec in specs:
        if spec.name.version is not None:
            found.setdefault(ToolName(spec.name.namespace, spec.name.name), []).append(spec)
    return {name: newest(specs).name for name, specs in found.items() if name not in known}


def _changed(older: ToolSpec, newer: ToolSpec) -> bool:
    return older is not newer and older != newer
