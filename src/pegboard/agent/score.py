"""What a suite came to: each run's verdict, the share that passed, and the same for machines."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from xml.etree import ElementTree as Xml

from pegboard.agent.judge import Verdict, chosen, judge
from pegboard.agent.suite import Suite, Task
from pegboard.insight.interval import Share
from pegboard.schema.types import Json
from pegboard.trace.record import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One run of one task.

    Parameters:
        task: the task.
        run: the run's id; empty where there was none.
        verdict: how it did.
        tools: the tools that the model called, in order.
        turns: how many messages with calls it wrote, where that is known.
    """

    task: Task
    run: str
    verdict: Verdict
    tools: tuple[str, ...] = ()
    turns: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """What a suite came to.

    Parameters:
        suite: its name.
        outcomes: every run of every task, in the suite's order; a task without a run has failed.
        unmatched: runs that belong to no task.
    """

    suite: str
    outcomes: tuple[Outcome, ...]
    unmatched: tuple[str, ...] = ()

    @property
    def share(self) -> Share:
        """The share of runs that passed."""
        return Share(sum(outcome.verdict.passed for outcome in self.outcomes), len(self.outcomes))

    @property
    def passed(self) -> bool:
        """Whether every run passed."""
        return all(outcome.verdict.passed for outcome in self.outcomes)

    def to_json(self) -> dict[str, Json]:
        """As `pegboard agent eval --json` prints it."""
        rows = [
            {
                "task": outcome.task.id,
                "run": outcome.run or None,
                "passed": outcome.verdict.passed,
                "faults": list(outcome.verdict.faults),
                "tools": list(outcome.tools),
                "calls": len(outcome.tools),
                "turns": outcome.turns,
            }
            for outcome in self.outcomes
        ]
        return {"suite": self.suite, **self.share.to_json(), "outcomes": rows, "unmatched": list(self.unmatched)}

    def junit(self) -> str:
        """As JUnit XML, which build servers read."""
        failed = sum(not outcome.verdict.passed for outcome in self.outcomes)
        root = Xml.Element("testsuite", name=self.suite, tests=str(len(self.outcomes)), failures=str(failed))
        for outcome in self.outcomes:
            name = f"{outcome.task.id} [{outcome.run}]" if outcome.run else outcome.task.id
            case = Xml.SubElement(root, "testcase", classname=self.suite, name=_printable(name))
            if outcome.verdict.faults:
                fault = Xml.SubElement(case, "failure", message=_printable("; ".join(outcome.verdict.faults)))
                fault.text = _printable(f"called: {', '.join(outcome.tools) or 'nothing'}")
        Xml.indent(root)
        return '<?xml version="1.0" encoding="utf-8"?>\n' + Xml.tostring(root, encoding="unicode") + "\n"


def score(suite: Suite, runs: Iterable[Run]) -> Score:
    """Judge recorded runs: each belongs to the task of its `task`, its id, or its first user message.

    Parameters:
        suite: the tasks.
        runs: the runs, in any order.
    """
    by_task: dict[str, list[Run]] = {task.id: [] for task in suite.tasks}
    unmatched: list[str] = []
    for run in runs:
        task = task_of(suite, run)
        if task is None:
            unmatched.append(run.id)
        else:
            by_task[task.id].append(run)
    outcomes = [outcome for task in suite.tasks for outcome in _outcomes(task, by_task[task.id])]
    return Score(suite=suite.name, outcomes=tuple(outcomes), unmatched=tuple(unmatched))


def task_of(suite: Suite, run: Run) -> Task | None:
    """The task that a run is about, or None."""
    for name in (run.task, run.id):
        found = next((task for task in suite.tasks if name is not None and task.id == name), None)
        if found is not None:
            return found
    said = {" ".join(text.split()) for text in ((run.user_messages or ())[:1] + ((run.task,) if run.task else ()))}
    return next((task for task in suite.tasks if task.prompt and " ".join(task.prompt.split()) in said), None)


def outcome_of(task: Task, run: Run) -> Outcome:
    """How a run did at a task."""
    turns = {call.turn for call in run.calls if call.turn is not None}
    return Outcome(
        task=task, run=run.id, verdict=judge(task, run), tools=tuple(chosen(run)), turns=len(turns) if turns else None
    )


def _outcomes(task: Task, runs: Sequence[Run]) -> list[Outcome]:
    if not runs:
        return [Outcome(task=task, run="", verdict=Verdict(("no run of this task was found",)))]
    return [outcome_of(task, run) for run in runs]


def _printable(text: str) -> str:
    """A text as XML 1.0 can hold it."""
    return "".join(letter if letter.isprintable() else " " for letter in text)
