"""What no config can hold: halves of characters, and null inside of a table. And whether what was made is a config."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from pegboard.config.load import InvalidConfigError, parse
from pegboard.config.runtype.finding import Findings, Weight
from pegboard.config.runtype.template import At
from pegboard.errors import PegboardError
from pegboard.schema.types import Json, JsonObject

_HALF = re.compile("[\ud800-\udfff]")


def check_texts(value: Json, findings: Findings, at: At = ()) -> None:
    """Refuse every text, key or value, that holds half of a character."""
    if isinstance(value, str):
        if _HALF.search(value):
            findings.refuse("HALF_A_CHARACTER", at, "The text holds half of a character.", "Write it anew.")
    elif isinstance(value, Mapping):
        for key, part in cast("Mapping[str, Json]", value).items():
            check_texts(key, findings, at)
            check_texts(part, findings, (*at, _HALF.sub("\ufffd", key)))
    elif isinstance(value, list):
        for place, part in enumerate(cast("list[Json]", value)):
            check_texts(part, findings, (*at, place))


def without_nulls(value: Any, findings: Findings, at: At) -> Any:
    """A value without its nulls, which a config cannot hold; each is told."""
    if isinstance(value, Mapping):
        rows = cast("Mapping[str, Any]", value)
        return {
            key: without_nulls(part, findings, (*at, key))
            for key, part in rows.items()
            if _held(part, findings, (*at, key))
        }
    if isinstance(value, list):
        parts = list(enumerate(cast("list[Any]", value)))
        return [without_nulls(part, findings, (*at, n)) for n, part in parts if _held(part, findings, (*at, n))]
    return value


def check_config(tables: Mapping[str, Mapping[str, JsonObject]], findings: Findings, at: At) -> None:
    """Refuse tables that are no config, with what is wrong.

    Parameters:
        tables: as in a file.
        findings: hears what is wrong.
        at: where they come from.
    """
    try:
        parse(dict(tables), folder=Path())
    except InvalidConfigError as problem:
        for one in problem.problems:
            findings.refuse("OUT_OF_RANGE", at, f"{one.key}: {one.message}", one.next_step)
    except PegboardError as problem:
        findings.refuse("OUT_OF_RANGE", at, problem.message, problem.next_step)


def _held(value: Any, findings: Findings, at: At) -> bool:
    if value is None:
        findings.say(Weight.CHANGED, "NULL_LEFT_OUT", at, "null is left out: a config has no null.")
    return value is not None
