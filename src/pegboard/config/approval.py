"""The table `[approval]`: which calls wait for a person."""

from pathlib import Path
from typing import Any

from pegboard.approval.policy import read_rules
from pegboard.config.key import BadValue, Key, Table, Type
from pegboard.config.types import FLAG, ROWS, SECONDS, SELECTORS, choice, whole
from pegboard.errors import DefinitionError


def _rules(value: Any, folder: Path) -> tuple[Any, ...]:
    rows = ROWS.read(value, folder)
    try:
        read_rules(rows)
    except DefinitionError as problem:
        raise BadValue(problem.message, problem.next_step or "", at=problem.where or "") from problem
    return rows


_ACTION = choice("allow", "ask", "deny")

APPROVAL = Table(
    "approval",
    "Which calls run, which wait for a person's yes, and which never run. The first that fits decides: `rules`, "
    "`deny`, `require`, `allow`, then the defaults for foreign tools (those of MCP servers). Tools that only call "
    "others are judged by what they call.",
    (
        Key(
            "require",
            SELECTORS,
            "Calls of these tools wait for a yes.",
            [],
            example='["*.delete_*", "effects:destructive", "mcp:*"]',
        ),
        Key("allow", SELECTORS, "Calls of these tools run without one.", [], example='["files.*"]'),
        Key("deny", SELECTORS, "These tools are never called.", [], example='["*.drop_database"]'),
        Key("destructive", _ACTION, "What happens to foreign tools that destroy and have no preview.", "ask"),
        Key("unknown", _ACTION, "What happens to foreign tools that nobody knows the effects of.", "allow"),
        Key("open_world", _ACTION, "What happens to foreign tools that say that they reach the open world.", "allow"),
        Key(
            "rules",
            Type("list of tables", _rules),
            "Finer rules, in order: `action` (allow, ask, deny), and any of `tools` (selectors), `effects`, "
            "`open_world`, `modes`, `when` (a condition over `input`, the arguments), `name`.",
            [],
            example='[{ action = "ask", tools = ["bank.pay"], when = "input.amount > 100" }]',
        ),
        Key(
            "elicit",
            FLAG,
            "Whether the person behind the calling client is asked, where the client shows forms. Switch it off where "
            "clients fill in forms by themselves: then approvers in code and the command line are left.",
            True,
        ),
        Key("timeout", SECONDS, "How long a question stands.", 300),
        Key(
            "wait",
            whole(0, 86_400),
            "How many seconds a call waits where its own client cannot ask anybody; the request stands on after that.",
            45,
        ),
        Key(
            "drift",
            choice("hold", "allow"),
            "What happens to a foreign tool whose definition changes after it was first seen: it is held back until "
            "you have looked at the change (`pegboard approvals drift`), or goes on as it is.",
            "hold",
        ),
        Key(
            "unpinned",
            SELECTORS,
            "Tools whose definitions may change as they like, such as those that tell the date in their description.",
            [],
            example='["weather.*"]',
        ),
    ),
    hints={
        "pin": "Write drift.",
        "approve": "Write require.",
        "requires": "Write require.",
        "ask": "Write require.",
        "block": "Write deny.",
        "timeoutMs": "Write timeout, in seconds.",
    },
)
