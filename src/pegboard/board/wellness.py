"""How the services of a board are: by what real calls came to, and by a probe where they say nothing."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Protocol

import anyio

from pegboard.core import Call, FailureCode, Handler, Health, Middleware, Mode, Result, SourceState, SourceStatus
from pegboard.discovery.health import STATUS_OF, ServiceHealth, ServiceStatus
from pegboard.invoke.lookup import SpecOf

KEEP_SECONDS = 15.0
"""So long an answer holds, unless calls say otherwise."""
PROBE_SECONDS = 0.8
"""So long a probe waits."""
_LOST = (FailureCode.UNAVAILABLE, FailureCode.TIMEOUT, FailureCode.OUTCOME_UNKNOWN, FailureCode.UPSTREAM)
"""Failures of the service; the others show that it answers, or never reached it."""
_NEVER_THERE = (
    FailureCode.UNKNOWN_TOOL,
    FailureCode.INVALID_ARGUMENTS,
    FailureCode.BLOCKED,
    FailureCode.APPROVAL_NEEDED,
    FailureCode.BUDGET,
    FailureCode.CANCELLED,
)
_DOWN = 3
"""So many lost calls in a row say that a service is down, whatever its connection looks like."""


class Probed(Protocol):
    """A source on the board, as far as its health goes."""

    def summary(self) -> SourceStatus:
        """How it is, as far as is known."""
        ...

    async def probe(self) -> Health:
        """How it is, asking it."""
        ...


@dataclass(slots=True)
class _Pulse:
    """What calls and probes of one service came to."""

    well_at: float | None = None
    lost: list[str] = field(default_factory=list[str])
    lost_at: float = 0.0
    running: int = 0
    kept: ServiceHealth | None = None
    kept_at: float = 0.0


class Wellness:
    """Answers how services are.

    Parameters:
        services: the sources by name, now.
        clock: seconds that never go back.
        clean: takes secrets out of a reason.
    """

    def __init__(
        self,
        services: Callable[[], Mapping[str, Probed]],
        *,
        clock: Callable[[], float] = monotonic,
        clean: Callable[[str], str] = str,
    ) -> None:
        self._services, self._clock, self._clean = services, clock, clean
        self._pulses: dict[str, _Pulse] = {}

    async def check(self, names: Sequence[str], *, probe: bool = False) -> list[ServiceHealth]:
        """How these services are, in their order, all asked at the same time.

        Parameters:
            names: the sources' names.
            probe: ask each now, whatever was found before; one that is not running is started.
        """
        found: dict[str, ServiceHealth] = {}

        async def one(name: str) -> None:
            found[name] = await self._check(name, probe=probe)

        async with anyio.create_task_group() as tasks:
            for name in names:
                tasks.start_soon(one, name)
        return [found[name] for name in names]

    def watch(self, spec_of: SpecOf) -> Middleware:
        """Learn from what each call of a service came to.

        Parameters:
            spec_of: the tools.
        """

        def wrap(next_handler: Handler) -> Handler:
            async def handle(call: Call) -> Result:
                spec = spec_of(call.tool)
                if spec is None or spec.source.name not in self._services():
                    return await next_handler(call)
                pulse = self._pulses.setdefault(spec.source.name, _Pulse())
                pulse.running += 1
                try:
                    result = await next_handler(call)
                finally:
                    pulse.running -= 1
                self._learn(pulse, result)
                return result

            return handle

        return wrap

    def _learn(self, pulse: _Pulse, result: Result) -> None:
        failure = result.failure
        if result.mode in (Mode.DRY_RUN, Mode.SCHEMA) or (failure is not None and failure.code in _NEVER_THERE):
            return
        if failure is not None and failure.code in _LOST:
            pulse.lost = [*pulse.lost, failure.message][-_DOWN:]
            pulse.lost_at = self._clock()
        else:
            pulse.well_at, pulse.lost = self._clock(), []
        pulse.kept = None

    async def _check(self, name: str, *, probe: bool) -> ServiceHealth:
        now, pulse, source = self._clock(), self._pulses.setdefault(name, _Pulse()), self._services()[name]
        status = source.summary()
        kept = pulse.kept
        if kept is not None and not probe and now - pulse.kept_at < KEEP_SECONDS and kept.state is status.state:
            return replace(kept, age=now - pulse.kept_at)
        found = _as_known(status)
        live = status.state in (SourceState.READY, SourceState.DEGRADED)
        if live and not probe and not pulse.lost and pulse.well_at is not None and now - pulse.well_at < KEEP_SECONDS:
            return replace(found, age=now - pulse.well_at)
        if probe and status.state is not SourceState.DISABLED:
            found, pulse.lost = await self._ask(source, pulse), []
        elif live:
            found = self._doubted(await self._ask(source, pulse), pulse, now)
        found = replace(found, reasons=tuple(map(self._clean, found.reasons)))
        pulse.kept, pulse.kept_at = found, self._clock()
        return found

    async def _ask(self, source: Probed, pulse: _Pulse) -> ServiceHealth:
        health: Health | None = None
        with anyio.move_on_after(PROBE_SECONDS):
            health = await source.probe()
        known = _as_known(source.summary())
        if health is not None:
            return _stated(known, health.state, health.reason)
        if known.state is SourceState.STARTING:
            return known
        silent = f"It gave no answer within {PROBE_SECONDS:g} s"
        if pulse.running:
            reason = f"{silent}; {pulse.running} of its calls are still running."
            return replace(known, status=ServiceStatus.DEGRADED, reasons=(reason,))
        return replace(known, status=ServiceStatus.UNAVAILABLE, reasons=(f"{silent}.",))

    def _doubted(self, found: ServiceHealth, pulse: _Pulse, now: float) -> ServiceHealth:
        """What a probe found, less good where calls were lost lately and none succeeded since."""
        if not pulse.lost or now - pulse.lost_at > 4 * KEEP_SECONDS:
            return found
        down = len(pulse.lost) >= _DOWN
        count = f"Its last {_DOWN} calls or more" if down else f"Its last {len(pulse.lost)} calls"
        reason = f"{count if len(pulse.lost) > 1 else 'Its last call'} failed: {pulse.lost[-1]}"
        worst = ServiceStatus.UNAVAILABLE if down else ServiceStatus.DEGRADED
        status = found.status if found.status is ServiceStatus.UNAVAILABLE else worst
        return replace(found, status=status, reasons=(*found.reasons, reason))


def _as_known(status: SourceStatus) -> ServiceHealth:
    found = ServiceHealth(service=status.name, status=STATUS_OF[status.state], state=status.state, tools=status.tools)
    return _stated(found, status.state, status.error)


def _stated(found: ServiceHealth, state: SourceState, reason: str | None) -> ServiceHealth:
    told = _SAYS.get(state, "")
    reasons = tuple(part for part in (told, reason or "") if part)
    return replace(found, status=STATUS_OF[state], state=state, reasons=reasons)


_SAYS = {
    SourceState.IDLE: "It is not running and was well when it was last seen; it starts with the first call.",
    SourceState.STARTING: "It is starting.",
    SourceState.DISABLED: "It is disabled.",
}
