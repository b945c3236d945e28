"""A board's tools for a model that speaks OpenAI's Chat Completions API."""

from collections.abc import Sequence

from pegboard.agent.model import ToolCall
from pegboard.agent.play import Answered
from pegboard.board.board import Board
from pegboard.core import Call, Result, Session, ToolName
from pegboard.schema.types import JsonObject
from pegboard.surface import openai_chat
from pegboard.surface.offer import Offer


class BoardKit:
    """What a model sees of a board in one run (an `agent.play.Kit`).

    Parameters:
        board: the board.
        session: whose run it is.
    """

    def __init__(self, board: Board, session: Session) -> None:
        self._board, self._session = board, session
        self._offer: Offer = openai_chat.tools(board.view(session))

    def tools(self) -> Sequence[JsonObject]:
        """The definitions as they are now; what the model has found by search is among them."""
        self._offer = openai_chat.tools(self._board.view(self._session))
        return self._offer.tools

    async def call(self, call: ToolCall, group: str) -> Answered:
        """Run a call through the board; what goes wrong is in the message that the model gets."""
        item = call.to_openai()
        asked = openai_chat.call(item, self._offer, session=self._session, group=group)
        made = asked or Call(tool=ToolName.parse(call.name or "unknown"), arguments={}, session=self._session)
        result = await self._board.run(made)
        message = openai_chat.output(item, result, self._offer)
        return Answered(
            tool=str(made.tool),
            arguments=dict(made.arguments),
            ok=result.ok,
            message=message,
            failure=_code(result),
        )


def _code(result: Result) -> str | None:
    return result.failure.code.value if result.failure else None
