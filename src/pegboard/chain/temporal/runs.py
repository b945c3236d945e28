"""The runs of a board's chains on a Temporal server, under the same commands as those in its store."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from time import time
from typing import TYPE_CHECKING, Any

from pegboard.chain.chains import Chains, Choice, Tools
from pegboard.chain.fault import ChainError, ChainFault, unknown_run
from pegboard.chain.record import ChainRun, RunStatus
from pegboard.chain.specification import USES_KEY, SpecificationTool
from pegboard.chain.temporal.order import WORKFLOW, Order, result_of, run_of
from pegboard.chain.tool import ChainTool
from pegboard.core import Call, Failure, FailureCode, Mode, Progress, Result, Tool, ToolSpec
from pegboard.errors import MissingExtraError, StoreError
from pegboard.schema.types import Json, JsonObject, as_object

if TYPE_CHECKING:
    from pegboard.chain.ledger import Records

PREFIX = "pegboard-chain-"
"""What the ids of workflows begin with; the id of the run follows."""
PATIENCE = timedelta(seconds=5)
"""How long a worker may take to say how far a run is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where the Temporal server is.

    Parameters:
        address: its HOST:PORT.
        namespace: the namespace.
        task_queue: where the workers of this board listen.
        api_key: turns TLS on; empty where none is needed.
        heartbeat: seconds of silence after which a worker counts as dead.
    """

    address: str = "127.0.0.1:7233"
    namespace: str = "default"
    task_queue: str = "pegboard"
    api_key: str = ""
    heartbeat: float = 15.0


class TemporalChains(Chains):
    """Runs on a Temporal server; those that stand in the store (chains that agents follow, older ones) are there too.

    Parameters:
        board: the tools that steps call.
        store: gives where the other runs stand.
        place: gives where the server is.
    """

    def __init__(self, board: Tools, store: "Callable[[], Records]", place: Callable[[], Place]) -> None:
        super().__init__(board, store)
        self._place_of = place
        self._connected: tuple[Any, Place] | None = None

    def kept(self, tools: Sequence[Tool]) -> list[Tool]:
        """The tools, the chains among them so that they are run by the server's workers."""
        return [
            Tool(_asked_later(tool.spec), _Remote(tool.handler, self))
            if isinstance(tool.handler, ChainTool) and not isinstance(tool.handler, SpecificationTool)
            else kept
            for tool, kept in zip(tools, super().kept(tools), strict=True)
        ]

    async def connected(self) -> tuple[Any, Place]:
        """The client, and where it is connected to. Raises `StoreError` where the server cannot be reached."""
        if self._connected is None:
            try:
                from temporalio.client import Client
            except ImportError:
                raise MissingExtraError("temporal", feature="Chains on Temporal") from None
            place = self._place_of()
            key: dict[str, Any] = {"api_key": place.api_key, "tls": True} if place.api_key else {}
            try:
                client = await Client.connect(place.address, namespace=place.namespace, **key)
            except RuntimeError as problem:
                raise _unreachable(place.address, problem) from problem
            self._connected = client, place
        return self._connected

    async def start(self, run: ChainRun, tool: ChainTool) -> Result:
        """Have the workers run a run, from the steps that it has already, until it is done, failed or waits.

        Raises:
            ChainError: it is under way.
            StoreError: the server cannot be reached.
        """
        from temporalio.common import WorkflowIDReusePolicy
        from temporalio.exceptions import WorkflowAlreadyStartedError

        client, place = await self.connected()
        run = replace(run, created=run.created or time())
        memo = {"chain": run.chain, "principal": run.principal, "input": dict(run.input), "digest": run.digest}
        try:
            handle = await self._asked(
                client.start_workflow(
                    WORKFLOW,
                    Order.of(run, tool.inner, place.heartbeat),
                    id=PREFIX + run.id,
                    task_queue=place.task_queue,
                    id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
                    memo=memo,
                    static_summary=run.chain,
                )
            )
        except WorkflowAlreadyStartedError:
            raise ChainError(
                ChainFault.RUN_HELD, f"The run {run.id} is under way.", next_step="Wait until it is through."
            ) from None
        return await self._stopped(handle, 0)

    async def runs(
        self, *, status: RunStatus | None = None, chain: str | None = None, limit: int = 50
    ) -> list[ChainRun]:
        """Runs without their checkpoints, the latest first; how they are, as far as the server's index knows."""
        client, _ = await self.connected()
        found: list[ChainRun] = []
        async for row in client.list_workflows(f"WorkflowType = '{WORKFLOW}'"):
            if row.close_time is None:  # the index is late; the run itself knows
                row = await self._asked(client.get_workflow_handle(row.id, run_id=row.run_id).describe())
            run = _listed(row, await row.memo())
            if (status is None or run.status is status) and (chain is None or run.chain == chain):
                found.append(run)
            if len(found) == limit:
                break
        more = await super().runs(status=status, chain=chain, limit=limit)
        latest = {run.id: run for run in sorted([*found, *more], key=lambda run: run.created)}
        return sorted(latest.values(), key=lambda run: (-run.created, run.id))[:limit]

    async def show(self, id: str) -> ChainRun:
        """A run with its checkpoints. Raises `ChainError` where there is none."""
        handle = await self._handle(id)
        return await super().show(id) if handle is None else await self._progress(handle)

    async def cancel(self, id: str) -> ChainRun:
        """Have a run end for good. Raises `ChainError` where there is none, or it is over."""
        handle = await self._handle(id)
        if handle is None:
            return await super().cancel(id)
        run = await self._progress(handle)
        if run.status in (RunStatus.DONE, RunStatus.FAILED, RunStatus.CANCELLED):
            raise _over(run)
        await self._asked(handle.cancel())
        return replace(run, status=RunStatus.CANCELLED)

    async def resume(
        self,
        id: str,
        *,
        redo: str | None = None,
        skip: str | None = None,
        output: Json = None,
        progress: Progress | None = None,
    ) -> Result:
        """Go on with a run that waits or has failed; one that is under way is waited for. Raises like `Chains`."""
        handle = await self._handle(id)
        if handle is None:
            return await super().resume(id, redo=redo, skip=skip, output=output, progress=progress)
        run, stops = await self._state(handle)
        if run.status is RunStatus.CANCELLED:
            raise _over(run)
        tool = self.tool_of(run)
        choice = Choice(redo, skip, output)
        choice.check(run, [step.id for step in tool.steps])
        points = choice.change(run)
        if run.status in (RunStatus.WAITING_APPROVAL, RunStatus.NEEDS_OPERATOR):
            await self._asked(handle.signal("go_on", {"redo": redo, "skip": skip, "output": output}))
            return await self._stopped(handle, stops)
        if run.status is RunStatus.FAILED:
            again = replace(run, status=RunStatus.RUNNING, failure=None, steps={**run.steps, **points})
            return await self.start(again, tool)
        return await self._stopped(handle, max(stops - 1, 0) if run.status is RunStatus.DONE else stops)

    async def fork(self, id: str, step: str, *, progress: Progress | None = None) -> Result:
        """Begin a new run that has the results of another one before a step. Raises like `Chains`."""
        if await self._handle(id) is None:
            return await super().fork(id, step, progress=progress)
        run = await self.show(id)
        tool = self.tool_of(run)
        return await self.start(self.forked(run, tool, step), tool)

    # Talking to the server

    async def _handle(self, id: str) -> Any:
        """The workflow of a run by the beginning of its id; None where the server has none."""
        client, _ = await self.connected()
        if not id.isalnum():
            raise unknown_run(id, [])
        query = f"WorkflowType = '{WORKFLOW}' AND WorkflowId STARTS_WITH '{PREFIX}{id}'"
        exact = client.get_workflow_handle(PREFIX + id)
        if await self._is_there(exact):
            return exact
        ids = {row.id async for row in client.list_workflows(query)}
        return client.get_workflow_handle(ids.pop()) if len(ids) == 1 else None

    async def _is_there(self, handle: Any) -> bool:
        from temporalio.service import RPCError, RPCStatusCode

        try:
            await handle.describe()
        except RPCError as problem:
            if problem.status is RPCStatusCode.NOT_FOUND:
                return False
            raise _unreachable(self._place_of().address, problem) from problem
        return True

    async def _progress(self, handle: Any) -> ChainRun:
        return (await self._state(handle))[0]

    async def _state(self, handle: Any) -> tuple[ChainRun, int]:
        """A run as it is, and how often it has stopped: from what it ended with, else asked of a worker."""
        from temporalio.client import WorkflowExecutionStatus, WorkflowQueryFailedError
        from temporalio.service import RPCError

        about = await self._asked(handle.describe())
        if about.status in (WorkflowExecutionStatus.COMPLETED, WorkflowExecutionStatus.FAILED):
            return run_of((await _ended(handle))["run"]), 1
        try:
            found = await handle.query("progress", rpc_timeout=PATIENCE)
        except (RPCError, WorkflowQueryFailedError):
            return _listed(about, await about.memo()), 0  # no worker answers: what the server itself knows
        run = run_of(found["run"])
        over = about.status is not WorkflowExecutionStatus.RUNNING
        return (replace(run, status=RunStatus.CANCELLED) if over else run), found["stops"]

    async def _stopped(self, handle: Any, seen: int) -> Result:
        """What a run comes to, once it is done, has failed or waits."""
        from temporalio.client import WorkflowUpdateFailedError
        from temporalio.service import RPCError, RPCStatusCode

        try:
            found = await handle.execute_update("stopped", seen)
        except WorkflowUpdateFailedError:
            found = await _ended(handle)
        except RPCError as problem:
            if problem.status is not RPCStatusCode.NOT_FOUND:
                raise _unreachable(self._place_of().address, problem) from problem
            found = await _ended(handle)
        return result_of(found["result"])

    async def _asked(self, work: Any) -> Any:
        from temporalio.service import RPCError

        try:
            return await work
        except RPCError as problem:
            raise _unreachable(self._place_of().address, problem) from problem


class _Remote:
    """The handler of a chain whose steps the server's workers run."""

    def __init__(self, tool: ChainTool, runs: TemporalChains) -> None:
        self._tool, self._runs = tool, runs

    async def __call__(self, call: Call) -> Result:
        """Begin a run, and wait for what it comes to; without effect it runs here, and nothing is kept."""
        if call.mode not in (None, Mode.EXECUTE):
            return await self._tool(call)
        given = replace(call, arguments=self._tool.shape.into(call.arguments))
        try:
            return await self._runs.start(self._tool.new_run(given), self._tool)
        except (ChainError, StoreError) as error:
            message = f"{error.message} Nothing ran."
            return Result(failure=Failure(FailureCode.UNAVAILABLE, message, next_step=error.next_step))


def _asked_later(spec: ToolSpec) -> ToolSpec:
    """The spec without its parts: a yes is asked for where they run, not here beforehand and there once more."""
    return replace(spec, meta={key: value for key, value in spec.meta.items() if key != USES_KEY})


async def _ended(handle: Any) -> Mapping[str, Any]:
    """What a workflow ended with; a run that failed has it in its error."""
    from temporalio.client import WorkflowFailureError

    try:
        return await handle.result(follow_runs=False)
    except WorkflowFailureError as error:
        details: Any = getattr(error.cause, "details", ())
        if details:
            return details[0]
        failure = Failure(FailureCode.CANCELLED, f"The run {handle.id.removeprefix(PREFIX)} was ended: {error.cause}.")
        empty: dict[str, Any] = {"value": None, "steps": [], "notes": [], "data": {}}
        return {"result": {**empty, "failure": failure.to_json()}}


def _listed(row: Any, memo: JsonObject) -> ChainRun:
    """A run as the server's index has it."""
    ended = {1: None, 2: RunStatus.DONE, 3: RunStatus.FAILED}.get(int(row.status or 1), RunStatus.CANCELLED)
    status = ended or RunStatus(memo.get("status") or RunStatus.RUNNING)
    return ChainRun(
        id=str(row.id).removeprefix(PREFIX),
        chain=str(memo.get("chain", "")),
        digest=str(memo.get("digest", "")),
        definition={},
        input=as_object(memo.get("input")),
        status=status,
        principal=str(memo.get("principal", "local")),
        created=row.start_time.timestamp(),
        updated=(row.close_time or row.start_time).timestamp(),
        failure=memo.get("failure") if ended is None else None,
    )


def _unreachable(address: str, problem: Exception) -> StoreError:
    return StoreError(
        f"The Temporal server at {address} cannot be used: {str(problem).partition(chr(10))[0]}.",
        where="chains.address",
        next_step="Start it, or write its address in [chains] address.",
    )


def _over(run: ChainRun) -> ChainError:
    return ChainError(
        ChainFault.RUN_OVER,
        f"The run {run.id} is {run.status}.",
        next_step=f"Run its steps again from one on with: pegboard chain fork {run.id} STEP",
    )
