"""`result_read`: the rest of a result that was too large to be answered at once."""

from pegboard.core import Call, Failure, FailureCode, Result
from pegboard.discovery.define import meta_spec
from pegboard.discovery.desk import Desk
from pegboard.discovery.search import clamp
from pegboard.surface import mcp

SPEC = meta_spec(
    "result_read",
    "Read a page of a result that was cut because of its size. The cut result names the id and the number of pages.",
    {
        "id": {"type": "string", "description": "The result's id, as the cut result names it."},
        "page": {"type": "integer", "default": 1, "description": "The page, counted from 1."},
    },
    required=("id",),
)


async def result_read(desk: Desk, call: Call) -> Result:
    """One page of a kept result, as text."""
    id, number = str(call.arguments.get("id", "")), clamp(call.arguments.get("page", 1), 1, 10**6)
    text = await desk.page(id, number, call.session)
    if text is None:
        step = "Use the id and a page number that the cut result names; results are kept for a limited time."
        return Result(
            failure=Failure(FailureCode.INVALID_ARGUMENTS, f"There is no page {number} of {id!r}.", "/id", step)
        )
    return Result(content=(mcp.text_block(text),))
