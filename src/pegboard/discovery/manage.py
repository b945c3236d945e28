"""`install_plugin`, `enable_plugin`, `disable_plugin`, `uninstall_plugin`: only where a board lets models manage it."""

from functools import partial

from pegboard.approval import Approver, Desk, Item, Kind, Verdict, new_request
from pegboard.core import Call, Effects, Failure, FailureCode, Result
from pegboard.discovery import desk as desks
from pegboard.discovery.answers import answer
from pegboard.discovery.asking import Brought
from pegboard.discovery.define import MetaHandler, meta_spec

WHAT = {
    "install": "Put a connector or plugin of this server's directories on it.",
    "enable": "Switch on a source of this server that is switched off.",
    "disable": "Switch off a source of this server, without losing it.",
    "uninstall": "Take something that was installed off this server.",
}
"""What each action does."""

_EFFECTS = {"install": Effects.ADDITIVE, "enable": Effects.ADDITIVE}

SPECS = {
    action: meta_spec(
        f"{action}_plugin",
        f"{what} The user agrees to each call.",
        {"tool_id": {"type": "string", "description": "Its id, or the name of its source."}},
        required=("tool_id",),
        effects=_EFFECTS.get(action, Effects.DESTRUCTIVE),
    )
    for action, what in WHAT.items()
}
"""The tools, by action."""


def handler_of(action: str) -> MetaHandler:
    """What runs behind one of the tools."""

    async def handle(desk: desks.Desk, call: Call) -> Result:
        return await desk.openings.manage(call, action)

    return handle


HANDLERS = tuple((spec, handler_of(action)) for action, spec in SPECS.items())
"""The tools with what runs behind them."""


async def agreed(desk: Desk, call: Call, definition: str, approvers: list[Approver]) -> Failure | None:
    """Ask the person for one such call; None where they agree.

    Parameters:
        desk: asks.
        call: the call.
        definition: identifies what it is about.
        approvers: who is asked first.
    """
    spec = next(spec for spec in SPECS.values() if spec.name == call.tool)
    item = Item(call.tool.name, dict(call.arguments), definition, spec.effects, description=spec.description)
    request = new_request(Kind.TOOL_CALL, [item], call.session, now=desk.clock(), lasts=desk.lasts)
    verdict = await desk.decide(request, approvers)
    return None if verdict.decision is not None and verdict.decision.allows else _no(verdict)


def told(id: str, brought: Brought) -> Result:
    """What became of it."""
    value = {"tool_id": id, "completed": brought.completed, "tools": list(brought.tools)}
    more = {"message": brought.message, "next_step": brought.next_step}
    value |= {key: text for key, text in more.items() if text}
    state = "Done." if brought.completed else str(brought.message)
    return answer(value, f"{id}: {state} {brought.next_step or ''}".strip())


def _no(verdict: Verdict) -> Failure:
    id = verdict.entry.request.id
    said = partial(Failure, details={"request_id": id})
    if verdict.decision is not None:
        return said(FailureCode.BLOCKED, "The user said no.", next_step="Do not ask again; do without it.")
    step = f"The user can answer with: pegboard approvals allow {id}; then call again."
    return said(FailureCode.APPROVAL_NEEDED, "The user has not answered.", next_step=step)
