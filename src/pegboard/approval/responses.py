"""Requests and answers in the shape of OpenAI's Responses API: `mcp_approval_request`, `mcp_approval_response`.

Source: the types of the `openai` package, `openai.types.responses`.
"""

from typing import Any

from pegboard.approval.decision import By, Choice, Decision
from pegboard.approval.foreign import plain
from pegboard.approval.request import Request
from pegboard.errors import DefinitionError
from pegboard.schema.types import JsonObject, canonical


def approval_request(request: Request) -> dict[str, Any]:
    """A request as an `mcp_approval_request` item; a suggestion carries its tag besides.

    Parameters:
        request: the request; its first item is what is shown, as the type has room for one call.
    """
    namespace, _, name = request.subject.rpartition(".")
    return {
        "type": "mcp_approval_request",
        "id": request.id,
        "server_label": namespace or "pegboard",
        "name": name,
        "arguments": canonical(request.items[0].arguments),
        **request.tags,
    }


def decision_of(response: JsonObject) -> tuple[str, Decision]:
    """The request and the decision that an `mcp_approval_response` item means.

    Raises:
        DefinitionError: it is no such item.
    """
    id, approve = response.get("approval_request_id"), response.get("approve")
    if response.get("type") != "mcp_approval_response" or not isinstance(id, str) or not isinstance(approve, bool):
        raise DefinitionError(
            "This is no mcp_approval_response.",
            next_step='It has "type", "approval_request_id" (a text) and "approve" (true or false).',
        )
    reason = response.get("reason")
    note = plain(reason) if isinstance(reason, str) else ""
    return id, Decision(choice=Choice.ALLOW_ONCE if approve else Choice.DENY, by=By.RESPONSES, note=note)
