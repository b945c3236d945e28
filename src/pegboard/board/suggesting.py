"""What agents and people can still put on a board: the parts of it that know of directories, wired together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self, cast

import anyio

from pegboard.approval.elicit import by_elicitation
from pegboard.board.memory import Memory
from pegboard.board.mounting import Mounting
from pegboard.board.passage import Passage
from pegboard.board.roster import Roster
from pegboard.board.sessions import Sessions
from pegboard.board.supply import Supply, Tools
from pegboard.config import Config
from pegboard.core import Call, Discoverable, FailureCode, Result, Session, ToolSpec
from pegboard.directory.merge import with_state
from pegboard.directory.offering import Offering, Standing, named
from pegboard.directory.state import StateFile
from pegboard.discovery import install, manage, search
from pegboard.discovery.asking import Asking, Brought, Rules
from pegboard.errors import PegboardError
from pegboard.schema.types import JsonObject

LOADED = 20
"""So many tools of what was brought in are loaded for the session that asked."""
PATIENCE = 3.0
"""So many seconds a search waits for a directory that is slow to answer; it is read on behind its back."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A config, and what is installed beside it.

    Parameters:
        written: the config as it is written.
        state: what is installed.
        config: both together.
    """

    written: Config
    state: StateFile
    config: Config

    @classmethod
    def of(cls, written: Config) -> Self:
        """Read what is installed on the board of a config."""
        store = written.board.store
        state = StateFile(store if isinstance(store, Path) else None)
        return cls(written, state, with_state(written, state.read()))


class Suggesting:
    """What could be on one board, asked for by agents and put there by agreement or by hand.

    Parameters:
        board: its tools.
        roster: its running sources.
        sessions: what sessions have searched for.
        plan: the config, and what is installed; None where the board has no config, and so no directories.
        memory: what the board remembers.
        passage: what calls are held to, and where requests wait for a person.
    """

    def __init__(
        self,
        board: Tools,
        roster: Roster,
        sessions: Sessions,
        plan: Plan | None,
        memory: Memory | None,
        passage: Passage,
    ) -> None:
        self._board, self._roster = board, roster
        self._supply: Supply | None = None
        self._rules = Rules(enabled=False)
        if plan is None or memory is None:
            return
        table = plan.written.tables["suggestions"]
        self._rules = Rules(table["enabled"], table["per_hour"], table["forget_days"])
        self._manages: bool = table["manage"]
        self._desk = passage.consent.desk
        self._has_directories = bool(plan.written.tables["directories"])
        folder = plan.state.folder
        self._offering = Offering(plan.written, None if folder is None else folder / "directories")
        self._mounting = Mounting(plan.written, plan.state, roster, memory, passage)
        self._supply = Supply(self._offering, self._mounting, plan.state, board)
        self._ask = Asking(
            self._supply, self._desk, self._rules, lambda call: sessions.queries(call.session), by_elicitation
        )
        self._state = plan.state
        self._left_out = plan.config.warnings[len(plan.written.warnings) :]

    @property
    def supply(self) -> Supply:
        """Installs, enables, disables and uninstalls by hand.

        Raises:
            PegboardError: the board has no config.
        """
        if self._supply is None:
            raise PegboardError("This board was made without a config.", next_step="Open it with Board.open.")
        return self._supply

    def skills(self) -> Mapping[str, str]:
        """What the skills of installed plugins teach, by their names; untrusted text. Blocks."""
        from pegboard.directory.skill import body_of

        topics = () if self._supply is None else self._supply.topics
        return {topic.name: body_of(topic) for topic in topics}

    @property
    def config(self) -> Config | None:
        """The config, with what is installed by now."""
        return self._mounting.config if self._supply is not None else None

    def beside(self, shown: tuple[ToolSpec, ...], *, single_turn: bool) -> tuple[ToolSpec, ...]:
        """The meta-tools in a list: the shown ones, and the one that asks where there can be something to ask for.

        Parameters:
            shown: the other ones; where there are none, the search that comes before asking is shown too.
            single_turn: the agent has one turn: there is no time to ask.
        """
        if self._supply is None or single_turn:
            return shown
        asks = self._rules.enabled and (self._has_directories or (bool(shown) and self._has_disabled))
        more = (*((install.SPEC,) if asks else ()), *(manage.SPECS.values() if self._manages else ()))
        return (*(shown or (search.SPEC,)), *more) if more else shown

    @property
    def _has_disabled(self) -> bool:
        return any(source.disabled for source in self._mounting.config.sources.values())

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was set aside: entries of directories that were read, and installed sources."""
        if self._supply is None:
            return ()
        return (*self._left_out, *self._state.warnings, *(str(aside) for aside in self._offering.aside))

    async def look(self) -> None:
        """Read the directories, so that `warnings` tells what is wrong with them."""
        if self._supply is not None:
            await self._supply.standings()

    async def catch_up(self) -> None:
        """Follow what another process has installed, switched or uninstalled; next to nothing where none has."""
        if self._supply is not None:
            await self._mounting.catch_up()

    async def meet(self, features: JsonObject) -> None:
        """Let the sources offer what they offer to a client that declared this; next to nothing once they have.

        Parameters:
            features: what the client declared of elicitation, sampling and roots, raw.
        """
        if features:
            await self._roster.meet(features)

    async def discoverables(self) -> Sequence[Discoverable]:
        """Everything that could be on the board and is not; nothing where agents may not ask."""
        if self._supply is None or not self._rules.enabled:
            return []
        return list((await self._supply.open()).all.values())

    async def offers(self, query: str, session: Session, limit: int = 3) -> Sequence[Discoverable]:
        """What could be on the board and meets a request, best first, without what was declined."""
        if self._supply is None or not self._rules.enabled or not query.strip():
            return []
        found: Sequence[Discoverable] = ()
        with anyio.move_on_after(PATIENCE):
            found = (await self._supply.open()).search(query, limit + 5)
        if not found:
            return []
        declined = await self._ask.declined(session.principal, session.id)
        return [one for one in found if declined(one) is None][:limit]

    async def request(self, call: Call) -> Result:
        """Take an agent's suggestion to a person, and do what was agreed to."""
        if self._supply is None:
            message = "This board has no directories, so there is nothing to ask for."
            return Result.failed(FailureCode.BLOCKED, message, next_step="Tell the user what is missing.")
        result = await self._ask(call)
        if result.ok:  # what is new is in the session's list at once
            full = self._board.aliases.full
            tools = cast("Mapping[str, list[str]]", result.value).get("tools", [])
            self._board.load(call.session, [full[tool] for tool in tools[:LOADED] if tool in full])
        return result

    async def manage(self, call: Call, action: str) -> Result:
        """Install, enable, disable or uninstall, if the board lets models and a person agrees."""
        if self._supply is None or not self._manages:
            message = "This board does not let models manage what is on it."
            step = "Ask for it with request_plugin_install, or tell the user: pegboard install, enable, disable."
            return Result.failed(FailureCode.BLOCKED, message, next_step=step, details={"reason": "switched_off"})
        id = str(call.arguments.get("tool_id") or "").strip()
        standing = next(iter(named(await self._supply.standings(fresh=True), id)), None)
        try:
            names = [] if action == "install" else self._supply.names(id)
            if action == "install" and (standing is None or standing.state != "available"):
                raise PegboardError(f"There is no {id!r} to install.", next_step="See list_available_tools.")
            definition = standing.one.digest if standing is not None else ",".join(names)
            refusal = await manage.agreed(self._desk, call, definition, by_elicitation(call))
            if refusal is not None:
                return Result(failure=refusal)
            return manage.told(id, await self._managed(action, id, names, standing))
        except PegboardError as problem:
            return Result.failed(
                FailureCode.INVALID_ARGUMENTS, problem.message, where="/tool_id", next_step=problem.next_step
            )

    async def _managed(self, action: str, id: str, names: Sequence[str], standing: Standing | None) -> Brought:
        if action == "install" and standing is not None:
            return await self.supply.bring(standing.one, _quiet)
        if action == "uninstall":
            await self.supply.uninstall(id)
            return Brought(True)
        brought = [await self.supply.switch(name, off=action == "disable", tell=_quiet) for name in names]
        failed = next((one for one in brought if not one.completed), None)
        return failed or Brought(True, tuple(tool for one in brought for tool in one.tools))


async def _quiet(_: str) -> None: ...
