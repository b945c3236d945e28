"""Suites: tasks for an agent, and which tools it should choose for each.

TOML, YAML or JSON:

    name = "retail"
    [[tasks]]
    id = "orders-of-a-customer"
    prompt = "What did Mei Davis, zip 80217, order?"
    must_use = ["retail.get_user_with_orders"]      names or globs; each has to be called
    must_not_use = ["retail.find_user_id_by_*"]     none of these
    order = ["find_user", "send_message"]           called in this order, others may come between
    at_most = 3                                     calls
"""

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from pegboard.errors import ConfigError, nearest

_TASK = ("id", "prompt", "must_use", "must_not_use", "order", "at_most")
_SUITE = ("name", "tasks", "instructions")


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One task.

    Parameters:
        id: its name; transcripts are matched by it.
        prompt: what is asked; transcripts are matched by it too, and a live model gets it.
        must_use: patterns, each of which some call has to match.
        must_not_use: patterns that no call may match.
        order: patterns that calls have to match one after the other.
        at_most: the most calls; None for any number.
    """

    id: str
    prompt: str = ""
    must_use: tuple[str, ...] = ()
    must_not_use: tuple[str, ...] = ()
    order: tuple[str, ...] = ()
    at_most: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """Tasks with expected choices of tools.

    Parameters:
        name: the suite's name.
        tasks: the tasks.
        instructions: what a live model is told before each task.
    """

    name: str
    tasks: tuple[Task, ...]
    instructions: str = ""


def read_suite(path: Path) -> Suite:
    """The suite of a file, TOML, YAML or JSON by its ending.

    Raises:
        ConfigError: it cannot be read, a key is not known, or a task asks for nothing.
    """
    return suite_of(_document(path), where=str(path), name=path.stem)


def suite_of(document: object, *, where: str, name: str) -> Suite:
    """The suite of plain data.

    Parameters:
        document: `{"name", "tasks": [...]}`, or the tasks alone.
        where: what errors call the place.
        name: its name, where it does not say one.

    Raises:
        ConfigError: a key is not known, or a task asks for nothing.
    """
    table: object = {"tasks": cast("object", document)} if isinstance(document, list) else document
    if not isinstance(table, Mapping):
        raise ConfigError("A suite is a table with a list `tasks`.", where=where)
    body = cast("Mapping[str, Any]", table)
    _known(body, _SUITE, where)
    rows = body.get("tasks")
    if not isinstance(rows, list) or not rows:
        raise ConfigError("It has no tasks.", where=where, next_step="Add [[tasks]] with id, prompt and must_use.")
    tasks = tuple(_task(row, f"{where}: tasks[{at}]", at) for at, row in enumerate(cast("list[Any]", rows)))
    twice = next((task.id for at, task in enumerate(tasks) if task.id in {each.id for each in tasks[:at]}), None)
    if twice is not None:
        raise ConfigError(f"Two tasks are called {twice!r}.", where=where, next_step="Rename one.")
    return Suite(name=str(body.get("name") or name), tasks=tasks, instructions=str(body.get("instructions") or ""))


def _document(path: Path) -> object:
    try:
        text = path.read_text("utf-8-sig")
        if path.suffix == ".toml":
            return tomllib.loads(text)
        if path.suffix in (".yaml", ".yml"):
            import yaml

            return yaml.safe_load(text)
        return json.loads(text)
    except (OSError, ValueError) as problem:
        raise ConfigError(f"The suite cannot be read: {problem}.", where=str(path)) from problem
    except Exception as problem:
        if type(problem).__module__.startswith("yaml"):
            raise ConfigError(f"The suite cannot be read: {problem}.", where=str(path)) from problem
        raise


def _task(row: object, where: str, at: int) -> Task:
    if not isinstance(row, Mapping):
        raise ConfigError("A task is a table.", where=where)
    table = cast("Mapping[str, Any]", row)
    _known(table, _TASK, where)
    at_most = table.get("at_most")
    if at_most is not None and (not isinstance(at_most, int) or isinstance(at_most, bool) or at_most < 0):
        raise ConfigError("`at_most` is a number of calls.", where=f"{where}.at_most", next_step="Write at_most = 3.")
    task = Task(
        id=str(table.get("id") or f"task-{at + 1}"),
        prompt=str(table.get("prompt") or ""),
        must_use=_texts(table, "must_use", where),
        must_not_use=_texts(table, "must_not_use", where),
        order=_texts(table, "order", where),
        at_most=at_most,
    )
    if not (task.must_use or task.must_not_use or task.order) and task.at_most is None:
        raise ConfigError(
            f"Task {task.id} expects nothing, so it could not fail.",
            where=where,
            next_step="Add must_use, must_not_use, order or at_most.",
        )
    return task


def _texts(table: Mapping[str, Any], key: str, where: str) -> tuple[str, ...]:
    value = table.get(key, ())
    items: Sequence[Any] = [value] if isinstance(value, str) else value
    if not isinstance(items, list | tuple) or not all(isinstance(item, str) for item in items):
        raise ConfigError(f"`{key}` is a list of names or globs.", where=f"{where}.{key}")
    return tuple(cast("Sequence[str]", items))


def _known(table: Mapping[str, Any], keys: Sequence[str], where: str) -> None:
    for key in table:
        if key not in keys:
            near = nearest(str(key), keys, limit=1)
            step = f"Did you mean {near[0]}?" if near else f"Known are {', '.join(keys)}."
            raise ConfigError(f"The key {key!r} is not known.", where=where, next_step=step)
