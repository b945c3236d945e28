"""Findings of insight as they are kept: by their stable ids, with what was written for each."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from sqlalchemy import Connection, delete, select

from pegboard.store.tables import FINDINGS


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptFinding:
    """One finding.

    Parameters:
        id: the same for the same finding in other traces.
        row: the finding as plain data.
        seen: Unix time of the report that showed it last.
        sources: the trace files that it was found in; none: the board's own traces.
        applied: what was written for it, or None: `tool`, `replaces`, `when` ...
    """

    id: str
    row: Mapping[str, Any]
    seen: float
    sources: tuple[str, ...] = ()
    applied: Mapping[str, Any] | None = None


def read_findings(connection: Connection) -> list[KeptFinding]:
    """Every finding, in the order of their reports."""
    rows = connection.execute(select(FINDINGS).order_by(FINDINGS.c.place, FINDINGS.c.id))
    return [_kept(row) for row in rows]


def write_findings(connection: Connection, found: Iterable[KeptFinding]) -> None:
    """Keep the findings of a report in the place of the last report on the same sources; what was applied stays."""
    known = {finding.id: finding for finding in read_findings(connection)}
    now = list(found)
    fresh, about = {each.id for each in now}, {each.sources for each in now}
    gone = [
        finding.id
        for finding in known.values()
        if finding.applied is None and finding.id not in fresh and finding.sources in about
    ]
    for id in (*gone, *fresh):
        connection.execute(delete(FINDINGS).where(FINDINGS.c.id == id))
    rows = [_row(finding, place, known.get(finding.id)) for place, finding in enumerate(now)]
    if rows:
        connection.execute(FINDINGS.insert(), rows)


def mark_applied(connection: Connection, id: str, applied: Mapping[str, Any] | None) -> None:
    """Remember what was written for a finding, or that it was taken back."""
    text = None if applied is None else json.dumps(dict(applied))
    connection.execute(FINDINGS.update().where(FINDINGS.c.id == id).values(applied=text))


def _row(finding: KeptFinding, place: int, known: KeptFinding | None) -> dict[str, Any]:
    applied = finding.applied or (known.applied if known else None)
    return {
        "id": finding.id,
        "place": place,
        "seen": finding.seen,
        "body": json.dumps(dict(finding.row)),
        "sources": json.dumps(list(finding.sources)),
        "applied": None if applied is None else json.dumps(dict(applied)),
    }


def _kept(row: Any) -> KeptFinding:
    applied = None if row.applied is None else cast("dict[str, Any]", json.loads(row.applied))
    return KeptFinding(
        id=row.id, row=json.loads(row.body), seen=row.seen, sources=tuple(json.loads(row.sources)), applied=applied
    )
