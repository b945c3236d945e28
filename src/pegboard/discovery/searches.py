"""What each session has searched for, seen by the host itself: only what was searched for can be asked for."""

from collections.abc import Callable

from pegboard.core import Call, Handler, Middleware, Result, Session

QUERIES = {"tool_search": "query", "find_tool_by_intent": "intent"}
"""The meta-tools that search, and the argument that says for what."""
MOST = 50
"""So many queries of a session are remembered."""


def searches(of: Callable[[Session], dict[str, None]]) -> Middleware:
    """Remember what a session searches for.

    Parameters:
        of: the queries of a session, in order; changed in place.
    """

    def wrap(next_handler: Handler) -> Handler:
        async def handle(call: Call) -> Result:
            key = QUERIES.get(call.tool.name) if not call.tool.namespace else None
            if key is None:
                return await next_handler(call)
            result = await next_handler(call)
            query = call.arguments.get(key)
            if result.ok and isinstance(query, str) and query.strip():
                _remember(of(call.session), query.strip())
            return result

        return handle

    return wrap


def _remember(queries: dict[str, None], query: str) -> None:
    queries.pop(query, None)
    queries[query] = None
    if len(queries) > MOST:
        del queries[next(iter(queries))]
