"""Keys added to named tables of a `pegboard.toml`: the rest of the file stays as it is, byte for byte."""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from pegboard.config.blocks import check, table_text
from pegboard.config.clients.toml import toml_key, toml_value

Tables = Mapping[tuple[str, str], Mapping[str, Any]]
"""What to add: by the kind of table and its name (`override`, `github.create_issue`), keys and values."""


def amended(text: str, tables: Tables, folder: Path) -> tuple[str, list[str]]:
    """A config with the keys added, each to its table, which is made where there is none; keys that it has stay.

    Parameters:
        text: the config as it is.
        tables: what to add.
        folder: where the config lies.

    Returns:
        The new text, and what was added, as `kind.name.key`.

    Raises:
        ConfigError: the text would not be a valid config any more; the file is best left as it is.
    """
    document = tomllib.loads(text.removeprefix("\ufeff"))
    added: list[str] = []
    for (kind, name), values in tables.items():
        held = cast("Mapping[str, Any]", document.get(kind, {})).get(name)
        new = {key: value for key, value in values.items() if held is None or key not in held}
        if new:
            text = _with_table(text, kind, name, new) if held is None else _with_keys(text, kind, name, new)
            added += [f"{kind}.{name}.{key}" for key in new]
    check(text, folder)
    return text, added


def _with_table(text: str, kind: str, name: str, values: Mapping[str, Any]) -> str:
    gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
    return f"{text}{gap}{table_text(kind, name, values)}"


def _with_keys(text: str, kind: str, name: str, values: Mapping[str, Any]) -> str:
    """The keys right below the table's header; as a table of its own where the header is written otherwise."""
    bare = re.escape(name)
    header = re.search(
        rf"^\[\s*{kind}\s*\.\s*(?:{re.escape(toml_key(name))}|\"{bare}\"|'{bare}')\s*\][^\n]*\n?", text, re.M
    )
    if header is None:
        return _with_table(text, kind, name, values)
    lines = "".join(f"{toml_key(key)} = {toml_value(value)}\n" for key, value in values.items())
    before = text[: header.end()]
    return before + ("" if before.endswith("\n") else "\n") + lines + text[header.end() :]
