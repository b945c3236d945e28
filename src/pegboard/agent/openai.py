"""A model behind an OpenAI-compatible HTTP endpoint (`POST {base_url}/chat/completions`)."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from pegboard.agent.model import Reply, ToolCall
from pegboard.errors import MissingExtraError, SourceError
from pegboard.schema.types import JsonObject, as_list, as_object

TIMEOUT = 120.0


class OpenAiModel:
    """A model by its name, at an address.

    Parameters:
        name: the model's name, as the endpoint knows it.
        base_url: the endpoint, up to and without `/chat/completions`.
        key: the secret for it, if it wants one.
        timeout: seconds that an answer may take.
        options: further fields of the request, such as `temperature`.
    """

    def __init__(
        self,
        name: str,
        base_url: str,
        *,
        key: str | None = None,
        timeout: float = TIMEOUT,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self.name = name
        self._url = f"{base_url.rstrip('/')}/chat/completions"
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._timeout, self._options = timeout, dict(options or {})

    async def __call__(self, messages: Sequence[JsonObject], tools: Sequence[JsonObject]) -> Reply:
        """Ask the endpoint.

        Raises:
            SourceError: it cannot be reached, refuses, or answers what cannot be read.
        """
        body: dict[str, Any] = {"model": self.name, "messages": list(messages), **self._options}
        if tools:
            body["tools"] = list(tools)
        return reply_of(await self._post(body), self._url)

    async def _post(self, body: JsonObject) -> Any:
        try:
            import httpx2
        except ModuleNotFoundError as problem:
            raise MissingExtraError("gateway", feature="A live model") from problem
        try:
            async with httpx2.AsyncClient(timeout=self._timeout) as client:
                answer = await client.post(self._url, json=dict(body), headers=self._headers)
        except httpx2.HTTPError as problem:
            raise SourceError(
                f"The model cannot be reached: {type(problem).__name__} {problem}.",
                where=self._url,
                next_step="Check --base-url, and that the server runs.",
            ) from problem
        if answer.status_code >= 400:
            raise SourceError(
                f"The model refuses with {answer.status_code}: {answer.text[:300]}",
                where=self._url,
                next_step="Check the model's name and the key.",
            )
        try:
            return answer.json()
        except ValueError as problem:
            raise SourceError("The model's answer is no JSON.", where=self._url) from problem


def reply_of(answer: Any, where: str) -> Reply:
    """The reply that a Chat Completions answer holds.

    Raises:
        SourceError: it holds none.
    """
    choices = as_list(as_object(answer).get("choices"))
    message = as_object(as_object(choices[0]).get("message")) if choices else {}
    if not message:
        raise SourceError("The model's answer has no message.", where=where, next_step="Is it a chat completions API?")
    calls = tuple(_call(as_object(row), at) for at, row in enumerate(as_list(message.get("tool_calls"))))
    usage = as_object(as_object(answer).get("usage")).get("total_tokens")
    text: Any = message.get("content")
    return Reply(
        text=text if isinstance(text, str) else "",
        calls=calls,
        tokens=usage if isinstance(usage, int) else None,
    )


def _call(row: JsonObject, at: int) -> ToolCall:
    body = as_object(row.get("function"))
    name = cast("str", body.get("name") or "")
    return ToolCall(id=str(row.get("id") or f"call-{at}"), name=name, arguments=body.get("arguments") or "{}")
