"""What a model is to an agent: messages and tools in, a reply out."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from pegboard.schema.types import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A call that a model asks for.

    Parameters:
        id: the model's id for it.
        name: the tool's name on the wire.
        arguments: as the model wrote them: a JSON text, or an object.
    """

    id: str
    name: str
    arguments: Any = "{}"

    def to_openai(self) -> dict[str, Any]:
        """As one of `tool_calls` of a Chat Completions message."""
        import json

        text = self.arguments if isinstance(self.arguments, str) else json.dumps(self.arguments)
        return {"id": self.id, "type": "function", "function": {"name": self.name, "arguments": text}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a model said.

    Parameters:
        text: its words.
        calls: the calls that it asks for, all at once; none: it is done.
        tokens: how many tokens the request took, where the model says so.
    """

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    tokens: int | None = None


class Model(Protocol):
    """A model. Messages and tools are in the form of OpenAI's Chat Completions API."""

    async def __call__(self, messages: Sequence[JsonObject], tools: Sequence[JsonObject]) -> Reply:
        """The model's next message.

        Raises:
            SourceError: it cannot be reached, or answers what cannot be read.
        """
        ...
