"""A session that has a part of the board's tools: it sees no others, and may call no others."""

from functools import lru_cache

from pegboard.core import Call, Failure, FailureCode, Handler, Middleware, Result, Selection, Session
from pegboard.invoke.budget import META
from pegboard.invoke.lookup import SpecOf


def selection_of(session: Session) -> Selection | None:
    """What picks the tools of a session; None where it has all of them.

    Raises:
        DefinitionError: one of its selectors cannot be read.
    """
    return None if session.tools is None else _read(session.tools)


def pooled(spec_of: SpecOf) -> Middleware:
    """Refuse calls of tools that are outside of what a session has.

    A composed tool of the pool may call tools outside of it: whoever put it there has chosen what it does.

    Parameters:
        spec_of: the tools.
    """

    def wrap(next_handler: Handler) -> Handler:
        async def handle(call: Call) -> Result:
            pool = selection_of(call.session)
            spec = spec_of(call.tool) if pool is not None else None
            if pool is None or spec is None or spec.source.kind == META or spec in pool:
                return await next_handler(call)
            return Result(failure=_outside(call))

        return handle

    return wrap


@lru_cache(maxsize=256)
def _read(selectors: tuple[str, ...]) -> Selection:
    return Selection.parse(selectors)


def _outside(call: Call) -> Failure:
    return Failure(
        FailureCode.BLOCKED,
        f"{call.tool} is not among the tools of this agent.",
        next_step="Use a tool that tool_search or your list shows, or answer with what there is.",
    )
