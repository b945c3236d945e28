"""The board: the one object that the library, the gateway and the command line stand on."""

import json
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from math import inf
from types import TracebackType
from typing import Any, Self
from uuid import uuid4

import anyio
from anyio.abc import TaskGroup
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from pegboard.board.attached import Attached, duplicates
from pegboard.board.holdings import Holdings, Loaded
from pegboard.catalog import AliasTable, Catalog, Diff, Unknown, View
from pegboard.core import (
    Call,
    FailureCode,
    Handler,
    Middleware,
    Mode,
    Progress,
    Result,
    Session,
    Source,
    SourceStatus,
    Tool,
    ToolName,
    pipeline,
)
from pegboard.core.call import Log
from pegboard.discovery import META_NAMES, Exposed, Residency, expose, meta_tools
from pegboard.discovery.answers import unknown_failure
from pegboard.discovery.meta import SHOWN
from pegboard.errors import PegboardError, nearest
from pegboard.index import Found, Where
from pegboard.index import default as default_index
from pegboard.schema.types import JsonObject
from pegboard.surface import mcp

STARTS = 4
"""How many sources may start at the same time: each is a process, and a machine has few processors."""


class Board:
    """A set of tools from many places, found by search, called through one door.

    Use it as an async context manager. Make it with `Board.of` from sources.

    Parameters:
        sources: where the tools come from, in the order in which they are listed.
        name: the board's name.
        residency: which tools a model sees at once.
        middleware: what wraps every call, outermost first.
    """

    def __init__(
        self,
        sources: Sequence[Source],
        *,
        name: str = "pegboard",
        residency: Residency | None = None,
        middleware: Sequence[Middleware] = (),
    ) -> None:
        self.name = name
        self.residency = residency or Residency()
        self._sources = tuple(sources)
        self._meta = meta_tools(self)
        self._held = Holdings(default_index, {}, {name: ToolName("", name) for name in META_NAMES})
        self._loaded = Loaded()
        self._exposed = Exposed(())
        self._deferred_bytes: int | None = None
        self._attached: dict[str, Attached] = {}
        self._listeners: set[MemoryObjectSendStream[Diff]] = set()
        self._stack = AsyncExitStack()
        self._tasks: TaskGroup | None = None
        self._run: Handler = pipeline(self._dispatch, *middleware)

    @classmethod
    def of(cls, *sources: Source, **settings: Any) -> Self:
        """A board of these sources, without a config file; `settings` are the parameters of `Board`."""
        return cls(sources, **settings)

    async def __aenter__(self) -> Self:
        """Start every source whose tools are not known yet, and wait for them."""
        self._tasks = await self._stack.enter_async_context(anyio.create_task_group())
        starts = anyio.Semaphore(STARTS)
        for source in self._sources:
            self._attached[source.name] = Attached(source, self._tasks, starts, self._on_listing)
        await self.refresh()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop every source."""
        if self._tasks is not None:
            self._tasks.cancel_scope.cancel()
        await self._stack.aclose()

    # What it holds

    @property
    def catalog(self) -> Catalog:
        """The tools of the board now."""
        return self._held.catalog

    @property
    def aliases(self) -> AliasTable:
        """The wire names of the tools."""
        return self._held.aliases

    @property
    def version(self) -> int:
        """Counts the catalogs; whoever keeps something made of one compares it."""
        return self._held.version

    def resolve(self, text: str) -> ToolName | Unknown:
        """The tool that a name means: `ns.tool`, `ns__tool`, `mcp__ns__tool`, a unique bare name, a meta-tool."""
        return self._held.resolve(text)

    def tool(self, name: ToolName) -> Tool | None:
        """A tool or meta-tool by its full name."""
        return self._held.catalog.tools.get(name) or self._meta.get(name)

    def view(self, session: Session | None = None) -> View:
        """What a model sees: the direct tools, those that its session has loaded, and the meta-tools."""
        exposed = self._exposed
        names = self._loaded.of(session.id) if session is not None else ()
        here = {spec.name for spec in exposed.direct} if names else set[ToolName]()
        tools = [self.tool(name) for name in names if name not in here]
        return View(
            exposed.direct,
            exposed.deferred,
            SHOWN if exposed.meta else (),
            tuple(tool.spec for tool in tools if tool is not None),
            self._held.aliases,
            exposed.notes,
        )

    def instructions_of(self, source: str) -> str:
        """What a source says of itself; untrusted text."""
        return self._attached[source].listing.instructions if source in self._attached else ""

    # Finding and calling

    async def search(self, query: str, limit: int = 8, where: Where | None = None) -> Found:
        """The tools that meet a request best."""
        return self.find(query, limit=limit, where=where)

    def find(self, query: str, *, limit: int = 8, where: Where | None = None) -> Found:
        """As `search`, for callers that do not wait."""
        return self._held.find(query, limit=limit, where=where)

    async def call(
        self,
        name: str | ToolName,
        arguments: JsonObject | None = None,
        *,
        mode: Mode | None = None,
        session: Session | None = None,
        progress: Progress | None = None,
        log: Log | None = None,
    ) -> Result:
        """Call a tool by any of its names. What goes wrong is in the result, never raised."""
        target = self.resolve(name) if isinstance(name, str) else name
        if isinstance(target, Unknown):
            return Result(failure=unknown_failure(target))
        return await self.run(
            Call(
                tool=target,
                arguments=arguments or {},
                mode=mode,
                session=session or Session(),
                id=uuid4().hex,
                progress=progress,
                log=log,
            )
        )

    async def run(self, call: Call) -> Result:
        """Run a call through the whole pipeline."""
        return await self._run(call)

    async def _dispatch(self, call: Call) -> Result:
        tool = self._held.catalog.tools.get(call.tool) or self._meta.get(call.tool)
        if tool is None:
            return Result.failed(
                FailureCode.UNKNOWN_TOOL, f"There is no tool {call.tool}.", next_step="Find it with tool_search."
            )
        return await tool.handler(call)

    # Sessions

    def load(self, session: Session, names: Iterable[ToolName]) -> None:
        """Remember that a session has these tools' definitions."""
        self._loaded.add(session.id, names)

    def forget(self, session: Session) -> None:
        """The session is over."""
        self._loaded.forget(session.id)

    def deferred_bytes(self) -> int:
        """How many bytes the definitions take that are not in the list."""
        if self._deferred_bytes is None:
            view = self.view()
            rows = [mcp.tool(spec, view.wire_name(spec.name)) for spec in view.deferred]
            self._deferred_bytes = len(json.dumps(rows, ensure_ascii=False, separators=(",", ":"), default=str))
        return self._deferred_bytes

    async def page(self, id: str, number: int) -> str | None:
        """One page of a result that was cut."""
        return None

    # Sources

    async def statuses(self) -> list[SourceStatus]:
        """How each source is, in the board's order."""
        taken: set[ToolName] = set()
        found: list[SourceStatus] = []
        for attached in self._attached.values():
            status = await attached.status()
            found.append(replace(status, notes=(*status.notes, *duplicates(attached, taken))))
            taken |= {tool.name for tool in attached.listing.tools}
        return found

    async def refresh(self, names: Sequence[str] | None = None) -> None:
        """List sources anew, all or the named ones, and wait; what goes wrong stands in `statuses`.

        Raises:
            PegboardError: a name is no source's.
        """
        missing = [name for name in names or () if name not in self._attached]
        if missing:
            near = nearest(missing[0], self._attached) or list(self._attached)
            raise PegboardError(f"There is no source {missing[0]!r}.", next_step=f"Name one of {', '.join(near)}.")
        async with anyio.create_task_group() as tasks:
            for name in names if names is not None else self._attached:
                tasks.start_soon(self._attached[name].refresh)

    @asynccontextmanager
    async def changes(self) -> AsyncGenerator[MemoryObjectReceiveStream[Diff]]:
        """A stream of what changes in the catalog from now on."""
        send, receive = anyio.create_memory_object_stream[Diff](inf)
        self._listeners.add(send)
        try:
            async with receive:
                yield receive
        finally:
            self._listeners.discard(send)
            send.close()

    async def _on_listing(self, attached: Attached) -> None:
        tools = [tool for each in self._attached.values() for tool in each.listing.tools]
        diff = self._held.replace(tools)
        if not diff:
            return
        self._exposed = expose(self._held.catalog, self.residency)
        self._deferred_bytes = None
        for listener in self._listeners:
            listener.send_nowait(diff)
