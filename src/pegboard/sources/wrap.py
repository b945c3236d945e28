"""Sources changed from outside: functions from source to source, each with one effect."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from typing import TypeAlias

from pegboard.core import Health, Listing, Selection, Source, SourceState, Tool, ToolName
from pegboard.core.spec import ToolSpec
from pegboard.schema.types import JsonObject

Rewrite: TypeAlias = Callable[[Listing], Listing]
"""What a wrapped source makes of the inner one's listing."""


def filtered(source: Source, allow: Iterable[str] | None = None, deny: Iterable[str] = ()) -> Source:
    """The source with only the tools that are allowed and not denied.

    Parameters:
        source: the source.
        allow: selectors; None allows every tool.
        deny: selectors; they beat `allow`.

    Raises:
        DefinitionError: a selector cannot be read.
    """
    allowed = None if allow is None else Selection.parse(allow)
    denied = Selection.parse(deny)

    def admits(spec: ToolSpec) -> bool:
        return (allowed is None or spec in allowed) and spec not in denied

    def only(listing: Listing) -> Listing:
        return replace(listing, tools=tuple(tool for tool in listing.tools if admits(tool.spec)))

    return Rewritten(source, only)


def prefixed(source: Source, prefix: str) -> Source:
    """The source with another namespace for its tools.

    Parameters:
        source: the source.
        prefix: the namespace; empty for none.
    """

    def renamed(tool: Tool) -> Tool:
        name = ToolName(prefix, tool.name.name, tool.name.version)
        return Tool(replace(tool.spec, name=name), tool.handler)

    return Rewritten(source, lambda listing: replace(listing, tools=tuple(map(renamed, listing.tools))))


def versioned(source: Source, version: str) -> Source:
    """The source with a version in the names of its tools, so that another version of it may stand beside it.

    Parameters:
        source: the source.
        version: the version of every tool that has none of its own.
    """

    def renamed(tool: Tool) -> Tool:
        name = tool.name if tool.name.version else replace(tool.name, version=version)
        return Tool(replace(tool.spec, name=name), tool.handler)

    return Rewritten(source, lambda listing: replace(listing, tools=tuple(map(renamed, listing.tools))))


def disabled(source: Source, reason: str = "It is disabled in the config.") -> Source:
    """The source, never opened and without tools, but still shown.

    Parameters:
        source: the source.
        reason: why, for the report.
    """
    return Disabled(source.name, source.kind, reason)


def meets(source: Source | None, features: JsonObject) -> bool:
    """Tell a source what a client declared, where that matters to it; whether it may list other tools for that.

    Parameters:
        source: the source; None for none.
        features: what the client declared of elicitation, sampling and roots, raw.
    """
    meet = getattr(source, "meet", None)
    return meet is not None and bool(meet(features))


@dataclass(frozen=True)
class Rewritten:
    """A source whose listing is rewritten; made by the functions of this module.

    Parameters:
        inner: the source behind it.
        rewrite: what to make of its listing.
    """

    inner: Source
    rewrite: Rewrite

    @property
    def name(self) -> str:
        """The inner source's name."""
        return self.inner.name

    @property
    def kind(self) -> str:
        """The inner source's kind."""
        return self.inner.kind

    def session(self) -> AbstractAsyncContextManager[None]:
        """The inner source's session."""
        return self.inner.session()

    async def listing(self) -> Listing:
        """The inner listing, rewritten."""
        return self.rewrite(await self.inner.listing())

    async def health(self) -> Health:
        """The inner source's health."""
        return await self.inner.health()

    def meet(self, features: JsonObject) -> bool:
        """Tell the inner source what a client declared; whether it may list other tools for that."""
        return meets(self.inner, features)

    def changes(self) -> AsyncIterator[None]:
        """The inner source's changes."""
        return self.inner.changes()


@dataclass(frozen=True)
class Disabled:
    """A source that is there in name only."""

    name: str
    kind: str
    reason: str

    @asynccontextmanager
    async def session(self) -> AsyncGenerator[None]:
        """Nothing is opened."""
        yield

    async def listing(self) -> Listing:
        """No tools."""
        return Listing(())

    async def health(self) -> Health:
        """Disabled, with the reason."""
        return Health(SourceState.DISABLED, self.reason)

    async def changes(self) -> AsyncIterator[None]:
        """None, ever."""
        for nothing in ():
            yield nothing
