"""The arguments of a tool, as a command takes them."""

import json as jsonlib
import sys
from pathlib import Path
from typing import Any

from pegboard.errors import ConfigError
from pegboard.schema.types import Json, JsonObject


def read_arguments(text: str) -> JsonObject:
    """The arguments that `--args` gives: a JSON object, `@FILE` with one, or `-` for standard input.

    Raises:
        ConfigError: it is none of these.
    """
    try:
        value: Any = jsonlib.loads(_source(text))
    except jsonlib.JSONDecodeError as problem:
        message = f"This is not JSON: {problem.msg} at line {problem.lineno}, column {problem.colno}."
        raise ConfigError(
            message, where="--args", next_step="""Write an object, such as '{"path": "."}'."""
        ) from problem
    if isinstance(value, dict):
        return value  # pyright: ignore[reportUnknownVariableType]
    message = f"This is a JSON {type(value).__name__}, and an object is needed."  # pyright: ignore[reportUnknownArgumentType]
    raise ConfigError(message, where="--args", next_step="""Write for example '{"path": "."}'.""")


def _source(text: str) -> str:
    if text == "-":
        return sys.stdin.read()
    if not text.startswith("@"):
        return text
    try:
        return Path(text[1:]).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        raise ConfigError(
            f"The file {text[1:]} cannot be read: {problem}.", where="--args", next_step="Correct the path after @."
        ) from problem


def read_value(text: str | None, option: str = "--output") -> Json:
    """The JSON value of an option; None where it was left out.

    Raises:
        ConfigError: it is not JSON.
    """
    if text is None:
        return None
    try:
        return jsonlib.loads(text)
    except ValueError as problem:
        raise ConfigError(
            f"This is not JSON: {problem}.", where=option, next_step="""Quote texts: '"sent"'."""
        ) from problem
