"""The variables of a flow, as steps of a chain: each assignment is a step of its own, and each read means the last one.

A flow may assign a variable twice, or in one branch only; a step of a chain has one value for good. So a variable that
two steps may have assigned is read through a step that chooses between them, made when it is first read.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from pegboard.compose.steps import read_steps
from pegboard.config.runtype.javascript import Part, plain_name, write_path
from pegboard.errors import DefinitionError
from pegboard.schema.types import Json

Guards: TypeAlias = tuple[str, ...]
_LONGEST = 56
_MOST = 6


@dataclass(frozen=True, slots=True)
class Choice:
    """A variable that a condition decides about.

    Parameters:
        when: the condition, in our language.
        then: the step that holds it where that is so.
        otherwise: the step that holds it else; None where nothing was assigned.
    """

    when: str
    then: "Held"
    otherwise: "Held | None"

    @property
    def size(self) -> int:
        """How many conditions its expression reads."""
        return 1 + sum(part.size for part in (self.then, self.otherwise) if isinstance(part, Choice))


Held: TypeAlias = str | Choice


@dataclass
class Scope:
    """What is assigned so far, and the steps that were made.

    Parameters:
        held: by variable, the step that holds it.
        steps: the steps of the chain.
        guards: the conditions of the branches around, outermost first.
    """

    held: dict[str, Held] = field(default_factory=dict[str, Held])
    steps: list[dict[str, Json]] = field(default_factory=list[dict[str, Json]])
    guards: Guards = ()
    _ids: set[str] = field(default_factory=set[str])
    _counts: dict[str, int] = field(default_factory=dict[str, int])
    _under: dict[str, Guards | None] = field(default_factory=dict[str, "Guards | None"])

    def fresh(self, wanted: str) -> str:
        """An id that no step has yet, like a name."""
        base = re.sub(r"[^A-Za-z0-9_]+", "_", wanted).strip("_")[:_LONGEST] or "step"
        base = base if _fits(base) else f"{base}_step" if _fits(f"{base}_step") else f"step_{base}"
        found = base
        while found in self._ids:
            self._counts[base] = self._counts.get(base, 1) + 1
            found = f"{base}_{self._counts[base]}"
        self._ids.add(found)
        return found

    def when(self, own: str | None = None) -> str | None:
        """The condition of a step here: those around it and its own."""
        parts = [*self.guards, *([own] if own else [])]
        if len(parts) > 1:
            parts = [f"({part})" if " or " in part or " if " in part else part for part in parts]
        return " and ".join(parts) or None

    def add(self, step: Mapping[str, Json], *, own: str | None = None, tolerant: bool = False) -> None:
        """Append a step, under the conditions around it.

        Parameters:
            step: the step, with its id.
            own: its own condition.
            tolerant: whether its value may be null although it ran.
        """
        condition = self.when(own)
        row = {"id": step["id"], **({"when": condition} if condition else {}), **step}
        self.steps.append(row)
        self._under[str(step["id"])] = None if tolerant or own else self.guards

    def assign(self, variable: str, id: str, own: str | None = None) -> None:
        """A step holds a variable from now on; under a condition of its own, only where that is so."""
        before = self.held.get(variable)
        if own is None or before is None:
            self.held[variable] = id
        else:
            self._choose(variable, Choice(self.when(own) or own, id, before))

    def merge(self, when: str, then: Mapping[str, Held], otherwise: Mapping[str, Held]) -> None:
        """After a branch: what either side has assigned is chosen by the condition."""
        for variable in dict.fromkeys((*then, *otherwise)):
            one, other = then.get(variable), otherwise.get(variable)
            if one == other:
                self.held[variable] = one or ""
            elif one is None:
                self.held[variable] = other or ""
            elif other is None:
                self.held[variable] = one
            else:
                self._choose(variable, Choice(when, one, other))

    def _choose(self, variable: str, choice: Choice) -> None:
        """Let a condition decide; where many do already, in a step of its own, so that no expression grows long."""
        self.held[variable] = choice
        if choice.size > _MOST:
            self._settled(variable, choice)

    def root(self, variable: str) -> tuple[str, bool]:
        """How a variable reads in our language, and whether it surely has a value here. What is none is an input."""
        held = self.held.get(variable)
        if held is None:
            return write_path("input", (variable,)), False
        id = self._settled(variable, held)
        under = self._under.get(id)
        return id, under is not None and self.guards[: len(under)] == under

    def read(self, variable: str, parts: Sequence[Part], *, optional: bool) -> str:
        """A path in our language.

        Parameters:
            variable: the variable.
            parts: what is read of it.
            optional: whether what is not there is null, and no error.
        """
        root, sure = self.root(variable)
        path = write_path(root, parts)
        if root in self._under and not parts:
            return path  # a step that was skipped is null
        return path if sure and not parts else f"default({path}, null)" if optional or self._may_lack(root) else path

    def _may_lack(self, root: str) -> bool:
        return root in self._under and (
            self._under[root] is None or self.guards[: len(self._under[root] or ())] != self._under[root]
        )

    def _settled(self, variable: str, held: Held) -> str:
        if isinstance(held, str):
            return held
        id = self.fresh(variable)
        text = self._text(held)
        self.steps.append({"id": id, "set": f"${{{text}}}"})
        self._under[id] = None
        self.held[variable] = id
        return id

    def _text(self, held: Held | None) -> str:
        if held is None:
            return "null"
        if isinstance(held, str):
            return held
        return f"({self._text(held.then)} if {held.when} else {self._text(held.otherwise)})"


def _fits(id: str) -> bool:
    """Whether a chain takes it for a step's id."""
    if not plain_name(id):
        return False
    row: dict[str, Any] = {"id": id, "set": 1}
    try:
        read_steps([row], "id")
    except DefinitionError:
        return False
    return True
