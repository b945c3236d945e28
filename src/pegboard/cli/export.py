"""`pegboard export`: a board's tools as the request of one provider takes them."""

import json as jsonlib
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

from pegboard.board import Board
from pegboard.cli.exit import Exit
from pegboard.cli.lower import Target, cap_of
from pegboard.cli.open import opened, unwell
from pegboard.cli.options import DEFAULT_CONFIG, AsJson, ConfigFile
from pegboard.cli.output import counted, data, say
from pegboard.errors import ConfigError
from pegboard.surface.offer import Offer

Search = Literal["client", "hosted", "bm25", "regex", "tools"]


async def export(
    *,
    target: Target,
    search: Search | None = None,
    all: Annotated[bool, Parameter(negative=())] = False,
    budget: Annotated[int | None, Parameter(validator=Number(gte=1))] = None,
    total: Annotated[int | None, Parameter(validator=Number(gte=1))] = None,
    cap: str | None = None,
    programs: Annotated[bool, Parameter(negative=())] = False,
    sorted: Annotated[bool, Parameter(negative=())] = False,
    config: ConfigFile = DEFAULT_CONFIG,
    json: AsJson = False,
) -> int:
    """Print the tools of the board as a provider's request takes them.

    Prints the request's part that holds tools. What is lost, refused or moved is told on stderr, or stands beside the
    request with --json.

    Parameters
    ----------
    search
        How the model finds deferred tools: client (the board answers its searches; the default), hosted
        (openai-responses), bm25 or regex (anthropic), tools (through the meta-tools).
    all
        Every tool in the list, none deferred, whatever the board's residency and max_direct.
    budget
        Bytes of compact JSON that one definition may take.
    total
        Bytes that all of them together may take.
    cap
        The most that a description may take: agent-plugin, openai-legacy, runtype, a number of characters, or a
        number of bytes such as 1000b.
    programs
        Let programs that the provider runs call the tools that [codemode] lets code call (openai-responses, anthropic).
    sorted
        Sort the keys of every object.
    """
    from pegboard.surface.targets import offer

    wanted: dict[str, Any] = {"search": search, "cap": cap_of(cap), "budget": budget, "total": total}
    options = {key: value for key, value in wanted.items() if value is not None}
    async with opened(config) as board:
        view = board.view(single_turn=all)
        if programs:
            options["programs"] = _callable_by_code(board, config)
        missing = unwell(await board.statuses())
        made = offer(replace(view, refusal=None, notes=()) if all else view, target, **options)
    document = made.to_json() if json else {"tools": made.tools}
    data(jsonlib.dumps(document, ensure_ascii=False, indent=2, sort_keys=sorted, default=str))
    for line in missing:
        say(line)
    if not json:
        _tell(made)
    return Exit.FINDING if made.refused else Exit.OK


def _callable_by_code(board: Board, config: Path) -> list[str]:
    picked: list[str] = [] if board.config is None else board.config.tables["codemode"]["tools"]
    if not picked:
        raise ConfigError(
            "There is no tool that programs may call.",
            where=f"{config}: codemode.tools",
            next_step='Write for example:  [codemode]  tools = ["mcp:*"]',
        )
    return picked


def _tell(made: Offer) -> None:
    for name, reason in made.refused.items():
        say(f"{name} is left out: {reason}.")
    for loss in made.losses:
        said = jsonlib.dumps(loss.said, ensure_ascii=False, default=str)
        where = "said in the description" if loss.went == "description" else "dropped"
        say(f"{loss.tool}{loss.pointer}: {loss.keyword} {said} is {where}.")
    for one in made.definitions:
        if one.tool is not None and one.spec is not None and one.lowered is not None and one.lowered.obstacles:
            say(f"{one.spec.name} is not strict: {'; '.join(one.lowered.obstacles)}.")
    for note in made.notes:
        say(note)
    deferred = len(made.view.deferred)
    late = f"; {counted(deferred, 'tool')} deferred" if deferred else ""
    sent = counted(len(made.definitions) - len(made.refused), "definition")
    say(f"{sent}; {counted(len(made.losses), 'loss')}{late}.")
