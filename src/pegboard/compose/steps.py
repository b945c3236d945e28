"""Steps as data: the one syntax that bundles and chains share.

id = "room"                          a name; later steps read its result as ${room...}
tool = "slack.open_dm"               a tool of the board
args = { user_id = "${users[0].id}" }
when = "len(users) > 0"              run only then; else the step is skipped and its value is null
on_error = "stop"                    stop, continue (value null), default (value `default`), retry (then stop)
retries = 2                          how many more attempts, for `retry`
optional = true                      the same as `continue`; the step may also name a tool that is not there
timeout = 20                         seconds that one attempt may take
set = "${len(users)}"                a value in place of a tool's: what later steps read under this id
stop = "No such user."               with `when` and without a tool: end the whole here, with this message
next_step = "Call search_users."     what the caller should do after a `stop`
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, cast

from pegboard.core import Mode
from pegboard.errors import DefinitionError, nearest
from pegboard.schema.expression import Expression
from pegboard.schema.template import Template
from pegboard.schema.types import JsonObject

OnError: TypeAlias = Literal["stop", "continue", "default", "retry"]

_KEYS = (
    *("id", "tool", "args", "when", "on_error", "default", "retries", "timeout", "optional", "mode"),
    *("set", "stop", "next_step"),
)
MOST_RETRIES = 20
_ID = re.compile(r"[A-Za-z_]\w{0,63}")
_RESERVED = frozenset(("input", "true", "false", "null", "True", "False", "None", "and", "or", "not", "in", "is", "if"))


@dataclass(frozen=True, kw_only=True)
class Step:
    """One step. See the module for what each field means.

    Parameters:
        id: its name.
        tool: the tool that it calls; empty for a step that only sets a value or stops.
        args: the tool's arguments, over `input` and the steps before.
        when: the condition to run it.
        on_error: what a failure does to the whole.
        default: its value after a failure, for `default`.
        retries: how many more attempts it gets.
        timeout: how many seconds one attempt may take.
        optional: whether the whole can do without it.
        set: its value, for a step without a tool.
        stop: the message with which it ends the whole.
        next_step: what the caller should do then.
        mode: the mode that its tool runs in when the whole executes.
    """

    id: str
    tool: str = ""
    args: Template = Template.parse({})
    mode: Mode = Mode.EXECUTE
    when: Expression | None = None
    on_error: OnError = "stop"
    default: Template | None = None
    retries: int = 0
    timeout: float | None = None
    optional: bool = False
    set: Template | None = None
    stop: Template | None = None
    next_step: Template | None = None

    @property
    def reads(self) -> tuple[str, ...]:
        """The names that it reads: `input` and steps before it, each once."""
        templates = [part for part in (self.args, self.default, self.set, self.stop, self.next_step) if part]
        names = [name for template in templates for name in template.names]
        return tuple(dict.fromkeys((*(self.when.names if self.when else ()), *names)))


def read_steps(rows: object, where: str) -> tuple[Step, ...]:
    """Steps from the rows of a TOML, YAML or JSON table.

    Parameters:
        rows: a list of tables.
        where: what errors call the place, such as `bundle.dm_user.steps`.

    Raises:
        DefinitionError: a key is unknown, an id is taken, or a step reads one that does not come before it.
    """
    if not isinstance(rows, list | tuple) or not rows:
        raise DefinitionError("There must be at least one step.", where=where, next_step="Add a list `steps`.")
    found = [_step(row, f"{where}[{at}]", at) for at, row in enumerate(cast("Sequence[object]", rows))]
    check_order(found, where)
    return tuple(found)


def check_order(steps: Iterable[Step], where: str) -> None:
    """See that ids are unique and that each step reads only `input` and steps before it.

    Raises:
        DefinitionError: at the first that does not.
    """
    before: dict[str, None] = {}
    for at, step in enumerate(steps):
        place = f"{where}[{at}] ({step.id})"
        if step.id in before:
            raise DefinitionError(f"Two steps are called {step.id!r}.", where=place, next_step="Rename one.")
        for name in step.reads:
            if name != "input" and name not in before:
                near = nearest(name, ["input", *before])
                hint = f"Did you mean {' or '.join(near)}?" if near else f"Known here: {', '.join(['input', *before])}."
                raise DefinitionError(f"It reads {name!r}, which no step before it makes.", where=place, next_step=hint)
        before[step.id] = None


def _step(row: object, where: str, at: int) -> Step:
    if not isinstance(row, Mapping):
        raise DefinitionError("A step is a table.", where=where, next_step='Write { tool = "...", args = { ... } }.')
    table = cast("JsonObject", row)
    for key in table:
        if key not in _KEYS:
            near = nearest(key, _KEYS) or list(_KEYS)
            raise DefinitionError(f"A step has no {key!r}.", where=where, next_step=f"Use {' or '.join(near)}.")
    _check_shape(table, where)
    try:
        return Step(
            id=_id(table, where, at),
            tool=str(table.get("tool", "")),
            args=Template.parse(table.get("args", {})),
            mode=_mode(table),
            when=Expression.parse(_condition(str(table["when"]))) if "when" in table else None,
            on_error=_on_error(table),
            default=Template.parse(table["default"]) if "default" in table else None,
            retries=_retries(table),
            timeout=_seconds(table),
            optional=bool(table.get("optional", False)),
            set=Template.parse(table["set"]) if "set" in table else None,
            stop=Template.parse(table["stop"]) if "stop" in table else None,
            next_step=Template.parse(table["next_step"]) if "next_step" in table else None,
        )
    except DefinitionError as error:
        raise DefinitionError(error.message, where=f"{where}: {error.where}", next_step=error.next_step) from None


def _check_shape(table: JsonObject, where: str) -> None:
    if not isinstance(table.get("args", {}), Mapping):
        raise DefinitionError("`args` is a table of the tool's arguments.", where=where)
    if sum(key in table for key in ("tool", "set", "stop")) != 1:
        raise DefinitionError(
            "A step calls a tool, sets a value, or stops.",
            where=where,
            next_step="Give exactly one of `tool`, `set` and `stop`.",
        )
    if "default" in table and table.get("on_error", "default") != "default":
        raise DefinitionError('`default` needs on_error = "default".', where=where)


def _condition(text: str) -> str:
    stripped = text.strip()
    return stripped[2:-1] if stripped.startswith("${") and stripped.endswith("}") else stripped


def _on_error(table: JsonObject) -> OnError:
    choices = ("stop", "continue", "default", "retry")
    chosen: Any = table.get("on_error")
    if chosen is None:
        chosen = "default" if "default" in table else "continue" if table.get("optional") else "stop"
    if chosen not in choices:
        raise DefinitionError(
            f"on_error cannot be {chosen!r}.", where="on_error", next_step=f"Use {', '.join(choices[:-1])} or retry."
        )
    return chosen


def _retries(table: JsonObject) -> int:
    given: Any = table.get("retries", 2 if table.get("on_error") == "retry" else 0)
    if isinstance(given, bool) or not isinstance(given, int) or not 0 <= given <= MOST_RETRIES:
        raise DefinitionError(
            f"retries cannot be {given!r}.", where="retries", next_step=f"Use a whole number from 0 to {MOST_RETRIES}."
        )
    return given


def _seconds(table: JsonObject) -> float | None:
    given: Any = table.get("timeout")
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 < given < math.inf:
        raise DefinitionError(f"timeout cannot be {given!r}.", where="timeout", next_step="Use seconds, such as 20.")
    return float(given)


def _mode(table: JsonObject) -> Mode:
    text = table.get("mode", Mode.EXECUTE.value)
    if text not in set(Mode):
        raise DefinitionError(f"There is no mode {text!r}.", where="mode", next_step=f"Use {', '.join(Mode)}.")
    return Mode(text)


def _id(table: JsonObject, where: str, at: int) -> str:
    text = str(table.get("id") or _default_id(str(table.get("tool", "")), at))
    if not _ID.fullmatch(text) or text in _RESERVED:
        raise DefinitionError(
            f"{text!r} cannot be a step's id.", where="id", next_step="Use a letter, then letters, digits or _."
        )
    return text


def _default_id(tool: str, at: int) -> str:
    bare = re.sub(r"\W+", "_", tool.rpartition(".")[2]).strip("_")
    return bare if _ID.fullmatch(bare) and bare not in _RESERVED else f"step_{at + 1}"
