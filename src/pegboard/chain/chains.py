"""The chains of a board and their runs: resume, fork, cancel, adopt, list and show."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol, TypeVar
from uuid import uuid4

import anyio
import anyio.to_thread

from pegboard.catalog import Catalog
from pegboard.chain.definition import Chain
from pegboard.chain.fault import ChainError, ChainFault, unknown_step
from pegboard.chain.hold import Hold
from pegboard.chain.record import ChainRun, Checkpoint, RunStatus, StepStatus
from pegboard.chain.tool import ChainTool
from pegboard.core import Call, Mode, Progress, Report, Result, Session, Tool, ToolName, ToolSpec
from pegboard.errors import DefinitionError, StoreError, nearest
from pegboard.schema.types import Json, as_object

if TYPE_CHECKING:
    from pegboard.chain.ledger import Ledger, Records

T = TypeVar("T")
AT_ONCE = 8
"""Runs of dead processes that go on at once."""


class Tools(Protocol):
    """The tools of a board."""

    @property
    def catalog(self) -> Catalog:
        """Those that are there now."""
        ...

    async def run(self, call: Call) -> Result:
        """Call one of them, through the whole pipeline."""
        ...


class Chains:
    """The runs of a board's chains. A chain itself is begun by calling its tool.

    Parameters:
        board: the tools that steps call.
        store: gives where runs stand; called when it is first needed, in a thread.
    """

    def __init__(self, board: Tools, store: "Callable[[], Records]") -> None:
        self._board, self._store = board, store
        self._ledger: Ledger | None = None
        self._stopping = False

    @property
    def ledger(self) -> "Ledger":
        """The runs in the store; blocks when it is first needed."""
        if self._ledger is None:
            from pegboard.chain.ledger import Ledger

            self._ledger = Ledger(self._store())
            self._ledger.stopping = self._stopping
        return self._ledger

    def kept(self, tools: Sequence[Tool]) -> list[Tool]:
        """The tools, the chains among them so that their runs are kept."""
        return [
            Tool(tool.spec, replace(tool.handler, ledger=lambda: self.ledger))
            if isinstance(tool.handler, ChainTool)
            else tool
            for tool in tools
        ]

    async def runs(
        self, *, status: RunStatus | None = None, chain: str | None = None, limit: int = 50
    ) -> list[ChainRun]:
        """Runs without their checkpoints, the latest first."""
        return await self._with(lambda ledger: ledger.runs(status=status, chain=chain, limit=limit))

    async def show(self, id: str) -> ChainRun:
        """A run with its checkpoints. Raises `ChainError` where there is none."""
        return await self._with(lambda ledger: ledger.run(id))

    async def cancel(self, id: str) -> ChainRun:
        """End a run for good. Raises `ChainError` where there is none, or it is over."""
        return await self._with(lambda ledger: ledger.cancel(ledger.run(id).id))

    async def resume(
        self,
        id: str,
        *,
        redo: str | None = None,
        skip: str | None = None,
        output: Json = None,
        progress: Progress | None = None,
    ) -> Result:
        """Go on with a run: steps that are over do not run again. One that is done answers what it came to.

        Parameters:
            id: the run; the beginning of its id is enough.
            redo: run this step again, whose outcome is unknown.
            skip: take `output` for what this step came to, and go on behind it.
            output: the value of a step that is skipped.
            progress: where progress goes.

        Raises:
            ChainError: there is no such run or step, the run is over, or another process has it.
            StoreError: the run cannot be written.
            DefinitionError: a tool that it needs is not on the board any more.
        """
        run = await self.show(id)
        if run.status is RunStatus.DONE and redo is None and skip is None:
            note = f"Chain run {run.id}: done before."
            return Result(value=run.value, report=Report(notes=(note,), data={"chain_run": _about(run)}))
        tool = self.tool_of(run)
        choice = Choice(redo, skip, output)
        choice.check(run, [step.id for step in tool.steps])
        held, ticket = await self._with(lambda ledger: ledger.claim(run.id, choice.change))
        return await tool.go(_call(held, progress), Hold(self.ledger, held, ticket))

    async def fork(self, id: str, step: str, *, progress: Progress | None = None) -> Result:
        """Begin a new run that has the results of another one before a step, and runs from that step on.

        Raises:
            ChainError: there is no such run or step, or a step before it is not over.
            DefinitionError: a tool that it needs is not on the board any more.
        """
        run = await self.show(id)
        tool = self.tool_of(run)
        new = self.forked(run, tool, step)
        return await tool.begin(new, _call(new, progress), lambda: self.ledger)

    def forked(self, run: ChainRun, tool: ChainTool, step: str) -> ChainRun:
        """A new run that has what another one came to before a step. Raises `ChainError` like `fork`."""
        ids = [each.id for each in tool.steps]
        if step not in ids:
            raise unknown_step(step, ids, run.id)
        before = [each for each in tool.steps[: ids.index(step)] if not each.stop]
        for each in before:
            if each.id not in run.steps or not run.steps[each.id].status.is_over:
                raise ChainError(
                    ChainFault.CHOICE,
                    f"The step {each.id} of {run.id} is not over, so nothing can begin behind it.",
                    next_step=f"Fork from {each.id}, or resume the run first.",
                )
        points = {each.id: run.steps[each.id] for each in before}
        return ChainRun(
            id=uuid4().hex[:12],
            chain=run.chain,
            digest=run.digest,
            definition=run.definition,
            input=run.input,
            principal=run.principal,
            session=run.session,
            forked_from=run.id,
            forked_at=step,
            steps=points,
        )

    async def adopt(self, *, progress: Progress | None = None) -> dict[str, Result]:
        """Go on with every run whose process has died; by run, what it came to. Those of others are left alone."""
        left = await self.left()
        found: dict[str, Result] = {}
        limit = anyio.CapacityLimiter(AT_ONCE)

        async def one(id: str) -> None:
            async with limit:
                result = await self.take_up(id, progress=progress)
            if result is not None:
                found[id] = result

        async with anyio.create_task_group() as tasks:
            for id in left:
                tasks.start_soon(one, id)
        return {id: found[id] for id in left if id in found}

    def stop(self) -> None:
        """From now on other processes adopt what is let go here."""
        self._stopping = True
        if self._ledger is not None:
            self._ledger.stopping = True

    async def left(self) -> Sequence[str]:
        """The ids of the runs whose process has died, the oldest first."""
        return await self._with(lambda ledger: ledger.left())

    async def take_up(self, id: str, *, progress: Progress | None = None) -> Result | None:
        """Go on with a run that was left; what cannot be done is in the result. None where another process has it."""
        try:
            return await self.resume(id, progress=progress)
        except ChainError as error:
            held = error.code in (ChainFault.RUN_HELD, ChainFault.RUN_OVER)
            return None if held else _failed(error)
        except (DefinitionError, StoreError) as error:
            return _failed(error)

    def tool_of(self, run: ChainRun) -> ChainTool:
        """What runs a run: the definition that is frozen into it, over the tools of today.

        Raises:
            DefinitionError: one of its tools is not on the board any more.
        """
        definition = dict(run.definition)
        names = as_object(definition.pop("tools", {}))
        chain = Chain.read(run.chain, definition, where=f"run {run.id}")
        inner = {text: self._spec(str(name), run) for text, name in names.items()}
        return chain.over(inner, self._board.run)

    def _spec(self, name: str, run: ChainRun) -> ToolSpec:
        catalog = self._board.catalog
        tool = catalog.get(ToolName.parse(name))
        if tool is not None:
            return tool.spec
        near = nearest(name, map(str, catalog.tools))
        raise DefinitionError(
            f"The run needs the tool {name!r}, which is not on the board.",
            where=f"run {run.id}",
            next_step=f"There is {' or '.join(near)}." if near else "See what is there with: pegboard list",
        )

    async def _with(self, step: "Callable[[Ledger], T]") -> T:
        return await anyio.to_thread.run_sync(lambda: step(self.ledger))


class Choice:
    """What an operator chose for a step whose outcome is unknown."""

    def __init__(self, redo: str | None, skip: str | None, output: Json) -> None:
        self.redo, self.skip, self.output = redo, skip, output

    def check(self, run: ChainRun, steps: Sequence[str]) -> None:
        """Raises `ChainError` where the steps are not the chain's, or one is chosen twice."""
        for chosen in (self.redo, self.skip):
            if chosen is not None and chosen not in steps:
                raise unknown_step(chosen, steps, run.id)
        if self.redo is not None and self.skip is not None:
            raise ChainError(ChainFault.CHOICE, "A step is redone or skipped, not both.", where=run.id)

    def change(self, run: ChainRun) -> Mapping[str, Checkpoint]:
        """The checkpoints that the choice comes to; raises `ChainError` where the step is not open."""
        chosen = self.redo or self.skip
        if chosen is None:
            return {}
        point = run.steps.get(chosen)
        if point is None or point.status.is_over:
            open_ = [each.step for each in run.steps.values() if not each.status.is_over]
            how = "was not reached" if point is None else f"is {point.status}"
            raise ChainError(
                ChainFault.CHOICE,
                f"There is nothing to choose about {chosen}: it {how}.",
                where=run.id,
                next_step=f"Open is {', '.join(open_)}." if open_ else f"Go on with: pegboard chain resume {run.id}",
            )
        if self.skip is not None:
            return {chosen: replace(point, status=StepStatus.OK, value=self.output, failure=None, ended=point.started)}
        return {chosen: replace(point, status=StepStatus.FAILED, ended=point.started)}


def _call(run: ChainRun, progress: Progress | None) -> Call:
    session = Session(id=run.session, principal=run.principal)
    name = ToolName.parse(run.chain)
    return Call(
        tool=name, arguments=run.input, mode=Mode.EXECUTE, session=session, id=uuid4().hex[:12], progress=progress
    )


def _about(run: ChainRun) -> dict[str, Json]:
    return {"id": run.id, "status": run.status.value}


def _failed(error: ChainError | DefinitionError | StoreError) -> Result:
    from pegboard.core import FailureCode

    return Result.failed(FailureCode.UNAVAILABLE, error.message, where=error.where, next_step=error.next_step)
