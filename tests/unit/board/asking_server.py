"""A server of the SDK that asks its client for things, in whichever family it is spoken to."""

import json
from collections.abc import Mapping
from typing import Any

import anyio
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    InputRequiredResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

FORM = {
    "type": "object",
    "properties": {"name": {"type": "string", "minLength": 2}, "age": {"type": "integer"}},
    "required": ["name"],
}
QUESTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "form": ("elicitation/create", {"mode": "form", "message": "Who are you?", "requestedSchema": FORM}),
    "page": (
        "elicitation/create",
        {"mode": "url", "message": "Sign in.", "url": "https://example.com/in", "elicitationId": "e1"},
    ),
    "evil_page": (
        "elicitation/create",
        {"mode": "url", "message": "Sign in.", "url": "javascript:alert(1)", "elicitationId": "e2"},
    ),
    "sample": (
        "sampling/createMessage",
        {"messages": [{"role": "user", "content": {"type": "text", "text": "Say hi."}}], "maxTokens": 10},
    ),
    "roots": ("roots/list", {}),
}


class Asking:
    """The server, and what it saw.

    Parameters:
        questions: the tools, each with what it asks for.
    """

    def __init__(self, questions: Mapping[str, tuple[str, dict[str, Any]]] = QUESTIONS) -> None:
        self.questions = questions
        self.seen: list[dict[str, Any]] = []
        self.runs = 0
        self.cancelled = anyio.Event()
        self.server = Server("asking", on_list_tools=self._list, on_call_tool=self._call)

    async def _list(self, ctx: Any, params: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=[Tool(name=name, input_schema={"type": "object"}) for name in self.questions])

    async def _call(
        self, ctx: ServerRequestContext[Any, Any], params: CallToolRequestParams
    ) -> CallToolResult | InputRequiredResult:
        declared = ctx.session.client_capabilities
        self.seen.append(declared.model_dump(by_alias=True, exclude_none=True) if declared else {})
        method, asked = self.questions[params.name]
        if ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            self.runs += 1
            try:
                answer = await ctx.session._request_outbound.send_raw_request(method, asked or None)
            except anyio.get_cancelled_exc_class():
                self.cancelled.set()
                raise
        elif not params.input_responses:
            self.runs += 1
            request = {"method": method, "params": asked}
            return InputRequiredResult.model_validate({"inputRequests": {"q": request}, "requestState": "its own"})
        else:
            assert params.request_state == "its own"
            answer = params.input_responses["q"]
        plain = answer if isinstance(answer, dict) else answer.model_dump(by_alias=True, exclude_none=True, mode="json")
        return CallToolResult(content=[TextContent(text=json.dumps(plain, sort_keys=True))])
