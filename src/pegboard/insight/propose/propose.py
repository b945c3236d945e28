"""From a finding to a proposal, by its kind."""

from collections.abc import Callable, Mapping, Sequence

from pegboard.insight.finding import Kind
from pegboard.insight.offer import Offer
from pegboard.insight.propose.ask import Ask, Row
from pegboard.insight.propose.batch import propose_batch
from pegboard.insight.propose.beside import propose_fan_out, propose_hint, propose_merge
from pegboard.insight.propose.bundle import propose_bundle
from pegboard.insight.propose.proposal import Proposal

_MAKERS: Mapping[str, Callable[[Ask], Proposal]] = {
    Kind.BUNDLE.value: propose_bundle,
    Kind.BATCH.value: propose_batch,
    Kind.MERGE.value: propose_merge,
    Kind.FAN_OUT.value: propose_fan_out,
    Kind.MISSING_HINT.value: propose_hint,
}

_BY_HAND: Mapping[str, str] = {
    Kind.LADDER_GAP.value: "Write the missing rung: a bundle over the low tools, or the raw tool beneath.",
    Kind.HOT_SPOT.value: "Describe the argument that agents get wrong, or say in the tool's error what to do.",
    Kind.CONTEXT.value: "Put the value into the agent's instructions, or into the source's configuration.",
    Kind.SEARCH_MISS.value: "Put the words that agents searched for into the tool's description or examples.",
    Kind.BUDGET_PRESSURE.value: "Apply the bundles and batch forms that this report lists, those that save most first.",
    Kind.UNPROVEN.value: "Take the composed tool out of the config if no later trace shows its sequence.",
    Kind.NO_TRAFFIC.value: "Retire the tool if you know that nobody needs it: `deny` in its source's table.",
    Kind.DEAD.value: "Mend the tool or retire it: `deny` in its source's table.",
}


def propose(row: Row, others: Sequence[Row] = (), offer: Offer | None = None, *, name: str | None = None) -> Proposal:
    """What applying a finding would write; nothing is written.

    Parameters:
        row: the finding, as `pegboard insight --json` lists it.
        others: the findings beside it.
        offer: the tools on offer.
        name: the new tool's name; by default one made from the names of its parts.
    """
    ask = Ask(row, others, offer or Offer(), name)
    if row.get("variant_of"):
        return Proposal(
            finding=ask.id,
            refused=f"It is another way into {row['variant_of']}: apply that one, which takes both.",
        )
    make = _MAKERS.get(str(row.get("kind")))
    if make is None:
        remedy = _BY_HAND.get(str(row.get("kind")), "Look at its reason, and decide.")
        return Proposal(finding=ask.id, refused=f"There is nothing to write for it. {remedy}")
    return make(ask)
