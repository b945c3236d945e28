"""What tool names say of one another: words, siblings, opposites."""

import re
from functools import lru_cache

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")
_ALIKE = 0.4

_PAIRS = """
add remove/add delete/create delete/create remove/invite remove/invite kick/join leave/lock unlock/open close/
start stop/begin end/enable disable/activate deactivate/activate release/follow unfollow/
subscribe unsubscribe/show hide/push pull/import export/upload download/increase decrease/increment decrement/
encrypt decrypt/encode decode/compress decompress/install uninstall/mount unmount/grant revoke/approve reject/
accept decline/buy sell/deposit withdraw/read write/get set/load save/send receive/pin unpin/archive restore/
delete restore/block unblock/mute unmute/login logout/up down/in out/min max/first last/before after/
like unlike/star unstar/assign unassign/attach detach/connect disconnect/book cancel
"""
OPPOSITES: tuple[frozenset[str], ...] = tuple(frozenset(pair.split()) for pair in _PAIRS.split("/"))
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


_JOINTS = "by with for from via using in on to of at as"
_LINKING = frozenset(_JOINTS.split())


def variants(one: str, other: str) -> bool:
    """Whether two siblings are about the same thing and differ in how they look for it.

    `search_direct_flight` and `search_onestop_flight` are, and `find_user_by_mail` and `find_user_by_phone`; not so
    `get_user_posts` and `get_user_likes`, which give different things.
    """
    return siblings(one, other) and _head(one) == _head(other)


def _head(name: str) -> str:
    """The noun that a name is about: its last word, or the last before `by`, `with` and the like."""
    own = words(name)
    end = next((place for place, word in enumerate(own) if place and word in _LINKING), len(own))
    return own[end - 1] if own else ""


def opposite(one: str, other: str) -> bool:
    """Whether two names mean opposite things: by an opposite word, or by the same words the other way round."""
    own, others = words(one), words(other)
    if sorted(own) == sorted(others) and own != others:
        return True
    only, only_others = set(own) - set(others), set(others) - set(own)
    return any(pair & only and pair & only_others for pair in OPPOSITES)


_VERBS = """
get list search find read fetch show describe count check lookup look query view browse explore inspect retrieve load
select scan peek head tail cat ls grep stat status info whoami preview validate compare estimate calculate compute
convert translate detect is has display print
"""
_READING = frozenset(_VERBS.split())


def reads(name: str) -> bool:
    """Whether a tool's name begins with a verb of reading, and so probably changes nothing."""
    first = words(name)[:1]
    return bool(first) and first[0] in _READING


def same_verb(one: str, other: str) -> bool:
    """Whether two names begin with the same word, or both with verbs of reading."""
    return words(one)[:1] == words(other)[:1] or reads(one) and reads(other)
