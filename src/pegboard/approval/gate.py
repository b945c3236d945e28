"""Where a call waits for a yes; the inner calls of composites, scripts and batches pass it too."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from pegboard.approval.cover import covered_by, covering, foreseeing, foreseen
from pegboard.approval.decision import Decision
from pegboard.approval.desk import Desk, Verdict
from pegboard.approval.elicit import by_elicitation
from pegboard.approval.foreign import shown
from pegboard.approval.outcome import declined, forbidden, gone, gone_in, unanswered, unforeseen
from pegboard.approval.policy import Action, Policy, Rule, is_harmless, judge
from pegboard.approval.reason import REASON_KEY
from pegboard.approval.request import Item, Kind, definition_of, item_of, new_request
from pegboard.core import Call, Change, Handler, Middleware, Mode, Report, Result, ToolName, ToolSpec, offers
from pegboard.schema.types import as_list

SpecOf: TypeAlias = Callable[[ToolName], ToolSpec | None]
"""The spec of a tool that is on the board, by its full name."""

USES = "pegboard/uses"
"""Where a composed tool's spec names the tools that it calls."""
_DEEPEST = 8


def gate(spec_of: SpecOf, policy: Policy, desk: Desk) -> Middleware:
    """Let calls through that need no yes, and the others once a person has said yes.

    It stands inside of mode and guard: what is shown to the person is what would run.

    Parameters:
        spec_of: the tools.
        policy: which calls need a yes.
        desk: asks for it.
    """

    def wrap(next_handler: Handler) -> Handler:
        return Gate(spec_of, policy, desk, next_handler)

    return wrap


@dataclass
class Gate:
    """The handler of the gate; its parameters are those of `gate`, and what runs behind it."""

    spec_of: SpecOf
    policy: Policy
    desk: Desk
    run: Handler = field(repr=False)
    _plans: dict[ToolName, tuple[ToolSpec, tuple[Rule, ...]]] = field(
        default_factory=dict[ToolName, tuple[ToolSpec, tuple[Rule, ...]]]
    )

    async def __call__(self, call: Call) -> Result:
        """Run a call, or say why it did not run."""
        spec = self.spec_of(call.tool)
        if spec is None:
            return await self._missing(call)
        plan = self._plan(spec)
        if not plan and USES not in spec.meta:
            return await self.run(_without_reason(call))
        return await self._judged(call, spec, plan)

    def _plan(self, spec: ToolSpec) -> tuple[Rule, ...]:
        known = self._plans.get(spec.name)
        if known is None or known[0] is not spec:
            known = self._plans[spec.name] = (spec, self.policy.plan(spec))
        return known[1]

    async def _judged(self, call: Call, spec: ToolSpec, plan: tuple[Rule, ...]) -> Result:
        mode = call.mode or Mode.EXECUTE
        rule = judge(plan, spec, mode, call.arguments)
        if rule.action is Action.DENY:
            return forbidden(spec, rule, mode)
        collected = foreseen()
        if collected is not None:
            return await self._collect(call, spec, plan, collected)
        if rule.action is Action.ASK:
            return await self._ask(call, spec, rule)
        if mode is Mode.EXECUTE and self._asks_inside(spec):
            return await self._ask_for_parts(call, spec)
        result = await self.run(_without_reason(call))
        if mode is Mode.DRY_RUN and judge(plan, spec, Mode.EXECUTE, call.arguments).action is Action.ASK:
            return _checked(result)
        return result

    async def _ask(self, call: Call, spec: ToolSpec, rule: Rule) -> Result:
        item = item_of(spec, call.arguments, call.mode or Mode.EXECUTE)
        cover = covered_by()
        if cover is None or not cover.take(item):
            return await self._put(call, spec, rule, [item, *await self._parts(call, spec)])
        result = await self.run(call)
        if result.failure is not None:
            cover.give_back(item)
        return result

    async def _ask_for_parts(self, call: Call, spec: ToolSpec) -> Result:
        """A composite that itself needs no yes asks once for all of its parts that do, as far as they are foreseen."""
        parts = await self._parts(call, spec)
        cover = covered_by()
        if not parts or (cover is not None and all(cover.holds(item) for item in parts)):
            return await self.run(call)
        return await self._put(
            call, spec, Rule(Action.ASK, "parts"), [item_of(spec, call.arguments, call.mode or Mode.EXECUTE), *parts]
        )

    async def _put(self, call: Call, spec: ToolSpec, rule: Rule, items: list[Item]) -> Result:
        """Put the question, and go on with the answer."""
        request = new_request(
            Kind.TOOL_CALL,
            items,
            call.session,
            now=self.desk.clock(),
            lasts=self.desk.lasts,
            reason=call.meta.get(REASON_KEY, ""),
            rule=rule.name,
            schema=(spec.accepts or spec.input) if len(items) == 1 else None,
        )
        verdict = await self.desk.decide(request, by_elicitation(call) if self.policy.elicit else ())
        if verdict.decision is None:
            return unanswered(verdict, call.mode)
        if not verdict.decision.allows:
            return declined(verdict, call.mode)
        if self.spec_of(call.tool) is not spec and self._definition_of(call.tool) != items[0].definition:
            return gone(verdict, call.mode)
        refusal = self._forbids_edited(call, spec, verdict.decision)
        if refusal is not None:
            return refusal
        return await self._go_on(call, verdict, verdict.decision, items)

    def _forbids_edited(self, call: Call, spec: ToolSpec, decision: Decision) -> Result | None:
        """What the board never allows, no edited arguments make allowed: who answers a call does not set the policy."""
        if decision.arguments is None:
            return None
        mode = call.mode or Mode.EXECUTE
        rule = judge(self._plan(spec), spec, mode, decision.arguments)
        return forbidden(spec, rule, mode) if rule.action is Action.DENY else None

    async def _go_on(self, call: Call, verdict: Verdict, decision: Decision, items: list[Item]) -> Result:
        call = _without_reason(call)
        edited = call.arguments if decision.arguments is None else decision.arguments
        with covering(items[1:]):
            result = await self.run(replace(call, arguments=edited))
        return _told(result, verdict, decision)

    def _definition_of(self, name: ToolName) -> str | None:
        spec = self.spec_of(name)
        return definition_of(spec) if spec is not None else None

    # Composites

    def _asks_inside(self, spec: ToolSpec, depth: int = 0) -> bool:
        """Whether a part of a composite may need a yes of its own."""
        parts = [self.spec_of(ToolName.parse(str(name))) for name in as_list(spec.meta.get(USES))]
        return depth < _DEEPEST and any(
            any(rule.action is Action.ASK for rule in self._plan(part)) or self._asks_inside(part, depth + 1)
            for part in parts
            if part is not None
        )

    async def _parts(self, call: Call, spec: ToolSpec) -> list[Item]:
        """The calls inside that would need a yes, found out by running the composite without effect."""
        if call.mode is not Mode.EXECUTE or not self._asks_inside(spec):
            return []
        mode = Mode.PREVIEW if offers(spec, Mode.PREVIEW) else Mode.DRY_RUN
        if not offers(spec, mode):
            return []
        with foreseeing() as found:
            await self.run(replace(call, mode=mode, progress=None))
        return found

    async def _collect(self, call: Call, spec: ToolSpec, plan: tuple[Rule, ...], found: list[Item]) -> Result:
        mode = call.mode or Mode.EXECUTE
        if judge(plan, spec, Mode.EXECUTE, call.arguments).action is Action.ASK:
            found.append(item_of(spec, call.arguments))
            if not is_harmless(spec, mode):
                return unforeseen(spec)
        return await self.run(call)

    async def _missing(self, call: Call) -> Result:
        """A tool that is gone: what a person said of it, or was asked, is void, and the caller hears of that."""
        result = await self.run(call)
        ended = await self.desk.void(str(call.tool), call.session.principal, "the tool is gone")
        return gone_in(result, ended) if ended else result


def _without_reason(call: Call) -> Call:
    """The model's reason is for the person alone."""
    if REASON_KEY not in call.meta:
        return call
    return replace(call, meta={key: value for key, value in call.meta.items() if key != REASON_KEY})


def _told(result: Result, verdict: Verdict, decision: Decision) -> Result:
    """The result, with who let it run, and whether with other arguments."""
    report = result.report or Report()
    said: dict[str, Any] = {"choice": decision.choice.value, "by": decision.by}
    said["grant" if decision.grant else "request"] = decision.grant or verdict.entry.request.id
    changes = report.changes
    if decision.arguments is not None:
        message = f"The person who allowed the call changed its arguments to {shown(decision.arguments)}."
        changes = (Change("mended", "", message), *changes)
    return replace(result, report=replace(report, changes=changes, data={**report.data, "approval": said}))


def _checked(result: Result) -> Result:
    """A dry run that would wait for a person says so."""
    report = result.report
    if report is None or "dry_run" not in report.data:
        return result
    needs = "needs approval"
    data = {**report.data, "dry_run": {**report.data["dry_run"], "policy": needs}}
    content = tuple(
        {**block, "text": block["text"].replace("policy: passed", f"policy: {needs}")} if "text" in block else block
        for block in result.content
    )
    return replace(result, content=content, report=replace(report, data=data))
