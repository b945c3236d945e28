"""`pegboard resources`: what the board's MCP servers let read."""

import base64
from collections.abc import Mapping
from typing import Any

from cyclopts import App

from pegboard.cli.exit import Exit
from pegboard.cli.open import opened
from pegboard.cli.options import DEFAULT_CONFIG, AsJson, ConfigFile
from pegboard.cli.output import clean, counted, document, foreign, say, table
from pegboard.schema.types import JsonObject, as_object

app = App(name="resources", help="Look at the resources of the board's MCP servers.")


@app.command(name="list")
async def list_(*, config: ConfigFile = DEFAULT_CONFIG, json: AsJson = False) -> int:
    """List the resources, and the templates of resources, of every MCP server.

    Ends with exit code 1 if a server could not be listed.
    """
    async with opened(config) as board:
        found, templates = await board.resources(), await board.resource_templates()
    errors = {**templates.errors, **found.errors}
    if json:
        document({"resources": [*found.rows], "resourceTemplates": [*templates.rows], "errors": dict(errors)})
    else:
        rows = [(row["uri"], _kind(row), _says(row)) for row in found.rows]
        rows += [(row["uriTemplate"], _kind(row), _says(row)) for row in templates.rows]
        table(("resource", "kind", "what it is"), rows)
        say(f"{counted(len(found.rows), 'resource')}, {counted(len(templates.rows), 'template')}.")
    tell_errors(errors)
    return Exit.FINDING if errors else Exit.OK


@app.command
async def read(uri: str, *, config: ConfigFile = DEFAULT_CONFIG, json: AsJson = False) -> int:
    """Read a resource. Of bytes the kind and the size are told; --json gives them as base64.

    Parameters
    ----------
    uri
        Its address, as the list shows it.
    """
    async with opened(config) as board:
        answer = await board.read_resource(uri)
    if json:
        document(answer)
        return Exit.OK
    for one in answer["contents"]:
        _show(as_object(one))
    return Exit.OK


def tell_errors(errors: Mapping[str, str]) -> None:
    """Say which servers could not be listed."""
    for source, error in errors.items():
        say(f"{source} is left out: {clean(error)}")


def _show(content: JsonObject) -> None:
    if isinstance(content.get("text"), str):
        foreign(content["text"])
        return
    blob = str(content.get("blob", ""))
    size = len(base64.b64decode(blob, validate=False)) if blob else 0
    say(f"[{content.get('mimeType', 'application/octet-stream')}, {size} bytes; --json shows them as base64]")


def _kind(row: Mapping[str, Any]) -> str:
    return str(row.get("mimeType", ""))


def _says(row: Mapping[str, Any]) -> str:
    return str(row.get("title") or row.get("description") or row.get("name", ""))
