"""An MCP server as a source of tools."""

from collections.abc import AsyncGenerator, AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, Literal, cast

import anyio

from pegboard.core import Health, Listing, Note, NoteKind, SourceRef, Tool, ToolSpec
from pegboard.errors import SourceError
from pegboard.normalise import normalise_all
from pegboard.schema.types import JsonObject
from pegboard.sources.mcp.call import make_handler
from pegboard.sources.mcp.pages import Walk, walk_pages
from pegboard.sources.mcp.primitives import McpPrimitives
from pegboard.sources.mcp.promise import hold_to
from pegboard.sources.mcp.task import is_task
from pegboard.sources.mcp.upstream import RoleOf, Upstream
from pegboard.wire.client import (
    Answered,
    CannotStart,
    ConnectionLost,
    Declared,
    Endpoint,
    HttpEndpoint,
    Link,
    MemoryEndpoint,
    Role,
    StdioEndpoint,
    WireError,
)
from pegboard.wire.client.negotiate import Family
from pegboard.wire.client.parameter import header_fault, header_map
from pegboard.wire.oauth import Keeper

_METHOD_NOT_FOUND = -32601


class McpSource:
    """Tools of an MCP server. Nothing is started before the first listing or call inside `session()`.

    Parameters:
        name: the source's name.
        target: a command (`["npx", "-y", "server"]`), an address (`https://...`), or a server object of the SDK.
        prefix: the namespace of its tools; the source's name by default.
        env: variables for the program, on top of the few that it inherits.
        headers: HTTP headers for an address.
        cwd: where the program runs; where pegboard was started by default.
        transport: `sse` for an address that speaks the HTTP+SSE of 2024-11-05.
        keeper: puts a sign-in on requests to an address.
        proxy: what requests to an address go through; the environment's proxy by default.
        ca_file: a file of certificates that are trusted besides the system's.
        family: which protocol family to speak; `auto` tries the modern one and falls back.
        start_timeout: seconds until it must answer, counted from its own start.
        call_timeout: seconds for one request; None for no limit.
        trust_annotations: whether its hints may loosen a policy.
        strict_output: whether a structured result that breaks the tool's output schema fails the call, not only warns.
        starting: how many processes may start at once; give every source of a board the same.
        declared: what the server is told that we can do for it, and who does it.
        role_of: for each call on whose behalf it is made, where callers may not share a connection; no client is asked
            then.
        may_ask: which features of a caller's client it may use: `elicitation`, `roots`, `sampling`. By default
            elicitation, and where it runs on this machine roots, which tell where the user's files lie.
        beside: what of the server is there beside its tools: `resources`, `prompts`.
    """

    kind = "mcp"

    def __init__(
        self,
        name: str,
        target: Sequence[str] | str | Any,
        *,
        prefix: str | None = None,
        env: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        cwd: str | None = None,
        transport: Literal["http", "sse"] = "http",
        keeper: Keeper | None = None,
        proxy: str | None = None,
        ca_file: str | None = None,
        family: Family = "auto",
        start_timeout: float = 30.0,
        call_timeout: float | None = 120.0,
        trust_annotations: bool = False,
        strict_output: bool = False,
        starting: anyio.CapacityLimiter | None = None,
        declared: Declared | None = None,
        role_of: RoleOf | None = None,
        may_ask: Collection[str] | None = None,
        beside: Collection[str] = ("resources", "prompts"),
    ) -> None:
        self.name = name
        self.namespace = name if prefix is None else prefix
        self.endpoint = _endpoint(target, env or {}, cwd)
        if isinstance(self.endpoint, HttpEndpoint):
            self.endpoint = replace(
                self.endpoint,
                headers=headers or {},
                transport=transport,
                keeper=keeper,
                proxy=proxy,
                ca_file=ca_file,
            )
        self._trusted = trust_annotations
        self._strict_output = strict_output
        self._starting = starting
        self._start_timeout = start_timeout
        self._upstream = Upstream(
            name,
            self.endpoint,
            family=family,
            role=Role(declared=declared or Declared()),
            role_of=role_of,
            call_timeout=call_timeout,
            may_ask=_may_ask(self.endpoint) if may_ask is None else frozenset(may_ask),
        )
        self.primitives = McpPrimitives(self._upstream, self.namespace, beside)

    def __repr__(self) -> str:
        return f"McpSource({self.name!r}, {self.endpoint})"

    @property
    def start_seconds(self) -> float | None:
        """How long the last start took; None before the first."""
        return self._upstream.start_seconds

    @property
    def stderr(self) -> str:
        """The end of what the program wrote to stderr, without secrets."""
        return self._upstream.stderr

    @asynccontextmanager
    async def session(self) -> AsyncGenerator[None]:
        """Hold the source open: links live in here, and end with it."""
        failure: Exception | None = None
        async with anyio.create_task_group() as tasks:
            self._upstream.open(tasks, self._starting or anyio.CapacityLimiter(4), self._start_timeout)
            try:
                yield
            except Exception as error:
                failure = error
            finally:
                with anyio.CancelScope(shield=True):
                    await self._upstream.close()
                tasks.cancel_scope.cancel()
        if failure is not None:
            raise failure

    async def listing(self) -> Listing:
        """Every tool that the server offers now; starts it if need be.

        Raises:
            SourceError: it cannot be reached, or cannot list its tools.
        """
        try:
            return await self._list()
        except WireError as error:
            next_step = error.next_step if isinstance(error, CannotStart) else None
            raise SourceError(
                f"The server cannot be listed: {error}".rstrip(".") + ".",
                where=f"sources.{self.name}",
                next_step=next_step,
            ) from None

    async def health(self) -> Health:
        """How the server is, from what is known of its connection."""
        return self._upstream.health()

    async def probe(self) -> Health:
        """How the server is, asking it; without a start."""
        return await self._upstream.probe()

    async def changes(self) -> AsyncIterator[None]:
        """Yields once for each burst of changes that the server announces, and after a new start."""
        async for _ in self._upstream.changes.bursts():
            yield

    def meet(self, features: JsonObject) -> bool:
        """Take note of what a client declared; whether the next listing may bring other tools for that."""
        return self._upstream.declarations.meet(features)

    def tool(self, spec: ToolSpec) -> Tool:
        """A tool from its spec alone, such as one from the store; the server starts on its first call."""
        schema = spec.input if spec.original_input is None else spec.original_input
        headers = header_map(schema) if isinstance(self.endpoint, HttpEndpoint) else None
        handler = make_handler(spec, self._upstream, headers)
        if is_task(spec):
            self._upstream.tasks_only.add(spec.name.name)
        if spec.output is not None:
            handler = hold_to(spec.output, handler, strict=self._strict_output)
        return Tool(spec, handler)

    async def _list(self) -> Listing:
        """The listing; a lost connection is opened once more, and of two broken lists the longer one is taken."""
        part: tuple[Walk, Link] | None = None
        for last in (False, True):
            try:
                link = await self._upstream.link(patient=False)
                walk = await self._walk(link)
                lost = walk.lost
            except WireError as error:
                lost = error if isinstance(error, ConnectionLost) else None
                if part is None and (last or lost is None or not lost.repairable(repeatable=True)):
                    raise
            else:
                if part is None or lost is None or len(walk.rows) > len(part[0].rows):
                    part = walk, link
            if part is not None and (lost is None or not lost.repairable(repeatable=True)):
                break
        assert part is not None, "the last attempt raises where there is nothing"
        await self._list_conditional(part[0])
        return self._read(*part)

    async def _list_conditional(self, walk: Walk) -> None:
        """Add the tools that are offered only to clients which declared something."""
        declarations = self._upstream.declarations
        for features in declarations.due():
            try:
                async with self._upstream.listing_link(features) as (link, declared):
                    declarations.keep(features, (await self._walk(link, declared)).rows)
            except WireError as error:
                what = " and ".join(sorted(features))
                walk.warnings.append(f"What the server offers to clients with {what} could not be listed: {error}")
        walk.rows += declarations.beside(walk.rows)

    async def _walk(self, link: Link, features: JsonObject | None = None) -> Walk:
        async def ask(params: dict[str, Any]) -> dict[str, Any]:
            return await link.request("tools/list", params, timeout=self._start_timeout, capabilities=features)

        try:
            return await walk_pages(ask, self.name)
        except Answered as error:
            if error.code != _METHOD_NOT_FOUND:
                raise
            if {"resources", "prompts"} & set(link.peer.capabilities):
                return Walk()
            return Walk(warnings=[f"The server {self.name!r} has no tools at all: it does not know tools/list."])

    def _read(self, walk: Walk, link: Link) -> Listing:
        """The listing of what was walked: each row on its own, so that an odd one costs no other."""
        specs, notes = normalise_all(
            walk.rows, namespace=self.namespace, source=SourceRef(self.name, self.kind), trusted=self._trusted
        )
        if link.peer.modern and link.connection.wire.headers:
            specs = [spec for spec in specs if not _forbidden(spec, notes)]
        self._upstream.warning = walk.warnings[0] if walk.warnings else None
        told = [*walk.warnings, *self._upstream.oddities()]
        notes += [Note(NoteKind.WARNING, None, "", text) for text in told]
        return Listing(tuple(map(self.tool, specs)), tuple(notes), link.peer.instructions)


def _endpoint(target: Any, env: Mapping[str, str], cwd: str | None) -> Endpoint:
    if isinstance(target, str):
        return HttpEndpoint(target)
    if isinstance(target, Sequence):
        argv = cast("Sequence[Any]", target)
        return StdioEndpoint(tuple(str(part) for part in argv), env, cwd)
    return MemoryEndpoint(target)


def _may_ask(endpoint: Endpoint) -> frozenset[str]:
    return frozenset({"elicitation"} if isinstance(endpoint, HttpEndpoint) else {"elicitation", "roots"})


def _forbidden(spec: ToolSpec, notes: list[Note]) -> bool:
    """Whether the protocol forbids to use a tool for its `x-mcp-header`; then it is noted."""
    fault = header_fault(spec.input)
    if fault is not None:
        message = f"Its x-mcp-header is invalid ({fault}); the protocol forbids to use it."
        notes.append(Note(NoteKind.SET_ASIDE, spec.name.name, "/inputSchema", message))
    return fault is not None
