"""The checker of each dialect, by its name: what the provider would refuse of a lowered schema."""

from typing import Any

from jsonschema import Draft202012Validator
from tests.checkers import anthropic, gemini, openai


def faults(dialect: str, schema: Any, *, strict: bool) -> list[str]:
    """What the dialect's provider would refuse; `strict` tells whether the tool is sent as strict."""
    if dialect.startswith("openai"):
        return openai.faults(schema, strict=strict)
    if dialect.startswith("anthropic") or dialect == "bedrock":
        return anthropic.faults(schema, strict=strict)
    if dialect == "gemini":
        return gemini.faults(schema)
    if dialect == "gemini-json":
        return gemini.json_faults(schema)
    Draft202012Validator.check_schema(schema)
    return [] if schema.get("type") == "object" else ["the root must have type object"]


def accepts(dialect: str, schema: Any, value: Any) -> bool:
    """Whether a value is one that the lowered schema describes."""
    if dialect == "gemini":
        return gemini.accepts(schema, value)
    return value == {} if schema is None else Draft202012Validator(schema).is_valid(value)
