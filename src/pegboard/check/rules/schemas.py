"""PB2, first half: schemas that providers take as they stand."""

from collections.abc import Iterator
from typing import Any

from pegboard.check.finding import Finding, Severity
from pegboard.check.rule import Explanation, Rule
from pegboard.check.toolset import Toolset
from pegboard.core import ToolSpec, definition
from pegboard.schema.lower import lower
from pegboard.schema.repair import SchemaChange, repair
from pegboard.schema.types import Json, as_list, as_object, canonical, pointer
from pegboard.schema.walk import nodes, tokens

HEAVY_BYTES = 8_000
"""A definition above this (about 2,000 tokens) costs more than most whole servers."""
BYTES_PER_TOKEN = 4

_TYPES = frozenset({"string", "number", "boolean", "integer", "object", "array", "null"})
_DEMANDS = frozenset({"type", "anyOf", "oneOf", "allOf", "$ref", "enum", "const", "not", "if"})
_HARMLESS = ("read as ", "is spelled", "is replaced by pointers", "says nothing here", "no string: turned")
"""What repair says of another draft's spelling: nothing is wrong with it."""


class SetAside(Rule):
    """A tool that cannot be used at all and was set aside while its source was read."""

    code, name, severity = "PB201", "set-aside", Severity.ERROR
    explanation = Explanation(
        why="No agent sees it: it has no name, or is no tool definition.",
        bad='{"description": "Lists files."}',
        good='{"name": "list_files", "description": "Lists files."}',
        remedy="Mend the definition at its source. The other tools of the source are not affected.",
    )

    def tools(self, among: Toolset) -> Iterator[Finding]:
        """One finding for each."""
        for source, note in among.aside:
            about = ".".join(part for part in (source, note.tool) if part)
            yield self.finding(about, note.message, pointer=note.where)


class NoProperties(Rule):
    """An object schema without `properties`, at any depth."""

    code, name, severity = "PB202", "object-without-properties", Severity.WARNING
    explanation = Explanation(
        why='OpenAI refuses the tool ("object schema missing properties"), and with it the request. Pegboard adds an '
        "empty table when it loads the tool; other hosts may not.",
        bad='{"type": "object"}',
        good='{"type": "object", "properties": {}}',
        remedy="Add `properties`, also to nested objects; an empty table is enough.",
    )

    def tool(self, spec: ToolSpec, among: Toolset) -> Iterator[Finding]:
        """One finding for the places of a schema together."""
        yield from _places(self, spec, _repairs(spec), "`properties` was missing", "an object has no `properties`")


class NoItems(Rule):
    """An array schema without `items`, at any depth."""

    code, name, severity = "PB203", "array-without-items", Severity.WARNING
    explanation = Explanation(
        why='OpenAI and Gemini refuse the tool ("array schema missing items"), and a model does not know what the '
        "list holds.",
        bad='{"type": "array"}',
        good='{"type": "array", "items": {"type": "string"}}',
        remedy="Say what the list holds.",
    )

    def tool(self, spec: ToolSpec, among: Toolset) -> Iterator[Finding]:
        """One finding for the places of a schema together."""
        yield from _places(self, spec, _repairs(spec), "`items` was missing", "an array has no `items`")


class UnknownType(Rule):
    """A `type` outside of the seven of JSON Schema, such as `date` or `int`."""

    code, name, severity = "PB204", "unknown-type", Severity.WARNING
    explanation = Explanation(
        why="Every provider refuses it. `date`, `uri` and their kin are formats of strings; the "
        "seven types are string, "
        "number, integer, boolean, object, array and null.",
        bad='{"type": "date"}',
        good='{"type": "string", "format": "date"}',
        remedy="Write one of the seven, and the rest as `format`. Pegboard reads the usual misspellings.",
    )

    def tool(self, spec: ToolSpec, among: Toolset) -> Iterator[Finding]:
        """One finding for each such type."""
        for at, node in _author_nodes(spec):
            odd = [kind for kind in _listed(node.get("type")) if kind not in _TYPES]
            if odd:
                said = f"The type {canonical(odd[0])} is none of the seven of JSON Schema."
                yield self.finding(spec, said, pointer=f"{at}/type")


class Repaired(Rule):
    """A schema that is not sound as its author wrote it, and that Pegboard repairs when it loads the tool."""

    code, name, severity = "PB205", "schema-repaired", Severity.WARNING
    explanation = Explanation(
        why="Hosts that do not repair refuse the tool or misread it: a dangling reference, a `required` that names "
        "nothing, a list where a schema must be.",
        bad='{"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}}',
        good='{"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"type": "string"}}}',
        remedy="Write what the finding says stands there now.",
    )

    def tool(self, spec: ToolSpec, among: Toolset) -> Iterator[Finding]:
        """One finding for each repair that no other rule speaks of; spellings of older drafts are none."""
        types = {at for at, node in _author_nodes(spec) if set(_listed(node.get("type"))) - _TYPES}
        for change in _repairs(spec):
            place = f"/inputSchema{change.pointer}"
            told = "` was missing" in change.message or (change.message.startswith("`type` was") and place in types)
            if not told and not any(word in change.message for word in _HARMLESS):
                yield self.finding(spec, f"The schema needs a repair: {change.message}.", pointer=place)


class Loses(Rule):
    """What a provider does not enforce of a schema, because its dialect cannot say it."""

    code, name, severity = "PB206", "lost-in-dialect", Severity.INFO
    explanation = Explanation(
        why="The model is told in words instead and may get it wrong; the call is checked against "
        "your own schema in any "
        "case, so a wrong one costs a turn.",
        bad='{"oneOf": [{"required": ["id"]}, {"required": ["name"]}]}',
        good='{"properties": {"by": {"enum": ["id", "name"]}, "value": {"type": "string"}}}',
        remedy="Nothing has to be done. Where calls do fail, say it with what every dialect knows.",
    )

    def tool(self, spec: ToolSpec, among: Toolset) -> Iterator[Finding]:
        """One finding for each target that loses something, one for each that refuses the tool."""
        for target in among.targets:
            lowered = lower(_author(spec), target)
            if lowered.refused is not None:
                said = f"{target} cannot take the tool: {lowered.refused}"
                yield self.finding(spec, said, severity=Severity.ERROR)
                continue
            losses = [loss for loss in lowered.losses if not _in_unused(spec, loss.pointer)]
            if losses:
                words = ", ".join(dict.fromkeys(loss.keyword for loss in losses))
                places = [f"/inputSchema{loss.pointer}" for loss in losses]
                said = f"{target} does not enforce {words}; the model is told in words."
                yield self.finding(spec, said, pointer=places[0], details={"target": target, "places": places})


class RootUnion(Rule):
    """A union (`anyOf`, `oneOf`, `allOf`) at the root of a tool's arguments."""

    code, name, severity = "PB207", "union-at-the-root", Severity.WARNING
    explanation = Explanation(
        why="No provider takes one there: arguments are one object. Pegboard merges the branches and says the rule in "
        "words; other hosts refuse the tool.",
        bad='{"anyOf": [{"properties": {"id": ...}}, {"properties": {"name": ...}}]}',
        good='{"type": "object", "properties": {"id": ..., "name": ...}}',
        remedy="Make it one object, or two tools.",
    )

    def tool(self, spec: ToolSpec, among: Toolset) -> Iterator[Finding]:
        """One finding where there is one."""
        root = as_object(_author(spec))
        found = next((key for key in ("anyOf", "oneOf", "allOf") if key in root), None)
        if found:
            yield self.finding(spec, f"The arguments are a union ({found}); no provider takes one there.",
                               pointer=f"/inputSchema/{found}")  # fmt: skip


class AnyValue(Rule):
    """A parameter that takes anything and does not say what."""

    code, name, severity = "PB208", "parameter-of-any-kind", Severity.INFO
    explanation = Explanation(
        why="A model guesses what to write, and providers refuse a node without a type or make it a string.",
        bad='{"properties": {"value": {}}}',
        good='{"properties": {"value": {"type": "string", "description": "The new title."}}}',
        remedy="Give it a type, or at least a description.",
    )

    def tool(self, spec: ToolSpec, among: Toolset) -> Iterator[Finding]:
        """One finding for each."""
        for name, node in as_object(as_object(_author(spec)).get("properties")).items():
            schema = as_object(node)
            if not _DEMANDS & schema.keys() and not schema.get("description") and not schema.get("properties"):
                said = f"The parameter {name} takes any value and does not say what is meant."
                yield self.finding(spec, said, pointer=pointer("inputSchema", "properties", name))


class Heavy(Rule):
    """A definition that costs more than about 2,000 tokens in every request that shows it."""

    code, name, severity = "PB209", "heavy-definition", Severity.WARNING
    explanation = Explanation(
        why="Every request pays for it, and a long schema hides what matters in it.",
        bad="create_page: the whole block model of the product as its input, 11,000 tokens",
        good="create_page: a title and Markdown; the rare rest in a second tool",
        remedy="Take rare options into a tool of their own, share definitions through `$defs`, "
        "shorten descriptions; or "
        "let the board defer the tool, and lower it under a budget (`pegboard lower --budget`).",
    )

    def tool(self, spec: ToolSpec, among: Toolset) -> Iterator[Finding]:
        """One finding for each tool above the size."""
        row = definition(spec)
        shown = {key: row[key] for key in ("name", "description", "inputSchema") if key in row}
        size = len(canonical(shown).encode("utf-8", "backslashreplace"))
        if size > HEAVY_BYTES:
            said = f"The definition takes about {-(-size // BYTES_PER_TOKEN):,} tokens in each request that shows it."
            yield self.finding(spec, said, details={"bytes": size})


class Unused(Rule):
    """Definitions in a schema that nothing in it refers to."""

    code, name, severity = "PB213", "unused-definitions", Severity.WARNING
    explanation = Explanation(
        why="They go out with every request that shows the tool, and say nothing.",
        bad='get_user: {"properties": {"id": ...}, "$defs": {the types of the whole API}}',
        good='get_user: {"properties": {"id": ...}}',
        remedy="Keep only the definitions that are reached. Pegboard leaves the others out when it lowers the tool.",
    )

    def tool(self, spec: ToolSpec, among: Toolset) -> Iterator[Finding]:
        """One finding for the definitions of a tool together."""
        names = unused(spec)
        if names:
            defs = as_object(as_object(_author(spec)).get("$defs"))
            size = sum(len(canonical(defs[name])) for name in names)
            said = f"{len(names)} of {len(defs)} definitions are used nowhere in it, about {size:,} bytes."
            mild = Severity.INFO if size < 500 else None
            yield self.finding(
                spec, said, pointer="/inputSchema/$defs", severity=mild, details={"unused": names, "bytes": size}
            )


def unused(spec: ToolSpec) -> list[str]:
    """The names of the definitions that no reference leads to, from the root on."""
    root = as_object(_author(spec))
    defs = as_object(root.get("$defs"))
    reached: set[str] = set()
    todo: list[dict[str, Any]] = [{key: value for key, value in root.items() if key != "$defs"}]
    while todo:
        for _, node in nodes(todo.pop()):
            ref = node.get("$ref")
            if not isinstance(ref, str) or not ref.startswith("#/$defs/"):
                if isinstance(ref, str) or {"$dynamicRef", "$recursiveRef"} & node.keys():
                    return []  # an anchor or a place of its own: whatever it leads to may be used
                continue
            name = tokens(ref[1:])[1]
            if name in defs and name not in reached:
                reached.add(name)
                todo.append(as_object(defs[name]))
    return [name for name in defs if name not in reached]


def _in_unused(spec: ToolSpec, place: str) -> bool:
    parts = tokens(place)
    return len(parts) > 1 and parts[0] == "$defs" and parts[1] in unused(spec)


def _author(spec: ToolSpec) -> Json:
    return spec.input if spec.original_input is None else spec.original_input


def _author_nodes(spec: ToolSpec) -> Iterator[tuple[str, dict[str, Any]]]:
    """The nodes of the author's schema, with pointers into the definition."""
    root = _author(spec)
    if isinstance(root, dict):
        for at, node in nodes(root):  # pyright: ignore[reportUnknownArgumentType]
            yield f"/inputSchema{at}", node


def _repairs(spec: ToolSpec) -> tuple[SchemaChange, ...]:
    return () if spec.original_input is None else repair(spec.original_input, arguments=True).changes


def _places(rule: Rule, spec: ToolSpec, changes: tuple[SchemaChange, ...], what: str, said: str) -> Iterator[Finding]:
    places = [
        f"/inputSchema{change.pointer}"
        for change in changes
        if change.message.startswith(what) and not _in_unused(spec, change.pointer)
    ]
    if places:
        more = f", and in {len(places) - 1} more places" if len(places) > 1 else ""
        yield rule.finding(spec, f"At {places[0]}{more} {said}.", pointer=places[0], details={"places": places})


def _listed(value: Json) -> list[str]:
    return [value] if isinstance(value, str) else [str(kind) for kind in as_list(value)]


SCHEMAS = (SetAside, NoProperties, NoItems, UnknownType, Repaired, Loses, RootUnion, AnyValue, Heavy, Unused)
