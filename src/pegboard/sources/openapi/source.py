"""A description as a source of tools."""

from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import anyio
import anyio.to_thread

from pegboard.core import (
    Health,
    Listing,
    Note,
    NoteKind,
    Selection,
    SourceRef,
    SourceState,
    Tool,
    ToolName,
    ToolSpec,
)
from pegboard.errors import SourceError
from pegboard.schema.repair import repair
from pegboard.schema.types import Json, JsonObject
from pegboard.sources.document import read_document, read_file
from pegboard.sources.http.address import Allowance
from pegboard.sources.http.auth import Fixed
from pegboard.sources.http.client import MAX_BYTES, TIMEOUT, Answer, Request, SafeClient
from pegboard.sources.http.exchange import Exchange
from pegboard.sources.http.failure import BROKEN, broken
from pegboard.sources.http.probe import reachable
from pegboard.sources.openapi.description import Description
from pegboard.sources.openapi.documents import Documents
from pegboard.sources.openapi.inputs import inputs_of
from pegboard.sources.openapi.naming import describe, effects_of, names_of
from pegboard.sources.openapi.operation import Operation, Outline, Remark
from pegboard.sources.openapi.pages import paging_of
from pegboard.sources.openapi.requests import Builder, base_url
from pegboard.sources.openapi.security import Security, read_security
from pegboard.sources.openapi.tool import OperationRun, tool_of

MAX_OPERATIONS = 5_000
"""Operations past this number are set aside; `select` chooses others."""
_MAX_INPUT_DEFS = 400
_MAX_OUTPUT_DEFS = 60


@dataclass(frozen=True, kw_only=True)
class Options:
    """How a description becomes a source.

    Parameters:
        base_url: where requests go, instead of the description's servers.
        select: selectors of the operations that become tools (`category:pets`, `*list*`); None: all.
        auth: credentials, see `sources.http.auth.credential`; a table by security scheme where there are several.
        headers: header lines of every request.
        allow_private: whether requests may go to private addresses that the operator did not write.
        check_output: whether an answer that is not as described is a failure.
        deprecated: whether deprecated operations become tools.
        timeout: seconds for one request.
        max_bytes: the most bytes of an answer that are read.
    """

    base_url: str | None = None
    select: Sequence[str] | None = None
    auth: Any = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    allow_private: bool = False
    check_output: bool = False
    deprecated: bool = True
    timeout: float = TIMEOUT
    max_bytes: int = MAX_BYTES


class OpenApiSource:
    """The operations of an OpenAPI 3 or Swagger 2 description.

    Parameters:
        name: the source's name.
        target: the description: a file, a URL, or the parsed document.
        prefix: the namespace of its tools; the source's name by default.
        options: see `Options`.
    """

    kind = "openapi"

    def __init__(
        self,
        name: str,
        target: str | Path | JsonObject,
        *,
        prefix: str | None = None,
        options: Options | None = None,
    ) -> None:
        self.name = name
        self._target = target
        self._namespace = name if prefix is None else prefix
        self._options = options or Options()
        typed = [target if isinstance(target, str) else None, self._options.base_url]
        self._allowance = Allowance.of(typed, private=self._options.allow_private)
        self._client: SafeClient | None = None
        self._bases: tuple[str, ...] = ()
        self._ended = anyio.Event()

    @asynccontextmanager
    async def session(self) -> AsyncGenerator[None]:
        """Hold connections open."""
        self._ended = anyio.Event()
        options = self._options
        async with SafeClient(self._allowance, max_bytes=options.max_bytes, timeout=options.timeout) as client:
            self._client = client
            try:
                yield
            finally:
                self._client = None
                self._ended.set()

    async def listing(self) -> Listing:
        """A tool for each operation; one that cannot be a tool is set aside alone.

        Raises:
            SourceError: the description cannot be read, or is none.
        """
        documents = await self._open()
        return await anyio.to_thread.run_sync(self._listing, documents)

    async def health(self) -> Health:
        """Whether the service can be connected to."""
        if self._client is None:
            return Health(SourceState.IDLE)
        for base in self._bases[:1]:
            reason = await reachable(base, self._allowance)
            if reason is not None:
                return Health(SourceState.UNAVAILABLE, reason)
        return Health(SourceState.READY)

    async def changes(self) -> AsyncIterator[None]:
        """A description is read when it is listed; it does not tell of changes."""
        await self._ended.wait()
        for nothing in ():
            yield nothing

    async def _open(self) -> Documents:
        if isinstance(self._target, Mapping):
            address, value = "", self._target
        else:
            text = str(self._target)
            address = text if _is_url(text) else Path(text).resolve().as_uri()
            value = await self._load(address)
        documents = Documents(address, {address: value})
        await documents.gather(self._load_near)
        return documents

    async def _load(self, address: str) -> Json:
        if not _is_url(address):
            return await anyio.to_thread.run_sync(read_file, Path(unquote(urlsplit(address).path)))
        return read_document((await self._fetched(address)).body, address)

    async def _fetched(self, address: str) -> Answer:
        if self._client is None:
            raise SourceError("The source is not open.", where=self.name, next_step="Enter its session first.")
        from pegboard.core import Effects

        headers = (("Accept", "application/json, application/yaml;q=0.9, */*;q=0.5"), *self._options.headers.items())
        try:
            answer = await self._client.send(Request(method="GET", url=address, headers=headers))
        except BROKEN as error:
            failure = broken(error, Effects.READ_ONLY)
            raise SourceError(failure.message, where=address, next_step=failure.next_step) from error
        if answer.status != 200:
            raise SourceError(f"It was answered with {answer.status}.", where=address, next_step="Correct the address.")
        return answer

    async def _load_near(self, address: str) -> Json:
        """A document that another one refers to: only beside it, never elsewhere."""
        root = str(self._target)
        if _is_url(root):
            near = urlsplit(root)[:2] == urlsplit(address)[:2]
        else:
            folder = Path(root).resolve().parent
            path = Path(unquote(urlsplit(address).path)).resolve()
            near = urlsplit(address).scheme == "file" and path.is_relative_to(folder)
        if isinstance(self._target, Mapping) or not near:
            raise SourceError("It lies elsewhere than the description, and is not read.", where=address)
        return await self._load(address)

    def _listing(self, documents: Documents) -> Listing:
        description = Description(documents)
        options = self._options
        security = read_security(options.auth, description.schemes(), where=f"sources.{self.name}.auth")
        outlines = list(description.outlines())
        remarks = description.remarks
        maker = _Maker(self, description, security)
        named = list(zip(outlines, names_of(outlines, remarks), strict=True))
        chosen = [(outline, name) for outline, name in named if maker.wants(outline, name)]
        if len(chosen) > MAX_OPERATIONS:
            message = f"{len(chosen)} operations; the first {MAX_OPERATIONS} are tools. Choose others with `select`."
            remarks.append(Remark("paths", "/paths", message, fatal=True))
        chosen = chosen[:MAX_OPERATIONS]
        tools = tuple(tool for outline, name in chosen if (tool := maker.tool(outline, name)) is not None)
        self._bases = tuple(dict.fromkeys(maker.bases))
        return Listing(tools, tuple(_notes(description, maker)), _instructions(description))


class _Maker:
    """Makes the tools of one listing."""

    def __init__(self, source: OpenApiSource, description: Description, security: Security) -> None:
        self.source = source
        self.options = source._options  # pyright: ignore[reportPrivateUsage]
        self.description = description
        self.security = security
        self.selection = None if self.options.select is None else Selection.parse(self.options.select)
        self.ref = SourceRef(source.name, source.kind)
        self.bases: list[str] = []
        self.notes: list[Note] = []

    def wants(self, outline: Outline, name: str) -> bool:
        """Whether an operation was selected."""
        if outline.deprecated and not self.options.deprecated:
            return False
        return self.selection is None or self._sketch(outline, name) in self.selection

    def _sketch(self, outline: Outline, name: str) -> ToolSpec:
        return ToolSpec(
            name=self._full(name),
            category=outline.tags[0] if outline.tags else None,
            aliases=(outline.id,) if outline.id else (),
            effects=effects_of(outline, [name]),
            source=self.ref,
        )

    def _full(self, name: str) -> ToolName:
        return ToolName(self.source._namespace, name)  # pyright: ignore[reportPrivateUsage]

    def tool(self, outline: Outline, name: str) -> Tool | None:
        """The tool of an operation, or None where it is set aside."""
        try:
            return self._tool(self.description.operation(outline), name)
        except (RecursionError, ValueError, TypeError, KeyError, AttributeError) as error:
            # One odd operation costs itself alone.
            message = f"{outline.label} cannot be read: {type(error).__name__}: {error}"
            self.notes.append(Note(NoteKind.SET_ASIDE, name, outline.place.at, message))
            return None

    def _tool(self, operation: Operation, name: str) -> Tool:
        requests, responses = self.description.requests, self.description.responses
        inputs = inputs_of(operation, requests.defs, self.security.hidden(operation))
        base = base_url(operation.servers, self.description.documents.root, self.options.base_url)
        self.bases += [base] if base else []
        paging = paging_of(operation, inputs)
        schema: JsonObject = inputs.schema
        if paging is not None:
            schema = {**schema, "properties": {**schema["properties"], paging.pages: paging.parameter}}
        whole, left = requests.whole(schema, most=_MAX_INPUT_DEFS)
        self._remark(name, operation, left, "input")
        repaired = repair(whole)
        for change in repaired.changes:
            self.notes.append(Note(NoteKind.REPAIRED, name, change.pointer, change.message))
        output = None
        if operation.output is not None:
            output, left = responses.whole(operation.output, most=_MAX_OUTPUT_DEFS)
            self._remark(name, operation, left, "output")
        effects = effects_of(operation.outline, [name, operation.outline.id or ""])
        description, cut = describe(operation)
        if cut:
            self.notes.append(Note(NoteKind.WARNING, name, operation.outline.place.at, cut))
        every = [Fixed("header", key, value) for key, value in self.options.headers.items()]
        client = self.source._client or SafeClient(self.source._allowance)  # pyright: ignore[reportPrivateUsage]
        run = OperationRun(
            Builder(operation, inputs, base),
            Exchange(client, (*every, *self.security.of(operation)), effects),
            paging,
            output,
            self.options.check_output,
            self.description.documents,
        )
        needs = self.security.needs(operation)
        return tool_of(self._full(name), description, effects, run, input=repaired.schema, auth=needs, source=self.ref)

    def _remark(self, name: str, operation: Operation, left: int, what: str) -> None:
        if left:
            message = f"{left} definitions of its {what} are left open: there are too many to list."
            self.notes.append(Note(NoteKind.WARNING, name, operation.outline.place.at, message))


def _notes(description: Description, maker: _Maker) -> Iterable[Note]:
    for remark in description.remarks:
        kind = NoteKind.SET_ASIDE if remark.fatal else NoteKind.WARNING
        yield Note(kind, remark.label, remark.at, remark.message)
    for schemas in (description.requests, description.responses):
        for reference, places in schemas.dangling.items():
            why = description.documents.missing.get(reference.partition("#")[0], "there is nothing there")
            message = f"{reference} leads nowhere ({why}); anything is taken in its place ({len(places)} uses)."
            yield Note(NoteKind.WARNING, None, places[0], message)
    yield from maker.notes


def _instructions(description: Description) -> str:
    info = description.top / "info"
    parts = [info.text("title"), info.text("summary"), info.text("description")]
    return "\n".join(part.strip() for part in parts if part.strip())[:2_000]


def _is_url(text: str) -> bool:
    return text.startswith(("http://", "https://"))
