"""A batch form from a finding, or for a step of a bundle that takes a list."""

from collections.abc import Sequence
from typing import Any

from pegboard.insight.names import words
from pegboard.insight.propose.ask import Ask
from pegboard.insight.propose.naming import ID_WORDS, batch_name, plural, spoken
from pegboard.insight.propose.proposal import Piece, Proposal

LIMIT = 50


def propose_batch(ask: Ask) -> Proposal:
    """The batch form that a finding asks for."""
    tool = ask.tools[0]
    over: Any = ask.row["over"]
    names = [name for each in ([over] if isinstance(over, str) else over) if (name := ask.parameter(tool, each))]
    existing = batch_of(ask, tool)
    if existing is not None:
        return Proposal(finding=ask.id, refused=f"{tool} has a batch form already: {existing}.")
    notes = (
        []
        if ask.offer.reads(tool)
        else [
            f"{tool} changes something: items that were done stay done when others fail. Name the tool that takes one "
            "back (undo) if it has to be all or nothing."
        ]
    )
    if ask.spec(tool) is None:
        notes.append(f"Not on the board, so it cannot run yet: {tool}.")
    longest = int(ask.row.get("longest") or 0)
    piece = _piece(ask, tool, list(dict.fromkeys(names)), limit=max(LIMIT, 10 * -(-longest // 10)), chosen=True)
    return Proposal(finding=ask.id, pieces=(piece,), replaces=((tool,),), notes=tuple(notes))


def batch_for(ask: Ask, tool: str, over: str) -> tuple[Piece | None, str]:
    """The batch form of a step's tool: a new piece with its name, or None and the name of the one on the board."""
    existing = batch_of(ask, tool)
    if existing is not None:
        return None, existing
    piece = _piece(ask, tool, [over], limit=LIMIT)
    return piece, piece.name


def batch_of(ask: Ask, tool: str) -> str | None:
    """The batch form that a tool has on the board, by its full name."""
    full = ask.full(tool)
    for spec in ask.offer.specs:
        if ask.offer.composite(spec) == "batch" and full in ask.offer.uses(spec):
            return str(spec.name)
    return None


def _piece(ask: Ask, tool: str, over: Sequence[str], *, limit: int, chosen: bool = False) -> Piece:
    full = ask.full(tool)
    space = full.rpartition(".")[0]
    own = batch_name(tool, over)
    name = ask.named(own) if chosen else _beside(ask, f"{space}.{own}" if space else own)
    table: dict[str, Any] = {
        "tool": full,
        "over": over[0] if len(over) == 1 else list(over),
        "description": f"{_told(ask, tool)} For several {_items(over)} in one call.",
        "limit": limit,
    }
    return Piece(kind="batch", name=name, table=table)


def _told(ask: Ask, tool: str) -> str:
    """What the tool does, in its own first sentence, or in the words of its name."""
    spec = ask.spec(tool)
    sentence = spec.description.strip().split("\n", 1)[0].split(". ", 1)[0].strip(" .") if spec else ""
    return f"{sentence or spoken(tool).capitalize()}."


def _items(over: Sequence[str]) -> str:
    """What the items are, in words: `orders (order_id)`, or the parameters where these say no noun."""
    if not over:
        return "items"
    nouns = [word for word in words(over[0]) if word not in ID_WORDS]
    return f"{plural(nouns[-1])} ({over[0]})" if nouns and len(over) == 1 else f"items ({', '.join(over)})"


def _beside(ask: Ask, name: str) -> str:
    taken = {str(spec.name) for spec in ask.offer.specs}
    return next(each for each in (name, *(f"{name}_{n}" for n in range(2, 1000))) if each not in taken)
