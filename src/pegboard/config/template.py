"""The commented `pegboard.toml` that `pegboard init` writes, made from the key definitions."""

import json
import re
import textwrap
from collections.abc import Iterable
from typing import Any, cast

from pegboard.config.key import Key
from pegboard.config.tables import BOARD, SOURCE, SOURCE_KINDS

_BARE = re.compile("[A-Za-z0-9_-]+")

_HEAD = """\
# A Pegboard: tools from many places behind one door. All keys: docs/reference/config.md
# Start it with: pegboard serve --stdio     or: pegboard serve --http 127.0.0.1:8321
"""

_SOURCES = """\
# --- Sources: where tools come from. A table's name is the namespace of its tools. ---

# [sources.git]
# mcp = ["mcp-server-git"]                  # a program that speaks MCP

# [sources.docs]
# mcp = "https://example.com/mcp"           # a remote MCP server
# headers = { Authorization = "Bearer ${env:DOCS_TOKEN}" }

# [sources.ops]
# python = "ops_tools"                      # ops_tools.py beside this file: functions marked with @tool

"""


def template(name: str) -> str:
    """A config for a board of this name: every key is shown with its meaning, all but the name commented out."""
    board = "\n".join(_lines(key) for key in BOARD.keys[1:])
    kinds = "\n".join(_lines(key) for kind in SOURCE_KINDS for key in (kind.key, *kind.keys))
    common = "\n".join(_lines(key) for key in SOURCE.keys)
    return (
        f"{_HEAD}\n[board]\nname = {to_toml(name)}\n\n{board}\n{_SOURCES}"
        f"# [sources.NAME]: what it is, by one of mcp, {', '.join(kind.name for kind in SOURCE_KINDS[1:])}\n\n{kinds}\n"
        f"# ... and what every source may have\n\n{common}"
    )


def to_toml(value: Any) -> str:
    """A key's value as TOML text."""
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value).items()
        inside = ", ".join(f"{_toml_key(key)} = {to_toml(inner)}" for key, inner in members)
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(to_toml, cast('list[Any]', value)))}]"
    return _toml_string(value) if isinstance(value, str) else json.dumps(value)


def _toml_key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _toml_string(key)


def _toml_string(text: str) -> str:
    """A basic string (TOML 1.0, "String"): as in JSON, but no surrogate pairs, and no bare delete character."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _lines(key: Key) -> str:
    value = key.example or ("..." if key.default is None else to_toml(key.default))
    return "\n".join([*_comment(key.doc), f"# {key.name} = {value}", ""])


def _comment(text: str) -> Iterable[str]:
    return textwrap.wrap(text, 110, initial_indent="# ", subsequent_indent="# ")
