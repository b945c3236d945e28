"""Sources of tools that are data: read from tables or a manifest, bound to requests, programs or Python."""

import sys
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import anyio
import anyio.to_thread

from pegboard.core import (
    Call,
    Effects,
    FailureCode,
    Handler,
    Health,
    Listing,
    Mode,
    Note,
    NoteKind,
    Result,
    Rung,
    SourceRef,
    SourceState,
    Tool,
    ToolSpec,
)
from pegboard.core.mode import with_modes, with_own_modes
from pegboard.define import ToolFunction, tool
from pegboard.errors import DefinitionError, PegboardError
from pegboard.normalise import normalise
from pegboard.schema.types import Json, JsonObject, as_object
from pegboard.sources.document import read_file
from pegboard.sources.http.address import Allowance
from pegboard.sources.http.auth import credential
from pegboard.sources.http.client import TIMEOUT, SafeClient
from pegboard.sources.http.exchange import Exchange
from pegboard.sources.templated.program import ProgramRun, ProgramTemplate
from pegboard.sources.templated.request import RequestRun, RequestTemplate

_SCHEMAS = ("input_schema", "inputSchema", "parameters", "parametersSchema", "parameters_schema")
_READS = frozenset(("GET", "HEAD", "OPTIONS"))


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How templated tools run.

    Parameters:
        folder: what relative paths and Python modules are relative to.
        auth: credentials of every request.
        allow_private: whether requests may be redirected to private addresses.
        public: whether the addresses that the tools name must be public as well.
        seconds: how long a request or program may run.
    """

    folder: Path = Path()
    auth: Any = None
    allow_private: bool = False
    public: bool = False
    seconds: float = TIMEOUT


class TemplatedSource:
    """Tools that are data. Make it with `http_source`, `cli_source` or `manifest_source`.

    Parameters:
        name: the source's name.
        kind: `http`, `cli` or `manifest`.
        rows: gives the rows: tool definitions, each with `http`, `cli` or `python`.
        prefix: the namespace of its tools; the source's name by default.
        settings: see `Settings`.
    """

    def __init__(
        self,
        name: str,
        kind: str,
        rows: Callable[[], list[JsonObject]],
        *,
        prefix: str | None = None,
        settings: Settings | None = None,
    ) -> None:
        self.name, self.kind, self._rows = name, kind, rows
        self._namespace = name if prefix is None else prefix
        self._settings = settings or Settings()
        self._client: SafeClient | None = None
        self._ended = anyio.Event()

    @asynccontextmanager
    async def session(self) -> AsyncGenerator[None]:
        """Hold connections open. The addresses that the tools name are the operator's own, and allowed."""
        self._ended = anyio.Event()
        rows = await anyio.to_thread.run_sync(self._rows)
        typed = [str(as_object(row.get("http")).get("url", "")).partition("{{")[0] for row in rows]
        allowance = Allowance.of([] if self._settings.public else typed, private=self._settings.allow_private)
        async with SafeClient(allowance, timeout=self._settings.seconds) as client:
            self._client = client
            try:
                yield
            finally:
                self._client = None
                self._ended.set()

    async def listing(self) -> Listing:
        """The tools; a row that cannot be one is set aside alone."""
        return await anyio.to_thread.run_sync(self._listing)

    async def health(self) -> Health:
        """Ready while it is open; each call meets its own service or program."""
        return Health(SourceState.IDLE if self._client is None else SourceState.READY)

    async def changes(self) -> AsyncIterator[None]:
        """It does not change; ends with the session."""
        await self._ended.wait()
        for nothing in ():
            yield nothing

    def _listing(self) -> Listing:
        tools: list[Tool] = []
        notes: list[Note] = []
        for at, row in enumerate(self._rows()):
            label = str(row.get("name") or f"tool {at + 1}")
            try:
                tools += self._tool(label, row, notes)
            except PegboardError as error:
                notes.append(Note(NoteKind.SET_ASIDE, label, f"/{at}", str(error)))
        return Listing(tuple(tools), tuple(notes))

    def _tool(self, label: str, row: JsonObject, notes: list[Note]) -> Iterator[Tool]:
        handler, names, needed, effects = self._binding(label, row)
        plain = {key: value for key, value in row.items() if key not in ("http", "cli", "python", "effects", "rung")}
        if not any(key in row for key in _SCHEMAS) and row.get("type") != "custom":
            properties: dict[str, Json] = {name: {"type": "string"} for name in names}
            plain["inputSchema"] = {"type": "object", "properties": properties, "required": needed}
        found = normalise(plain, namespace=self._namespace, source=SourceRef(self.name, self.kind), trusted=True)
        notes.extend(found.notes)
        if found.spec is None:
            return
        unknown = [name for name in names if name not in found.spec.properties]
        if unknown:
            raise DefinitionError(
                f"The template reads {', '.join(unknown)}, which its schema does not have.",
                where=label,
                next_step="Add it to the schema, or correct the placeholder.",
            )
        if handler is None:
            notes.append(
                Note(NoteKind.WARNING, label, "", "It is bound to nothing: calls fail. Add http, cli or python.")
            )
        yield self._finished(found.spec, row, handler, effects)

    def _finished(self, spec: ToolSpec, row: JsonObject, handler: Handler | None, effects: Effects) -> Tool:
        said = row.get("effects")
        if said is not None and said not in set(Effects):
            raise DefinitionError(f"There are no effects {said!r}.", where=spec.name.name)
        chosen = Effects(said) if said else spec.effects if spec.effects is not Effects.UNKNOWN else effects
        spec = replace(spec, effects=chosen, rung=Rung(row.get("rung", "mid")))
        own = [Mode.PREVIEW, Mode.DRY_RUN] if isinstance(handler, RequestRun | ProgramRun) else []
        if own:
            spec = with_modes(spec, own) if chosen is Effects.DESTRUCTIVE else with_own_modes(spec, own)
        if isinstance(handler, ProgramRun):
            handler = ProgramRun(handler.template, chosen)
        elif isinstance(handler, RequestRun):
            handler = RequestRun(handler.template, replace(handler.exchange, effects=chosen))
        return Tool(spec, handler or _unbound)

    def _binding(self, label: str, row: JsonObject) -> tuple[Handler | None, list[str], list[str], Effects]:
        settings = self._settings
        if "http" in row:
            request = RequestTemplate.read(as_object(row["http"]), f"{label}.http")
            effects = Effects.READ_ONLY if request.method in _READS else Effects.UNKNOWN
            signing = () if settings.auth is None else (credential(settings.auth, where=f"sources.{self.name}.auth"),)
            client = self._client or SafeClient()
            return RequestRun(request, Exchange(client, signing, effects)), request.names, request.needed, effects
        if "cli" in row:
            program = ProgramTemplate.read(
                row["cli"], f"{label}.cli", cwd=str(settings.folder.resolve()), seconds=settings.seconds
            )
            return ProgramRun(program, Effects.UNKNOWN), program.names, program.needed, Effects.UNKNOWN
        if "python" in row:
            bound = _python(str(row["python"]), settings.folder, freeform=row.get("type") == "custom")
            return bound.handler, [], [], Effects.UNKNOWN
        return None, [], [], Effects.UNKNOWN


def _python(text: str, folder: Path, *, freeform: bool) -> Tool:
    module, colon, name = text.partition(":")
    if not colon:
        raise DefinitionError(f"{text!r} names no function.", where="python", next_step='Write "module:function".')
    place = str(folder.resolve())
    if place not in sys.path:
        sys.path.append(place)
    try:
        function: Any = getattr(import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise DefinitionError(f"{text} cannot be imported: {error}.", where="python") from None
    made = cast("ToolFunction[..., Any]", function if isinstance(function, ToolFunction) else tool(function))
    if freeform and made.options.get("freeform") is None:
        return tool(freeform=True)(made.function).tool
    return made.tool


async def _unbound(call: Call) -> Result:
    return Result.failed(
        FailureCode.UNAVAILABLE,
        f"{call.tool} is bound to nothing.",
        next_step="Whoever runs the board adds http, cli or python to its manifest.",
    )


def http_source(name: str, table: JsonObject, **more: Any) -> TemplatedSource:
    """A source of HTTP tools: one, where the table has a `url`, else one per name."""
    return TemplatedSource(name, "http", lambda: _rows(name, table, "http", "url"), **more)


def cli_source(name: str, table: Json, **more: Any) -> TemplatedSource:
    """A source of program tools: one, where it is a list or has `argv`, else one per name."""
    rows = as_object(table) or {"argv": table}
    return TemplatedSource(name, "cli", lambda: _rows(name, rows, "cli", "argv"), **more)


def manifest_source(name: str, path: Path, **more: Any) -> TemplatedSource:
    """A source of the tools of a manifest: a tool definition, a list of them, or `{ "tools": [...] }`."""

    def rows() -> list[JsonObject]:
        value = read_file(path)
        listed = as_object(value).get("tools", value)
        return [as_object(row) for row in (listed if isinstance(listed, list) else [listed])]  # pyright: ignore[reportUnknownVariableType]

    return TemplatedSource(name, "manifest", rows, **more)


_OF_TOOL = frozenset((*_SCHEMAS, "name", "title", "description", "effects", "rung", "category", "hints", "examples"))


def _rows(name: str, table: JsonObject, kind: str, mark: str) -> list[JsonObject]:
    tables: Mapping[str, Json] = {str(table.get("name", name)): table} if mark in table else table
    rows: list[JsonObject] = []
    for key, value in tables.items():
        row = as_object(value) if isinstance(value, Mapping) else {mark: value}
        binding = {part: row[part] for part in row if part not in _OF_TOOL}
        rows.append({"name": key, **{part: row[part] for part in row if part in _OF_TOOL}, kind: binding})
    return rows
