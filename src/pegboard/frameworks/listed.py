"""The tools of a board as a framework lists them: name, description and schema of arguments, and the way back."""

from dataclasses import dataclass

from pegboard.board import Board
from pegboard.core import Call, Result, Session
from pegboard.errors import ConfigError
from pegboard.schema.types import Json, JsonObject
from pegboard.surface.definition import Definition, define_all
from pegboard.surface.offer import Offer


@dataclass(frozen=True, slots=True)
class Row:
    """One tool as frameworks take it.

    Parameters:
        name: its wire name.
        description: what a model reads of it.
        schema: the schema of its arguments.
        definition: all that is known of it.
    """

    name: str
    description: str
    schema: JsonObject
    definition: Definition


@dataclass(frozen=True, slots=True)
class Listed:
    """A board's list for one session.

    Parameters:
        board: the board, open.
        session: whose list it is.
        to: the dialect that schemas are handed over in; the framework's own adapter for a provider comes after it.
        single_turn: whether every tool is in it, none deferred.
    """

    board: Board
    session: Session
    to: str = "mcp"
    single_turn: bool = False

    def offer(self) -> Offer:
        """What the session sees now.

        Raises:
            ConfigError: every tool shall be in it, and they are too many.
        """
        view = self.board.view(self.session, single_turn=self.single_turn)
        if self.single_turn and view.refusal is not None:
            raise ConfigError(view.refusal.message, next_step=view.refusal.next_step)
        # A tool that takes one text goes out as a function here: frameworks know no other kind.
        found = define_all(view.listed, self.to, aliases=view.aliases)
        return Offer(self.to, [], tuple(found), view, notes=view.notes)

    def rows(self, offer: Offer) -> list[Row]:
        """The tools of the list, without those that the dialect refuses."""
        return [_row(one) for one in offer.definitions if one.tool is not None]

    async def run(self, offer: Offer, name: str, arguments: Json, id: str | None = None) -> Result:
        """Call a tool by its wire name with a model's arguments.

        Parameters:
            offer: the list that the model saw.
            name: the name that it called.
            arguments: the arguments that it sent.
            id: the framework's id of the call.
        """
        call: Call = offer.call(offer.find(name), arguments, self.session, id=id)
        return await self.board.run(call)


def _row(one: Definition) -> Row:
    assert one.tool is not None and one.spec is not None, "rows are made of what was not refused"
    body = one.tool.get("function") or one.tool.get("custom") or one.tool
    schemas = (body.get(key) for key in ("inputSchema", "input_schema", "parameters", "parametersJsonSchema"))
    schema = next((schema for schema in schemas if schema is not None), None)
    return Row(one.name, str(body["description"]), schema or {"type": "object", "properties": {}}, one)
