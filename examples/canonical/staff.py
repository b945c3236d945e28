"""The staff of an office, as an old system keeps it: numbers, capitals, days as people write them."""

from typing import Any

from pegboard import tool

STAFF: dict[int, dict[str, Any]] = {
    17: {"PERS_NO": 17, "NAME": "Ann Smith", "MAIL": "ann@x.example", "STAT": "A", "ENTRY": "01.02.2020"},
    18: {"PERS_NO": 18, "NAME": "Cy Young", "MAIL": "cy@x.example", "STAT": "X", "ENTRY": "15.06.2021"},
}


@tool(effects="read_only")
def persQry(NAME_LIKE: str) -> dict[str, Any]:
    """Query persons."""
    return {"ROWS": [row for row in STAFF.values() if NAME_LIKE.lower() in row["NAME"].lower()]}


@tool(effects="additive")
def persUpd(PERS_NO: int, NAME: str | None = None, MAIL: str | None = None, STAT: str | None = None) -> dict[str, Any]:
    """Update a person."""
    given = {"NAME": NAME, "MAIL": MAIL, "STAT": STAT}
    STAFF[PERS_NO] |= {key: value for key, value in given.items() if value is not None}
    return STAFF[PERS_NO]
