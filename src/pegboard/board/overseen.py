"""What a board tells of its sources, and does to them."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from pegboard.board.passage import Passage
from pegboard.board.primitives import Primitives
from pegboard.board.roster import Roster
from pegboard.board.wellness import Wellness
from pegboard.catalog import Catalog
from pegboard.config import Config
from pegboard.core import Note, NoteKind, SourceState, SourceStatus, ToolSpec
from pegboard.discovery.health import ServiceHealth
from pegboard.index import Where
from pegboard.trace.redact import Redactor

_REFUSED = re.compile(r"\b(401|403|unauthori[sz]ed|forbidden|sign.?in|not set)\b", re.IGNORECASE)
"""What errors say of a service that does not know who asks."""


class Overseen:
    """The part of a board that is about its sources."""

    _roster: Roster
    _passage: Passage
    _wellness: Wellness
    primitives: Primitives

    @property
    def config(self) -> Config | None:
        """What the board was made of."""
        raise NotImplementedError

    @property
    def catalog(self) -> Catalog:
        """The tools of the board now."""
        raise NotImplementedError

    async def statuses(self) -> list[SourceStatus]:
        """How each source is, in the board's order, without secrets in what went wrong."""
        found = await self._roster.statuses()
        return [self._clean(self._noted(status)) for status in found]

    def _noted(self, status: SourceStatus) -> SourceStatus:
        more = (Note(NoteKind.WARNING, None, "", text) for text in self.primitives.notes(status.name))
        return replace(status, notes=(*status.notes, *more))

    def services(self) -> Sequence[str]:
        """The names of the sources, in the board's order."""
        return tuple(self._roster.sources)

    def summaries(self) -> list[SourceStatus]:
        """How each source is, as far as is known without asking it."""
        return [self._clean(attached.summary()) for attached in self._roster.sources.values()]

    def auth_met(self, spec: ToolSpec) -> bool | None:
        """Whether what a tool's sign-in needs is there; None where nobody knows, or it needs none."""
        table = self.config.sources.get(spec.source.name) if self.config is not None else None
        if spec.auth is None or table is None:
            return None
        status = self._roster.sources[spec.source.name].summary()
        if status.error and _REFUSED.search(status.error):
            return False
        given = any(table.options.get(key) for key in ("auth", "headers", "env"))
        return given or (False if "auth" in table.options else None)

    def narrowed(self, where: Where, *, states: Iterable[SourceState] = (), auth_met: bool = False) -> Where:
        """A filter for searches that also goes by what the board alone knows, as it is now.

        Parameters:
            where: what else is asked of a tool.
            states: only tools of sources in one of these states; none for any.
            auth_met: leave out tools whose sign-in is known not to be there.
        """
        wanted = {*states}
        if wanted:
            there = frozenset(status.name for status in self.summaries() if status.state in wanted)
            where = replace(where, sources=there if where.sources is None else where.sources & there)
        if auth_met:
            out = frozenset(spec.source.name for spec in self.catalog.specs if self.auth_met(spec) is False)
            where = replace(where, signed_out=where.signed_out | out)
        return where

    async def check(self, names: Sequence[str], *, probe: bool = False) -> Sequence[ServiceHealth]:
        """How these sources are, in under a second.

        Parameters:
            names: the sources' names.
            probe: ask each, whatever was found in the last 15 s, and start those that are not running.
        """
        return await self._wellness.check(names, probe=probe)

    def _clean(self, status: SourceStatus) -> SourceStatus:
        return replace(status, error=self.redactor.text(status.error)) if status.error else status

    @property
    def redactor(self) -> Redactor:
        """Knows the secrets that the config's references led to; `redactor.log_filter` keeps them out of logs."""
        return self._passage.redactor

    async def refresh(self, names: Sequence[str] | None = None) -> None:
        """List sources anew, all or the named ones, and wait; what goes wrong stands in `statuses`.

        Raises:
            PegboardError: a name is no source's.
        """
        await self._roster.refresh(names)

    def refresh_soon(self) -> None:
        """List in the background, once, every source that has not been listed by this process."""
        self._roster.refresh_soon()

    def instructions_of(self, source: str) -> str:
        """What a source says of itself; untrusted text."""
        return self._roster.instructions(source)
