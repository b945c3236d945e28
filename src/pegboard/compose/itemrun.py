"""Running a batch: items are split from the shared parameters, run, put back in order and reported."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast

from pegboard.compose.fanout import Job, Outcome, Pace, fan_out
from pegboard.compose.inner import Inner, payload, status_of
from pegboard.compose.report import common_code, items_value, notes_of, whole_status
from pegboard.core import (
    Call,
    Effects,
    Failure,
    FailureCode,
    Handler,
    ItemReport,
    Mode,
    Report,
    Result,
    Status,
    ToolSpec,
)
from pegboard.invoke.budget import without_limit
from pegboard.schema.types import Json, JsonObject, canonical

if TYPE_CHECKING:
    from pegboard.compose.batch import Batch
    from pegboard.compose.upstream import Upstream


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """How a batch's arguments are made of its tool's.

    Parameters:
        items: the parameter that holds the list.
        single: whether an item is a bare value of that parameter; else it is an object.
        shared: the parameters that are given once.
        report: the parameter that chooses what the answer shows.
    """

    items: str
    single: bool
    shared: tuple[str, ...]
    report: str

    def arguments(self, item: Json, shared: JsonObject) -> JsonObject | None:
        """The arguments of one item's call, or None where the item is no object."""
        if self.single:
            return {self.items: item, **shared}
        return {**shared, **cast("JsonObject", item)} if isinstance(item, Mapping) else None


@dataclass(frozen=True)
class ItemRun:
    """The handler of a batch."""

    batch: "Batch"
    inner: Mapping[str, ToolSpec] = field(repr=False)
    shape: Shape
    run: Handler

    async def __call__(self, call: Call) -> Result:
        """Run every item and report on each."""
        items = call.arguments.get(self.shape.items)
        refusal = self._refusal(items)
        if refusal is not None:
            return replace(refusal, mode=call.mode or Mode.EXECUTE)
        return await _Attempt(self, Inner.of(self.run, call), cast("list[Json]", items)).result()

    def _refusal(self, items: Json) -> Result | None:
        where, limit = f"/{self.shape.items}", self.batch.limit
        if not isinstance(items, list):
            message = f"{self.shape.items} must be a list of items. Nothing was done."
        elif not items:
            message = "The list of items is empty, so nothing was done."
        elif len(cast("list[Json]", items)) > limit:
            count = len(cast("list[Json]", items))
            return Result.failed(
                FailureCode.INVALID_ARGUMENTS,
                f"{count} items are more than the maximum of {limit}. Nothing was done.",
                where=where,
                next_step=f"Make {math.ceil(count / limit)} calls of at most {limit} items each.",
                details={"limit": limit, "given": count},
            )
        else:
            return None
        step = f"Give a list of 1 to {limit} items."
        return Result.failed(FailureCode.INVALID_ARGUMENTS, message, where=where, next_step=step)


class _Attempt:
    """One call of a batch."""

    def __init__(self, tool: ItemRun, inner: Inner, items: Sequence[Json]) -> None:
        self.tool, self.batch, self.shape = tool, tool.batch, tool.shape
        self.inner = inner
        self.items = items
        self.target = tool.inner[self.batch.tool]
        arguments = inner.outer.arguments
        self.shared = {name: arguments[name] for name in self.shape.shared if name in arguments}
        self.mode = inner.outer.mode or Mode.EXECUTE
        self.first_of = self._first_places()
        again = [f"{place} (as {first})" for place, first in enumerate(self.first_of) if first != place]
        self.notes = [f"Equal items ran once: {', '.join(again)}."] if again else []

    async def result(self) -> Result:
        places = sorted(set(self.first_of))
        if self.batch.on_error == "all_or_nothing" and self.mode is Mode.EXECUTE:
            refused = await self._dry_run(places)
            if refused is not None:
                return refused
        outcomes = dict(zip(places, await self._outcomes(places), strict=True))
        items = self._reports(outcomes)
        if self.mode is Mode.EXECUTE:
            good = [(place, outcomes[place].result) for place in places]
            parts = [(str(place), result.report) for place, result in good if result is not None and result.ok]
            self.notes += notes_of(parts, kind="Item")
        if self.batch.on_error == "all_or_nothing" and any(item.status is not Status.OK for item in items):
            return await self._nothing(items)
        return self._composed(items)

    async def _outcomes(self, places: Sequence[int]) -> list[Outcome]:
        if self.batch.upstream is not None and self.mode is Mode.EXECUTE:
            return await self._together(self.batch.upstream, places)
        return await fan_out(
            [self._job(place) for place in places], self._pace(), done=self.inner.told, cancelled=self._log
        )

    def _pace(self) -> Pace:
        if self.batch.on_error == "all_or_nothing":
            return replace(self.batch.pace, stop_after=1)
        return self.batch.pace

    def _first_places(self) -> list[int]:
        if self.batch.duplicates == "each":
            return list(range(len(self.items)))
        seen: dict[str, int] = {}
        return [seen.setdefault(canonical(item), place) for place, item in enumerate(self.items)]

    def _job(self, place: int, mode: Mode | None = None) -> Job:
        arguments = self.shape.arguments(self.items[place], self.shared)

        async def job() -> Result:
            if arguments is None:
                return _no_object(self.shape.items, place)
            return await self.inner.call(self.target, arguments, key=str(place), mode=mode)

        return job

    async def _log(self, outcomes: Sequence[Outcome]) -> None:
        if self.inner.outer.log is None:
            return
        places = sorted(set(self.first_of))
        ended = {str(place): outcome.status.value for place, outcome in zip(places, outcomes, strict=True)}
        await self.inner.outer.log("warning", {"message": "The batch was cancelled.", "items": ended}, "batch")

    async def _dry_run(self, places: Sequence[int]) -> Result | None:
        jobs = [self._job(place, Mode.DRY_RUN) for place in places]
        outcomes = dict(zip(places, await fan_out(jobs, replace(self.batch.pace, retries=0)), strict=True))
        if all(outcome.status is Status.OK for outcome in outcomes.values()):
            return None
        # A dry run's value is not the item's, so a good item is shown as not begun.
        items = [
            replace(item, status=Status.SKIPPED, value=None) if item.status is Status.OK else item
            for item in self._reports(outcomes)
        ]
        return self._failed(items, "All or nothing: an item cannot succeed, so nothing was done.")

    async def _nothing(self, items: list[ItemReport]) -> Result:
        done = [item for item in items if item.status is Status.OK and self.first_of[item.index] == item.index]
        unclear = [item for item in items if item.status in (Status.TIMED_OUT, Status.CANCELLED)]
        stuck: list[tuple[ItemReport, Failure]] = []
        for item in done if self.batch.undo and self.mode is Mode.EXECUTE else ():
            undone = await self._undo(item)
            if undone.failure is not None:
                stuck.append((item, undone.failure))
        reported = [
            replace(item, status=Status.CANCELLED, value=None) if item.status is Status.OK else item for item in items
        ]
        if self.batch.undo and done and not stuck:
            self.notes.append(f"{len(done)} items had been done and were taken back.")
        for item, failure in stuck:
            reported[item.index] = replace(item, failure=failure)
            self.notes.append(f"Item {item.index} was done and could not be taken back: {failure.message}")
        if stuck or (unclear and self.target.effects is not Effects.READ_ONLY):
            which = [item.index for item, _ in stuck] + [item.index for item in unclear]
            return self._failed(
                reported,
                f"All or nothing was not kept: items {which} took effect or may have.",
                code=FailureCode.OUTCOME_UNKNOWN,
                next_step="Look at these items and put them right by hand before you try again.",
            )
        return self._failed(reported, "All or nothing: an item failed, so no item took effect.")

    async def _undo(self, item: ItemReport) -> Result:
        undo = self.batch.undo
        assert undo is not None
        scope = {"item": self.shape.arguments(item.input, self.shared), "value": item.value}
        with without_limit():
            return await self.inner.call(self.tool.inner[undo.tool], undo.args.render(scope), key=f"{item.index}/undo")

    def _reports(self, outcomes: Mapping[int, Outcome]) -> list[ItemReport]:
        reports: list[ItemReport] = []
        for place, item in enumerate(self.items):
            first = self.first_of[place]
            outcome = outcomes[first]
            result = outcome.result
            value = payload(result) if result is not None and result.ok else None
            failure = result.failure if result is not None else _unfinished(outcome.status)
            reports.append(ItemReport(place, item, outcome.status, value, failure, outcome.seconds))
        return reports

    def _composed(self, items: list[ItemReport]) -> Result:
        whole = whole_status([item.status for item in items])
        if whole == "failed":
            failures = [item.failure for item in items if item.failure]
            first = failures[0].message if failures else "nothing was run"
            return self._failed(items, f"No item succeeded. The first: {first}", code=common_code(failures))
        report = self._report(items)
        value = items_value(report, self._choice(), self._retry(items), whole=whole)
        return Result(value=value, report=report, mode=self.mode)

    def _failed(
        self,
        items: list[ItemReport],
        message: str,
        *,
        code: FailureCode | None = None,
        next_step: str | None = None,
    ) -> Result:
        failures = [item.failure for item in items if item.failure]
        report = self._report(items)
        steps = [failure.next_step for failure in failures if failure.next_step]
        value = items_value(report, self._choice(), self._retry(items), whole="failed")
        failure = Failure(
            code or common_code(failures),
            message,
            where=f"/{self.shape.items}",
            next_step=next_step or (steps[0] if steps else "See the error of each item; put it right and call again."),
            retryable=bool(failures) and all(failure.retryable for failure in failures),
            details=value,
        )
        return Result(value=value, failure=failure, report=report, mode=self.mode)

    def _report(self, items: list[ItemReport]) -> Report:
        return Report(items=tuple(items), notes=tuple(self.notes))

    def _choice(self) -> str:
        return str(self.inner.outer.arguments.get(self.shape.report, "all"))

    def _retry(self, items: list[ItemReport]) -> JsonObject | None:
        if self.mode is not Mode.EXECUTE:
            return None
        again = [
            item.input for item in items if item.status is not Status.OK and (self.first_of[item.index] == item.index)
        ]
        if self.batch.on_error == "all_or_nothing":
            again = list(self.items)
        return {self.shape.items: again, **self.shared} if again else None

    async def _together(self, upstream: "Upstream", places: Sequence[int]) -> list[Outcome]:
        # Each item is checked by itself first, so that a bad one does not cost those that travel with it.
        with without_limit():  # they are checks of single items, not the plan of as many calls
            checks = await fan_out([self._job(place, Mode.DRY_RUN) for place in places], self.batch.pace)
        outcomes = dict(zip(places, checks, strict=True))
        good = [place for place in places if outcomes[place].status is Status.OK]
        size = upstream.limit or max(len(good), 1)
        chunks = [good[at : at + size] for at in range(0, len(good), size)]
        found: dict[int, Sequence[Result]] = {}
        jobs = [self._chunk(upstream, number, chunk, found) for number, chunk in enumerate(chunks)]
        for number, sent in enumerate(await fan_out(jobs, self._pace())):
            for at, place in enumerate(chunks[number]):
                outcomes[place] = _share(sent, found[number][at] if number in found else sent.result)
        return [outcomes[place] for place in places]

    def _chunk(
        self, upstream: "Upstream", number: int, places: Sequence[int], found: dict[int, Sequence[Result]]
    ) -> Job:
        async def job() -> Result:
            items = [self.items[place] for place in places]
            answer = await upstream.send(self.inner, self.tool.inner, items, self.shared, str(number))
            if isinstance(answer, Result):
                return answer
            found[number] = answer
            return Result()

        return job


def _share(sent: Outcome, result: Result | None) -> Outcome:
    """How one of the items that travelled together ended."""
    status = sent.status if result is None else status_of(result)
    return Outcome(status, result, sent.seconds, sent.attempts)


def _no_object(parameter: str, place: int) -> Result:
    return Result.failed(
        FailureCode.INVALID_ARGUMENTS,
        "The item is not an object of parameters.",
        where=f"/{parameter}/{place}",
        next_step="Give each item as an object with the parameters in which items differ.",
    )


def _unfinished(status: Status) -> Failure | None:
    match status:
        case Status.TIMED_OUT:
            message, code = "It did not finish in the batch's time; it may have taken effect.", FailureCode.TIMEOUT
        case Status.CANCELLED:
            message, code = "It was running when the batch was cancelled.", FailureCode.CANCELLED
        case _:  # never begun: its status says it all
            return None
    return Failure(code, message, next_step="Give it again in the next call (see retry).")
