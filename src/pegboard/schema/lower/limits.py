"""How large a strict schema may be; one that is larger goes out non-strict."""

from pegboard.schema.lower.node import Node, below, every
from pegboard.schema.lower.refs import recursive
from pegboard.schema.lower.work import Work
from pegboard.schema.types import as_list, as_object

PROPERTIES = 5_000
LEVELS = 10
CHARACTERS = 120_000
ENUM_VALUES = 1_000
LONG_ENUM = 250
LONG_ENUM_CHARACTERS = 15_000


def openai_limits(work: Work) -> None:
    """OpenAI's limits on strict schemas (structured outputs, "Objects have limitations on nesting depth and size")."""
    names = values = characters = 0
    for node in every(work.root):
        table = [*as_object(node.get("properties")), *as_object(node.get("$defs"))]
        listed = [str(value) for value in as_list(node.get("enum"))]
        names += len(as_object(node.get("properties")))
        values += len(listed)
        characters += sum(map(len, table)) + sum(map(len, listed))
        if len(listed) > LONG_ENUM and sum(map(len, listed)) > LONG_ENUM_CHARACTERS:
            work.obstruct(node, f"an enum of more than {LONG_ENUM_CHARACTERS} characters")
    for count, most, what in (
        (names, PROPERTIES, "properties"),
        (values, ENUM_VALUES, "enum values"),
        (characters, CHARACTERS, "characters of names and values"),
        (_levels(work.root), LEVELS, "levels of nesting"),
    ):
        if count > most:
            work.obstruct(work.root, f"more than {most} {what}")


def _levels(node: Node, depth: int = 0) -> int:
    """The deepest nesting of objects and arrays; what a reference leads to counts from where it is defined."""
    here = depth + ("properties" in node or "items" in node)
    return max((_levels(child, here) for child in below(node)), default=here)


def no_recursion(work: Work) -> None:
    """Anthropic's strict mode takes no schema that leads back to itself."""
    if recursive(work.root):
        work.obstruct(work.root, "a schema that leads back to itself")
