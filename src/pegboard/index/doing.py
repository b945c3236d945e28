"""Whether a request wants to know something or to change something, and which of the two a tool does.

Requests and tools share their nouns: "show what changed in the repository" has more words with a tool that commits
changes than with one that shows them. The first verb tells them apart (`data/verbs.txt`).
"""

from collections.abc import Mapping, Sequence
from enum import IntEnum
from functools import cache

from pegboard.core import Effects, ToolSpec
from pegboard.index.shipped import shipped
from pegboard.index.text import words

OPPOSITE = 0.2
"""What it costs a tool to do the opposite of what a request wants."""
EARLY = 12
"""The verb stands among so many words of a request."""


class Doing(IntEnum):
    """What a request wants, or a tool does."""

    CHANGES = -1
    EITHER = 0
    READS = 1


def _third_person(verb: str) -> str:
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return f"{verb[:-1]}ies"
    return f"{verb}es" if verb.endswith(("s", "sh", "ch", "x")) else f"{verb}s"


@cache
def _verbs() -> tuple[Mapping[str, Doing], Mapping[str, Doing]]:
    """What the words of tools and those of requests tell; descriptions begin with `Shows` as well as with `Show`."""
    lines = shipped("verbs.txt").read_text(encoding="utf8").splitlines()
    told = {name: verbs.split() for name, _, verbs in (line.partition(":") for line in lines)}
    spelt = {"reads": Doing.READS, "changes": Doing.CHANGES}
    of_tools = {
        form: doing for name, doing in spelt.items() for verb in told[name] for form in (verb, _third_person(verb))
    }
    return of_tools, of_tools | dict.fromkeys(told["asks"], Doing.READS)


_OF_EFFECTS = {
    Effects.READ_ONLY: Doing.READS,
    Effects.ADDITIVE: Doing.CHANGES,
    Effects.DESTRUCTIVE: Doing.CHANGES,
}


def wanted(request: Sequence[str]) -> Doing:
    """What a request's words want."""
    _, verbs = _verbs()
    for word in request[:EARLY]:
        if word in verbs:
            return verbs[word]
    return Doing.EITHER


def done_by(spec: ToolSpec) -> Doing:
    """What a tool does: by its effects, else by the verb of its name, else by that of its description."""
    declared = _OF_EFFECTS.get(spec.effects)
    if declared is not None:
        return declared
    verbs, _ = _verbs()
    for word in words(spec.name.name):
        if word in verbs:
            return verbs[word]
    told = words(spec.description[:40])
    return verbs.get(told[0], Doing.EITHER) if told else Doing.EITHER
