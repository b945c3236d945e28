"""PB2, second half: values that a schema names, and whether they are right."""

import re
from collections.abc import Iterator
from typing import Any

from pegboard.check.finding import Finding, Severity
from pegboard.check.rule import Explanation, Rule
from pegboard.check.toolset import Toolset
from pegboard.core import ToolSpec
from pegboard.schema.types import Json, as_list, as_object, canonical, pointer
from pegboard.schema.validate import validator
from pegboard.schema.walk import nodes

_QUOTED = r"[\"'`“‘]([\w./:-]{1,30})[\"'`”’]"
_CHOICE = re.compile(
    rf"(?:one of|either|must be|can be|values(?: are)?|options(?: are)?|allowed|valid|possible)\b[^.\n\"'`“‘]{{0,30}}"
    rf"{_QUOTED}(?:\s*(?:,|\||/|or|and|, or|, and)\s*{_QUOTED})+",
    re.IGNORECASE,
)
_OPEN = re.compile(r"\b(e\.g\.|for example|such as|like|including|etc|default)", re.IGNORECASE)


class WrongDefault(Rule):
    """A default or an example that the tool's own schema refuses."""

    code, name, severity = "PB210", "wrong-default-or-example", Severity.WARNING
    explanation = Explanation(
        why="Models copy defaults and examples; this one is refused when it comes back.",
        bad='{"enum": ["open", "closed"], "default": "all"}',
        good='{"enum": ["open", "closed", "all"], "default": "all"}',
        remedy="Correct the value, or what the schema says of it.",
    )

    def tool(self, spec: ToolSpec, among: Toolset) -> Iterator[Finding]:
        """One finding for each such value."""
        for at, node in nodes(dict(spec.input)):
            if "$ref" in node:
                continue
            for keyword, value in _shown(node):
                if not _admits(node, spec.input, value):
                    said = f"The {keyword} {canonical(value)[:60]} is refused by the schema that it stands in."
                    yield self.finding(spec, said, pointer=f"/inputSchema{at}/{keyword}")
        for index, example in enumerate(spec.examples):
            problems = validator(spec.input).violations(example)
            if problems:
                said = f"Example {index + 1} is refused by the tool's own schema: {problems[0].message[:160]}"
                yield self.finding(spec, said, pointer=pointer("input_examples", index))


class NotOnlyTexts(Rule):
    """An enum with values that are no texts."""

    code, name, severity = "PB211", "enum-of-other-than-texts", Severity.INFO
    explanation = Explanation(
        why="Gemini's `parameters` takes texts only. Pegboard writes the values as texts there and "
        "turns them back when "
        "the call comes; OpenAI and Anthropic take them as they are.",
        bad='{"enum": [1, 2, 3]}',
        good='{"enum": ["1", "2", "3"]}',
        remedy="Nothing has to be done on a board. For a host that only passes schemas on, use texts.",
    )

    def tool(self, spec: ToolSpec, among: Toolset) -> Iterator[Finding]:
        """One finding for each enum with such values beside null."""
        for at, node in nodes(dict(spec.input)):
            odd = [value for value in as_list(node.get("enum")) if value is not None and not isinstance(value, str)]
            if odd:
                said = f"The enum holds {canonical(odd[0])}, which is no text: Gemini's parameters refuse it as it is."
                yield self.finding(spec, said, pointer=f"/inputSchema{at}/enum")


class ChoiceInWords(Rule):
    """A text parameter whose few possible values stand in its description and not in an `enum`."""

    code, name, severity = "PB212", "choice-in-words", Severity.INFO
    explanation = Explanation(
        why="An enum is enforced by providers and found by search; words are overlooked.",
        bad='{"type": "string", "description": "One of \'asc\', \'desc\'."}',
        good='{"type": "string", "enum": ["asc", "desc"]}',
        remedy="Add the `enum`.",
    )

    def tool(self, spec: ToolSpec, among: Toolset) -> Iterator[Finding]:
        """One finding for each parameter that lists its values and leaves none open."""
        for at, node in nodes(dict(spec.input)):
            said = node.get("description")
            if node.get("type") != "string" or {"enum", "const", "pattern", "format"} & node.keys():
                continue
            found = _CHOICE.search(said) if isinstance(said, str) else None
            if found and not _OPEN.search(str(said)[max(0, found.start() - 20) : found.end()]):
                values = re.findall(_QUOTED, found[0])
                if set(values) & spec.properties.keys():
                    continue  # it speaks of other parameters
                told = f"Its values ({', '.join(values)}) stand in the description only: add an enum."
                yield self.finding(spec, told, pointer=f"/inputSchema{at}", details={"values": values})


def _shown(node: dict[str, Any]) -> Iterator[tuple[str, Json]]:
    if node.get("default") is not None:
        yield "default", node["default"]
    yield from (("examples", value) for value in as_list(node.get("examples")))


def _admits(node: dict[str, Any], root: Any, value: Json) -> bool:
    """Whether a node takes a value; its references are those of the whole schema."""
    bare = {key: part for key, part in node.items() if key not in ("default", "examples")}
    defs = as_object(as_object(root).get("$defs"))
    return validator({**bare, "$defs": defs} if defs else bare).is_valid(value)


VALUES = (WrongDefault, NotOnlyTexts, ChoiceInWords)
