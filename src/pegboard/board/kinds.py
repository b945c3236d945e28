"""From a table `[sources.NAME]` to a source. What a source needs is imported, and its secrets read, when it opens."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TypeAlias

import anyio
import anyio.to_thread

from pegboard.board.roster import Filter
from pegboard.config import Config, SourceConfig
from pegboard.core import Health, Listing, Selection, Shelf, Source, SourceState, ToolSpec
from pegboard.schema.types import JsonObject
from pegboard.sources.wrap import Disabled, meets, versioned

STARTS = 4
"""How many processes may start at the same time: a machine has few processors."""


@dataclass(frozen=True, slots=True)
class Making:
    """What a source is made of.

    Parameters:
        source: its table.
        config: the whole config.
        starting: how many processes may start at the same time; all sources of a board share it.
        shelf: where raw answers of reshaped tools are kept.
    """

    source: SourceConfig
    config: Config
    starting: anyio.CapacityLimiter
    shelf: Shelf | None = None


Maker: TypeAlias = Callable[[Making], Source]
"""Makes a source of one kind."""


def _mcp(making: Making) -> Source:
    from pegboard.board.remote import remote_of
    from pegboard.sources.mcp import McpSource

    table, options = making.source, making.source.options
    secrets = making.config.secrets
    target = secrets.reveal(table.target, where=f"{table.where}.mcp")
    headers = secrets.reveal(options["headers"], where=f"{table.where}.headers")
    remote = remote_of(making.config, table, target) if isinstance(target, str) else None
    signed = any(name.lower() == "authorization" for name in headers)
    return McpSource(
        table.name,
        target if isinstance(target, str) else list(target),
        prefix=table.prefix,
        env=secrets.reveal(options["env"], where=f"{table.where}.env"),
        headers=headers,
        keeper=remote.keeper() if remote is not None and not signed else None,
        proxy=remote.proxy if remote is not None else None,
        ca_file=remote.ca_file if remote is not None else None,
        cwd=str(options["cwd"]) if options["cwd"] else None,
        transport=options["transport"],
        start_timeout=table.start_timeout,
        call_timeout=table.call_timeout,
        trust_annotations=table.trust_annotations,
        strict_output=options["strict_output"],
        starting=making.starting,
        may_ask=options["may_ask"],
        beside=[name for name in ("resources", "prompts") if options[name]],
        family=options["family"],
    )


def _python(making: Making) -> Source:
    from pegboard.sources.python import PythonSource

    table = making.source
    return PythonSource(table.name, table.target, making.config.folder, prefix=table.prefix)


def _recorded(making: Making) -> Source:
    from pegboard.sources.recorded import RecordedSource

    table = making.source
    return RecordedSource(
        table.name,
        table.target,
        prefix=table.prefix,
        trust_annotations=table.trust_annotations,
        answers=table.options["answers"],
    )


def _openapi(making: Making) -> Source:
    from pegboard.sources.openapi import OpenApiSource
    from pegboard.sources.openapi.source import Options

    table, options = making.source, dict(making.source.options)
    secret = {key: making.config.secrets.reveal(options[key], where=f"{table.where}.{key}") for key in _SECRET}
    settings = Options(**{**options, **secret}, timeout=table.call_timeout)
    return OpenApiSource(table.name, _document(making), prefix=table.prefix, options=settings)


def _document(making: Making) -> str:
    table = making.source
    target = table.target
    return str(target) if isinstance(target, Path) else making.config.secrets.reveal(target, where=table.where)


_SECRET = ("base_url", "auth", "headers")


def _sql(making: Making) -> Source:
    from pegboard.sources.sql import SqlSource
    from pegboard.sources.sql.database import Caps

    table, options = making.source, making.source.options
    url = making.config.secrets.reveal(table.target, where=f"{table.where}.sql")
    if "://" not in url:
        url = str(making.config.folder / Path(url).expanduser())
    elif url.startswith(("sqlite:///", "duckdb:///")):
        scheme, _, rest = url.partition(":///")
        url = f"{scheme}:///{making.config.folder / rest}"
    return SqlSource(table.name, url, prefix=table.prefix, caps=Caps(**options))


def _graphql(making: Making) -> Source:
    from pegboard.sources.graphql import GraphqlSource
    from pegboard.sources.graphql.source import Options

    table, options = making.source, dict(making.source.options)
    wanted = ("endpoint", "auth", "headers")
    secret = {key: making.config.secrets.reveal(options[key], where=f"{table.where}.{key}") for key in wanted}
    settings = Options(**{**options, **secret}, seconds=table.call_timeout)
    return GraphqlSource(table.name, _document(making), prefix=table.prefix, options=settings)


def _templated(making: Making) -> Source:
    from pegboard.sources.templated import cli_source, http_source, manifest_source
    from pegboard.sources.templated.source import Settings

    table, config = making.source, making.config
    reveal = config.secrets.reveal
    settings = Settings(
        folder=config.folder,
        auth=reveal(table.options.get("auth"), where=f"{table.where}.auth"),
        allow_private=table.options.get("allow_private", False),
        public=table.options.get("public", False),
        seconds=table.call_timeout,
    )
    if table.kind == "manifest":
        return manifest_source(table.name, table.target, prefix=table.prefix, settings=settings)
    make = http_source if table.kind == "http" else cli_source
    target = reveal(table.target, where=f"{table.where}.{table.kind}")
    return make(table.name, target, prefix=table.prefix, settings=settings)


def _script(making: Making) -> Source:
    from pegboard.codemode.scripted import ScriptSource

    table = making.source
    return ScriptSource(table.name, table.target, prefix=table.prefix)


def _wait(making: Making) -> Source:
    from pegboard.sources.waiting import Wait, WaitSource

    table = making.source
    target = making.config.secrets.reveal(table.target, where=f"{table.where}.wait")
    return WaitSource(
        table.name,
        Wait.read(target, f"{table.where}.wait"),
        prefix=table.prefix,
        allow_private=table.options["allow_private"],
        public=table.options["public"],
    )


KINDS: Mapping[str, Maker] = {
    "cli": _templated,
    "graphql": _graphql,
    "http": _templated,
    "manifest": _templated,
    "mcp": _mcp,
    "openapi": _openapi,
    "python": _python,
    "recorded": _recorded,
    "script": _script,
    "sql": _sql,
    "wait": _wait,
}
"""The maker of each kind; a new kind of source is one more line here and in `config.tables`."""


def sources_of(config: Config, shelf: Shelf | None = None) -> list[Source]:
    """The sources of a config, each made when it is first opened.

    Parameters:
        config: the config.
        shelf: where raw answers of reshaped tools are kept.
    """
    starting = anyio.CapacityLimiter(STARTS)
    return [source_of(table, config, starting, shelf) for table in config.sources.values()]


def source_of(
    table: SourceConfig, config: Config, starting: anyio.CapacityLimiter, shelf: Shelf | None = None
) -> Source:
    """One source, made when it is first opened.

    Parameters:
        table: its table.
        config: the whole config.
        starting: how many processes may start at the same time.
        shelf: where raw answers of reshaped tools are kept.
    """
    making = Making(table, config, starting, shelf)
    if table.disabled:
        return Disabled(table.name, table.kind, "It is switched off.")
    planned = Planned(table.name, table.kind, partial(_made, making))
    return versioned(planned, table.version) if table.version else planned


def _made(making: Making) -> Source:
    source = KINDS[making.source.kind](making)
    if not making.source.is_shaped:
        return source
    from pegboard.board.shaping import reshaped

    return reshaped(source, making.source, making.config, making.shelf)


def filters_of(config: Config) -> dict[str, Filter]:
    """Which tools the tables allow, by source."""
    return {
        name: partial(
            _admits, None if table.allow is None else Selection.parse(table.allow), Selection.parse(table.deny)
        )
        for name, table in config.sources.items()
        if table.allow is not None or table.deny
    }


def _admits(allow: Selection | None, deny: Selection, spec: ToolSpec) -> bool:
    return (allow is None or spec in allow) and spec not in deny


@dataclass(eq=False)
class Planned:
    """A source that is made when it is opened, so that one whose secret is missing costs only itself.

    Parameters:
        name: the source's name.
        kind: its kind.
        make: makes it.
    """

    name: str
    kind: str
    make: Callable[[], Source]
    _inner: Source | None = field(default=None, init=False)

    @property
    def inner(self) -> Source | None:
        """What it has made, while it is open."""
        return self._inner

    @asynccontextmanager
    async def session(self) -> AsyncGenerator[None]:
        """Make the source and hold it open."""
        # In a thread, because it imports: a gateway answers its clients meanwhile.
        inner = await anyio.to_thread.run_sync(self.make)
        async with inner.session():
            self._inner = inner
            try:
                yield
            finally:
                self._inner = None

    async def listing(self) -> Listing:
        """The source's listing."""
        assert self._inner is not None, "the source is not open"
        return await self._inner.listing()

    async def health(self) -> Health:
        """The source's health; idle while it is not open."""
        return await self._inner.health() if self._inner is not None else Health(SourceState.IDLE)

    async def probe(self) -> Health:
        """The source's health, asking it where that differs."""
        if self._inner is None:
            return Health(SourceState.IDLE)
        asked = getattr(self._inner, "probe", self._inner.health)
        return await asked()

    def meet(self, features: JsonObject) -> bool:
        """Tell the source what a client declared; whether it may list other tools for that."""
        return meets(self._inner, features)

    async def changes(self) -> AsyncIterator[None]:
        """The source's changes."""
        if self._inner is not None:
            async for change in self._inner.changes():
                yield change
