"""The chains of a board, imported when there is one, over the board's store, a database or one in memory."""

import logging
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import anyio
import anyio.to_thread

from pegboard.approval import Desk
from pegboard.board.memory import Memory
from pegboard.config import Config
from pegboard.core import Call, Handler, Middleware, Result, Tool, ToolName, ToolSpec
from pegboard.errors import ConfigError
from pegboard.schema.types import JsonObject, as_object
from pegboard.store.glance import has_open_runs

if TYPE_CHECKING:
    from pegboard.chain import ChainRun, Chains
    from pegboard.chain.chains import Tools
    from pegboard.chain.following import Following
    from pegboard.chain.ledger import Records
    from pegboard.chain.temporal.runs import Place
    from pegboard.store.server import ServerStore

    class Owner(Tools, Protocol):
        """A board, as its chains know it."""

        @property
        def desk(self) -> Desk:
            """Where requests wait for a person."""
            ...


COMPOSITE = "pegboard/composite"
FORM = "pegboard/form"
EVERY = 15.0
"""Seconds between two looks for runs that were left."""

_log = logging.getLogger("pegboard.chain")


class Procession:
    """The runs of the board's chains.

    Parameters:
        board: the tools that steps call, and where requests wait for a person.
        memory: what the board remembers; None: the runs are gone with this process.
        config: the board's config, for its table `[chains]`.
    """

    def __init__(self, board: "Owner", memory: Memory | None, config: Config | None = None) -> None:
        self._board, self._memory = board, memory
        self._config = config
        self._settings: JsonObject = config.tables["chains"] if config is not None else {}
        self._shared: ServerStore | None = None
        self._spec_of: Callable[[ToolName], ToolSpec | None] = lambda name: None
        self._taken = set[str]()
        self._told = dict[str, str]()

    def kept(self, tools: Sequence[Tool]) -> list[Tool]:
        """The tools, the chains among them so that their runs are kept."""
        if all(tool.spec.meta.get(COMPOSITE) != "chain" for tool in tools):
            return list(tools)
        kept = self.chains.kept(tools)
        followed = any(tool.spec.meta.get(FORM) for tool in kept)
        return [*kept, self.following.tool] if followed else kept

    def middleware(self, spec_of: Callable[[ToolName], ToolSpec | None]) -> Middleware:
        """Refuses what is not next in a chain that the caller's session follows; nothing where there is none."""
        self._spec_of = spec_of

        def wrap(next_handler: Handler) -> Handler:
            async def handle(call: Call) -> Result:
                if "following" not in self.__dict__:  # no chain is a specification
                    return await next_handler(call)
                return await self.following.judge(call, next_handler)

            return handle

        return wrap

    @cached_property
    def following(self) -> "Following":
        """Which chains agents follow."""
        from pegboard.chain.following import Following

        return Following(self._local, lambda name: self._spec_of(name))

    @cached_property
    def chains(self) -> "Chains":
        """The runs."""
        if self._settings.get("runner") != "temporal":
            return self._local
        from pegboard.chain.temporal.runs import TemporalChains

        return TemporalChains(self._board, self._opened, self._place)

    @cached_property
    def _local(self) -> "Chains":
        from pegboard.chain import Chains

        return Chains(self._board, self._opened)

    def _place(self) -> "Place":
        from pegboard.chain.temporal.runs import Place

        assert self._config is not None
        found = {name: self._settings[name] for name in ("namespace", "task_queue", "heartbeat")}
        secret = {name: self._settings[name] for name in ("address", "api_key")}
        return Place(**found, **self._config.secrets.reveal(secret, where="chains"))

    async def work(self) -> None:
        """Run the steps of chains that a Temporal server gives out, until cancelled.

        Raises:
            ConfigError: the config says nothing of Temporal.
            StoreError: the server cannot be reached.
        """
        from pegboard.chain.temporal.runs import TemporalChains

        if not isinstance(self.chains, TemporalChains):
            raise ConfigError(
                "The runs of this board need no worker.",
                where="chains.runner",
                next_step='Write runner = "temporal" in [chains].',
            )
        client, place = await self.chains.connected()
        from pegboard.chain.temporal.worker import worker

        async with worker(client, self._board, task_queue=place.task_queue, heartbeat=place.heartbeat):
            await self.adopting()
            await anyio.sleep_forever()

    def _opened(self) -> "Records":
        if self._settings.get("store") and self._config is not None:
            from pegboard.store.server import ServerStore

            self._shared = ServerStore.open(self._config.secrets.reveal(self._settings["store"], where="chains.store"))
            return self._shared
        if self._memory is not None:
            return self._memory.store
        from pegboard.store import Store

        return Store.open(":memory:")

    async def close(self) -> None:
        """Leave the database, where the runs stand in one."""
        if self._shared is not None:
            await anyio.to_thread.run_sync(self._shared.close)

    # Adoption

    async def adopting(self) -> None:
        """Go on with what was left, now and every few seconds, until cancelled; see `[chains] adopt`."""
        if self._memory is None or not self._settings.get("adopt", True):
            return
        try:
            async with anyio.create_task_group() as tasks:
                while True:
                    for id in await self._left():
                        self._taken.add(id)
                        tasks.start_soon(self._take_up, id)
                    await anyio.sleep(EVERY)
        except anyio.get_cancelled_exc_class():
            self._stopping()
            raise

    def _stopping(self) -> None:
        """The gateway ends: what it has to let go is for others to adopt."""
        if "_local" in self.__dict__:
            self._local.stop()

    async def _left(self) -> Sequence[str]:
        """The runs that nobody has and that can go on: their process has died, or their person has answered."""
        elsewhere = self._settings.get("store") or self._settings.get("runner") == "temporal"
        if not elsewhere and not await anyio.to_thread.run_sync(self._is_open):
            return ()
        try:
            from pegboard.chain import RunStatus

            waiting = await self.chains.runs(status=RunStatus.WAITING_APPROVAL, limit=1000)
            answered = [run.id for run in waiting if await self._is_answered(run)]
            return [id for id in (*await self.chains.left(), *answered) if id not in self._taken]
        except Exception as problem:  # a store that cannot be read now must not cost the board
            _log.warning("Left runs of chains cannot be looked for: %s", problem)
            return ()

    async def _is_answered(self, run: "ChainRun") -> bool:
        request = as_object(as_object(run.failure).get("details")).get("approval")
        id = as_object(request).get("id")
        if not isinstance(id, str):
            return False
        entry = await anyio.to_thread.run_sync(lambda: self._board.desk.ledger.entry(id))
        return entry is not None and entry.decision is not None

    def _is_open(self) -> bool:
        folder = self._memory.folder if self._memory is not None else None
        return folder is not None and has_open_runs(folder)

    async def _take_up(self, id: str) -> None:
        try:
            result = await self.chains.take_up(id)
        finally:
            self._taken.discard(id)
        told = "" if result is None else _outcome(result)
        if told and self._told.get(id) != told:  # what cannot go on yet is tried again, and told once
            self._told[id] = told
            _log.warning("The run %s of a chain, which was left, went on: %s", id, told)


def _outcome(result: Result) -> str:
    run = as_object(result.report.data.get("chain_run")) if result.report else {}
    return str(result.failure or f"{run.get('status', 'done')}.")


class Proceeding:
    """The part of a board that is about the runs of its chains."""

    _procession: Procession

    @property
    def chains(self) -> "Chains":
        """The runs of its chains: resume, fork, cancel, adopt, list, show."""
        return self._procession.chains

    async def work(self) -> None:
        """Run the steps of chains that a Temporal server gives out, until cancelled."""
        await self._procession.work()

    async def adopting(self) -> None:
        """Go on with runs of chains that dead processes left, or whose person has answered, until cancelled."""
        await self._procession.adopting()
