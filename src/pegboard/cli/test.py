"""`pegboard test`: one tool alone, on recorded examples."""

import json as jsonlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any
from uuid import uuid4

from cyclopts import Parameter
from cyclopts.validators import Number

from pegboard.board import Board
from pegboard.board.findings import CASES
from pegboard.board.passage import traces_of
from pegboard.catalog import Unknown
from pegboard.cli.agent import read_runs
from pegboard.cli.exit import Exit
from pegboard.cli.open import opened
from pegboard.cli.options import DEFAULT_CONFIG, AsJson, ConfigFile
from pegboard.cli.output import document, one_line, say, table
from pegboard.core import Effects, Mode, Result, Session, ToolSpec
from pegboard.errors import ConfigError
from pegboard.insight.trial import MOST, TRIAL, Example, Tried, examples_of, trial
from pegboard.schema.types import Json, canonical
from pegboard.trace.record import Run


async def test_tool(
    tool: str,
    *,
    cases: Path | None = None,
    traces: Annotated[Sequence[Path], Parameter(consume_multiple=True)] = (),
    execute: Annotated[bool, Parameter(negative="")] = False,
    most: Annotated[int, Parameter(validator=Number(gte=1))] = MOST,
    config: ConfigFile = DEFAULT_CONFIG,
    json: AsJson = False,
) -> int:
    """Run one tool alone on recorded examples, and compare outcome and shape with what was recorded.

    Examples come from the tool's definition, from the cases that `insight apply` wrote, and from traces. A tool that
    may change something runs in `dry_run`, unless you say --execute.

    Parameters
    ----------
    tool
        Its name.
    cases
        A case file; by default the one that `insight apply` wrote for it.
    traces
        Take examples from these traces, instead of the board's own.
    execute
        Run also a tool that may change something.
    most
        Run so many examples at most.
    """
    async with opened(config) as board:
        spec = _spec(board, tool)
        examples = examples_of(spec, _cases(cases, spec, config), _runs(traces, board), most=most)
        mode = None if execute or spec.effects is Effects.READ_ONLY else Mode.DRY_RUN
        session = Session(f"test-{uuid4().hex[:12]}", agent=TRIAL)

        async def call(arguments: Mapping[str, Json]) -> Result:
            return await board.call(spec.name, arguments, mode=mode, session=session)

        tried = await trial([_only_checked(each, mode) for each in examples], call)
    if json:
        document(_json(spec, mode, tried))
    else:
        _show(spec, mode, tried)
    return Exit.FINDING if not tried or any(each.faults for each in tried) else Exit.OK


def _spec(board: Board, tool: str) -> ToolSpec:
    target = board.resolve(tool)
    if isinstance(target, Unknown):
        near = f"Did you mean {', '.join(target.candidates[:3])}?" if target.candidates else "See `pegboard list`."
        raise ConfigError(f"There is no tool {tool!r}.", where="test", next_step=near)
    spec = board.spec(target)
    assert spec is not None  # it was resolved on this board
    return spec


def _cases(path: Path | None, spec: ToolSpec, config: Path) -> Json:
    folder = config if config.is_dir() else config.parent
    file = path or folder / CASES / f"{spec.name}.json"
    if path is None and not file.exists():
        return None
    try:
        return jsonlib.loads(file.read_text("utf-8-sig"))
    except (OSError, ValueError) as problem:
        raise ConfigError(f"The cases cannot be read: {problem}.", where=str(file)) from problem


def _runs(traces: Sequence[Path], board: Board) -> Iterator[Run]:
    if traces:
        return read_runs(traces)
    own = traces_of(board.config) if board.config is not None else None
    return iter(()) if own is None else (run for run in own.scan() if run.agent != TRIAL)


def _only_checked(example: Example, mode: Mode | None) -> Example:
    """In a dry run nothing comes back that could be compared, and what failed in its course may pass the check."""
    if mode is None:
        return example
    return Example(arguments=example.arguments, origin=example.origin, run=example.run, ok=None)


def _json(spec: ToolSpec, mode: Mode | None, tried: Sequence[Tried]) -> dict[str, Any]:
    return {
        "tool": str(spec.name),
        "mode": (mode or Mode.EXECUTE).value,
        "examples": len(tried),
        "passed": sum(not each.faults for each in tried),
        "outcomes": [each.to_json() for each in tried],
    }


def _show(spec: ToolSpec, mode: Mode | None, tried: Sequence[Tried]) -> None:
    rows = [
        (
            each.example.origin,
            one_line(canonical(each.example.arguments))[:80],
            "FAILED" if each.faults else "passed",
            "; ".join(map(one_line, each.faults))[:200],
        )
        for each in tried
    ]
    table(("example", "arguments", "", "what was wrong"), rows)
    if mode is not None:
        say(f"{spec.name} may change something, so it was only checked ({mode.value}); --execute runs it.")
    if not tried:
        say(f"There is no example of {spec.name}: give some with --traces or --cases, or in its definition.")
    else:
        say(f"{sum(not each.faults for each in tried)} of {len(tried)} passed.")
