"""Expressions that read a later step's argument from an earlier step's result, as the traces show it."""

import re
from collections.abc import Mapping
from keyword import iskeyword
from typing import Any

from pegboard.insight.wiring import WHOLE

ESCAPED = "\\#"
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")


def reading(origin: Mapping[str, Any], step: str, *, many: bool, listed: bool) -> str | None:
    """The expression for a value, or None where nothing is known of where it stands.

    By its place in a structured result; by what it looks like where the result is text, or the place is empty.

    Parameters:
        origin: the `from` of a wire: `result` (a place) and `pattern`.
        step: the id of the step that it is read from.
        many: whether all values are wanted as a list, or the first.
        listed: whether that step is a batch, whose items hold the results.
    """
    place, pattern = origin.get("result"), origin.get("pattern")
    ways: list[str] = []
    if place and place != WHOLE:
        path = f"items[].value.{place}" if listed else place
        ways.append(at_place(step, path, many=many))
    if pattern:
        ways.append(f"{'find_all' if many else 'find'}({step}, {quoted(str(pattern).replace(ESCAPED, '#'))})")
    if place == WHOLE and not listed:
        ways.append(f"[{step}]" if many else step)
    if not ways:
        return None
    return ways[0] if len(ways) == 1 else f"default({', '.join(ways)})"


def at_place(step: str, place: str, *, many: bool) -> str:
    """The expression for a place such as `rows[].id` or `cards.*.last` in a step's result.

    Parameters:
        step: the step's id.
        place: keys joined by dots; `[]` stands for every entry of a list, `*` for every key.
        many: whether all values are wanted, or the first.
    """
    expression, several = step, False
    for part in re.findall(r"\[\]|[^.\[\]]+", place):
        if part == "[]":
            expression = f"flatten({expression})" if several else expression
            several = True
        elif "*" in part:
            expression = f"flatten([values(x) for x in {expression}])" if several else f"values({expression})"
            several = True
        elif several:
            expression = f"[x{_member(part)} for x in {expression}]"
        else:
            expression = f"{expression}{_member(part)}"
    if many:
        return f"unique({expression})" if several else f"[{expression}]"
    return f"first({expression})" if several else expression


def quoted(text: str) -> str:
    """A text as the expression language spells it."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _member(key: str) -> str:
    return f".{key}" if _IDENTIFIER.fullmatch(key) and not iskeyword(key) else f"[{quoted(key)}]"
