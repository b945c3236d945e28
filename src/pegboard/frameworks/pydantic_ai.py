"""A board as a toolset of pydantic-ai agents (extra `pydantic-ai`)."""

from base64 import b64decode
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from pegboard.board import Board
from pegboard.core import FailureCode, Result, Session, ToolName
from pegboard.errors import MissingExtraError
from pegboard.frameworks.listed import Listed, Row
from pegboard.surface.offer import Offer, read_arguments
from pegboard.surface.parts import Kind, Part, joined, parts_of

try:
    from pydantic_ai import BinaryContent, ModelRetry, RunContext, ToolDefinition, ToolFailed
    from pydantic_ai.tools import AgentDepsT
    from pydantic_ai.toolsets.abstract import AbstractToolset, ToolsetTool
except ImportError as error:
    raise MissingExtraError("pydantic-ai", feature="A board as a toolset of pydantic-ai") from error

RETRIES = 2
"""How often a model is asked to mend arguments that were refused, before it is told that the call has failed."""

Heard: TypeAlias = Callable[[str, ToolName, Any, Result], object]
"""Hears of a call."""


class _AsSent:
    """Takes arguments as the model sent them: what is no JSON is the board's to refuse, to record and to count."""

    def validate_json(self, input: str | bytes | bytearray, **_: Any) -> Any:
        """The arguments of a text; none where it says null."""
        text = input if isinstance(input, str) else input.decode("utf-8", "replace")
        return self.validate_python(read_arguments(text))

    def validate_python(self, input: Any, **_: Any) -> Any:
        """The arguments; none where there are none."""
        return {} if input is None else input


@dataclass(kw_only=True)
class _BoardTool(ToolsetTool[AgentDepsT]):
    """A tool of the list that a model saw."""

    offer: Offer


class BoardToolset(AbstractToolset[AgentDepsT]):
    """The tools of an open board. The list is made anew for each step, so what a search loads is in the next one.

    Arguments that are refused are asked for again; every other failure is told to the model with its next step.

    Parameters:
        board: the board.
        session: who calls; by default each run of an agent is a session of its own.
        to: the dialect that schemas are handed over in, such as `openai-chat-strict`; by default the author's own.
        id: tells it from other toolsets of an agent.
        hear: hears each call that was made: the provider's id of it, the tool, the arguments, and what came of it.
        single_turn: list every tool, none deferred: for agents that have no turn to search in.
    """

    def __init__(
        self,
        board: Board,
        *,
        session: Session | None = None,
        to: str = "mcp",
        id: str = "pegboard",
        hear: Heard | None = None,
        single_turn: bool = False,
    ) -> None:
        self.board, self._hear, self._single_turn = board, hear, single_turn
        self._session, self._to, self._id = session, to, id

    @property
    def id(self) -> str:
        """The toolset's own id."""
        return self._id

    async def get_tools(self, ctx: RunContext[AgentDepsT]) -> dict[str, ToolsetTool[AgentDepsT]]:
        """The tools that the session sees now."""
        listed = self._listed(ctx)
        offer = listed.offer()
        return {row.name: self._tool(row, offer) for row in listed.rows(offer)}

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[AgentDepsT], tool: ToolsetTool[AgentDepsT]
    ) -> Any:
        """Call a tool through the board's pipeline."""
        offer = cast("_BoardTool[AgentDepsT]", tool).offer
        result = await self._listed(ctx).run(offer, name, tool_args, ctx.tool_call_id)
        if self._hear is not None:
            self._hear(ctx.tool_call_id or "", offer.find(name), tool_args, result)
        parts = parts_of(result, offer.spec(offer.find(name)))
        if result.failure is not None:
            raise _error(result, joined(parts), last=ctx.retry >= RETRIES)
        return _returned(result, parts)

    def _listed(self, ctx: RunContext[AgentDepsT]) -> Listed:
        session = self._session or Session(ctx.run_id or self._id)
        return Listed(self.board, session, self._to, self._single_turn)

    def _tool(self, row: Row, offer: Offer) -> _BoardTool[AgentDepsT]:
        definition = ToolDefinition(
            name=row.name,
            description=row.description,
            parameters_json_schema=dict(row.schema),
            strict=True if row.definition.strict else None,
        )
        return _BoardTool(
            toolset=self, tool_def=definition, max_retries=RETRIES, args_validator=_AsSent(), offer=offer
        )  # fmt: skip


def _error(result: Result, text: str, *, last: bool) -> Exception:
    mendable = result.failure is not None and result.failure.code is FailureCode.INVALID_ARGUMENTS
    return ModelRetry(text) if mendable and not last else ToolFailed(text)


def _returned(result: Result, parts: tuple[Part, ...]) -> Any:
    """The value where there is nothing else to say; a text; or a list with pictures and files in it."""
    if result.value is not None and not result.content and len(parts) == 1:
        return result.value
    if all(part.kind is Kind.TEXT for part in parts):
        return joined(parts)
    return [part.text if part.kind is Kind.TEXT else _binary(part) for part in parts]


def _binary(part: Part) -> Any:
    try:
        return BinaryContent(b64decode(part.data, validate=True), media_type=part.mime)
    except ValueError:
        return part.text
