"""`pegboard agent run`: give an agent a task, see what it says and calls, and answer where it needs a yes."""

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import anyio
from cyclopts import Parameter
from cyclopts.validators import Number

from pegboard.agent.definition import Definition
from pegboard.approval import Approver, Decision, Request
from pegboard.board.issued import with_versions
from pegboard.cli.exit import Exit
from pegboard.cli.open import opened
from pegboard.cli.options import DEFAULT_CONFIG, AsJson, ConfigFile
from pegboard.cli.output import counted, document, one_line, piece, say
from pegboard.cli.terminal import agreed, at_terminal
from pegboard.config import load
from pegboard.core import Selection
from pegboard.errors import ConfigError

if TYPE_CHECKING:
    from pegboard.frameworks.agents.outcome import Event, Outcome

AD_HOC = "agent"
"""What traces call an agent that has no table."""
_SHOWN = 200
"""Characters of arguments, and of a failure, that are told of a call."""

Count = Annotated[int | None, Parameter(validator=Number(gte=1))]


async def run(
    *words: str,
    model: str | None = None,
    base_url: str | None = None,
    key_env: str = "OPENAI_API_KEY",
    instructions: str | None = None,
    tools: Annotated[Sequence[str], Parameter(consume_multiple=True)] = (),
    max_tool_calls: Count = None,
    max_turns: Count = None,
    timeout: Annotated[float | None, Parameter(validator=Number(gt=0))] = None,
    yes: Annotated[bool, Parameter(negative="")] = False,
    config: ConfigFile = DEFAULT_CONFIG,
    json: AsJson = False,
) -> int:
    """Run an agent on a task: `agent run NAME "task"`, or without a table `agent run --model M "task"`.

    What it says comes to stdout as it is said; its calls, and questions for a yes, are told on stderr. The exit code
    is 1 where the run ended otherwise than by the model being done.

    Parameters
    ----------
    words
        The agent of `[agent.NAME]`, or NAME@VERSION for a published one, and the task; with --model the task alone.
        `-` reads the task from standard input.
    model
        The model: `provider:name`, or the bare name at --base-url.
    base_url
        An OpenAI-compatible endpoint, such as http://127.0.0.1:11434/v1.
    key_env
        The environment variable with the key for --base-url, if it wants one.
    instructions
        What the model is told first.
    tools
        Selectors of the tools that it has, such as "github.*".
    max_tool_calls
        How many tool calls it may make.
    max_turns
        How many answers of the model the run may take.
    timeout
        How many seconds the run may take.
    yes
        Say yes beforehand to every call that would wait for a person. Without it you are asked in a terminal.
    """
    given: dict[str, Any] = {
        "model": model,
        "base_url": base_url,
        "key": f"${{env:{key_env}}}" if base_url and key_env in os.environ else None,
        "instructions": instructions,
        "tools": tuple(tools) or None,
        "max_tool_calls": max_tool_calls,
        "max_turns": max_turns,
        "timeout": timeout,
    }
    Selection.parse(tools)
    agent, task = asked(words, {key: value for key, value in given.items() if value is not None}, config)
    from pegboard.frameworks.agents.run import run_agent
    from pegboard.frameworks.agents.subagents import Subagents

    subagents = Subagents(agent, _agents(config, ()))
    beside = [] if agent.subagents is None else [subagents]
    issued = [f"agent/{agent.name}"] if agent.version and "@" in agent.name else []
    approver = agreed if yes else in_turn(at_terminal)
    async with opened(config, approvers=[approver], beside=beside, issued=issued) as board:
        subagents.over(board)
        outcome = await run_agent(board, agent, task, hear=None if json else Telling())
        if json:
            document(outcome.to_json())
        else:
            told(outcome)
    return Exit.OK if outcome.ok else Exit.FINDING


def asked(words: Sequence[str], given: dict[str, Any], config: Path) -> tuple[Definition, str]:
    """The agent that the words of the command line name, with what the options say over it; and the task.

    Raises:
        ConfigError: there is no such agent, or no task.
    """
    *name, task = words or [""]
    task = sys.stdin.read() if task == "-" else task
    if len(name) > 1 or not task.strip() or not (name or "model" in given):
        raise ConfigError(
            "It needs an agent and a task.",
            where="agent run",
            next_step='Write: pegboard agent run NAME "the task", or: pegboard agent run --model M "the task".',
        )
    if not name:
        return Definition(name=AD_HOC, **given), task
    return replace(Definition.of(name[0], _agents(config, name)), **given), task


def _agents(config: Path, names: Sequence[str]) -> Mapping[str, Mapping[str, Any]]:
    """The config's agents, those that have a chosen version as that has them, and the published ones of these names."""
    return with_versions(load(config), [f"agent/{name}" for name in names if "@" in name]).tables["agent"]


def in_turn(approver: Approver) -> Approver:
    """An approver that is asked one question at a time: calls of one turn run side by side."""
    lock = anyio.Lock()

    async def ask(request: Request) -> Decision | None:
        async with lock:
            return await approver(request)

    return ask


class Telling:
    """Prints what can be heard of a run while it lasts."""

    def __init__(self) -> None:
        self._open = False

    def __call__(self, event: "Event") -> None:
        """Print one event: words as they come, a line for each call and one for what came of it."""
        from pegboard.frameworks.agents.outcome import Calling, Said

        if isinstance(event, Said):
            piece(event.text)
            self._open = bool(event.text) and not event.text.endswith("\n")
            return
        if self._open:
            piece("\n")
            self._open = False
        if isinstance(event, Calling):
            say(f"-> {one_line(event.name)} {_short(event.arguments)}")
        else:
            failure = event.result.failure
            said = "ok" if failure is None else f"{failure.code}: {_short(failure.message)}"
            say(f"<- {event.tool} {said}")


def told(outcome: "Outcome") -> None:
    """Say how a run ended."""
    if outcome.output and not outcome.output.endswith("\n"):
        piece("\n")
    made = counted(len(outcome.calls), "call")
    why = "" if outcome.error is None else f" {one_line(outcome.error)}"
    say(f"{outcome.stop}: {made} in {counted(outcome.usage.turns, 'turn')}; trace {outcome.run}.{why}")


def _short(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= _SHOWN else f"{line[: _SHOWN - 3]}..."
