"""A suite run with a live model on a board: every run is a session of its own, and is traced."""

from uuid import uuid4

from pegboard.agent.model import Model
from pegboard.agent.play import BUDGET, play
from pegboard.agent.score import Score, outcome_of
from pegboard.agent.suite import Suite
from pegboard.board.board import Board
from pegboard.board.kit import BoardKit
from pegboard.core import Session
from pegboard.trace.record import Run


async def rehearse(
    board: Board, suite: Suite, model: Model, *, agent: str = "model", runs: int = 1, budget: int = BUDGET
) -> Score:
    """Run every task of a suite, one after the other, and judge what the model chose.

    Parameters:
        board: the board, whose tools the model gets.
        suite: the tasks.
        model: the model.
        agent: what the traces call it.
        runs: how many runs each task gets.
        budget: how many calls a run may make.

    Raises:
        SourceError: the model cannot be reached.
    """
    made = await rehearse_runs(board, suite, model, agent=agent, runs=runs, budget=budget)
    by_id = {task.id: task for task in suite.tasks}
    outcomes = [outcome_of(by_id[run.task], run) for run in made if run.task is not None]
    return Score(suite=suite.name, outcomes=tuple(outcomes))


async def rehearse_runs(
    board: Board, suite: Suite, model: Model, *, agent: str = "model", runs: int = 1, budget: int = BUDGET
) -> tuple[Run, ...]:
    """As `rehearse`, without the verdicts."""
    made: list[Run] = []
    for task in suite.tasks:
        for _ in range(runs):
            id = f"eval-{uuid4().hex[:12]}"
            session = Session(id, agent=agent)
            run = await play(
                task.prompt,
                model,
                BoardKit(board, session),
                run=id,
                task=task.id,
                agent=agent,
                instructions=suite.instructions,
                budget=budget,
            )
            board.forget(session)
            made.append(run)
    return tuple(made)
