"""`pegboard prompts`: the prompts that the board's MCP servers offer."""

from typing import Annotated, Any

from cyclopts import App, Parameter

from pegboard.cli.arguments import read_arguments
from pegboard.cli.exit import Exit
from pegboard.cli.open import opened
from pegboard.cli.options import DEFAULT_CONFIG, AsJson, ConfigFile
from pegboard.cli.output import clean, counted, document, foreign, say, table
from pegboard.cli.resources import tell_errors
from pegboard.schema.types import JsonObject, as_list, as_object

app = App(name="prompts", help="Look at the prompts of the board's MCP servers.")


@app.command(name="list")
async def list_(*, config: ConfigFile = DEFAULT_CONFIG, json: AsJson = False) -> int:
    """List the prompts of every MCP server.

    Ends with exit code 1 if a server could not be listed.
    """
    async with opened(config) as board:
        found = await board.prompts()
    if json:
        document({"prompts": [*found.rows], "errors": dict(found.errors)})
    else:
        rows = [(row["name"], _arguments(row), row.get("title") or row.get("description", "")) for row in found.rows]
        table(("prompt", "arguments", "what it is for"), rows)
        say(f"{counted(len(found.rows), 'prompt')}.")
    tell_errors(found.errors)
    return Exit.FINDING if found.errors else Exit.OK


@app.command
async def get(
    name: str,
    *,
    args: Annotated[str, Parameter(allow_leading_hyphen=True)] = "{}",
    config: ConfigFile = DEFAULT_CONFIG,
    json: AsJson = False,
) -> int:
    """Show a prompt, filled in.

    Parameters
    ----------
    name
        Its name: source__prompt, source.prompt, or the bare name where it is the only one.
    args
        Its arguments, texts by name: a JSON object, @FILE with one, or - to read one from standard input.
    """
    arguments = read_arguments(args)
    async with opened(config) as board:
        answer = await board.get_prompt(name, arguments)
    if json:
        document(answer)
        return Exit.OK
    for message in as_list(answer.get("messages")):
        _show(as_object(message))
    return Exit.OK


def _arguments(row: JsonObject) -> str:
    """The names of its arguments, optional ones in brackets."""
    found: list[dict[str, Any]] = [as_object(one) for one in as_list(row.get("arguments"))]
    return ", ".join(str(one.get("name")) if one.get("required") else f"[{one.get('name')}]" for one in found)


def _show(message: JsonObject) -> None:
    content = as_object(message.get("content"))
    say(f"{clean(message.get('role', ''))}:")
    match content:
        case {"type": "text", "text": str() as text} | {"type": "resource", "resource": {"text": str() as text}}:
            foreign(text)
        case {"type": "resource_link", "uri": str() as uri}:
            foreign(uri)
        case _:
            say(f"[{clean(content.get('type', ''))} {clean(content.get('mimeType', ''))}; --json shows it]")
