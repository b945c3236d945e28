"""From definitions of composed tools to tools on a board: names looked up, cycles refused, bad ones set aside."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, cast, runtime_checkable

from pegboard.catalog import AliasTable, Catalog, Unknown, resolve
from pegboard.core import (
    Handler,
    Hint,
    Note,
    NoteKind,
    Relation,
    Tool,
    ToolName,
    ToolSpec,
)
from pegboard.core.draft import Unbound
from pegboard.errors import DefinitionError, PegboardError


class Composite(Protocol):
    """A definition of a tool that is made of tools."""

    @property
    def name(self) -> ToolName:
        """Its own name."""
        ...

    @property
    def uses(self) -> tuple[str, ...]:
        """The names of the tools that it calls, as written."""
        ...

    @property
    def optional_uses(self) -> frozenset[str]:
        """Those of them that it can do without."""
        ...

    def build(self, inner: Mapping[str, ToolSpec], run: Handler) -> Tool:
        """The tool, given what each of its names means and the pipeline to call through. Raises `DefinitionError`."""
        ...


@runtime_checkable
class Named(Protocol):
    """A `@tool` function, a `Tool`: anything that carries the name of a tool."""

    @property
    def name(self) -> ToolName:
        """The name."""
        ...


def tool_name(tool: object) -> str:
    """The name that a reference to a tool means: a text, or anything that carries the name of a tool.

    Raises:
        DefinitionError: it is neither.
    """
    if isinstance(tool, str):
        return tool
    if isinstance(tool, Named) and isinstance(cast("object", tool.name), ToolName):
        return str(tool.name)
    raise DefinitionError(
        f"{tool!r} is no tool.", next_step="Name a tool of the board, or decorate the function with @tool."
    )


@dataclass(frozen=True, slots=True)
class Bound:
    """What binding made.

    Parameters:
        catalog: the catalog with the composed tools, and with hints to them on the tools that they replace.
        notes: what was set aside, and why.
    """

    catalog: Catalog
    notes: tuple[Note, ...] = ()


def bind(catalog: Catalog, run: Handler, composites: Iterable[Composite] = ()) -> Bound:
    """Put composed tools on a catalog: those given, and those that its sources list unbound.

    One that names an unknown tool, or is part of a cycle, is set aside alone with a note that says what is wrong;
    the ones that are built on it are set aside with it.

    Parameters:
        catalog: the tools of all sources.
        run: the board's pipeline, through which composed tools call.
        composites: the definitions of the config.
    """
    return _Binding(catalog, run, composites).bound()


def bind_strictly(catalog: Catalog, run: Handler, composites: Iterable[Composite] = ()) -> Catalog:
    """As `bind`, for definitions that have to be right.

    Raises:
        DefinitionError: for the first that is not.
    """
    bound = bind(catalog, run, composites)
    for note in (one for one in bound.notes if one.kind is NoteKind.SET_ASIDE):
        raise DefinitionError(note.message, where=f"{note.tool}{note.where}")
    return bound.catalog


class _Binding:
    """One binding: definitions are built depth first, so that what a composite uses is there before it is."""

    def __init__(self, catalog: Catalog, run: Handler, composites: Iterable[Composite]) -> None:
        self.run = run
        self.notes: list[Note] = []
        self.pending: dict[ToolName, Composite] = {}
        self.built: dict[ToolName, Tool | None] = {}
        self.catalog = catalog
        for tool in catalog:
            if isinstance(tool.handler, Unbound):
                self._add(tool.name, tool.handler.composite)
        for composite in composites:
            if composite.name in catalog or composite.name in self.pending:
                self._aside(composite.name, "", "There is a tool of this name already; give it another one.")
            else:
                self._add(composite.name, composite)
        # The scope that names are looked up in holds the composites too, so that they can be made of one another.
        waiting = (Unbound.tool(composite, "") for name, composite in self.pending.items() if name not in catalog)
        self.scope = Catalog.of([*catalog, *waiting])

    def _add(self, name: ToolName, composite: Composite) -> None:
        self.pending[name] = composite

    def bound(self) -> Bound:
        for name in self.pending:
            self._build(name, ())
        tools = [self.built.get(tool.name, tool) for tool in self.catalog]
        known = {tool.name for tool in tools if tool}
        more = [tool for name, tool in self.built.items() if tool and name not in known]
        found = Catalog.of(tool for tool in (*tools, *more) if tool is not None)
        return Bound(_with_hints(found, [tool.spec for tool in self.built.values() if tool]), tuple(self.notes))

    def _build(self, name: ToolName, above: tuple[ToolName, ...]) -> Tool | None:
        if name in self.built:
            return self.built[name]
        if name in above:
            circle = " > ".join(str(step) for step in (*above[above.index(name) :], name))
            for member in above[above.index(name) :]:
                self._refuse(member, "", f"It is made of itself: {circle}. Take one of these steps out.")
            return None
        composite = self.pending[name]
        inner = self._inner(name, composite, (*above, name))
        if name in self.built:  # refused as part of a cycle, or for an unknown name
            return self.built[name]
        try:
            tool = composite.build(inner, self.run)
        except PegboardError as error:
            return self._refuse(name, "", str(error))
        tool = Tool(replace(tool.spec, name=name), tool.handler)
        self.built[name] = tool
        return tool

    def _inner(self, name: ToolName, composite: Composite, above: tuple[ToolName, ...]) -> dict[str, ToolSpec]:
        inner: dict[str, ToolSpec] = {}
        for text in dict.fromkeys(composite.uses):
            found = self._resolve(text, name)
            if isinstance(found, Unknown):
                if getattr(composite, "degrades", False) and self._is_away(text):
                    self.notes.append(
                        Note(NoteKind.WARNING, str(name), "", f"{text} is not there now; it counts as failed.")
                    )
                elif text not in composite.optional_uses:
                    self._refuse(name, "", _unknown_message(found))
                continue
            tool = self._build(found, above) if found in self.pending else self.catalog.get(found)
            if tool is not None:
                inner[text] = tool.spec
            elif name not in self.built and text not in composite.optional_uses:
                self._refuse(name, "", f"{found}, which it is made of, was set aside.")
        return inner

    def _is_away(self, text: str) -> bool:
        """Whether nothing of the namespace is on the board: its source is away, and the name is no slip of the pen."""
        return "." in text and ToolName.parse(text).namespace not in self.scope.namespaces

    def _resolve(self, text: str, user: ToolName) -> ToolName | Unknown:
        sibling = ToolName(user.namespace, text)
        if sibling in self.scope and sibling != user:
            return sibling
        return resolve(text, self.scope, AliasTable())

    def _refuse(self, name: ToolName, where: str, message: str) -> None:
        if name not in self.built:
            self.built[name] = None
            self._aside(name, where, message)

    def _aside(self, name: ToolName, where: str, message: str) -> None:
        self.notes.append(Note(NoteKind.SET_ASIDE, str(name), where, message))


def _unknown_message(unknown: Unknown) -> str:
    if unknown.ambiguous:
        return f"Several tools are called {unknown.text!r}: {', '.join(unknown.candidates)}. Use the full name."
    near = f" Did you mean {' or '.join(unknown.candidates)}?" if unknown.candidates else ""
    return f"There is no tool {unknown.text!r} on the board.{near}"


def _with_hints(catalog: Catalog, specs: Sequence[ToolSpec]) -> Catalog:
    hints: dict[ToolName, list[Hint]] = {}
    for spec in specs:
        for text in spec.replaces:
            target = resolve(text, catalog, AliasTable())
            if isinstance(target, ToolName) and target != spec.name:
                hints.setdefault(target, []).append(_hint_to(spec))
    if not hints:
        return catalog
    return Catalog.of(
        Tool(replace(tool.spec, hints=(*tool.spec.hints, *hints[tool.name])), tool.handler)
        if tool.name in hints
        else tool
        for tool in catalog
    )


def _hint_to(spec: ToolSpec) -> Hint:
    if spec.batch:
        return Hint(Relation.INSTEAD, str(spec.name), "you have several items")
    sentence = spec.description.strip().split("\n", 1)[0].split(". ", 1)[0].rstrip(".")
    task = sentence[:1].lower() + sentence[1:] if sentence else spec.name.name
    return Hint(Relation.INSTEAD, str(spec.name), f"you want to {task}")
