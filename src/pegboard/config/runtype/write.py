"""What was taken over, as the text of a `pegboard.toml`: tables at its end, the rest of the file untouched."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from pegboard.config.blocks import check, table_text
from pegboard.config.clients.toml import toml_key, toml_value
from pegboard.errors import ConfigError
from pegboard.schema.types import Json, JsonObject, as_object

_BOM = "\ufeff"


def tables_text(tables: Mapping[tuple[str, str], JsonObject]) -> str:
    """Named tables as TOML.

    Parameters:
        tables: by kind and name, such as `("chain", "publish")`.
    """
    return "\n".join(table_text(kind, name, dict(table)) for (kind, name), table in tables.items())


def added(
    text: str,
    tables: Mapping[tuple[str, str], JsonObject],
    board: Mapping[str, JsonObject],
    folder: Path,
) -> tuple[str, list[str]]:
    """A config with tables added, and keys of the tables that there is one of.

    Parameters:
        text: the config as it is.
        tables: by kind and name.
        board: keys by table, such as `{"approval": {"require": [...]}}`.
        folder: where the config lies.

    Returns:
        The new text, and what could not be written because something stands there already.

    Raises:
        ConfigError: a table is there already, or the config would not be valid; the file is best left as it is.
    """
    document = tomllib.loads(text.removeprefix(_BOM))
    for kind, name in tables:
        if name in as_object(document.get(kind)):
            raise ConfigError(
                f"[{kind}.{name}] is there already.", next_step="Take another name with --name, or take it out first."
            )
    left: list[str] = []
    for table, keys in board.items():
        for key, value in keys.items():
            text, problem = _with_key(text, table, key, value)
            left += [problem] if problem else []
    gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
    whole = f"{text}{gap}{tables_text(tables)}"
    check(whole, folder)
    return whole, left


def _with_key(text: str, table: str, key: str, value: Json) -> tuple[str, str | None]:
    """A config with a key in a table that there is one of; lists are joined, other values that differ are left."""
    held = as_object(tomllib.loads(text.removeprefix(_BOM)).get(table))
    line = f"{toml_key(key)} = {toml_value(value)}\n"
    if not held:
        gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
        return f"{text}{gap}[{table}]\n{line}", None
    if key not in held:
        header = re.search(rf"^\[\s*{table}\s*\][^\n]*\n?", text, re.M)
        if header is None:
            return text, f"[{table}] has another form than is written here: add {line.strip()} yourself."
        before = text[: header.end()]
        return before + ("" if before.endswith("\n") else "\n") + line + text[header.end() :], None
    if held[key] == value:
        return text, None
    joined = _joined(held[key], value)
    place = re.findall(rf"^{re.escape(toml_key(key))}\s*=\s*\[[^\[\]\n]*\][ \t]*$", text, re.M)
    if joined is None or len(place) != 1:
        return text, f"[{table}] {key} says something else already: it would be {toml_value(value)}."
    return text.replace(place[0], f"{toml_key(key)} = {toml_value(joined)}"), None


def _joined(held: Any, more: Any) -> list[Json] | None:
    if isinstance(held, list) and isinstance(more, list):
        return list(dict.fromkeys(cast("Sequence[Any]", [*held, *more])))
    return None
