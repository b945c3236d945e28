"""When a pattern counts. Measured on public agent runs whose right answers are known; see docs/explain/insight.md."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """What a pattern must show before it becomes a finding.

    Parameters:
        share: P: of all times that a step occurs, the least share in which the next one follows directly.
        going_on: Pc: the same among the times that anything follows.
        going_on_wired: Pc where nearly every occurrence hands a value on: the flow speaks for itself.
        wired: what "nearly every occurrence" is.
        fed: the least share of occurrences that hand a value on; below it only a fixed order makes a bundle.
        ready: the least share of occurrences in which a reading step could have run beside the one before.
        runs: the least number of runs.
        tasks: the least number of distinct tasks of a sequence in which values flow.
        ordered: the least number of runs and of tasks of a sequence in which none flows.
        preceded: the least share of runs with the second step in which the first had run before it.
        reversed: the greatest share of runs in which they came the other way round.
        same: at this share of equal arguments, two neighbours are alternatives of each other, not steps.
        failed: at this share of failures, a sequence is no habit but an accident.
        made: above this share of occurrences in which the model made up a value between the steps, it decides there.
        listed: at this share of loops over a list, a step of a bundle takes a list.
        batch_tasks: the least number of distinct tasks with a loop over a list.
        batch_guessed: the least number of runs where no earlier call knew the values and no message made them at once.
        batch_share: the least share of a tool's loops that are loops over a list.
        failing: at this share of failures, a tool is a hot spot.
        context_runs: the least share of runs in which a value is fetched that belongs into the context.
        context_takers: the least number of tools that such a value goes to.
        context_values: the greatest mean number of different values of it in a run.
        cap: the number of calls of a run that clients allow by default.
    """

    share: float = 0.3
    going_on: float = 0.8
    going_on_wired: float = 0.6
    wired: float = 0.9
    fed: float = 0.5
    ready: float = 0.8
    runs: int = 3
    tasks: int = 3
    ordered: int = 5
    preceded: float = 0.5
    reversed: float = 0.1
    same: float = 0.5
    failed: float = 0.5
    made: float = 0.3
    listed: float = 0.2
    batch_tasks: int = 2
    batch_guessed: int = 5
    batch_share: float = 0.4
    failing: float = 0.1
    context_runs: float = 0.2
    context_takers: int = 5
    context_values: float = 1.2
    cap: int = 10
