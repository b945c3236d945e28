"""`pegboard approvals`: what waits for a person, the answers, what is remembered of them, and changed tools."""

import json as jsonlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from time import time
from typing import Annotated, Any, cast

from cyclopts import App, Parameter

from pegboard.approval import Choice, Decision, Grant, Kind, Request, new_request
from pegboard.approval.decision import By
from pegboard.approval.elicit import question
from pegboard.approval.entry import Entry, State
from pegboard.approval.foreign import plain, shown
from pegboard.approval.grant import grant_of
from pegboard.approval.ledger import Ledger
from pegboard.approval.pins import Drift, Pins
from pegboard.approval.request import item_of
from pegboard.cli.exit import Exit
from pegboard.cli.open import opened
from pegboard.cli.options import DEFAULT_CONFIG, AsJson, ConfigFile
from pegboard.cli.output import counted, document, foreign, say, table
from pegboard.cli.when import clock_time, span
from pegboard.config import load
from pegboard.core import Selection, Session, ToolSpec
from pegboard.errors import ConfigError, PegboardError
from pegboard.store import Store

approvals = App(name="approvals", help="Say yes or no to what waits, and look at what is remembered.")
Flag = Annotated[bool, Parameter(negative="")]
CELL = 60


@approvals.command(name="list")
def list_requests(
    *,
    all: Flag = False,
    kind: Kind | None = None,
    config: ConfigFile = DEFAULT_CONFIG,
    json: AsJson = False,
) -> int:
    """List what waits for a person, calls apart from suggestions.

    Parameters
    ----------
    all
        Also what was answered, has expired or is void.
    kind
        Only tool_call or only tool_suggestion.
    """
    entries, now = ledger_at(config).entries(waiting=not all, kind=kind), time()
    if json:
        document({"requests": [entry.to_json(now) for entry in entries]})
        return Exit.OK
    for one in Kind:
        rows = [_row(entry, now) for entry in entries if entry.request.kind is one]
        if rows:
            say("Calls:" if one is Kind.TOOL_CALL else "Suggestions:")
            table(("id", "kind", "when", "state", "what", "arguments", "agent", "covers"), rows)
    if not entries:
        say("Nothing waits. What was answered is shown with --all.")
    return Exit.OK


@approvals.command(name="show")
def show_request(id: str, *, config: ConfigFile = DEFAULT_CONFIG, json: AsJson = False) -> int:
    """Show one request: everything that a yes would cover.

    Parameters
    ----------
    id
        Its id, as `approvals list` shows it.
    """
    entry, now = _entry(ledger_at(config), id), time()
    if json:
        document(entry.to_json(now))
        return Exit.OK
    for line in question(replace(entry.request, items=entry.request.items[:1])).splitlines():
        foreign(line)
    for item in entry.request.items[1:]:
        foreign(f"- {plain(item.tool, 200)} {shown(item.arguments)}")
    said = f", by {entry.decision.by}" if entry.decision else ""
    say(f"It is {entry.state(now)}{said}; it stands until {clock_time(entry.request.expires)}.")
    return Exit.OK


@approvals.command
async def allow(
    what: str,
    *,
    session: Flag = False,
    always: Flag = False,
    exact: Flag = False,
    arguments: Annotated[str | None, Parameter(allow_leading_hyphen=True)] = None,
    lasts: Annotated[str | None, Parameter(name="--for")] = None,
    principal: str = "local",
    config: ConfigFile = DEFAULT_CONFIG,
    json: AsJson = False,
) -> int:
    """Say yes to a request, once; or with --always beforehand to tools.

    Parameters
    ----------
    what
        The id of a request. With --always also a selector, such as files.*: each tool as it is defined now.
    session
        Also to every later call of the tool in that session.
    always
        Also to every later call of the tool, as long as its definition stays.
    exact
        With --session or --always: only to calls with the same arguments.
    arguments
        A JSON object to run the call with instead of its own; it is checked.
    lasts
        With --session or --always: for how long, such as 12h or 30d.
    principal
        Beforehand: for whom.
    """
    choice = Choice.ALLOW_ALWAYS if always else Choice.ALLOW_SESSION if session else Choice.ALLOW_ONCE
    expires = None if lasts is None else time() + span(lasts, where="--for")
    decision = Decision(choice=choice, by=By.CLI, exact=exact, expires=expires, arguments=_object(arguments))
    if _is_request(what) or not always:
        return _answer(config, what, decision, json)
    return await _beforehand(config, what, decision, principal, json)


@approvals.command
async def deny(
    what: str,
    *,
    always: Flag = False,
    note: str = "",
    principal: str = "local",
    config: ConfigFile = DEFAULT_CONFIG,
    json: AsJson = False,
) -> int:
    """Say no to a request; with --always also to every later call of the tool.

    Parameters
    ----------
    what
        The id of a request. With --always also a selector of tools.
    always
        Also to every later call of the tool, or, of a suggestion, to every later one of the same.
    note
        A word to the agent.
    principal
        Beforehand: for whom.
    """
    choice = Choice.DENY_ALWAYS if always else Choice.DENY
    decision = Decision(choice=choice, by=By.CLI, note=plain(note))
    if _is_request(what) or not always:
        return _answer(config, what, decision, json)
    return await _beforehand(config, what, decision, principal, json)


@approvals.command(name="grants")
def list_grants(*, all: Flag = False, config: ConfigFile = DEFAULT_CONFIG, json: AsJson = False) -> int:
    """List the answers that are remembered.

    Parameters
    ----------
    all
        Also those that are over.
    """
    found = ledger_at(config).grants(all_of_them=all)
    if json:
        document({"grants": [grant.to_json() for grant in found]})
    else:
        columns = ("id", "kind", "says", "what", "scope", "for", "since", "until", "state")
        table(columns, [_grant_row(grant) for grant in found])
        if not found:
            say("Nothing is remembered.")
    return Exit.OK


@approvals.command
def revoke(*ids: str, all: Flag = False, config: ConfigFile = DEFAULT_CONFIG, json: AsJson = False) -> int:
    """End answers that are remembered; the next call asks again.

    Parameters
    ----------
    ids
        Their ids, as `approvals grants` shows them.
    all
        All of them.
    """
    ledger = ledger_at(config)
    chosen = [grant.id for grant in ledger.grants()] if all else list(ids)
    if not chosen and not all:
        raise ConfigError("No grant is named.", where="approvals revoke", next_step="Name its id, or write --all.")
    ended = [ledger.revoke(id) for id in chosen]
    if json:
        document({"revoked": [grant.to_json() for grant in ended]})
    else:
        say(f"{counted(len(ended), 'grant')} revoked.")
    return Exit.OK


@approvals.command
def drift(
    *,
    accept: Annotated[tuple[str, ...], Parameter(negative="")] = (),
    all: Flag = False,
    config: ConfigFile = DEFAULT_CONFIG,
    json: AsJson = False,
) -> int:
    """Show foreign tools that changed since they were trusted and are held back, and what changed in each.

    Exit code 1 where something is held back.

    Parameters
    ----------
    accept
        Trust the new definition of this tool from now on; may be given more than once.
    all
        Trust all new definitions.
    """
    pins = Pins(store_at(config), time)
    if accept or all:
        taken = pins.accept(None if all else list(accept))
        if json:
            document({"accepted": [drift.to_json() for drift in taken]})
        else:
            names = ", ".join(drift.tool for drift in taken) or "nothing"
            say(f"Accepted: {names}. What was granted for the old definitions is over.")
        return Exit.OK
    found = pins.drifts()
    if json:
        document({"held": [drift.to_json() for drift in found]})
    else:
        _show_drifts(found)
    return Exit.FINDING if found else Exit.OK


def store_at(config: Path) -> Store:
    """The store of a board.

    Raises:
        PegboardError: it keeps nothing that another process can see.
    """
    board = load(config).board
    if board.store == ":memory:":
        message, step = "This board keeps nothing beyond its process.", "Give it a folder there."
        raise PegboardError(message, where="board.store", next_step=step)
    store = Store.open(board.store)
    for warning in store.warnings:
        say(f"pegboard: {warning}")
    return store


def ledger_at(config: Path) -> Ledger:
    """The requests and grants of a board. Raises like `store_at`."""
    return Ledger(store_at(config), time)


def _is_request(what: str) -> bool:
    return what.startswith("ap_")


def _answer(config: Path, id: str, decision: Decision, json: bool) -> int:
    ledger = ledger_at(config)
    entry = ledger.answer(_entry(ledger, id).request.id, decision)
    if json:
        grant = entry.grant.to_json() if entry.grant else None
        document({**entry.to_json(time()), "grant": grant})
        return Exit.OK
    said = entry.decision.choice.value.replace("_", " ") if entry.decision else ""
    remembered = f" Remembered as {entry.grant.id}." if entry.grant else ""
    say(f"{entry.request.subject}: {said}.{remembered}")
    return Exit.OK


def _entry(ledger: Ledger, id: str) -> Entry:
    """One request; of any id that begins with the text, if there is only one."""
    found = ledger.entry(id)
    if found is not None:
        return found
    fit = [entry for entry in ledger.entries() if id and entry.request.id.startswith(id)]
    if len(fit) == 1:
        return fit[0]
    waiting = [entry.request.id for entry in ledger.entries(waiting=True)]
    step = f"There are: {', '.join(waiting)}." if waiting else "Nothing waits; see pegboard approvals list --all."
    raise PegboardError(f"There is no request {id!r}.", where="approvals", next_step=step)


async def _beforehand(config: Path, selector: str, decision: Decision, principal: str, json: bool) -> int:
    """Remember an answer for each tool that a selector picks, without having been asked."""
    selection, ledger = Selection.parse([selector]), ledger_at(config)
    async with opened(config) as board:
        specs = [spec for spec in board.catalog.specs if spec in selection]
    if not specs:
        raise PegboardError(
            f"No tool of the board fits {selector!r}.", where="approvals", next_step="See them with: pegboard list"
        )
    grants = [_granted(spec, decision, principal) for spec in specs]
    for grant in grants:
        ledger.grant(grant)
    if json:
        document({"grants": [grant.to_json() for grant in grants]})
    else:
        verb = "allowed" if decision.allows else "denied"
        say(f"{counted(len(grants), 'tool')} {verb} for {principal}: {', '.join(grant.subject for grant in grants)}.")
    return Exit.OK


def _granted(spec: ToolSpec, decision: Decision, principal: str) -> Grant:
    now = time()
    request = new_request(Kind.TOOL_CALL, [item_of(spec, {})], Session(principal=principal), now=now)
    grant = grant_of(request, replace(decision, at=now, exact=False))
    assert grant is not None
    return replace(grant, request=None)


def _object(text: str | None) -> dict[str, Any] | None:
    if text is None:
        return None
    try:
        value = jsonlib.loads(text)
    except ValueError as problem:
        raise ConfigError(
            f"This is not JSON: {problem}.", where="--arguments", next_step="""Write an object: '{"amount": 5}'."""
        ) from problem
    if not isinstance(value, dict):
        step = """Write an object: '{"amount": 5}'."""
        raise ConfigError("This is no JSON object.", where="--arguments", next_step=step)
    return cast("dict[str, Any]", value)


def _row(entry: Entry, now: float) -> Sequence[object]:
    request = entry.request
    state = entry.state(now)
    left = f" ({max(request.expires - now, 0):.0f} s left)" if state is State.PENDING else ""
    return (
        request.id,
        request.kind.value,
        clock_time(request.created),
        f"{state}{left}",
        plain(request.subject, CELL),
        plain(shown(request.items[0].arguments), CELL),
        request.agent or "",
        _covers(request),
    )


def _covers(request: Request) -> str:
    return counted(len(request.items) - 1, "call") if request.items[1:] else ""


def _grant_row(grant: Grant) -> Sequence[object]:
    return (
        grant.id,
        grant.kind.value,
        "allow" if grant.allows else "deny",
        plain(grant.subject, CELL) + (" (these arguments)" if grant.fingerprint else ""),
        grant.scope,
        grant.principal,
        clock_time(grant.created),
        clock_time(grant.expires) if grant.expires else "",
        grant.ended or "",
    )


def _show_drifts(found: Sequence[Drift]) -> None:
    for drift in found:
        foreign(f"{drift.tool} ({drift.source}), since {clock_time(drift.since)}")
        for one in drift.differences:
            foreign(f"  {one.weight.value:<10} {one.pointer or '/'}: {plain(one.message, 300)}")
            foreign(f"    before  {shown(one.before, 600)}")
            foreign(f"    after   {shown(one.after, 600)}")
    if found:
        say(f"{counted(len(found), 'tool')} held back. Trust one with --accept TOOL, all with --all.")
    else:
        say("Nothing is held back.")
