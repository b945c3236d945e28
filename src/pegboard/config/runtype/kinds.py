"""The types of steps that a flow may have: which are taken over, and what to do about the others."""

from collections.abc import Mapping, Sequence
from typing import Any

from pegboard.schema.types import Json, as_object

TAKEN = (
    *("tool-call", "transform-data", "conditional", "set-variable", "api-call", "wait-until"),
    *("prompt", "execute-agent"),
)
"""The types that become steps of a chain; the last two need the extra `agent`."""

LISTED = ", ".join(TAKEN)

_RECORD = "Keep records in a tool of your own, and call it with a tool-call step."
_MEMORY = "Keep what shall be remembered in a tool of your own, and call it with a tool-call step."
_SEND = "Send it with a tool of the board, by a tool-call step."
_VECTOR = "Search with a tool of the board, by a tool-call step."

REFUSED: Mapping[str, str] = {
    "crawl": "Fetch the pages with a tool of the board, by a tool-call step.",
    "fetch-github": "Call a GitHub tool of the board, by a tool-call step.",
    "fetch-url": "Write it as an api-call step, with the same http.",
    "generate-embedding": _VECTOR,
    "generate-pdf": "Make it with a tool of the board, by a tool-call step.",
    "get-record": _RECORD,
    "list-records": _RECORD,
    "loop": "Loop in code mode, or call the batch form of the tool.",
    "memory-summary": _MEMORY,
    "paginate-api": "Read the pages with an OpenAPI or HTTP source (max_pages), by a tool-call step.",
    "recall-memory": _MEMORY,
    "retrieve-record": _RECORD,
    "save-memory": _MEMORY,
    "search": "Call a search tool of the board, by a tool-call step.",
    "send-email": _SEND,
    "send-event": _SEND,
    "send-stream": "Leave it out: a chain reports each step by itself.",
    "send-text": _SEND,
    "store-asset": "Results of 4 KB binary and more become assets by themselves; leave it out.",
    "store-vector": _VECTOR,
    "template": "Put the text together in a transform-data step.",
    "update-record": _RECORD,
    "upsert-record": _RECORD,
    "vector-search": _VECTOR,
}
"""The other types of Runtype, and what stands in for each here."""

STEP_KEYS = ("id", "type", "name", "order", "enabled", "when", "config")
ERRORS = ("errorHandling", "defaultValue")
CONFIG_KEYS: Mapping[str, tuple[str, ...]] = {
    "tool-call": ("toolId", "parameters", "outputVariable", *ERRORS),
    "transform-data": ("script", "outputVariable", "language", *ERRORS),
    "conditional": ("condition", "trueSteps", "falseSteps"),
    "set-variable": ("variableName", "value"),
    "api-call": ("http", "auth", "requestTemplate", "responseMapping", "outputVariable", *ERRORS),
    "wait-until": ("delayMs", "poll", "continueOnTimeout", "outputVariable", *ERRORS),
    "prompt": ("model", "userPrompt", "text", "systemPrompt", "responseFormat", "tools", "outputVariable", *ERRORS),
    "execute-agent": ("agentId", "message", "outputVariable", *ERRORS),
}
"""The keys of each type's config that have an effect here."""
DEEPEST = 10
"""How deep conditionals may stand in one another, as in Runtype."""


def ordered(rows: Sequence[Json]) -> list[tuple[int, Json]]:
    """The steps by their `order`, where all have one; each with its place in the document."""
    placed = list(enumerate(rows))
    orders: list[Any] = [as_object(row).get("order") for row in rows]
    if all(isinstance(order, int | float) and not isinstance(order, bool) for order in orders):
        return sorted(placed, key=lambda one: float(orders[one[0]]))
    return placed
