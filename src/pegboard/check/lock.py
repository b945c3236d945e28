"""The lock file: the definitions that somebody has seen, so that what changes in place is noticed."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, cast

from pegboard.core import ToolSpec, definition
from pegboard.errors import PegboardError
from pegboard.schema.types import JsonObject

FORMAT = 1
FILE_NAME = "pegboard.lock"


def read_lock(path: Path) -> Mapping[str, JsonObject]:
    """The locked definitions by full name.

    Raises:
        PegboardError: the file is missing or is none.
    """
    try:
        document: Any = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as problem:
        raise PegboardError(
            "There is no such lock file.", where=str(path), next_step="Write it with `pegboard check --write-lock`."
        ) from problem
    except (OSError, ValueError, RecursionError) as problem:
        raise PegboardError(f"It cannot be read as a lock file: {problem}.", where=str(path)) from problem
    tools: Any = cast("dict[str, Any]", document).get("tools") if isinstance(document, dict) else None
    if not isinstance(tools, dict) or cast("dict[str, Any]", document).get("pegboard_lock") != FORMAT:
        raise PegboardError(
            "It is no lock file of this version.", where=str(path), next_step="Write it anew with --write-lock."
        )
    rows = cast("dict[str, Any]", tools)
    return {name: cast("JsonObject", row) for name, row in rows.items() if isinstance(row, dict)}


def lock_text(specs: Iterable[ToolSpec]) -> str:
    """The lock file of these tools: sorted, one text for one set of definitions."""
    tools = {str(spec.name): definition(spec) for spec in specs}
    return json.dumps({"pegboard_lock": FORMAT, "tools": tools}, indent=1, sort_keys=True, ensure_ascii=True) + "\n"
