"""Which calls run, which wait for a person, and which never run."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeVar, cast

from pegboard.core import Effects, Mode, Selection, ToolSpec, offers
from pegboard.errors import DefinitionError, PegboardError, nearest
from pegboard.schema.expression import Expression
from pegboard.schema.types import JsonObject

E = TypeVar("E", bound=StrEnum)

FOREIGN = frozenset(("mcp",))
"""Kinds of source whose tools run code of others: what they say of themselves, and a preview of theirs, is a claim.
The other kinds are made by Pegboard of a document, or are the board's own code."""


class Action(StrEnum):
    """What a rule does with a call."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


@dataclass(frozen=True)
class Rule:
    """One rule. It holds for a call that fits in every respect that it names.

    Parameters:
        action: what it does.
        name: what it is called when it is told of.
        tools: the tools, by selectors; None: all.
        effects: by effects; empty: whatever they are.
        open_world: whether the tool says that it reaches into the open world; None: either way.
        modes: by mode; empty: those that do something.
        when: a condition over `input` (the arguments) and `mode`; None: always.
    """

    action: Action
    name: str = ""
    tools: Selection | None = None
    effects: frozenset[Effects] = frozenset()
    open_world: bool | None = None
    modes: frozenset[Mode] = frozenset()
    when: Expression | None = None

    def picks(self, spec: ToolSpec) -> bool:
        """Whether it is about this tool, whatever the call."""
        if self.tools is not None and spec not in self.tools:
            return False
        if self.open_world is not None and (spec.annotations.get("openWorldHint") is True) is not self.open_world:
            return False
        return not self.effects or spec.effects in self.effects

    @property
    def bare(self) -> bool:
        """Whether it is about every call of its tools that does something."""
        return not self.modes and self.when is None

    def holds(self, spec: ToolSpec, mode: Mode, arguments: JsonObject) -> bool:
        """Whether it is about this call of a tool that it picks."""
        if self.modes:
            if mode not in self.modes:
                return False
        elif is_harmless(spec, mode) and self.action is not Action.DENY:
            return False
        return self.when is None or self._condition(mode, arguments)

    def _condition(self, mode: Mode, arguments: JsonObject) -> bool:
        """A condition that cannot be judged never lets a call pass."""
        assert self.when is not None
        try:
            return bool(self.when.evaluate({"input": dict(arguments), "mode": mode.value}))
        except PegboardError:
            return self.action is not Action.ALLOW


ALLOWED = Rule(Action.ALLOW, "default")


def is_harmless(spec: ToolSpec, mode: Mode) -> bool:
    """Whether a mode of a tool does nothing, and that is Pegboard's own doing rather than a foreign claim."""
    if mode is Mode.EXECUTE:
        return False
    if offers(spec, mode):
        return spec.source.kind not in FOREIGN
    return mode in (Mode.DRY_RUN, Mode.SCHEMA)


@dataclass(frozen=True)
class Policy:
    """The rules of a board; the first that fits decides.

    Parameters:
        rules: in order: the written ones, then deny, require, allow.
        destructive: what happens to foreign tools that destroy and have no preview.
        unknown: what happens to foreign tools that nobody knows the effects of.
        open_world: what happens to foreign tools that say that they reach into the open world.
        elicit: whether the person behind the caller is asked, where its client shows forms.
    """

    rules: tuple[Rule, ...] = ()
    destructive: Action = Action.ASK
    unknown: Action = Action.ALLOW
    open_world: Action = Action.ALLOW
    elicit: bool = True

    @classmethod
    def of(cls, table: Mapping[str, Any]) -> "Policy":
        """The policy of the table `[approval]`, read.

        Raises:
            DefinitionError: a rule cannot be meant.
        """
        lists = [(Action.DENY, "deny"), (Action.ASK, "require"), (Action.ALLOW, "allow")]
        listed = [Rule(action, key, Selection.parse(table[key])) for action, key in lists if table[key]]
        defaults = {name: Action(table[name]) for name in ("destructive", "unknown", "open_world")}
        return cls((*read_rules(table["rules"]), *listed), **defaults, elicit=table["elicit"])

    def asks(self, spec: ToolSpec) -> bool:
        """Whether some call of a tool waits for a yes."""
        return any(rule.action is Action.ASK for rule in self.plan(spec))

    def plan(self, spec: ToolSpec) -> tuple[Rule, ...]:
        """The rules that may decide on calls of a tool, in order; empty where all of them simply run."""
        found: list[Rule] = []
        if spec.source.kind != "meta":
            for rule in self.rules:
                if rule.picks(spec):
                    found.append(rule)
                    if rule.bare:
                        break
            else:
                found.append(self._default(spec))
        while found and found[-1].action is Action.ALLOW and found[-1].bare:
            found.pop()
        return tuple(found)

    def _default(self, spec: ToolSpec) -> Rule:
        """The strictest of what holds for tools that no rule names."""
        if spec.source.kind not in FOREIGN:
            return ALLOWED
        reasons: list[tuple[Action, str]] = []
        if spec.effects is Effects.DESTRUCTIVE and not offers(spec, Mode.PREVIEW):
            reasons.append((self.destructive, "destructive"))
        if spec.effects is Effects.UNKNOWN:
            reasons.append((self.unknown, "unknown"))
        if spec.annotations.get("openWorldHint") is True:
            reasons.append((self.open_world, "open_world"))
        order = list(Action)
        action, name = max(reasons, key=lambda one: order.index(one[0]), default=(Action.ALLOW, "default"))
        return Rule(action, name)


def judge(plan: Iterable[Rule], spec: ToolSpec, mode: Mode, arguments: JsonObject) -> Rule:
    """The rule that decides on a call."""
    return next((rule for rule in plan if rule.holds(spec, mode, arguments)), ALLOWED)


_KEYS = ("action", "name", "tools", "effects", "open_world", "modes", "when")


def read_rules(rows: Iterable[JsonObject]) -> tuple[Rule, ...]:
    """Read `[[approval.rules]]`.

    Raises:
        DefinitionError: a rule cannot be meant; `where` is its place.
    """
    return tuple(_read(row, f"[{number}]") for number, row in enumerate(rows))


def _read(row: JsonObject, where: str) -> Rule:
    for key in row:
        if key not in _KEYS:
            near = nearest(key, _KEYS, limit=1)
            step = f"Did you mean {near[0]}?" if near else f"Known are {', '.join(_KEYS)}."
            raise DefinitionError("This key is not known.", where=f"{where}.{key}", next_step=step)
    if "action" not in row:
        step = 'Write action = "allow", "ask" or "deny".'
        raise DefinitionError("A rule does not say what it does.", where=where, next_step=step)
    tools, when, open_world = row.get("tools"), row.get("when"), row.get("open_world")
    if open_world is not None and not isinstance(open_world, bool):
        raise DefinitionError(
            "This is neither true nor false.", where=f"{where}.open_world", next_step="Write true or false."
        )
    return Rule(
        action=_member(Action, row["action"], f"{where}.action"),
        name=str(row.get("name") or f"rules{where}"),
        tools=None if tools is None else _selection(tools, f"{where}.tools"),
        effects=frozenset(_member(Effects, one, f"{where}.effects") for one in _texts(row.get("effects"))),
        open_world=open_world,
        modes=frozenset(_member(Mode, one, f"{where}.modes") for one in _texts(row.get("modes"))),
        when=None if when is None else _condition(when, f"{where}.when"),
    )


def _texts(value: Any) -> list[Any]:
    return [] if value is None else cast("list[Any]", value) if isinstance(value, list) else [value]


def _member(kind: type[E], value: Any, where: str) -> E:
    known = [member.value for member in kind]
    if value in known:
        return kind(value)
    near = nearest(str(value), known, limit=1)
    step = f"Did you mean {near[0]}?" if near else f"Write {' or '.join(known)}."
    raise DefinitionError(f"{value!r} is not known here.", where=where, next_step=step)


def _selection(value: Any, where: str) -> Selection:
    terms = _texts(value)
    if not terms or not all(isinstance(term, str) for term in terms):
        raise DefinitionError("These are no selectors.", where=where, next_step='Write for example ["git.*"].')
    try:
        return Selection.parse(terms)
    except DefinitionError as problem:
        raise DefinitionError(problem.message, where=where, next_step=problem.next_step) from problem


def _condition(value: Any, where: str) -> Expression:
    try:
        return Expression.parse(str(value))
    except DefinitionError as problem:
        raise DefinitionError(problem.message, where=where, next_step=problem.next_step) from problem
