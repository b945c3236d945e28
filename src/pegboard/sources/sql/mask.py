"""Secrets in rows: what a column's name or a value's form gives away is not shown in samples."""

import re

from pegboard.schema.types import Json

MASK = "***"
_NAMES = re.compile(
    r"pass(?:word|wd|phrase)?$|pwd|secret|token|api_?key|private_?key|credential|ssn|social_?security|card_?num|cvv|"
    r"iban|salt|hash|auth|session_?id|otp|pin(?:_?code)?$",
    re.IGNORECASE,
)
_VALUES = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY|^(?:sk|pk|rk)[-_](?:live|test|proj)|^gh[pousr]_[A-Za-z0-9]{20}|^AKIA[0-9A-Z]{12}|"
    r"^xox[abpr]-|^eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{5,}|^\$2[aby]\$\d\d\$|^\$argon2|^[a-f0-9]{64}$|://[^/\s:@]+:[^/\s@]+@"
)


def is_secret(column: str) -> bool:
    """Whether a column's name says that it holds secrets."""
    return bool(_NAMES.search(column))


def masked(column: str, value: Json) -> Json:
    """A value, or `***` where it is a secret."""
    if value is None:
        return None
    if is_secret(column) or (isinstance(value, str) and _VALUES.search(value)):
        return MASK
    return value


def masked_rows(columns: tuple[str, ...], rows: list[list[Json]]) -> list[dict[str, Json]]:
    """Rows as objects, secrets masked."""
    return [{name: masked(name, value) for name, value in zip(columns, row, strict=True)} for row in rows]
