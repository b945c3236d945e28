"""A chain in a file of its own: TOML, YAML or JSON, told by its ending."""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from pegboard.errors import DefinitionError
from pegboard.schema.types import JsonObject

ENDINGS = (".toml", ".yaml", ".yml", ".json")


def read_file(path: Path) -> JsonObject:
    """The table of a chain.

    Raises:
        DefinitionError: the file cannot be read, or holds no table.
    """
    try:
        found: Any = _parsed(path)
    except (OSError, ValueError) as problem:
        raise DefinitionError(f"The chain cannot be read: {problem}.", where=str(path)) from problem
    if not isinstance(found, Mapping):
        raise DefinitionError("A chain is a table.", where=str(path), next_step="Write `description` and `steps`.")
    return cast("JsonObject", found)


def _parsed(path: Path) -> Any:
    if path.suffix not in ENDINGS:
        raise ValueError(f"its name must end in {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}")
    text = path.read_text("utf-8-sig")
    if path.suffix == ".toml":
        return tomllib.loads(text)
    if path.suffix == ".json":
        return json.loads(text)
    import yaml

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as problem:
        raise ValueError(str(problem)) from problem


def with_file(table: JsonObject) -> JsonObject:
    """A `[chain.NAME]` with what its `file` says; what is written beside it counts more.

    Raises:
        DefinitionError: the file cannot be read.
    """
    path = table.get("file")
    if not path:
        return table
    own = {key: value for key, value in table.items() if key != "file" and is_given(value)}
    return {**read_file(Path(path)), **own}


def is_given(value: Any) -> bool:
    """Whether a key says something; what a config fills in for a key that is not there is empty."""
    return value is not None and value not in ("", {}, [], ())


def with_files(tables: Mapping[str, JsonObject]) -> dict[str, JsonObject]:
    """The tables `[chain.NAME]` with what their files say; one whose file cannot be read is as it was."""
    found: dict[str, JsonObject] = {}
    for name, table in tables.items():
        try:
            found[name] = with_file(table)
        except DefinitionError:
            found[name] = table
    return found
