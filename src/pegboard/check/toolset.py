"""What is checked: tools with what is known around them, and the words of each, computed once."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from pegboard.check.words import Said, content, without_boilerplate
from pegboard.core import Note, NoteKind, ToolSpec
from pegboard.index.names import key
from pegboard.schema.types import JsonObject

OWN_KINDS = frozenset({"python", "builtin", "manifest", "http", "cli", "batch", "bundle", "scatter", "chain", "agent"})
"""Kinds of sources whose tools whoever runs the check has written, and can change."""

COMPOSITE = "pegboard/composite"
"""Set in `ToolSpec.meta` of a tool that is made of tools: `batch`, `bundle` ..."""


@dataclass(frozen=True)
class Toolset:
    """Tools that stand together, as a model meets them.

    Parameters:
        specs: the tools, in order.
        notes: what was set aside while they were read, by the name of the source.
        board: whether they are a board (with its own search, registry and preview) rather than one server's list.
        search: whether the board finds its tools by search; None where that is not known.
        own: says whether a tool is one's own; by the kind of its source where it is not given.
        cap: the most that a description may take: how many, and of what (`bytes` or `characters`); None for no cap.
        targets: the dialects whose losses are told.
        lock: the definitions that were locked, by full name; None where nothing was.
    """

    specs: Sequence[ToolSpec]
    notes: Mapping[str, Sequence[Note]] = field(default_factory=dict[str, Sequence[Note]])
    board: bool = False
    search: bool | None = None
    own: Callable[[ToolSpec], bool] | None = None
    cap: tuple[int, str] | None = None
    targets: tuple[str, ...] = ()
    lock: Mapping[str, JsonObject] | None = None

    def is_own(self, spec: ToolSpec) -> bool:
        """Whether its author is whoever runs the check."""
        return self.own(spec) if self.own is not None else spec.source.kind in OWN_KINDS

    @cached_property
    def names(self) -> frozenset[str]:
        """Every name that finds a tool: full, bare, by alias."""
        return frozenset(name for spec in self.specs for name in (str(spec.name), spec.name.name, *spec.aliases))

    @cached_property
    def keys(self) -> frozenset[str]:
        """The names and titles, without case and separators."""
        titles = (spec.title or "" for spec in self.specs)
        return frozenset(key(name) for name in (*self.names, *titles))

    @cached_property
    def namespaces(self) -> Mapping[str, tuple[ToolSpec, ...]]:
        """The tools by namespace, in order."""
        groups: dict[str, list[ToolSpec]] = {}
        for spec in self.specs:
            groups.setdefault(spec.name.namespace, []).append(spec)
        return {name: tuple(group) for name, group in groups.items()}

    @cached_property
    def said(self) -> Mapping[str, Said]:
        """The words of each tool's name and description, by full name."""
        texts = without_boilerplate([spec.description for spec in self.specs])
        return {str(spec.name): content(spec, text) for spec, text in zip(self.specs, texts, strict=True)}

    @cached_property
    def aside(self) -> tuple[tuple[str, Note], ...]:
        """What was set aside: the source, and the note."""
        return tuple(
            (source, note) for source, notes in self.notes.items() for note in notes if note.kind is NoteKind.SET_ASIDE
        )


def is_composite(spec: ToolSpec) -> bool:
    """Whether a tool is made of tools, or says that it replaces some."""
    return bool(spec.meta.get(COMPOSITE)) or bool(spec.replaces)
