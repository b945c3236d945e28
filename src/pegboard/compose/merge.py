"""Merging the records of several sources into one list: each says where it came from, and conflicts are kept."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, cast

from pegboard.errors import DefinitionError
from pegboard.schema.types import Json, JsonObject, canonical

SOURCES = "_sources"
CONFLICTS = "_conflicts"

How: TypeAlias = Literal["union", "key", "rank"]
_RRF = 60


@dataclass(frozen=True, kw_only=True)
class Merge:
    """How records of several sources become one list. Make it with `union`, `key` or `rank`.

    Parameters:
        how: `union` (all records, equal ones once), `key` (one record per key, with the fields of all sources) or
            `rank` (best first, by place in each source).
        by: the fields whose values tell that two records are the same; none: all fields.
        ignore_case: whether texts in them match whatever their case and outer white space.
        weights: how much each source counts in `rank`; 1 where not named.
        limit: how many records are kept; None: all.
    """

    how: How = "union"
    by: tuple[str, ...] = ()
    ignore_case: bool = False
    weights: Mapping[str, float] = field(default_factory=dict[str, float])
    limit: int | None = None

    def __call__(self, answers: Mapping[str, Sequence[Json]]) -> "Merged":
        """Merge the records of each source, in the sources' order."""
        groups, notes = _grouped(self, answers)
        if self.how == "rank":
            groups.sort(key=lambda group: -group.score)
        kept = groups if self.limit is None else groups[: self.limit]
        if len(kept) < len(groups):
            notes.append(f"{len(groups) - len(kept)} more records were left out by the limit of {self.limit}.")
        return Merged([group.record(self.how) for group in kept], tuple(notes))


@dataclass(frozen=True, slots=True)
class Merged:
    """The records, each with `_sources` (and `_conflicts` where sources disagree), and notes on what did not fit."""

    records: list[JsonObject]
    notes: tuple[str, ...] = ()


def union(by: str | Iterable[str] = (), *, ignore_case: bool = False) -> Merge:
    """All records in the sources' order, the same one once; the first source's fields stand."""
    return Merge(how="union", by=_fields(by), ignore_case=ignore_case)


def key(by: str | Iterable[str], *, ignore_case: bool = False) -> Merge:
    """One record per key, with the fields of all sources that have it.

    Raises:
        DefinitionError: no field is named.
    """
    fields = _fields(by)
    if not fields:
        raise DefinitionError("A merge by key names at least one field.", where="merge.by")
    return Merge(how="key", by=fields, ignore_case=ignore_case)


def rank(
    by: str | Iterable[str] = (), *, weights: Mapping[str, float] | None = None, limit: int | None = None
) -> Merge:
    """Best first, by each record's place in each source (reciprocal rank fusion; Cormack et al., SIGIR 2009)."""
    return Merge(how="rank", by=_fields(by), weights=weights or {}, limit=limit)


def _fields(by: str | Iterable[str]) -> tuple[str, ...]:
    return (by,) if isinstance(by, str) else tuple(by)


@dataclass(slots=True)
class _Group:
    """The records that are one."""

    first: JsonObject
    parts: list[tuple[str, JsonObject]]
    score: float = 0.0

    def record(self, how: How) -> JsonObject:
        fields: dict[str, Json] = dict(self.first)
        conflicts: dict[str, dict[str, Json]] = {}
        for _, part in self.parts:
            for name, value in part.items():
                if how == "key" and fields.get(name) is None:
                    fields[name] = value
        for name in fields:
            said = self._said(name)
            if len({canonical(value) for value in said.values()}) > 1:
                conflicts[name] = said
        whole = {**fields, SOURCES: list(dict.fromkeys(source for source, _ in self.parts))}
        return {**whole, CONFLICTS: conflicts} if conflicts else whole

    def _said(self, name: str) -> dict[str, Json]:
        """What each source says of a field; more that one says stands under `source#2` and so on."""
        said: dict[str, Json] = {}
        for source, part in self.parts:
            value = part.get(name)
            labels = [label for label in said if label == source or label.startswith(f"{source}#")]
            if value is not None and all(canonical(said[label]) != canonical(value) for label in labels):
                said[source if not labels else f"{source}#{len(labels) + 1}"] = value
        return said


def _grouped(merge: Merge, answers: Mapping[str, Sequence[Json]]) -> tuple[list[_Group], list[str]]:
    groups: dict[str, _Group] = {}
    notes: list[str] = []
    for source, records in answers.items():
        keyless = 0
        for place, raw in enumerate(records):
            record = _as_record(raw)
            token = _token(merge, record)
            if token is None:
                keyless += 1
                token = f"{source}#{place}"
            group = groups.setdefault(token, _Group(record, []))
            group.parts.append((source, record))
            group.score += merge.weights.get(source, 1.0) / (_RRF + place + 1)
        if keyless:
            notes.append(
                f"{keyless} of {len(records)} records of {source} have no {' and '.join(merge.by)}; kept apart."
            )
    return list(groups.values()), notes + _strangers(answers)


def _strangers(answers: Mapping[str, Sequence[Json]]) -> list[str]:
    """Say which sources answer in a shape of their own, so that none of their records can be another's."""
    fields = {source: {name for raw in records for name in _as_record(raw)} for source, records in answers.items()}
    known = {source: names for source, names in fields.items() if names}
    alone = [
        source
        for source, names in known.items()
        if len(known) > 1 and all(names.isdisjoint(others) for other, others in known.items() if other != source)
    ]
    if not alone:
        return []
    return [f"The records of {' and '.join(alone)} share no field with the others: map theirs with `fields`."]


def _as_record(raw: Json) -> JsonObject:
    return cast("JsonObject", raw) if isinstance(raw, Mapping) else {"value": raw}


def _token(merge: Merge, record: JsonObject) -> str | None:
    if not merge.by:
        return canonical(record)
    values = [record.get(name) for name in merge.by]
    if any(value is None for value in values):
        return None
    if merge.ignore_case:
        values = [value.strip().casefold() if isinstance(value, str) else value for value in values]
    return canonical(values)
