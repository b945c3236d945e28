"""What the tests of approvals share: a call to ask about, a desk over a store, people who answer."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from pegboard.approval import Choice, Decision, Desk, Item, Kind, Request, new_request
from pegboard.approval.ledger import Ledger
from pegboard.core import Effects, Session
from pegboard.store import Store
from pegboard.testing import FixedClock

SCHEMA = {"type": "object", "properties": {"amount": {"type": "number"}}, "required": ["amount"]}
ANNA = Session("s1", principal="anna")


def item(tool: str = "bank.pay", definition: str = "d1", **arguments: Any) -> Item:
    return Item(tool, arguments or {"amount": 10}, definition, Effects.DESTRUCTIVE)


def request(*items: Item, session: Session = ANNA, now: float = 1_700_000_000.0, **more: Any) -> Request:
    settings = {"schema": SCHEMA, **more}
    return new_request(settings.pop("kind", Kind.TOOL_CALL), items or (item(),), session, now=now, **settings)


def ledger(folder: Path | str = ":memory:", clock: FixedClock | None = None) -> Ledger:
    return Ledger(Store.open(folder), clock or FixedClock())


def desk(*, location: Path | str = ":memory:", clock: FixedClock | None = None, **more: Any) -> Desk:
    store = Store.open(location)
    return Desk(lambda: store, clock=clock or FixedClock(), **more)


def says(choice: Choice, **more: Any) -> Callable[[Request], Awaitable[Decision | None]]:
    """A person who always answers the same, and counts the questions in `asked`."""
    asked: list[Request] = []

    async def approve(request: Request) -> Decision | None:
        asked.append(request)
        return Decision(choice=choice, **more)

    approve.asked = asked  # type: ignore[attr-defined]
    return approve


async def nobody(_: Request) -> Decision | None:
    return None
