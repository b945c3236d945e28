"""Whatever tools and arguments are called: what insight proposes is a valid config and module, and binds on a board."""

import json
import random
import tomllib
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from pegboard.catalog import Catalog
from pegboard.compose import bind
from pegboard.compose.tables import read_composites
from pegboard.config import parse
from pegboard.config.blocks import block, table_text
from pegboard.core import Call, Result, Tool
from pegboard.insight.evidence import Evidence
from pegboard.insight.offer import Offer, offer_of
from pegboard.insight.propose import Proposal, propose
from pegboard.insight.propose.python import python_source
from pegboard.insight.suggest import suggest
from pegboard.trace import CallRecord, Run

TOOLS = ["get user", "getUser.v2", "search_items", "list-all", "find__x", "ns.read_it", "Über.holen", "input", "and"]
TOOLS += ["delete_thing", "create", "1st_tool", "x" * 70]
ARGUMENTS = ["id", "user-id", "input", "q", "Ids", "if", "a.b", "ключ", "class"]


async def handler(call: Call) -> Result:
    return Result(value=None)


class World:
    """A few tools with odd names, and runs of agents that feed one tool's results to the next."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.tools = self.random.sample(TOOLS, 4)
        self.takes = {tool: self.random.sample(ARGUMENTS, self.random.randint(0, 3)) for tool in self.tools}

    def run(self, number: int) -> Run:
        calls: list[CallRecord] = []
        known = [f"u{number}{at}-x7" for at in range(3)]
        for place, tool in enumerate(self.tools[: self.random.randint(2, 4)]):
            ids = known
            for again in range(self.random.choice([1, 1, 2, 3])):
                ids = [f"{tool[:2]}{number}{place}{again}{at}-z9" for at in range(3)]
                arguments = {
                    name: known[min(again, 2)] if self.random.random() < 0.8 else f"v{number}"
                    for name in self.takes[tool]
                }
                calls.append(self.call(len(calls), tool, arguments, ids))
            known = ids
        return Run(id=f"r{number}", task=f"t{number}", calls=tuple(calls))

    def call(self, at: int, tool: str, arguments: dict[str, Any], ids: list[str]) -> CallRecord:
        rows = {"rows": [{"id": id} for id in ids]}
        result = self.random.choice(
            [rows, {"a b": {"id-x": ids[0]}}, ids, json.dumps({"id": ids}), " ".join(ids), ids[0]]
        )
        return CallRecord(id=str(at), tool=tool, arguments=arguments, result=result, ok=True, turn=at, segment=1)

    def offer(self) -> Offer:
        rows = [
            {
                "name": tool,
                "inputSchema": {
                    "type": "object",
                    "properties": {
                        name: {"type": self.random.choice(["string", "integer", "array"])} for name in self.takes[tool]
                    },
                    "required": self.random.sample(self.takes[tool], self.random.randint(0, len(self.takes[tool]))),
                },
            }
            for tool in self.tools
        ]
        return offer_of(rows)


def proposals(world: World, offer: Offer) -> list[Proposal]:
    evidence = Evidence()
    for number in range(8):
        evidence.observe(world.run(number))
    rows = [finding.to_json() for finding in suggest(evidence, offer)]
    return [each for each in (propose(row, rows, offer) for row in rows) if not each.refused]


@settings(max_examples=25)
@given(seed=st.integers(0, 1_000_000))
def test_every_proposal_can_be_written_and_bound(seed: int) -> None:
    world = World(seed)
    offer = world.offer()
    board = Catalog.of(Tool(spec, handler) for spec in offer.specs)
    for proposal in proposals(world, offer):
        tables = [table_text(piece.kind, piece.name, piece.table) for piece in proposal.pieces]
        config = parse(tomllib.loads(block(proposal.finding, ["why"], tables)), folder=Path("."))
        composites, notes = read_composites({kind: config.tables[kind] for kind in ("batch", "bundle", "scatter")})
        bound = bind(board, handler, composites)
        assert [*notes, *bound.notes] == []
        if proposal.tool:
            compile(python_source(proposal, ["why"]), "made.py", "exec")


@settings(max_examples=10)
@given(seed=st.integers(0, 1_000_000))
def test_without_a_catalog_every_proposal_is_a_valid_config(seed: int) -> None:
    for proposal in proposals(World(seed), Offer()):
        tables = [table_text(piece.kind, piece.name, piece.table) for piece in proposal.pieces]
        parse(tomllib.loads(block(proposal.finding, ["why"], tables)), folder=Path("."))
