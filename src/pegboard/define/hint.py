"""Hints, as an author writes them: `hints=[first("list_files", when="you only have a folder")]`."""

from pegboard.core import Hint, Relation


def first(tool: str, *, when: str = "", parameter: str | None = None) -> Hint:
    """Call `tool` before this one.

    Parameters:
        tool: the other tool's name, qualified or bare.
        when: the condition in words, such as "you only have an email".
        parameter: the parameter that the other tool's result is for.
    """
    return Hint(Relation.FIRST, tool, when, parameter)


def then(tool: str, *, when: str = "", parameter: str | None = None) -> Hint:
    """Call `tool` after this one. Parameters as for `first`."""
    return Hint(Relation.THEN, tool, when, parameter)


def instead(tool: str, *, when: str = "", parameter: str | None = None) -> Hint:
    """Call `tool` and not this one. Parameters as for `first`."""
    return Hint(Relation.INSTEAD, tool, when, parameter)
