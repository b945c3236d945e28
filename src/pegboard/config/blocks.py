"""Blocks that Pegboard writes into a `pegboard.toml` and takes out again: between two comments, the rest untouched."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, cast

from pegboard.config.clients.toml import toml_key, toml_value
from pegboard.config.load import parse
from pegboard.errors import ConfigError

WIDE = 100
"""A list of tables that is longer than this stands on several lines."""


def table_text(kind: str, name: str, table: Mapping[str, Any]) -> str:
    """One named table as TOML; long lists of tables have an entry a line."""
    lines = [f"[{kind}.{toml_key(name)}]"]
    for key, value in table.items():
        text = toml_value(value)
        if (
            isinstance(value, list)
            and len(text) > WIDE
            and all(isinstance(row, dict) for row in cast("list[Any]", value))
        ):
            rows = "".join(f"  {toml_value(row)},\n" for row in cast("list[Any]", value))
            text = f"[\n{rows}]"
        lines.append(f"{toml_key(key)} = {text}")
    return "\n".join(lines) + "\n"


def block(id: str, comment: Iterable[str], tables: Iterable[str]) -> str:
    """A marked block of tables.

    Parameters:
        id: what it is taken out by.
        comment: lines that say why it is there.
        tables: the tables as text.
    """
    said = "".join(f"# {_plain(line)}\n" for line in comment)
    return f"{_head(id)}\n{said}\n" + "\n".join(tables) + f"{_foot(id)}\n"


def has_block(text: str, id: str) -> bool:
    """Whether a config holds the block."""
    return _found(text, id) is not None


def with_block(text: str, id: str, added: str, folder: Path) -> str:
    """A config with a block at its end, in the place of an older one of the same id.

    Parameters:
        text: the config as it is.
        id: the block's id.
        added: the block.
        folder: where the config lies.

    Raises:
        ConfigError: the config would not be valid; the file is best left as it is.
    """
    kept = without_block(text, id)
    gap = "" if not kept else "\n" if kept.endswith("\n") else "\n\n"
    whole = f"{kept}{gap}{added}"
    check(whole, folder)
    return whole


def without_block(text: str, id: str) -> str:
    """A config without the block of this id; as it is where there is none."""
    found = _found(text, id)
    if found is None:
        return text
    before = text[: found.start()]
    return (before[:-1] if before.endswith("\n\n") else before) + text[found.end() :]


def check(text: str, folder: Path) -> None:
    """See that a text is a valid config.

    Raises:
        ConfigError: it is not.
    """
    try:
        document = tomllib.loads(text.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError as problem:
        raise ConfigError(
            f"Tables cannot be added at its end: {problem}.",
            next_step="Write its tables as tables of their own ([bundle.NAME]), not inline, and take out other ones of "
            "the same name.",
        ) from problem
    parse(document, folder=folder)


def _plain(text: str) -> str:
    """A text as it may stand in a comment: one line, nothing that TOML or UTF-8 refuses."""
    return "".join(letter if letter.isprintable() else "?" for letter in " ".join(text.split()))


def _head(id: str) -> str:
    return f"# --- insight {id}: written by `pegboard insight apply`, taken out by `pegboard insight undo {id}` ---"


def _foot(id: str) -> str:
    return f"# --- end of insight {id} ---"


def _found(text: str, id: str) -> re.Match[str] | None:
    return re.search(rf"^{re.escape(_head(id))}\r?\n.*?^{re.escape(_foot(id))}(?:\r?\n|\Z)", text, re.S | re.M)
