"""`pegboard agent`: run an agent; `agent eval`: does it choose the tools that it should."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import anyio
from cyclopts import App, Parameter
from cyclopts.validators import Number

from pegboard.agent.play import BUDGET
from pegboard.agent.score import Score
from pegboard.agent.suite import Suite, read_suite
from pegboard.cli.exit import Exit
from pegboard.cli.open import connected
from pegboard.cli.options import DEFAULT_CONFIG, AsJson, ConfigFile
from pegboard.cli.output import document, guarded, one_line, say, table
from pegboard.errors import ConfigError
from pegboard.trace.record import Run

app: Any = App(name="agent", help="Agents over the board: run one, and judge whether it chooses the right tools.")
app.command("pegboard.cli.agent_run:run", name="run")
app.command("pegboard.cli.agent_foreign:import_", name="import")
app.command("pegboard.cli.agent_foreign:export", name="export")

Runs = Annotated[int, Parameter(validator=Number(gte=1))]


@app.command(name="eval")
def evaluate(
    suite: Path,
    *,
    transcripts: Annotated[Sequence[Path], Parameter(consume_multiple=True)] = (),
    model: str | None = None,
    base_url: str | None = None,
    key_env: str = "OPENAI_API_KEY",
    runs: Runs = 1,
    budget: Runs = BUDGET,
    junit: Path | None = None,
    config: ConfigFile = DEFAULT_CONFIG,
    json: AsJson = False,
) -> int:
    """Judge an agent's choice of tools against a suite: recorded transcripts, or a live model on the board.

    Parameters
    ----------
    suite
        The suite: TOML, YAML or JSON with tasks (id, prompt, must_use, must_not_use, order, at_most).
    transcripts
        Recorded runs, of any format that insight reads; matched by task, id or first user message.
    model
        A live model by its name, at --base-url.
    base_url
        An OpenAI-compatible endpoint, such as http://127.0.0.1:11434/v1.
    key_env
        The environment variable with its key, if it wants one.
    runs
        How many runs a task gets with a live model.
    budget
        How many calls a live run may make.
    junit
        Write the verdicts there as JUnit XML.
    """
    with guarded():
        found = read_suite(suite)
        if model:
            came_to = anyio.run(live, found, model, base_url, os.environ.get(key_env), runs, budget, config)
        else:
            came_to = recorded(found, transcripts)
        if junit is not None:
            junit.write_text(came_to.junit(), "utf-8")
        if json:
            document(came_to.to_json())
        else:
            show(came_to)
    return Exit.OK if came_to.passed else Exit.FINDING


def recorded(suite: Suite, transcripts: Sequence[Path]) -> Score:
    """A suite judged on recorded runs.

    Raises:
        ConfigError: there are none.
    """
    from pegboard.agent.score import score

    if not transcripts:
        raise ConfigError(
            "There is nothing to judge.",
            where="agent eval",
            next_step="Give recorded runs with --transcripts, or a live model with --model and --base-url.",
        )
    return score(suite, read_runs(transcripts))


def read_runs(paths: Sequence[Path]) -> Iterator[Run]:
    """The runs of some files; what cannot be read is told."""
    from pegboard.insight.mine import files
    from pegboard.trace.importers import Skipped, read

    for path in files(paths):
        for item in read(path):
            if isinstance(item, Skipped):
                say(f"Not read: {one_line(item)}")
            else:
                yield item


async def live(
    suite: Suite, model: str, base_url: str | None, key: str | None, runs: int, budget: int, config: Path
) -> Score:
    """A suite judged on runs of a live model over a board."""
    from pegboard.agent.openai import OpenAiModel
    from pegboard.board.rehearsal import rehearse

    if not base_url:
        raise ConfigError(
            "A live model needs an address.",
            where="--base-url",
            next_step="Write http://127.0.0.1:11434/v1 or the like.",
        )
    async with connected(config) as board:
        return await rehearse(
            board, suite, OpenAiModel(model, base_url, key=key), agent=model, runs=runs, budget=budget
        )


def show(came_to: Score) -> None:
    """Print what a suite came to."""
    table(
        ("task", "run", "", "calls", "what was wrong"),
        [
            (
                outcome.task.id,
                outcome.run,
                "passed" if outcome.verdict.passed else "FAILED",
                len(outcome.tools),
                "; ".join(outcome.verdict.faults),
            )
            for outcome in came_to.outcomes
        ],
    )
    say(f"{came_to.suite}: passed {came_to.share}.")
    if came_to.unmatched:
        say(f"{len(came_to.unmatched)} runs belong to no task, such as {one_line(came_to.unmatched[0])}.")
