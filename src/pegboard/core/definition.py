"""A tool as the row that its source listed, for recordings, lock files and comparisons."""

from typing import Any

from pegboard.core.spec import Effects, ToolSpec


def definition(spec: ToolSpec) -> dict[str, Any]:
    """A tool in MCP's spelling, as its source listed it, before repairs; what it does not have is left out.

    `effects` is our own field beside MCP's, left out where it is unknown.
    """
    row = {
        "name": spec.name.name,
        "title": spec.title,
        "description": spec.description,
        "inputSchema": spec.input if spec.original_input is None else spec.original_input,
        "outputSchema": spec.output,
        "annotations": spec.annotations or None,
        "effects": None if spec.effects is Effects.UNKNOWN else spec.effects.value,
    }
    return {key: value for key, value in row.items() if value is not None}
