"""Why an agent kept to the old way: what it was shown, what it searched, and where the new tool ranks."""

import pytest

from pegboard.board import Board
from pegboard.board.verdicts import explained
from pegboard.core import ToolName, ToolSpec
from pegboard.discovery import Residency
from pegboard.insight.offer import Offer
from pegboard.insight.verify import Watch
from pegboard.testing import FakeSource
from pegboard.trace import CallRecord, Run

pytestmark = pytest.mark.anyio

NEW = ToolSpec(name=ToolName("shop", "get_user_with_orders"), description="Get a customer and all orders in one call.")
ROW = {"id": "bundle-1", "kind": "bundle", "tools": ["shop.find_user", "shop.get_order"], "replaces": []}


def searched(query: str, answer: str) -> CallRecord:
    return CallRecord(id="0", tool="tool_search", arguments={"query": query}, result=answer, ok=True)


@pytest.mark.parametrize(
    ("calls", "search", "listed", "code", "words"),
    [
        ((), "off", True, "description", "was in the list"),
        ((), "on", True, "not_listed", "did not search"),
        ((searched("customer orders", "shop.get_user_with_orders"),), "on", True, "description", "showed"),
        ((searched("customer orders", "shop.find_user"),), "on", True, "rank", "place 1"),
        ((searched("zebra crossing", "nothing"),), "on", True, "rank", "does not show it"),
        ((), "off", False, "not_listed", "not on the board"),
        (
            (CallRecord(id="1", tool="shop.get_user_with_orders", ok=False, error="no such user"),),
            "off",
            True,
            "failed",
            "no such user",
        ),
    ],
)
async def test_the_likely_reason_is_told(calls, search, listed, code, words):
    others = [ToolSpec(name=ToolName("shop", name)) for name in ("find_user", "get_order")]
    source = FakeSource("shop", [*others, *([NEW] if listed else [])])
    run = Run(id="r", calls=calls, user_messages=("What did this customer order?",))
    async with Board.of(source, residency=Residency(search=search, max_direct=1)) as board:
        watch = Watch(ROW, "shop.get_user_with_orders", Offer(board.catalog.specs))
        why = await explained(board, watch, [run])
        found, reason = why(run, ("shop.find_user", "shop.get_order"))
    assert (found, words in reason) == (code, True), reason
