"""`pegboard call`: call a tool."""

from dataclasses import replace
from typing import Annotated
from uuid import uuid4

from cyclopts import Parameter

from pegboard.cli import shapes
from pegboard.cli.arguments import read_arguments
from pegboard.cli.errors import for_shell
from pegboard.cli.exit import Exit
from pegboard.cli.open import opened
from pegboard.cli.options import DEFAULT_CONFIG, AsJson, ConfigFile
from pegboard.cli.output import clean, document, foreign, say
from pegboard.cli.terminal import agreed, at_terminal
from pegboard.core import Mode, Result, Session
from pegboard.schema.types import Json, JsonObject


async def call(
    name: str,
    *,
    args: Annotated[str, Parameter(allow_leading_hyphen=True)] = "{}",
    mode: Mode | None = None,
    yes: Annotated[bool, Parameter(negative="")] = False,
    config: ConfigFile = DEFAULT_CONFIG,
    json: AsJson = False,
) -> int:
    """Call a tool.

    Parameters
    ----------
    name
        Its name: ns.tool, ns__tool, or the bare name where it is the only one.
    args
        The arguments: a JSON object, @FILE with one, or - to read one from standard input.
    mode
        How to run it, where the tool has modes.
    yes
        Say yes beforehand where the call would wait for a person. Without it you are asked in a terminal.
    """
    arguments = read_arguments(args)
    async with opened(config, approvers=[agreed if yes else at_terminal]) as board:
        board.desk.wait = 0  # whoever typed this reads the answer, and need not be waited for
        session = Session(f"cli-{uuid4().hex[:12]}", agent="cli")
        result = await board.call(name, arguments, mode=mode, session=session, log=None if json else _log)
    if result.failure:
        result = replace(result, failure=for_shell(result.failure))
    if json:
        document(shapes.result(result))
    else:
        _show(result)
    return Exit.OK if result.ok else Exit.FINDING


def _show(result: Result) -> None:
    for change in result.report.changes if result.report else ():
        say(f"{change.kind}{f' at {change.where}' if change.where else ''}: {clean(change.message)}")
    if result.failure:
        say(f"pegboard: {clean(result.failure)}")
    elif result.content:
        for block in result.content:
            _show_block(block)
    elif isinstance(result.value, str):
        foreign(result.value)
    elif result.value is not None:
        document(result.value)
    # What was done and what was not: a preview looks like the execution otherwise.
    for note in result.report.notes if result.report else ():
        say(f"note: {clean(note)}")


def _show_block(block: JsonObject) -> None:
    match block:
        case {"type": "text", "text": str() as text}:
            foreign(text)
        case {"type": "resource", "resource": {"text": str() as text}}:
            foreign(text)
        case {"type": "resource_link", "uri": str() as uri}:
            foreign(uri)
        case _:
            size = len(str(block.get("data", "")))
            say(f"[{block.get('type')} {block.get('mimeType', '')}, {size} characters; --json shows it]")


async def _log(level: str, data: Json, logger: str | None = None) -> None:
    say(f"{logger or 'tool'} {level}: {clean(data)}")
