"""Opening the board that a command is about, with a word on how its sources come up."""

import logging
import sys
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Self

from pegboard.approval import Approver
from pegboard.board import Board
from pegboard.board.issued import moved, with_versions
from pegboard.board.published import LIVE
from pegboard.board.roster import Refresh
from pegboard.cli.output import clean, guarded, one_line, say
from pegboard.config import Config, load
from pegboard.core import Source, SourceState, SourceStatus
from pegboard.frameworks.agents.execute import agents_of
from pegboard.frameworks.agents.offered import offered_agents
from pegboard.frameworks.agents.subagents import delegating

Told = Callable[[SourceStatus, Config], str]


LOCAL = ("python", "recorded")
"""Kinds that are listed in no time, and that their author may have changed since the last command."""

_FILL = "Write a [sources.NAME] table into it, or take over the servers of your other clients with `pegboard import`."


def doubtful(status: SourceStatus) -> bool:
    """Whether what is stored of a source may be out of date by now: a local one, or one that could not be started."""
    return status.kind in LOCAL or status.state is SourceState.UNAVAILABLE


def unwell(statuses: Sequence[SourceStatus]) -> list[str]:
    """A line for each source that is not all there, so that nobody takes what was read for the whole board."""
    return [
        f"{status.name} is {status.state}: {one_line(status.error or '')}"
        for status in statuses
        if status.state in (SourceState.UNAVAILABLE, SourceState.DEGRADED)
    ]


@asynccontextmanager
async def opened(
    config: Path,
    *,
    refresh: Refresh = doubtful,
    told: Told | None = None,
    version: str | None = None,
    approvers: Sequence[Approver] = (),
    beside: Sequence[Source] = (),
    issued: Sequence[str] = (),
) -> AsyncGenerator[Board]:
    """As `connected`, with stdout kept for the command's own data."""
    with guarded():
        async with connected(
            config, refresh=refresh, told=told, version=version, approvers=approvers, beside=beside, issued=issued
        ) as board:
            yield board


@asynccontextmanager
async def connected(
    config: Path,
    *,
    refresh: Refresh = False,
    told: Told | None = None,
    version: str | None = None,
    approvers: Sequence[Approver] = (),
    beside: Sequence[Source] = (),
    issued: Sequence[str] = (),
) -> AsyncGenerator[Board]:
    """The board of a config; what is odd about the config or the store is told.

    Parameters:
        config: the file, or its folder.
        refresh: which sources to list, whatever is stored.
        told: the line to tell of a source that has come up or failed; by default one that a terminal shows and wipes.
        version: the published version that the board is held to; None: the chosen one; "live": none.
        approvers: who is asked where a call waits for a person.
        beside: sources made in code, besides the config's.
        issued: published versions of chains and agents to have beside the others, as `chain/NAME@VERSION`.
    """
    settings = with_versions(load(config), issued, live=version == LIVE)
    for warning in settings.warnings:
        say(f"pegboard: {warning}")
    if not settings.sources:
        say(f"pegboard: {config} has no sources. {_FILL}")
    builders = [*agents_of(settings), *offered_agents(settings), *delegating(settings, beside)]
    with Progress(settings, told) as progress:
        async with Board.open(
            settings,
            beside=[*beside, *builders],
            refresh=refresh,
            watcher=progress.hear,
            version=version,
            approvers=approvers,
        ) as board:
            progress.close()
            for each in builders:
                each.over(board)
            if logging.lastResort is not None:  # what shows warnings that nobody has a handler for
                logging.lastResort.addFilter(board.redactor.log_filter)
            for warning in (*board.warnings, *moved(settings, issued, board.catalog.specs)):
                say(f"pegboard: {warning}")
            yield board


class Progress:
    """Tells how sources come up: one line each if asked to, else a passing line in a terminal, else nothing.

    Parameters:
        config: the config.
        told: makes the line.
    """

    def __init__(self, config: Config, told: Told | None) -> None:
        self._config, self._told = config, told
        self._starting: dict[str, None] = {}
        self._status: Any = None
        self._closed = False

    def hear(self, status: SourceStatus) -> None:
        """A source's state has changed."""
        if status.state is SourceState.STARTING:
            self._starting[status.name] = None
        else:
            self._starting.pop(status.name, None)
            if self._told is not None:
                say(self._told(status, self._config))
        self._draw()

    def close(self) -> None:
        """Wipe the passing line; from here on only told lines are shown."""
        if self._status is not None:
            self._status.stop()
        self._status, self._closed = None, True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _draw(self) -> None:
        if self._closed or self._told is not None or not sys.stderr.isatty():
            return
        if self._status is None:
            from rich.console import Console

            self._status = Console(stderr=True).status("", spinner="dots")
            self._status.start()
        self._status.update(f"Starting {clean(', '.join(self._starting))} ..." if self._starting else "")
