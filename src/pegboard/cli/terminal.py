"""Asking the person at this terminal whether a call may run."""

import sys

import anyio.to_thread

from pegboard.approval import Choice, Decision, Request
from pegboard.approval.decision import By
from pegboard.approval.elicit import question
from pegboard.cli.output import say

_KEYS = {
    "y": Choice.ALLOW_ONCE,
    "yes": Choice.ALLOW_ONCE,
    "once": Choice.ALLOW_ONCE,
    "always": Choice.ALLOW_ALWAYS,
    "n": Choice.DENY,
    "no": Choice.DENY,
    "never": Choice.DENY_ALWAYS,
}


async def agreed(_: Request) -> Decision:
    """Say yes: whoever typed the command has."""
    return Decision(choice=Choice.ALLOW_ONCE, by=By.CLI)


async def at_terminal(request: Request) -> Decision | None:
    """Ask here; None, with a word on how to answer, where nobody sits at a terminal."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        say(f"pegboard: {request.subject} waits for a yes: pegboard approvals allow {request.id}")
        return None
    say(question(request))
    while True:
        said = (await anyio.to_thread.run_sync(_line, abandon_on_cancel=True)).strip().lower()
        if said in _KEYS:
            return Decision(choice=_KEYS[said], by=By.CLI)


def _line() -> str:
    print("Allow it? [y]es, always, [n]o, never: ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline() or "no"
