"""Conversions of single values between two systems' forms: codes, dates, units, texts; each works both ways."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from typing import TypeAlias, cast

from pegboard.errors import DefinitionError, nearest
from pegboard.schema.functions import FUNCTIONS, text_of
from pegboard.schema.types import Json, Schema, as_list, canonical

Convert: TypeAlias = Callable[[Json], Json]
"""From one value to another; raises `ValueError`, `TypeError` or `OverflowError` where a value has no counterpart."""


@dataclass(frozen=True)
class Conversion:
    """How one value is written on either side.

    Parameters:
        forward: from the backend's form to ours.
        backward: from ours to the backend's.
        schema: the JSON Schema of our form.
    """

    forward: Convert
    backward: Convert
    schema: Schema


def words(table: Mapping[str, Json], other: str | None = None) -> Conversion:
    """Words for codes.

    Parameters:
        table: by our word the backend's code, or a list of codes that mean the same, of which the first is written.
        other: our word for a code that is not in the table; None: such a code has no counterpart.

    Raises:
        DefinitionError: a code means two things.
    """
    codes: dict[str, str] = {}
    for word, code in table.items():
        if code == []:
            raise DefinitionError(f"{word!r} stands for no code.", next_step='Write for example active = "A".')
        for one in as_list(code) if isinstance(code, list) else [code]:
            if codes.setdefault(canonical(one), word) != word:
                raise DefinitionError(
                    f"{text_of(one)} means {codes[canonical(one)]} and {word}.", next_step="Give a code one meaning."
                )

    def forward(value: Json) -> Json:
        found = codes.get(canonical(value), other)
        if found is None:
            raise ValueError("the value is none that has a word")
        return found

    def backward(value: Json) -> Json:
        if not isinstance(value, str) or value not in table:
            raise ValueError(f"{text_of(value)[:60]!r} is none of {', '.join(table)}")
        code = table[value]
        return as_list(code)[0] if isinstance(code, list) else code

    known = list(dict.fromkeys([*table, *([other] if other is not None else [])]))
    return Conversion(forward, backward, {"type": "string", "enum": known})


_UNIX = {"unix": 1, "unix_ms": 1000}
_TIME_OF_DAY = re.compile("%[HIMSfpXcsT]")


def date(form: str) -> Conversion:
    """ISO 8601 for another way to write a date or moment.

    Parameters:
        form: `unix`, `unix_ms`, `iso`, or a strptime form such as `%d.%m.%Y`; one without a time of day is a date.

    Raises:
        DefinitionError: the form cannot be used.
    """
    if form in _UNIX:
        return Conversion(_from_unix(_UNIX[form]), _to_unix(_UNIX[form]), {"type": "string", "format": "date-time"})
    if form == "iso":
        return Conversion(_moment, _moment, {"type": "string", "format": "date-time"})
    try:
        sample = datetime(2024, 2, 29, 13, 14, 15, tzinfo=UTC).strftime(form)
        FUNCTIONS["iso"](sample, form)
    except (ValueError, TypeError) as problem:
        raise DefinitionError(
            f"{form!r} is no form of a date: {problem}.", next_step='Write for example "%Y-%m-%d", "unix" or "iso".'
        ) from None
    if _TIME_OF_DAY.search(form):
        return Conversion(
            lambda value: FUNCTIONS["iso"](str(value), form),
            lambda value: FUNCTIONS["date"](_moment(value), form),
            {"type": "string", "format": "date-time"},
        )
    return Conversion(
        lambda value: FUNCTIONS["day"](str(value), form),
        lambda value: FUNCTIONS["date"](value, form),
        {"type": "string", "format": "date"},
    )


def _moment(value: Json) -> str:
    return str(FUNCTIONS["iso"](value))


def _from_unix(factor: int) -> Convert:
    def forward(value: Json) -> Json:
        seconds = Fraction(str(_number(value))) / factor
        moment = datetime.fromtimestamp(int(seconds // 1), UTC).replace(microsecond=int(seconds % 1 * 1_000_000))
        return moment.isoformat().replace("+00:00", "Z")

    return forward


def _to_unix(factor: int) -> Convert:
    def backward(value: Json) -> Json:
        moment = datetime.fromisoformat(str(value))
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        whole = int(moment.replace(microsecond=0).timestamp()) * factor
        part = Fraction(moment.microsecond * factor, 1_000_000)
        return whole + int(part) if part.denominator == 1 else whole + float(part)

    return backward


def scale(factor: float, offset: float = 0) -> Conversion:
    """Another unit: ours is the backend's times a factor, plus an offset.

    Raises:
        DefinitionError: the factor is 0.
    """
    numbers = [one for one in (factor, offset) if isinstance(cast("Json", one), int | float)]
    if len(numbers) < 2 or any(isinstance(one, bool) for one in numbers):
        raise DefinitionError("A factor and an offset are numbers.", next_step="Write for example scale = 0.01.")
    if not factor:
        raise DefinitionError("A factor of 0 loses the value.", next_step="Write for example scale = 0.01.")
    by, plus = Fraction(str(factor)), Fraction(str(offset))
    return _linear(by, plus)


def _linear(by: Fraction, plus: Fraction) -> Conversion:
    return Conversion(
        lambda value: _plain(Fraction(str(_number(value))) * by + plus),
        lambda value: _plain((Fraction(str(_number(value))) - plus) / by),
        {"type": "number"},
    )


def _plain(value: Fraction) -> int | float:
    return int(value) if value.denominator == 1 else float(value)


def _number(value: Json) -> int | float:
    """A number, also one that the backend writes as a text."""
    if isinstance(value, str) and re.fullmatch(r"\s*[+-]?[0-9]{1,40}(\.[0-9]{1,40})?\s*", value):
        return int(value) if value.strip().lstrip("+-").isdecimal() else float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{text_of(value)[:40]!r} is no number")
    return value


_UNITS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "mass": {"g": ("1", "0"), "kg": ("1000", "0"), "mg": ("0.001", "0"), "t": ("1000000", "0"),
             "lb": ("453.59237", "0"), "oz": ("28.349523125", "0")},
    "length": {"m": ("1", "0"), "km": ("1000", "0"), "cm": ("0.01", "0"), "mm": ("0.001", "0"),
               "in": ("0.0254", "0"), "ft": ("0.3048", "0"), "mi": ("1609.344", "0")},
    "time": {"s": ("1", "0"), "ms": ("0.001", "0"), "min": ("60", "0"), "h": ("3600", "0"), "d": ("86400", "0")},
    "data": {"B": ("1", "0"), "kB": ("1000", "0"), "MB": ("1000000", "0"), "GB": ("1000000000", "0"),
             "KiB": ("1024", "0"), "MiB": ("1048576", "0"), "GiB": ("1073741824", "0")},
    "temperature": {"K": ("1", "0"), "C": ("1", "273.15"), "F": ("5/9", "459.67")},
    "money": {"units": ("1", "0"), "cents": ("0.01", "0")},
    "share": {"1": ("1", "0"), "%": ("0.01", "0")},
}  # fmt: skip
"""By dimension and unit the factor to the first unit, and what is added before (BIPM, SI Brochure; NIST SP 811)."""


def unit(text: str) -> Conversion:
    """One unit for another, such as `g -> kg`.

    Raises:
        DefinitionError: a unit is not known, or the two measure different things.
    """
    source, arrow, target = (part.strip() for part in text.partition("->"))
    units = {name: (kind, *both) for kind, table in _UNITS.items() for name, both in table.items()}
    for name in (source, target):
        if not arrow or name not in units:
            near = nearest(name, units) or list(units)
            raise DefinitionError(
                f"{text!r} names no two units.", next_step=f'Write for example "g -> kg"; {", ".join(near)} are known.'
            )
    (kind, factor, plus), (other, into, minus) = units[source], units[target]
    if kind != other:
        raise DefinitionError(f"{source} is a {kind} and {target} a {other}.", next_step="Convert like to like.")
    if kind == "temperature":
        # Kelvin is what both are counted from: K = (C + 273.15) = (F + 459.67) * 5/9.
        by = Fraction(factor) / Fraction(into)
        return _linear(by, Fraction(plus) * by - Fraction(minus))
    return _linear(Fraction(factor) / Fraction(into), Fraction(0))


_READ: Mapping[str, Convert] = {
    "integer": lambda value: int(value.strip()) if isinstance(value, str) else value,
    "number": lambda value: _finite(value) if isinstance(value, str) else value,
    "boolean": lambda value: _BOOLEANS[value.strip().lower()] if isinstance(value, str) else value,
    "string": text_of,
}
_BOOLEANS = {"true": True, "false": False}


def _finite(text: str) -> int | float:
    number = float(text)
    if number != number or number in (float("inf"), float("-inf")):
        raise ValueError("it is no number that JSON has")
    return int(number) if number.is_integer() and re.fullmatch(r"\s*[+-]?\d+\s*", text) else number


def typed(kind: str) -> Conversion:
    """A value of a type for the text that the backend has for it.

    Raises:
        DefinitionError: there is no such type.
    """
    if kind not in _READ:
        raise DefinitionError(
            f"There is no type {kind!r} to read.", next_step=f"Write one of {', '.join(sorted(_READ))}."
        )
    return Conversion(_READ[kind], _parsed if kind == "string" else text_of, {"type": kind})


def _parsed(value: Json) -> Json:
    text = cast("str", value)
    return int(text) if re.fullmatch(r"-?(0|[1-9]\d*)", text) else text
