"""Fields that mean the same and have two names across tools: told by names, types and values."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from pegboard.core import ToolSpec
from pegboard.schema.canonical import MODELS
from pegboard.schema.types import Json, JsonObject, as_list, as_object, canonical, pointer
from pegboard.schema.walk import ref_target

_DEEPEST = 4
_MEANS: Mapping[str, str] = {
    word: meaning
    for meaning, words in {
        "address": "addr",
        "amount": "amt",
        "attachment": "attach",
        "category": "cat",
        "configuration": "cfg conf config",
        "count": "cnt total",
        "created": "create creation crt ctime inserted",
        "date": "dt",
        "description": "desc descr dsc details",
        "destination": "dest dst",
        "directory": "dir folder",
        "email": "mail emailaddress mailaddress",
        "end": "ends until finish stop",
        "first": "given fore",
        "group": "grp",
        "id": "ident identifier uid uuid guid",
        "image": "img picture photo",
        "language": "lang locale",
        "last": "family sur surname",
        "latitude": "lat",
        "limit": "lim max maximum top",
        "longitude": "lon lng long",
        "message": "msg",
        "name": "nm",
        "number": "nr num no",
        "organization": "org organisation",
        "page": "pg",
        "password": "pwd passwd",
        "path": "filepath filename",
        "phone": "tel telephone mobile",
        "priority": "prio",
        "quantity": "qty",
        "query": "q search searchterm keyword keywords",
        "repository": "repo",
        "source": "src",
        "start": "starts since begin begins",
        "state": "status stat",
        "temperature": "temp",
        "timestamp": "ts time",
        "title": "subject headline summary",
        "updated": "update modified changed mtime",
        "url": "uri link href",
        "user": "usr",
    }.items()
    for word in words.split()
}
"""What abbreviations and other words of one field mean; the words of the most common APIs."""
_MEANINGS = frozenset(_MEANS.values())
_IDLE = frozenset({"the", "of", "at", "on", "in", "by", "is"})
_TELLING = 3
"""Of so many common values: `asc` and `desc` stand for too many things."""
_ALIKE = 0.5
"""Of two enums so much must be the same."""


@dataclass(frozen=True, slots=True)
class Field:
    """One field of one tool.

    Parameters:
        tool: the tool's name.
        place: the JSON pointer of the field's schema in the tool's definition.
        name: its name.
    """

    tool: str
    place: str
    name: str


@dataclass(frozen=True, slots=True)
class Synonym:
    """Names of which each stands for the same thing.

    Parameters:
        names: the names, the best first: a canonical model's, else the one that most tools use.
        fields: where they stand.
        reason: `spelling` (`userId`, `user_id`), `meaning` (`mail`, `email`), `values` (the same enum or the same
            values) or `owner` (`id` of a tool about users beside `user_id`).
    """

    names: tuple[str, ...]
    fields: tuple[Field, ...]
    reason: str

    @property
    def tools(self) -> tuple[str, ...]:
        """The tools that it is about, each once."""
        return tuple(dict.fromkeys(field.tool for field in self.fields))


@dataclass(frozen=True)
class _Seen:
    field: Field
    kind: frozenset[str]
    form: str
    enum: frozenset[str]
    values: frozenset[str]
    beside: frozenset[str]
    output: bool


def synonyms(
    specs: Iterable[ToolSpec], values: Mapping[tuple[str, str], Sequence[Json]] | None = None
) -> tuple[Synonym, ...]:
    """Fields that mean the same under two names, in different tools; each group once, in the order of its best name.

    Two names that stand beside one another in one object mean two things. Fields of different types mean different
    things.

    Parameters:
        specs: the tools.
        values: values that were seen, by tool and field name; where given, they tell too.
    """
    seen = [one for spec in specs for one in _fields(spec, values or {})]
    together = {frozenset(pair) for beside in {one.beside for one in seen} for pair in combinations(sorted(beside), 2)}
    groups = {
        "spelling": _grouped(seen, _spelled, together),
        "meaning": _grouped(seen, _meant, together),
        "owner": _grouped(seen, _owned, together),
        "values": _alike(seen, together),
    }
    found = {
        frozenset(one.field.name for one in members): _synonym(members, reason)
        for reason, made in reversed(groups.items())  # of two reasons for the same names the first stands
        for members in made
    }
    whole = [one for names, one in found.items() if not any(names < other for other in found)]
    return tuple(sorted(whole, key=lambda one: (one.names, one.reason)))


def _synonym(members: Sequence[_Seen], reason: str) -> Synonym:
    counted = Counter(one.field.name for one in members)
    official = {name for model in MODELS.values() for name in model.fields}
    names = sorted(counted, key=lambda name: (name not in official, -counted[name], name))
    return Synonym(tuple(names), tuple(one.field for one in members), reason)


def _fields(spec: ToolSpec, values: Mapping[tuple[str, str], Sequence[Json]]) -> Iterator[_Seen]:
    for root, at, output in ((spec.input, "/inputSchema", False), (spec.output or {}, "/outputSchema", True)):
        yield from _below(dict(root), dict(root), at, str(spec.name), output, values, 0)


def _below(
    root: dict[str, Any],
    node: JsonObject,
    at: str,
    tool: str,
    output: bool,
    values: Mapping[tuple[str, str], Sequence[Json]],
    depth: int,
) -> Iterator[_Seen]:
    node = _resolved(root, node)
    properties = as_object(node.get("properties"))
    for name, part in properties.items():
        piece = _resolved(root, as_object(part))
        place = at + pointer("properties", name)
        known = frozenset(canonical(value) for value in values.get((tool, name), ()))
        yield _Seen(
            Field(tool, place, name),
            _kinds(piece),
            str(piece.get("format", "")),
            frozenset(canonical(value) for value in as_list(piece.get("enum"))),
            known,
            frozenset(properties),
            output,
        )
        if depth < _DEEPEST:
            yield from _below(root, piece, place, tool, output, values, depth + 1)
    items = as_object(node.get("items"))
    if items and depth < _DEEPEST:
        yield from _below(root, items, at + "/items", tool, output, values, depth + 1)


def _resolved(root: dict[str, Any], node: JsonObject) -> JsonObject:
    for _ in range(_DEEPEST):
        reference = node.get("$ref")
        if not isinstance(reference, str):
            return node
        node = ref_target(root, reference) or {}
    return {}


def _kinds(node: JsonObject) -> frozenset[str]:
    kinds = as_list(node.get("type")) or [node.get("type")]
    return frozenset({"number" if kind == "integer" else str(kind) for kind in kinds if kind not in (None, "null")})


def _words(name: str) -> list[str]:
    spaced = re.sub(r"([a-z0-9])([A-Z])|([A-Z]+)([A-Z][a-z])", r"\1\3 \2\4", name)
    return [word.lower() for word in re.split(r"[^A-Za-z0-9]+", spaced) if word]


def _spelled(one: _Seen) -> str:
    return "".join(_words(one.field.name))


def _meant(one: _Seen) -> str:
    return _meaning(one.field.name)


def _meaning(name: str) -> str:
    words = [_MEANS.get(word, word) for word in _words(name)]
    joined = "".join(_words(name))
    whole = joined if joined in _MEANINGS else _MEANS.get(joined)
    kept = [word for word in words if word not in _IDLE] or words
    if len(kept) > 1 and kept[-1] in ("date", "timestamp") and kept[0] in ("created", "updated", "start", "end"):
        kept = kept[:1]
    return whole or " ".join(kept)


def _owned(one: _Seen) -> str:
    """`user id` for `id` at the top of what a tool about users takes, and for `user_id` anywhere; else nothing."""
    meaning = _meaning(one.field.name)
    words = meaning.split()
    if len(words) > 1 and words[-1] == "id":
        return meaning
    if meaning != "id" or one.output or one.field.place.count("/properties/") > 1:
        return ""
    noun = [_MEANS.get(word, word).rstrip("s") for word in _words(one.field.tool.rpartition(".")[2])][1:]
    return f"{noun[0]} id" if len(noun) == 1 else ""


def _grouped(seen: Sequence[_Seen], key: Callable[[_Seen], str], together: set[frozenset[str]]) -> list[list[_Seen]]:
    groups: dict[tuple[str, str], list[_Seen]] = {}
    for one in seen:
        meaning = key(one)
        if meaning:
            groups.setdefault((meaning, " ".join(sorted(one.kind))), []).append(one)
    return [members for members in groups.values() if _are_one(members, together)]


def _are_one(members: Sequence[_Seen], together: set[frozenset[str]]) -> bool:
    names = sorted({one.field.name for one in members})
    several = len(names) > 1 and len({one.field.tool for one in members}) > 1
    return several and not any(frozenset(pair) in together for pair in combinations(names, 2)) and _agree(members)


def _agree(members: Sequence[_Seen]) -> bool:
    forms = {one.form for one in members if one.form}
    enums = [one.enum for one in members if one.enum]
    return len(forms) < 2 and all(_overlap(one, other) > 0 for one, other in combinations(enums, 2))


def _alike(seen: Sequence[_Seen], together: set[frozenset[str]]) -> list[list[_Seen]]:
    """Fields of other names whose enums, or whose values as they were seen, are mostly the same."""
    telling: dict[Any, list[_Seen]] = {}
    for one in seen:
        if (len(one.enum) >= _TELLING or len(one.values) >= _TELLING) and one.kind != _BOOLEAN:
            telling.setdefault((one.field.name, one.kind, one.enum, one.values), []).append(one)
    found: list[list[_Seen]] = []
    for some, others in combinations(telling.values(), 2):
        one, other = some[0], others[0]
        if one.field.name == other.field.name or one.kind != other.kind:
            continue
        same = max(_common(one.enum, other.enum), _common(one.values, other.values))
        if same >= _ALIKE and _are_one([*some, *others], together):
            found.append([*some, *others])
    return _joined(found)


_BOOLEAN = frozenset({"boolean"})


def _common(one: frozenset[str], other: frozenset[str]) -> float:
    """The overlap of two sets that have enough in common to tell anything."""
    return _overlap(one, other) if len(one & other) >= _TELLING else 0.0


def _overlap(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one and other else 0.0


def _joined(pairs: Sequence[Sequence[_Seen]]) -> list[list[_Seen]]:
    """Pairs that share names, together; each field once."""
    groups: list[dict[Field, _Seen]] = []
    for pair in pairs:
        names = {one.field.name for one in pair}
        home = next((group for group in groups if names & {one.field.name for one in group.values()}), None)
        if home is None:
            home = dict[Field, _Seen]()
            groups.append(home)
        home.update({one.field: one for one in pair})
    return [list(group.values()) for group in groups]
