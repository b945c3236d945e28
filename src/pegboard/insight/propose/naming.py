"""Names for composed tools: after the task, in the words of the tools that they stand for."""

from collections.abc import Container, Sequence

from pegboard.insight.names import reads, words

_JOINTS = frozenset(("by", "with", "for", "from", "via", "using", "in", "on", "to", "of", "at", "as"))
ID_WORDS = frozenset(("id", "ids", "key", "number", "name", "uuid"))
_SAME = frozenset(("news", "status", "sms", "address", "details", "info", "data", "metadata", "weather", "series"))


def plural(word: str) -> str:
    """An English noun in the plural; one that is plural already stays."""
    if word in _SAME or word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word
    if word.endswith(("s", "x", "z", "ch", "sh")):
        return f"{word}es"
    return f"{word[:-1]}ies" if word.endswith("y") and word[-2:-1] not in ("a", "e", "i", "o", "u") else f"{word}s"


def subject(tool: str) -> tuple[str, ...]:
    """What a tool is about: the words of its name between its verb and the first `by`, `for` and the like."""
    own = words(tool)[1:]
    end = next((place for place, word in enumerate(own) if word in _JOINTS), len(own))
    return own[:end] or own or words(tool)


def spoken(tool: str) -> str:
    """A tool's name as words."""
    return " ".join(words(tool))


def batch_name(tool: str, over: Sequence[str]) -> str:
    """The name of a tool's batch form: its own, with the noun in the plural that the items are named by."""
    own = list(words(tool))
    named = [word for parameter in over[:1] for word in words(parameter) if word not in ID_WORDS]
    at = next((place for place, word in enumerate(own) if place and word in named), None)
    if at is None:
        at = max((place for place, word in enumerate(own) if word not in _JOINTS), default=0)
    several = [*own[:at], plural(own[at]), *own[at + 1 :]]
    return "_".join(several if several != own else [*own, "of", "many"])


def bundle_name(steps: Sequence[str], *, listed: bool, flows: bool) -> str:
    """The name of a bundle: what it gets, or what it does in the end and from what.

    Parameters:
        steps: its tools.
        listed: whether the last one is called for many items.
        flows: whether values flow between the steps.
    """
    last = steps[-1]
    if not all(reads(step) for step in steps):
        own = "_".join(words(last))
        entry = subject(steps[0])[:1]
        return f"{own}_by_{entry[0]}" if flows and entry and entry[0] not in words(last) else f"{own}_when_ready"
    whole, part = _kernel(steps[-2] if len(steps) > 1 else last), _kernel(last)
    end = plural(part[-1]) if listed else part[-1]
    if whole == part:
        whole = _kernel(steps[0])
    return f"get_{'_'.join(whole)}_with_{'_'.join((*part[:-1], end))}" if whole != part else f"get_{end}_in_full"


def _kernel(tool: str) -> tuple[str, ...]:
    """The nouns that a tool is about, without `details` and `id`."""
    own = subject(tool)
    kept = tuple(word for word in own if word not in _SAME and word not in ID_WORDS and word not in ("all", "list"))
    return kept or own


def merge_name(one: str, other: str) -> str:
    """The name of a tool that does what two siblings do: the words that they share."""
    theirs = words(other)
    return "_".join(word for word in words(one) if word in theirs) or "_".join(words(one))


def difference(one: str, other: str) -> tuple[str, str]:
    """The words by which two siblings differ, as values of a parameter."""
    first = "_".join(word for word in words(one) if word not in words(other))
    second = "_".join(word for word in words(other) if word not in words(one))
    return first or "_".join(words(one)), second or "_".join(words(other))


def free(name: str, taken: Container[str]) -> str:
    """The name, or with a number where it is taken."""
    return next(each for each in (name, *(f"{name}_{n}" for n in range(2, 1000))) if each not in taken)
