"""Why an agent went the old way: what the board showed it, and where a search would have put the new tool."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from pegboard.board.board import Board
from pegboard.core import ToolName, ToolSpec
from pegboard.discovery.residency import Exposure
from pegboard.insight.names import words
from pegboard.insight.verify import Watch
from pegboard.schema.types import Json, canonical
from pegboard.trace.record import CallRecord, Run

_SEARCHES = frozenset(("tool_search", "find_tool_by_intent", "list_available_tools"))
LIMIT = 8
"""So many tools a search shows by default."""


@dataclass(frozen=True)
class Why:
    """Explains runs that did not take the new tool.

    Parameters:
        watch: what was looked for.
        spec: the new tool; None where it is not on the board.
        direct: whether a model sees it from the start.
        ranks: by query, where a search puts the tool, from 1; None where it does not show it.
    """

    watch: Watch
    spec: ToolSpec | None
    direct: bool
    ranks: Mapping[str, int | None]

    def __call__(self, run: Run, sequence: tuple[str, ...]) -> tuple[str, str]:
        """The likely reason, as a word and as a sentence."""
        name = self.watch.tool
        failed = next((call for call in run.calls if call.tool == name and call.ok is False), None)
        if failed is not None:
            return "failed", f"It called {name}, which failed: {failed.error or failed.failure}. Mend that first."
        if self.spec is None:
            return "not_listed", f"{name} is not on the board now, so it cannot be chosen: see `pegboard list`."
        queries = queries_of(run)
        shown = [query for query, answer in queries if name in answer or self.spec.name.name in answer]
        if shown:
            return "description", f"A search ({shown[0]!r}) showed {name}, and it was not chosen. {_reword(sequence)}"
        if queries:
            query = queries[0][0]
            return "rank", f"It searched {query!r}, and {name} was not shown. {self._ranked(query)}"
        if not self.direct:
            return "not_listed", (
                f"{name} is found by search only, and the agent did not search. Put it among `always` in [board]. "
                f"{self._ranked(question(run, sequence))}"
            )
        return "description", f"{name} was in the list and was not chosen. {_reword(sequence)}"

    def _ranked(self, query: str) -> str:
        rank = self.ranks.get(query)
        if rank is None:
            return f"A search for {query!r} does not show it now: put these words into its description or examples."
        within = "so this would find it" if rank <= LIMIT else f"and only {LIMIT} are shown: use these words in it"
        return f"A search for {query!r} puts it on place {rank} now, {within}."


async def explained(board: Board, watch: Watch, after: Sequence[Run]) -> Why:
    """What a board has to say of runs that went the old way: each query of theirs is searched again.

    Parameters:
        board: the board as it is now.
        watch: what is looked for.
        after: the runs.
    """
    name = ToolName.parse(watch.tool)
    spec = board.spec(name)
    ranks: dict[str, int | None] = {}
    wanted = [query for run in after for query, _ in queries_of(run)]
    wanted += [question(run, watch.sequence(run)) for run in after]
    for query in list(dict.fromkeys(filter(None, wanted)))[:200] if spec else ():
        found = await board.search(query, limit=50)
        ranks[query] = next((at for at, hit in enumerate(found.hits, 1) if hit.name == name), None)
    direct = spec is not None and board.exposure(name)[0] is Exposure.DIRECT
    return Why(watch, spec, direct, ranks)


def queries_of(run: Run) -> list[tuple[str, str]]:
    """What a run searched for, with the answer as text."""
    return [(query, canonical(call.result)) for call in run.calls if (query := _query(call))]


def question(run: Run, sequence: tuple[str, ...]) -> str:
    """What a run was after, in words: what the user said first, else the words of the tools that it called."""
    if run.user_messages:
        return " ".join(run.user_messages[0].split())[:200]
    return " ".join(dict.fromkeys(word for tool in sequence for word in words(tool)))


def _query(call: CallRecord) -> str | None:
    given: Json = call.arguments
    if call.tool.rpartition(".")[2] not in _SEARCHES or not isinstance(given, Mapping):
        return None
    body = cast("Mapping[str, Json]", given)
    return next((str(body[key]) for key in ("query", "intent", "category") if body.get(key)), None)


def _reword(sequence: tuple[str, ...]) -> str:
    old = " and ".join(dict.fromkeys(tool.rpartition(".")[2] for tool in sequence))
    return f"Say the task in its name and first sentence; the hints of {old} point to it already."
