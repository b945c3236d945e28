"""`find_<table>_like`, the high rung: rows by meaning, with the search engine, through `search_records`."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from pegboard.core import Call, Effects, Handler, Mode, Report, Result, Rung, SourceRef, Tool, ToolName, ToolSpec
from pegboard.index import default
from pegboard.schema.types import Json, JsonObject, as_list, as_object, canonical

READ = 500
"""How many rows are read and ranked at most."""


@dataclass(frozen=True)
class RowsLike:
    """The definition of a search by meaning in one table.

    Parameters:
        name: the tool's name.
        table: the table.
        source: where it comes from.
        columns: the columns that are read.
        texts: those of them that hold words.
    """

    name: ToolName
    table: str
    source: SourceRef
    columns: tuple[str, ...]
    texts: tuple[str, ...] = ()
    uses: tuple[str, ...] = ("search_records",)
    optional_uses: frozenset[str] = frozenset()

    def build(self, inner: Mapping[str, ToolSpec], run: Handler) -> Tool:
        """The tool, over the `search_records` of its source."""
        description = (
            f"Find rows of {self.table} that are like a description, best first. Use it when you know what you look "
            f"for in words; use search_records for exact conditions, execute_query for joins and sums."
        )
        schema: dict[str, Json] = {
            "type": "object",
            "properties": {
                "description": {"type": "string", "description": "What to look for, in words."},
                "limit": {"type": "integer", "minimum": 1, "maximum": 50, "default": 10},
            },
            "required": ["description"],
            "additionalProperties": False,
        }
        below = inner["search_records"]
        spec = ToolSpec(
            name=self.name,
            description=description,
            input=schema,
            effects=Effects.READ_ONLY,
            rung=Rung.HIGH,
            category=self.table,
            meta={"pegboard/uses": [str(below.name)]},
            source=self.source,
        )
        return Tool(spec, LikeRun(self.table, self.columns, self.texts, below, run))


@dataclass(frozen=True)
class LikeRun:
    """The handler of a search by meaning."""

    table: str
    columns: tuple[str, ...]
    texts: tuple[str, ...]
    below: ToolSpec = field(repr=False)
    run: Handler = field(repr=False)

    async def __call__(self, call: Call) -> Result:
        """Read rows through `search_records`, rank them, and give the best.

        Of a table that is too large to be read, the rows that hold a word of the description are read too.
        """
        description = str(call.arguments["description"])
        first = await self._rows(call, "rows", ())
        if first.failure is not None:
            return first
        answers = [first]
        if as_object(first.value).get("more"):
            answers += await self._with_words(call, description)
        rows = {
            canonical(row): as_object(row) for each in answers for row in as_list(as_object(each.value).get("rows"))
        }
        best = ranked(list(rows.values()), description, int(call.arguments.get("limit", 10)))
        notes = () if best else ("No row fits; try other words, or search_records.",)
        return Result(value={"rows": best, "read": len(rows)}, report=Report(notes=notes) if notes else None)

    async def _with_words(self, call: Call, description: str) -> list[Result]:
        words = sorted(
            {word for word in re.findall(r"\w{4,}", description.lower())}, key=lambda word: (-len(word), word)
        )
        wanted = [(word, column) for word in words[:4] for column in self.texts[:3]]
        found: list[Result] = []
        for at, (word, column) in enumerate(wanted):
            condition = {"column": column, "op": "contains", "value": word}
            found.append(await self._rows(call, f"words/{at}", (condition,)))
        return found

    async def _rows(self, call: Call, key: str, filters: tuple[JsonObject, ...]) -> Result:
        arguments: dict[str, Json] = {"table": self.table, "columns": list(self.columns), "limit": self._limit()}
        inner = Call(
            tool=self.below.name,
            arguments={**arguments, **({"filters": list(filters)} if filters else {})},
            mode=Mode.EXECUTE,
            session=call.session,
            id=f"{call.id}/{key}" if call.id else None,
            parent=call.id,
        )
        return await self.run(inner)

    def _limit(self) -> int:
        most = as_object(self.below.properties.get("limit")).get("maximum", READ)
        return min(READ, int(most))


def ranked(rows: list[dict[str, Json]], description: str, limit: int) -> list[JsonObject]:
    """The rows that are most like a description, best first, each with its `_confidence`."""
    engine = default()
    engine.update(
        put=(
            ToolSpec(name=ToolName("", f"row{at}"), description=" ".join(map(_said, row.values())))
            for at, row in enumerate(rows)
        )
    )
    found = engine.search(description, limit=limit)
    return [{**rows[int(hit.name.name[3:])], "_confidence": round(hit.confidence, 3)} for hit in found.hits]


def _said(value: Json) -> str:
    return value if isinstance(value, str) else "" if value is None else json.dumps(value, default=str)
