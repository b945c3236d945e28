"""A board as LangChain tools (extra `langchain`)."""

from typing import Any

from pegboard.board import Board
from pegboard.core import Result, Session
from pegboard.errors import MissingExtraError
from pegboard.frameworks.listed import Listed, Row
from pegboard.surface.offer import Offer
from pegboard.surface.parts import Kind, Part, joined, parts_of

try:
    from langchain_core.tools import BaseTool, ToolException
    from pydantic import ConfigDict
except ImportError as error:
    raise MissingExtraError("langchain", feature="A board as LangChain tools") from error


def tools(board: Board, *, session: Session | None = None, to: str = "mcp") -> "list[BaseTool]":
    """The tools that a session sees now, as LangChain takes them. They are asynchronous.

    Deferred tools are found with `tool_search` and called with `tool_call`; a later list also holds what the session
    has loaded.

    Parameters:
        board: the board, open for as long as the tools are used.
        session: who calls.
        to: the dialect that schemas are handed over in, such as `openai-chat-strict`; by default the author's own.

    Raises:
        DefinitionError: there is no such dialect.
    """
    listed = Listed(board, session or Session(), to)
    offer = listed.offer()
    return [_tool(listed, offer, row) for row in listed.rows(offer)]


def _tool(listed: Listed, offer: Offer, row: Row) -> "BaseTool":
    return BoardTool(
        name=row.name, description=row.description, args_schema=dict(row.schema), listed=listed, offer=offer
    )  # fmt: skip


class BoardTool(BaseTool):
    """One tool of a board. Its message holds what a model reads; the artifact is the whole `Result`.

    Parameters:
        listed: the list that it stands in.
        offer: what was offered with it.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    listed: Listed
    offer: Offer
    response_format: Any = "content_and_artifact"
    handle_tool_error: Any = True

    def _to_args_and_kwargs(
        self, tool_input: str | dict[str, Any], tool_call_id: str | None
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        # As one value: an argument may have the name of a keyword that LangChain hands on.
        return (tool_input, tool_call_id), {}

    def _run(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError("A board's tools are asynchronous: use ainvoke.")

    async def _arun(self, arguments: Any, tool_call_id: str | None = None, **_: Any) -> tuple[Any, Result]:
        result = await self.listed.run(self.offer, self.name, arguments, tool_call_id)
        parts = parts_of(result, self.offer.spec(self.offer.find(self.name)))
        if result.failure is not None:
            raise ToolException(joined(parts))
        return _content(parts), result


def _content(parts: tuple[Part, ...]) -> str | list[dict[str, Any]]:
    if all(part.kind is Kind.TEXT for part in parts):
        return joined(parts)
    return [_block(part) for part in parts]


def _block(part: Part) -> dict[str, Any]:
    if part.kind is Kind.TEXT:
        return {"type": "text", "text": part.text}
    kind = "image" if part.kind is Kind.IMAGE else "audio" if part.mime.startswith("audio/") else "file"
    return {"type": kind, "base64": part.data, "mime_type": part.mime}
