"""What tool names say of one another: words, siblings, opposites."""

import re
from functools import lru_cache

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")
_ALIKE = 0.4

OPPOSITES: tuple[frozenset[str], ...] = tuple(
    frozenset(pair.split())
    for pair in (
        "add remove",
        "add delete",
        "create delete",
        "create remove",
        "invite remove",
        "invite kick",
        "join leave",
        "lock unlock",
        "open close",
        "start stop",
        "begin end",
        "enable disable",
        "activate deactivate",
        "activate release",
        "follow unfollow",
        "subscribe unsubscribe",
        "show hide",
        "push pull",
        "import export",
        "upload download",
        "increase decrease",
        "increment decrement",
        "encrypt decrypt",
        "encode decode",
        "install uninstall",
        "mount unmount",
        "grant revoke",
        "approve reject",
        "accept decline",
        "buy sell",
        "deposit withdraw",
        "read write",
        "get set",
        "load save",
        "send receive",
        "pin unpin",
        "archive restore",
        "delete restore",
        "block unblock",
        "mute unmute",
        "login logout",
        "up down",
        "in out",
        "min max",
        "first last",
        "before after",
        "encode decode",
        "compress decompress",
    )
)
"""Words that turn a name into its opposite."""


@lru_cache(maxsize=65536)
def words(name: str) -> tuple[str, ...]:
    """The words of a tool's bare name, in lower case: `getUserById` and `get_user_by_id` have the same."""
    return tuple(word.lower() for word in _WORD.findall(name.rpartition(".")[2]))


def siblings(one: str, other: str) -> bool:
    """Whether two tools' names share enough words to be variants of one another, and are no opposites."""
    own, others = set(words(one)), set(words(other))
    shared = len(own & others) / max(1, len(own | others))
    return one != other and shared >= _ALIKE and not opposite(one, other)


def opposite(one: str, other: str) -> bool:
    """Whether two names mean opposite things: by an opposite word, or by the same words the other way round."""
    own, others = words(one), words(other)
    if sorted(own) == sorted(others) and own != others:
        return True
    only, only_others = set(own) - set(others), set(others) - set(own)
    return any(pair & only and pair & only_others for pair in OPPOSITES)
