"""`pegboard describe`: everything about one tool."""

import json as jsonlib

from pegboard.catalog import Unknown
from pegboard.cli import shapes
from pegboard.cli.errors import for_shell, report_failure
from pegboard.cli.exit import Exit
from pegboard.cli.open import opened
from pegboard.cli.options import DEFAULT_CONFIG, AsJson, ConfigFile
from pegboard.cli.output import clean, data, document
from pegboard.discovery.answers import unknown_failure
from pegboard.schema.types import JsonObject

_OUTGOING = ("deprecated", "successor", "sunset")
_LINES = ("title", "wire_name", "version", "source", "effects", "modes", "category", "auth", *_OUTGOING)


async def describe(name: str, *, config: ConfigFile = DEFAULT_CONFIG, json: AsJson = False) -> int:
    """Show everything about one tool.

    Parameters
    ----------
    name
        Its name: ns.tool, ns__tool, or the bare name where it is the only one.
    """
    async with opened(config) as board:
        target = board.resolve(name)
        if isinstance(target, Unknown):
            return report_failure(for_shell(unknown_failure(target)), as_json=json)
        tool = board.tool(target)
        assert tool is not None, "what a board resolves, it has"
        place, why = board.exposure(tool.name)
        row = shapes.definition(tool.spec, board.aliases, (place.value, why))
    if json:
        document(row)
    else:
        data(_text(row))
    return Exit.OK


def _text(row: JsonObject) -> str:
    facts = [f"exposure: {row['exposure']}, because {row['exposure_reason']}"]
    facts += [f"{key.replace('_', ' ')}: {_plain(row[key])}" for key in _LINES if row[key]]
    hints = [f"hint: {hint}" for hint in row["hints"]]
    schemas = [f"{key}: {_pretty(row[f'{key}_schema'])}" for key in ("input", "output") if row[f"{key}_schema"]]
    examples = [f"example: {_pretty(example)}" for example in row["examples"]]
    parts = [row["name"], row["description"].strip(), "\n".join([*facts, *hints]), *schemas, *examples]
    return clean("\n\n".join(part for part in parts if part))


def _plain(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]


def _pretty(value: object) -> str:
    return jsonlib.dumps(value, indent=2, ensure_ascii=False, default=str)
