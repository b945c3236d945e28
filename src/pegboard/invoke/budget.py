"""What a session may spend on calls: those that its model makes, and those inside of them, counted apart."""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TypeAlias

from pegboard.core import (
    Budget,
    Call,
    Effects,
    Failure,
    FailureCode,
    Handler,
    Middleware,
    Mode,
    Report,
    Result,
    Selection,
    Session,
    ToolSpec,
    default_mode,
    take_mode,
)
from pegboard.invoke.ledger import Count, Ledger, Limit
from pegboard.invoke.lookup import SpecOf

LedgerOf: TypeAlias = Callable[[Session], Ledger]
"""The ledger of a session."""

META = "meta"
"""The kind of source of the board's own tools about tools."""
_HURTS = frozenset({Effects.ADDITIVE, Effects.IDEMPOTENT, Effects.DESTRUCTIVE})
_IDLE = frozenset({Mode.DRY_RUN, Mode.SCHEMA})
"""Modes in which the tool itself is not called."""


@dataclass(frozen=True, slots=True)
class _Around:
    """The call of a model that is running around this one.

    Parameters:
        session: the session whose model made it; another one's calls are not inside of it.
        count: the inner calls of it.
        free: whether inner calls are never refused.
    """

    session: tuple[str, str]
    count: Count | None
    free: bool = False


_around: ContextVar[_Around | None] = ContextVar("pegboard_budget_around", default=None)


@contextmanager
def without_limit() -> Generator[None]:
    """Let the inner calls in here pass, however much is spent: to take something back must not stop half-way."""
    around = _around.get()
    token = _around.set(None if around is None else replace(around, free=True))
    try:
        yield
    finally:
        _around.reset(token)


def budget(spec_of: SpecOf, ledger_of: LedgerOf, default: Budget) -> Middleware:
    """Refuse the calls that go beyond a session's budget; the refusal says what was done so far, and what to do next.

    A call is the model's own unless it is made while another one of the same session runs, or names a parent. A call
    through a meta-tool is the model's own too. Inner calls count for the call of the model that they lie in, however
    deep; a composite whose inner calls were refused says so in its report.

    Parameters:
        spec_of: the tools.
        ledger_of: what each session has spent.
        default: the budget of a session that brings none.
    """

    def wrap(next_handler: Handler) -> Handler:
        async def handle(call: Call) -> Result:
            spec = spec_of(call.tool)
            if spec is None:
                return await next_handler(call)
            if spec.source.kind == META:
                return await next_handler(call) if _inside(call) else await _within(_outside(call), next_handler, call)
            books = _Books(call, spec, ledger_of(call.session), call.session.budget or default)
            return await (books.own(next_handler) if books.inside is None else books.inner(next_handler, books.inside))

        return handle

    return wrap


class _Books:
    """One call, and where it is counted."""

    def __init__(self, call: Call, spec: ToolSpec, ledger: Ledger, budget: Budget) -> None:
        self.call, self.spec, self.ledger, self.budget = call, spec, ledger, budget
        self.name = str(spec.name)
        around = _around.get()
        self.free = around is not None and around.free
        self.inside: Count | None = None
        if around is not None and around.session == _key(call.session):
            self.inside = around.count
        elif call.parent is not None:
            self.inside = ledger.inside(call.parent)

    @cached_property
    def mode(self) -> Mode:
        """The mode that the call will run in."""
        return self.call.mode or take_mode(self.spec, self.call.arguments)[0] or default_mode(self.spec)

    async def own(self, next_handler: Handler) -> Result:
        """A call that the model makes."""
        most, own = self.budget.max_tool_calls, self.ledger.own
        if most is not None and own.made >= most:
            return _refused(own, f"This run has made the {most} tool calls that it may make", "max_tool_calls", most)
        refusal = self._over_limit(own)
        if refusal is not None:
            return refusal
        count = Count()
        tally = own.add(self.name)
        self._pick()
        result = await _within(_Around(_key(self.call.session), count), next_handler, self.call)
        tally.failed += not result.ok
        return _told(result, count)

    async def inner(self, next_handler: Handler, count: Count) -> Result:
        """A call that a batch, bundle, chain or script makes."""
        refusal = None if self.free else self._over_inner(count) or self._over_limit(count)
        if refusal is not None:
            count.refused += 1
            return refusal
        if self.mode in _IDLE:
            count.planned += 1
            return await next_handler(self.call)
        tally = count.add(self.name)
        count.effects += self._hurts
        self._pick()
        result = await next_handler(self.call)
        tally.failed += not result.ok
        return result

    @property
    def _hurts(self) -> bool:
        return self.mode is Mode.EXECUTE and self.spec.effects in _HURTS

    def _over_inner(self, count: Count) -> Result | None:
        """The refusal of an inner call, if it is one; a plan may not be larger than what is left to carry it out."""
        most, effects = self.budget.max_inner_calls, self.budget.max_inner_effects
        idle = self.mode in _IDLE
        if count.made + (count.planned if idle else 0) >= most:
            return _refused(count, f"One call may make {most} inner calls", "max_inner_calls", most)
        planned = count.planned if idle and self.spec.effects in _HURTS else 0
        if (self._hurts or planned) and count.effects + planned >= effects:
            what = f"One call may make {effects} inner calls that change something"
            return _refused(count, what, "max_inner_effects", effects)
        return None

    def _over_limit(self, count: Count) -> Result | None:
        for limit in self._limits():
            if self.mode not in _IDLE and self.ledger.picked.get(limit.selector, 0) >= limit.most:
                what = f"Tools that {limit.selector!r} picks may run {limit.most} times in this run"
                return _refused(count, what, f"limits.{limit.selector}", limit.most)
        return None

    def _pick(self) -> None:
        for limit in self._limits():
            if self.mode in _IDLE:
                continue
            self.ledger.picked[limit.selector] = self.ledger.picked.get(limit.selector, 0) + 1

    def _limits(self) -> Sequence[Limit]:
        limits = self.budget.limits
        return [limit for limit in _read(limits) if self.spec in limit.picks] if limits else ()


@lru_cache(maxsize=256)
def _read(limits: tuple[tuple[str, int], ...]) -> tuple[Limit, ...]:
    return tuple(Limit(selector, most, Selection.parse([selector])) for selector, most in limits)


def _inside(call: Call) -> bool:
    """Whether a call is made while another one of its session runs."""
    around = _around.get()
    return around is not None and around.count is not None and around.session == _key(call.session)


def _outside(call: Call) -> _Around:
    """What is around the target of a meta-tool that the model itself calls: nothing that counts."""
    return _Around(_key(call.session), None)


def _key(session: Session) -> tuple[str, str]:
    return session.principal, session.id


async def _within(around: _Around, next_handler: Handler, call: Call) -> Result:
    token = _around.set(around)
    try:
        return await next_handler(call)
    finally:
        _around.reset(token)


def _refused(count: Count, what: str, key: str, most: int) -> Result:
    done = f" Done so far: {count.told}." if count.tools else ""
    return Result(
        failure=Failure(
            FailureCode.BUDGET,
            f"{what}, and that is used up.{done}",
            next_step="Answer with what there is and say what is left; a batch form takes many items in one call."
            f" Whoever runs the board can raise {key} in [budget].",
            details={"limit": key, "most": most, "done": count.to_json()},
        )
    )


def _told(result: Result, count: Count) -> Result:
    """The result of a call whose inner calls were stopped by a limit, with what they did."""
    if not count.refused:
        return result
    report = result.report or Report()
    note = f"A limit stopped {count.refused} inner calls. Done: {count.told or 'nothing'}."
    data = {**report.data, "budget": {"refused": count.refused, "done": count.to_json()}}
    return replace(result, report=replace(report, notes=(*report.notes, note), data=data))
