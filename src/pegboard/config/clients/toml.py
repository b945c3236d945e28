"""Tables of sources as TOML text, and a config with more of them."""

import json
import re
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

from pegboard.config.clients.gather import Imported
from pegboard.config.load import parse
from pegboard.errors import ConfigError


def toml_value(value: Any) -> str:
    """A JSON value without nulls as TOML on one line."""
    if isinstance(value, dict):
        table = cast("dict[str, Any]", value)
        inside = ", ".join(f"{toml_key(key)} = {toml_value(item)}" for key, item in table.items())
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, list):
        return f"[{', '.join(toml_value(item) for item in cast('list[Any]', value))}]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def toml_key(key: str) -> str:
    """A key as TOML spells it."""
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else toml_value(key)


def source_table(source: Imported) -> str:
    """One source as it stands in `pegboard.toml`, with a comment that says where it comes from."""
    origins = "".join(f"# from {' '.join(origin.split())}\n" for origin in source.origins)
    lines = "".join(f"{key} = {toml_value(value)}\n" for key, value in source.table.items())
    return f"{origins}[sources.{toml_key(source.name)}]\n{lines}"


def extended(text: str, sources: Iterable[Imported], folder: Path) -> str:
    """A config with sources added at its end; nothing in it is changed.

    Parameters:
        text: the config as it is.
        sources: what to add.
        folder: where the config lies.

    Raises:
        ConfigError: the config would not be valid; the file is best left as it is.
    """
    blocks = [source_table(source) for source in sources]
    whole = "\n".join([*([text if text.endswith("\n") else f"{text}\n"] if text else []), *blocks])
    try:
        parse(tomllib.loads(whole.removeprefix("\ufeff")), folder=folder)
    except tomllib.TOMLDecodeError as problem:
        raise ConfigError(
            f"Sources cannot be added at its end: {problem}.",
            next_step="Write its sources as tables of their own ([sources.NAME]), or import into another --config.",
        ) from problem
    return whole
