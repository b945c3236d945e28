"""A source whose tools are reshaped as it lists them."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase

from pegboard.core import Listing, Note, NoteKind, Shelf, Source, Tool, ToolName
from pegboard.core.call import describe
from pegboard.core.draft import DRAFT
from pegboard.errors import DefinitionError, nearest
from pegboard.sources.shaped.shape import Shape, Shaping
from pegboard.sources.shaped.tool import reshape
from pegboard.sources.wrap import Rewritten


def shaped(source: Source, shaping: Shaping, shelf: Shelf | None = None) -> Source:
    """The source with its tools in another shape. A tool whose shape does not fit it is set aside alone.

    Parameters:
        source: the source.
        shaping: how its tools shall look.
        shelf: where raw answers are kept.
    """
    return Rewritten(source, lambda listing: _reshaped(listing, shaping, shelf))


def _reshaped(listing: Listing, shaping: Shaping, shelf: Shelf | None) -> Listing:
    tools: dict[ToolName, Tool] = {}
    notes = [*_unused(listing, shaping)]
    for tool in listing.tools:
        own = _shape_of(tool.name.name, shaping.tools)
        if tool.spec.meta.get(DRAFT) or (own is None and shaping.every == Shape()):
            made = tool
        else:
            try:
                made = _made(tool, own, shaping, shelf)
            except DefinitionError as problem:
                notes.append(Note(NoteKind.SET_ASIDE, tool.name.name, problem.where or "", str(problem)))
                continue
            except Exception as problem:  # a foreign schema may be anything; it costs its own tool alone
                said = f"It cannot be reshaped: {describe(problem)}"
                notes.append(Note(NoteKind.SET_ASIDE, tool.name.name, "", said))
                continue
        if made.name in tools:
            message = f"There is another tool {made.name}; give one of them another name."
            notes.append(Note(NoteKind.SET_ASIDE, tool.name.name, "name", message))
        else:
            tools[made.name] = made
    return replace(listing, tools=tuple(tools.values()), notes=(*listing.notes, *notes))


def _made(tool: Tool, own: tuple[str, Shape] | None, shaping: Shaping, shelf: Shelf | None) -> Tool:
    every = shaping.every
    if own is None:
        return reshape(tool, every, shaping, shelf, lenient=True)
    key, shape = own
    general = {name: patch for name, patch in every.input.items() if name.partition(".")[0] in tool.spec.properties}
    shape = replace(shape, input={**general, **shape.input})
    if not shape.reshapes_output:
        shape = replace(
            shape, output=every.output, records=every.records, drop=every.drop, flatten=every.flatten, many=every.many
        )
    return reshape(tool, replace(shape, raw=shape.raw or every.raw), shaping, shelf, lenient=key != tool.name.name)


def _shape_of(name: str, shapes: Mapping[str, Shape]) -> tuple[str, Shape] | None:
    if name in shapes:
        return name, shapes[name]
    return next(((key, shape) for key, shape in shapes.items() if fnmatchcase(name, key)), None)


def _unused(listing: Listing, shaping: Shaping) -> Iterator[Note]:
    """Notes on what speaks of tools and parameters that are not there: they may have got other names."""
    names = [tool.name.name for tool in listing.tools]
    for key in shaping.tools:
        if not any(name == key or fnmatchcase(name, key) for name in names):
            near = nearest(key, names)
            hint = f" Did you mean {near[0]}?" if near else ""
            yield Note(NoteKind.WARNING, None, f"tools.{key}", f"There is no tool {key!r} to reshape.{hint}")
    for key in shaping.every.input:
        first = key.partition(".")[0]
        known = [name for tool in listing.tools for name in tool.spec.properties]
        if not any(name == first or fnmatchcase(name, key) for name in known):
            near = nearest(first, set(known))
            hint = f" Did you mean {near[0]}?" if near else ""
            yield Note(NoteKind.WARNING, None, f"input.{key}", f"No tool has a parameter {key!r}.{hint}")
