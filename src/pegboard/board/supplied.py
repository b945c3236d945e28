"""What a board tells of the resources and prompts of its sources."""

from pegboard.board.attached import Attached
from pegboard.board.gathered import Gathered
from pegboard.board.heeding import Heeding
from pegboard.board.holdings import Holdings
from pegboard.board.passage import Passage
from pegboard.board.primitives import Primitives
from pegboard.board.roster import Roster, Watcher
from pegboard.core import Session, SourceState, SourceStatus
from pegboard.core.primitive import Primitive
from pegboard.invoke.pool import selection_of
from pegboard.schema.types import JsonObject


class Supplied:
    """The part of a board that is about resources and prompts."""

    _roster: Roster
    _held: Holdings
    primitives: Primitives
    heeding: Heeding

    def _supply(self, passage: Passage, watcher: Watcher | None) -> Watcher:
        """Make the parts; returns what hears how each source is, the given watcher after them."""
        self.primitives = Primitives(
            lambda: self._roster.sources,
            self._shows,
            passage.redactor.text,
            passage.keep,
            passage.limits.max_result,
        )
        self.heeding = Heeding(self.primitives)

        def hear(status: SourceStatus) -> None:
            self.heeding.on_status(status)
            if watcher is not None:
                watcher(status)

        return hear

    async def resources(self, session: Session | None = None) -> Gathered:
        """The resources of every source, under the board's addresses; who cannot be listed stands in `errors`.

        Parameters:
            session: who asks; None for what every session sees.
        """
        return await self.primitives.listed(Primitive.RESOURCES, session)

    async def resource_templates(self, session: Session | None = None) -> Gathered:
        """The templates of resources of every source; see `resources`."""
        return await self.primitives.listed(Primitive.TEMPLATES, session)

    async def prompts(self, session: Session | None = None) -> Gathered:
        """The prompts of every source, under the board's names; see `resources`."""
        return await self.primitives.listed(Primitive.PROMPTS, session)

    async def read_resource(self, uri: str, session: Session | None = None) -> JsonObject:
        """What a resource holds now: a `resources/read` answer, raw.

        Parameters:
            uri: its address on the board, or in its source's own spelling where only one source has it.
            session: who reads.

        Raises:
            UnknownPrimitiveError: no source has it.
            AskError: its source does not answer, or answers with an error.
        """
        return await self.primitives.read(uri, session)

    async def get_prompt(
        self, name: str, arguments: JsonObject | None = None, session: Session | None = None
    ) -> JsonObject:
        """A prompt, filled in: a `prompts/get` answer, raw.

        Parameters:
            name: its name on the board, `ns.name`, or its own where it is the only one.
            arguments: texts by name.
            session: who asks.

        Raises:
            UnknownPrimitiveError: no source has it.
            AskError: its source does not answer, or answers with an error.
        """
        return await self.primitives.prompt(name, arguments, session)

    async def complete(self, params: JsonObject, session: Session | None = None) -> JsonObject:
        """Values that an argument of a prompt or template may have: a `completion/complete` answer, raw.

        Parameters:
            params: `ref`, `argument` and perhaps `context` (MCP 2026-07-28, completion).
            session: who asks.

        Raises:
            UnknownPrimitiveError: no source has it.
            AskError: its source does not answer, or answers with an error.
        """
        return await self.primitives.complete(params, session)

    def _shows(self, attached: Attached, session: Session | None) -> bool:
        """Whether a session may see a source: it is switched on, and some tool of it is seen if it has any."""
        if attached.state is SourceState.DISABLED:
            return False
        if not attached.listing.tools:
            return True
        pool = selection_of(session) if session is not None else None
        unseen = self._held.unseen
        return any(tool.name not in unseen and (pool is None or tool.spec in pool) for tool in attached.tools)
