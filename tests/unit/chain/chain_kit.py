"""A board with a shop whose tools write down each time that they take effect, and a chain over them."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel

from pegboard.board import Board
from pegboard.chain import Chain
from pegboard.config import parse
from pegboard.core import Call, Effects, FailureCode, Listing, Result, Source, Tool, ToolName, ToolSpec
from pegboard.testing import FakeSource

TEXT = {"type": "string"}
NUMBER = {"type": "integer"}
STEPS: list[dict[str, Any]] = [
    {"id": "who", "tool": "shop.find", "args": {"name": "${input.name}"}},
    {"id": "paid", "tool": "shop.charge", "args": {"id": "${who.id}", "amount": "${input.amount}"}},
    {"id": "mailed", "tool": "shop.mail", "args": {"receipt": "${paid.receipt}"}},
]
CHECKOUT: dict[str, Any] = {"description": "Charge a customer and send the receipt.", "steps": STEPS}


class Shop:
    """Three tools: one reads, one adds (and must not run twice), one is idempotent. `failing` answers for them."""

    def __init__(self) -> None:
        self.effects: list[str] = []
        self.calls: list[Call] = []
        self.failing: dict[str, Result] = {}
        self.on_call: Callable[[str], object] = lambda name: None
        self.blocked: anyio.Event | None = None

    def source(self) -> Source:
        specs = [
            _spec("find", Effects.READ_ONLY, name=TEXT),
            _spec("charge", Effects.ADDITIVE, id=TEXT, amount=NUMBER),
            _spec("mail", Effects.IDEMPOTENT, receipt=TEXT),
        ]
        return Listed("shop", [Tool(spec, self._run) for spec in specs])

    async def _run(self, call: Call) -> Result:
        self.calls.append(call)
        name, given = call.tool.name, call.arguments
        self.on_call(name)
        await (self.blocked.wait() if self.blocked else anyio.lowlevel.checkpoint())
        if name in self.failing:
            return self.failing[name]
        self.effects.append(name)
        match name:
            case "find":
                return Result(value={"id": f"c-{given['name']}"})
            case "charge":
                return Result(value={"receipt": f"r-{given['id']}"})
            case _:
                return Result(value=f"sent {given['receipt']}")

    @property
    def counts(self) -> dict[str, int]:
        """How often each tool took effect."""
        return dict(Counter(self.effects))


class Listed(FakeSource):
    """A source of ready tools."""

    def __init__(self, name: str, tools: Sequence[Tool]) -> None:
        super().__init__(name)
        self.tools = tuple(tools)

    async def listing(self) -> Listing:
        return Listing(self.tools)


def _spec(name: str, effects: Effects, /, **properties: Any) -> ToolSpec:
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return ToolSpec(name=ToolName("shop", name), description=name, input=schema, effects=effects)


def board(shop: Shop, folder: Path, *, more: Mapping[str, Any] | None = None, **chains: Mapping[str, Any]) -> Board:
    """A board with the shop and with chains; every board over one folder shares its runs."""
    document = {"board": {"store": str(folder / "store")}, "chain": chains or {"checkout": CHECKOUT}, **(more or {})}
    return Board.open(parse(document, folder=folder), beside=[shop.source()])


def run_of(result: Result) -> str:
    """The id of the run that a result belongs to."""
    assert result.report is not None
    return result.report.data["chain_run"]["id"]


def status_of(result: Result) -> str:
    """How the run of a result is."""
    assert result.report is not None
    return result.report.data["chain_run"]["status"]


def refused(code: FailureCode, message: str = "no") -> Result:
    return Result.failed(code, message)


def read(**table: Any) -> Chain:
    return Chain.read("checkout", {**CHECKOUT, **table})
