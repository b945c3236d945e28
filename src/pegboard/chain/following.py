"""Chains that agents follow: which execution a session is in, the refusal of what is not next, and `chain_progress`."""

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import anyio
import anyio.to_thread

from pegboard.chain.fault import ChainError, ChainFault
from pegboard.chain.followed import Offer
from pegboard.chain.hold import Hold
from pegboard.chain.record import ChainRun, RunStatus
from pegboard.chain.specification import FORM_KEY, SpecificationTool, is_followed
from pegboard.core import (
    Call,
    Effects,
    Failure,
    FailureCode,
    Handler,
    Mode,
    Result,
    Session,
    SourceRef,
    Tool,
    ToolName,
    ToolSpec,
    default_mode,
    take_mode,
)
from pegboard.errors import DefinitionError, StoreError

if TYPE_CHECKING:
    from pegboard.chain.ledger import Ledger

META = "meta"
_MOST = 4096
"""Sessions whose execution is remembered; of others the store is asked again."""
_IDLE = frozenset({Mode.DRY_RUN, Mode.SCHEMA, Mode.EXPLORE, Mode.PREVIEW})

SPEC = ToolSpec(
    name=ToolName("", "chain_progress"),
    description="Where an execution of a chain is that you follow: its steps, how far each has come, and the next one."
    " Also goes on with an execution from an earlier session, and ends one that you will not follow to its end.",
    input={
        "type": "object",
        "properties": {
            "execution": {"type": "string", "description": "The execution's id, as the chain returned it."},
            "end": {"type": "boolean", "description": "End it for good; what was done stays done.", "default": False},
        },
        "required": ["execution"],
    },
    effects=Effects.READ_ONLY,
    annotations={"readOnlyHint": True},
    source=SourceRef("compose", "chain"),
)

SpecOf: TypeAlias = Callable[[ToolName], ToolSpec | None]
_Key: TypeAlias = tuple[str, str]

_inside: ContextVar[_Key | None] = ContextVar("pegboard_chain_inside", default=None)
_through: ContextVar[str | None] = ContextVar("pegboard_chain_through", default=None)


class Runs(Protocol):
    """The runs of a board's chains."""

    @property
    def ledger(self) -> "Ledger":
        """Where they stand."""
        ...

    def tool_of(self, run: ChainRun) -> Any:
        """What runs a run."""
        ...


class Following:
    """Which chains the sessions of a board follow.

    Parameters:
        runs: the runs.
        spec_of: the tools.
    """

    def __init__(self, runs: Runs, spec_of: SpecOf) -> None:
        self._runs, self._spec_of = runs, spec_of
        self._open: dict[_Key, str | None] = {}
        self._busy: dict[_Key, anyio.Lock] = {}
        self.tool = Tool(SPEC, self.progress)

    async def judge(self, call: Call, run: Handler) -> Result:
        """Run a call, unless its session follows a chain in which something else is next."""
        spec = self._spec_of(call.tool)
        if spec is None or call.tool == SPEC.name or not call.session.id:
            return await run(call)
        if spec.source.kind == META:
            with _set(_through, call.id):
                return await run(call)
        key = _key(call.session)
        if _inside.get() == key or call.parent not in (None, _through.get()):
            return await run(call)
        with _set(_inside, key):
            return await self._own(call, spec, key, run)

    async def _own(self, call: Call, spec: ToolSpec, key: _Key, run: Handler) -> Result:
        """A call that the agent itself makes; those of one session that follows a chain run one after the other."""
        if await self._execution(key) is None and FORM_KEY not in spec.meta:
            return await run(call)
        async with self._busy.setdefault(key, anyio.Lock()):
            id = await self._execution(key)
            if id is None:
                result = await run(call)
                self._open.pop(key, None)  # it may have begun one
                return result
            mode = call.mode or take_mode(spec, call.arguments)[0] or default_mode(spec)
            offer = Offer(replace(call, mode=mode), mode, run)
            return await self._step(id, call, key, offer)

    async def _step(self, id: str, call: Call, key: _Key, offer: Offer) -> Result:
        try:
            known = await self._with(lambda ledger: ledger.run(id))
            tool: SpecificationTool = self._runs.tool_of(known)
            if offer.mode in _IDLE and all(step.mode is Mode.EXECUTE for step in tool.steps):
                return await offer.run(call)  # looking changes nothing
            run, ticket = await self._with(lambda ledger: ledger.claim(known.id))
        except ChainError as error:
            if error.code in (ChainFault.RUN_OVER, ChainFault.UNKNOWN_RUN):
                self._open.pop(key, None)
                return await offer.run(call)
            return _refused(id, error)
        except (DefinitionError, StoreError) as error:
            return _refused(id, error)
        try:
            return await tool.follow(call, Hold(self._runs.ledger, run, ticket), offer)
        finally:
            self._open.pop(key, None)  # it may be over

    async def progress(self, call: Call) -> Result:
        """The handler of `chain_progress`."""
        id = str(call.arguments.get("execution", ""))
        try:
            run = await self._with(lambda ledger: ledger.run(id))
            if not is_followed(run) or run.principal != call.session.principal:
                raise ChainError(ChainFault.UNKNOWN_RUN, f"There is no execution {id!r} that you follow.")
            if call.arguments.get("end"):
                return await self._end(run)
            if run.status in (RunStatus.DONE, RunStatus.CANCELLED, RunStatus.FAILED):
                return Result(value=_shown(run))
            if run.session != call.session.id:
                await self._with(lambda ledger: ledger.bind(run.id, call.session.id))
                self._open.clear()
            tool: SpecificationTool = self._runs.tool_of(run)
            held, ticket = await self._with(lambda ledger: ledger.claim(run.id))
            return await tool.go(call, Hold(self._runs.ledger, held, ticket))
        except (ChainError, DefinitionError, StoreError) as error:
            return _refused(id, error)

    async def _end(self, run: ChainRun) -> Result:
        ended = await self._with(lambda ledger: ledger.cancel(run.id))
        self._open.clear()
        return Result(value=_shown(ended))

    async def _execution(self, key: _Key) -> str | None:
        if key not in self._open:
            if len(self._open) >= _MOST:
                self._open.clear()
                self._busy = {known: lock for known, lock in self._busy.items() if lock.locked()}
            self._open[key] = await self._with(lambda ledger: ledger.followed(*key))
        return self._open[key]

    async def _with(self, step: "Callable[[Ledger], Any]") -> Any:
        return await anyio.to_thread.run_sync(lambda: step(self._runs.ledger))


@contextmanager
def _set(variable: ContextVar[Any], value: object) -> Generator[None]:
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)


def _key(session: Session) -> _Key:
    return session.id, session.principal


def _shown(run: ChainRun) -> Mapping[str, Any]:
    steps = [{"id": point.step, "tool": point.tool, "status": point.status.value} for point in run.steps.values()]
    return {"execution": run.id, "chain": run.chain, "status": run.status.value, "steps": steps, "value": run.value}


def _refused(id: str, error: ChainError | DefinitionError | StoreError) -> Result:
    what = error.message if id in error.message else f"The chain that you follow ({id}): {error.message}"
    return Result(
        failure=Failure(
            FailureCode.PREREQUISITE,
            f"{what} Nothing ran.",
            next_step=error.next_step or f'Call chain_progress with {{"execution": "{id}"}}.',
            details={"execution": id},
        )
    )
