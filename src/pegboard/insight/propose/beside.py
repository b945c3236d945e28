"""Merges, fan-outs and hints from findings."""

from typing import Any

from pegboard.insight.propose.ask import Ask
from pegboard.insight.propose.naming import difference, merge_name, plural, spoken, subject
from pegboard.insight.propose.proposal import Piece, Proposal


def propose_merge(ask: Ask) -> Proposal:
    """One tool with one parameter more, for two siblings; both stay."""
    one, other = ask.tools
    values = difference(one, other)
    parameters = list(ask.offer.parameters(one))
    chooser = next(name for name in ("kind", "variant", "which", "kind_of_call") if name not in parameters)
    required = ask.required(one)
    inputs: dict[str, Any] = {
        chooser: {"type": "string", "enum": list(values), "description": f"Which: {' or '.join(map(_spaced, values))}."}
    }
    inputs |= {name if name in required else f"{name}?": ask.schema(one, name) for name in parameters}
    args = {
        name: f"${{input.{name}}}" if name in required else f"${{default(input.{name}, null)}}" for name in parameters
    }
    ids = [f"as_{value}" for value in values]
    steps = [
        {"id": id, "tool": ask.full(tool), "args": args, "when": f"input.{chooser} == '{value}'"}
        for id, tool, value in zip(ids, (one, other), values, strict=True)
    ]
    bare = merge_name(one, other)
    table = {
        "description": f"{spoken(bare).capitalize()}, {' or '.join(map(_spaced, values))}: one tool for both. Use it "
        f"instead of {one.rpartition('.')[2]} or {other.rpartition('.')[2]}.",
        "input": inputs,
        "output": f"${{default({', '.join((*ids, 'null'))})}}",
        "steps": steps,
    }
    notes = ("The two old tools stay until you deny them: deny both in their source when nothing calls them any more.",)
    piece = Piece(kind="bundle", name=ask.named(bare), table=table)
    return Proposal(finding=ask.id, pieces=(piece,), replaces=((one,), (other,)), notes=notes)


def propose_fan_out(ask: Ask) -> Proposal:
    """One call that asks both tools and merges the answers."""
    one, other = ask.tools
    values = difference(one, other)
    bare = "_".join([*merge_name(one, other).split("_")[:-1], plural(merge_name(one, other).split("_")[-1])])
    table = {
        "description": f"{spoken(bare).capitalize()} of every kind ({', '.join(map(_spaced, values))}) in one call. "
        f"Use it when you would call {one.rpartition('.')[2]} and {other.rpartition('.')[2]} with the same arguments.",
        "sources": dict(zip(values, (ask.full(one), ask.full(other)), strict=True)),
    }
    return Proposal(
        finding=ask.id,
        pieces=(Piece(kind="scatter", name=ask.named(bare), table=table),),
        replaces=((one, other),),
        notes=("Answers that are lists are put together; say in `records` where the list stands, if it is inside.",),
    )


def propose_hint(ask: Ask) -> Proposal:
    """What a description should have said."""
    tool = ask.tools[0]
    if ask.row.get("relation") == "list":
        over = ask.row.get("over")
        name = over if isinstance(over, str) else " and ".join(over or ())
        text = f"Takes a list in {name}: pass all of them in one call, do not call it in a loop."
        table: dict[str, Any] = {"note": text}
    else:
        first = ask.tools[1]
        table = {"first": [{"tool": ask.full(first), "when": f"you do not have its {' '.join(subject(first))} yet"}]}
    return Proposal(finding=ask.id, pieces=(Piece(kind="hint", name=ask.full(tool), table=table),))


def _spaced(value: str) -> str:
    return value.replace("_", " ")
