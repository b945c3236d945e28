"""One fault of a value, in words for a model."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from pegboard.errors import nearest
from pegboard.schema.types import Json, Schema, canonical, pointer

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError

_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Violation:
    """One fault of a value.

    Parameters:
        pointer: the JSON pointer of the faulty place.
        message: what is wrong there, without the place.
        expected: what is right there, in words, such as `an integer` or `one of "asc", "desc"`.
        near: the known key that a misspelt one most resembles.
        found: the faulty value or key as short JSON.
    """

    pointer: str
    message: str
    expected: str | None = None
    near: str | None = None
    found: str | None = None

    def __str__(self) -> str:
        return f"{self.pointer or 'the arguments'}: {self.message}"

    def to_json(self) -> dict[str, Json]:
        """As plain data, without what is not known."""
        told = {
            "pointer": self.pointer,
            "message": self.message,
            "expected": self.expected,
            "near": self.near,
            "found": self.found,
        }
        return {key: value for key, value in told.items() if value is not None}


def misspelt(schema: Schema, value: Json) -> tuple[str, ...]:
    """Of a valid object, the keys that no property declares but that resemble one that is not given.

    A schema that does not close itself lets them pass, and the tool would not see what was meant.
    """
    properties = schema.get("properties")
    if not isinstance(properties, Mapping) or not isinstance(value, Mapping):
        return ()
    known, sent = cast("Mapping[str, Any]", properties), cast("Mapping[str, Any]", value)
    if sent.keys() <= known.keys() or "patternProperties" in schema:
        return ()
    free = [name for name in known if name not in sent]
    notes: list[str] = []
    for key in sent:
        near = _near(key, free) if key not in known else None
        if near is not None:
            notes.append(
                f"{shown(key)} is not a known parameter and may have been ignored; did you mean {shown(near)}?"
            )
    return tuple(notes)


def explain(errors: "Iterable[ValidationError]", schema: Schema, value: Json, *, limit: int) -> tuple[Violation, ...]:
    """Our words for the engine's errors, each place once, in the order of the engine; past `limit` only a count."""
    found: dict[tuple[str, str], Violation] = {}
    for error in errors:
        for violation in _explain(error, schema):
            found.setdefault((violation.pointer, violation.message), violation)
    told = _without_echoes(found.values())
    if len(told) > limit:
        return (*told[:limit], Violation("", f"has {len(told) - limit} more faults"))
    return told


def _without_echoes(found: Iterable[Violation]) -> tuple[Violation, ...]:
    """Leave out a missing key where the same fault is told of the misspelt key that was sent in its place."""
    kept = tuple(found)
    renamed = [one for one in kept if one.near is not None and not one.pointer.endswith(pointer(one.near))]
    meant = {f"{one.pointer.rpartition('/')[0]}{pointer(one.near or '')}" for one in renamed}
    return tuple(one for one in kept if one in renamed or one.pointer not in meant)


def _explain(error: "ValidationError", schema: Schema) -> list[Violation]:
    place = pointer(*error.instance_path)
    kind = error.kind
    facts = kind.as_dict()
    value = error.instance
    match kind.name:
        case "required":
            return [_missing(place, facts["property"], _known_beside(error, schema), value)]
        case "additionalProperties" | "unevaluatedProperties":
            known = _known_beside(error, schema)
            return [_unknown(place, key, known, value) for key in facts["unexpected"]]
        case "propertyNames":
            inner = facts["error"]
            return [Violation(place, f"has a key that is not allowed: {inner.message}")]
        case "anyOf" | "oneOf":
            return _alternatives(place, error, schema)
        case name:
            expected = _expectation(name, facts)
            return [Violation(place, f"expected {expected}, got {shown(value)}", expected, found=shown(value))]


def _missing(place: str, key: str, known: Sequence[str], value: Json) -> Violation:
    sent = [name for name in cast("Mapping[str, Any]", value) if name not in known]
    meant = _near(key, sent)
    hint = f"; {shown(meant)} was sent: did you mean {shown(key)}?" if meant else ""
    return Violation(f"{place}{pointer(key)}", f"is required but missing{hint}", near=key if meant else None)


def _unknown(place: str, key: str, known: Sequence[str], value: Json) -> Violation:
    free = [name for name in known if name not in cast("Mapping[str, Any]", value)]
    near = _near(key, free or known)
    others = f"known are {', '.join(known)}" if known else "none are allowed"
    hint = f"did you mean {shown(near)}?" if near else others
    place = f"{place}{pointer(key)}"
    return Violation(place, f"is not a known parameter; {hint}", near=near)


def _near(key: str, names: Iterable[str]) -> str | None:
    """The name that a key most resembles: in any spelling of its words first (`repoPath`, `repo-path`)."""
    known = list(names)
    alike = [name for name in known if _plain(name) == _plain(key)]
    return next(iter(alike or nearest(key, known, limit=1)), None)


def _plain(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())


def _known_beside(error: "ValidationError", schema: Schema) -> list[str]:
    """The properties that are declared beside the keyword that failed."""
    owner = _at(schema, error.schema_path[:-1])
    if not owner.get("properties"):
        owner = _at(schema, error.schema_path[:-2])
    properties = owner.get("properties")
    return list(cast("Mapping[str, Any]", properties)) if isinstance(properties, Mapping) else []


def _at(schema: Schema, path: Sequence[str | int]) -> Mapping[str, Any]:
    node: Any = schema
    for part in path:
        try:
            node = node[part]
        except (KeyError, IndexError, TypeError):
            return {}
    return cast("Mapping[str, Any]", node) if isinstance(node, Mapping) else {}


def _alternatives(place: str, error: "ValidationError", schema: Schema) -> list[Violation]:
    """Of the branches that failed, the one that the value was meant for; if none stands out, what all expect."""
    branches: list[list[ValidationError]] = getattr(error.kind, "context", [])
    if error.kind.as_dict() and type(error.kind).__name__ == "OneOfMultipleValid":
        return [Violation(place, "fits more than one of the alternatives, and must fit exactly one")]
    lacking = [_lacking(branch, error) for branch in branches]
    if len(lacking) > 1 and all(lacking):
        needed = " or ".join(dict.fromkeys(" and ".join(keys) for keys in lacking))
        return [Violation(place, f"needs {needed}", needed)]
    deeper = [
        branch for branch in branches if not any(_is_about_this_place(inner, error) for inner in branch) and branch
    ]
    if len(deeper) == 1:
        return [violation for inner in deeper[0] for violation in _explain(inner, schema)]
    if deeper:
        branch = min(deeper, key=len)
        return [violation for inner in branch for violation in _explain(inner, schema)]
    wanted = list(dict.fromkeys(_wanted(branch, error) for branch in branches))
    expected = " or ".join(word for word in wanted if word) or "one of the alternatives"
    got = shown(error.instance)
    return [Violation(place, f"expected {expected}, got {got}", expected, found=got)]


def _lacking(branch: "list[ValidationError]", outer: "ValidationError") -> list[str]:
    """The keys that a branch misses, where nothing else is wrong with the value."""
    here = all(inner.kind.name == "required" and inner.instance_path == outer.instance_path for inner in branch)
    return [inner.kind.as_dict()["property"] for inner in branch] if here else []


def _is_about_this_place(inner: "ValidationError", outer: "ValidationError") -> bool:
    """Whether a branch failed because the value itself is of the wrong kind (type, enum, const), not a part of it."""
    return inner.instance_path == outer.instance_path and inner.kind.name in ("type", "enum", "const")


def _wanted(branch: "list[ValidationError]", outer: "ValidationError") -> str:
    for inner in branch:
        if inner.instance_path == outer.instance_path and inner.kind.name not in ("anyOf", "oneOf", "required"):
            return _expectation(inner.kind.name, inner.kind.as_dict())
    return ""


_ARTICLES = {"object": "an object", "array": "an array", "integer": "an integer", "null": "null"}


def _expectation(keyword: str, facts: Mapping[str, Any]) -> str:
    match keyword:
        case "type":
            return " or ".join(_ARTICLES.get(name, f"a {name}") for name in facts["types"])
        case "enum":
            options = facts["options"]
            told = ", ".join(shown(option) for option in options[:50])
            return f"one of {told}" + (f" and {len(options) - 50} more" if len(options) > 50 else "")
        case "const":
            return shown(facts["expected_value"])
        case "falseSchema" | "false schema":
            return "no value here"
        case _ if keyword in _RANGES:
            return _RANGES[keyword].format(*facts.values())
        case _:
            return f"a value that satisfies {keyword}" + (f" {shown(facts)}" if facts else "")


_RANGES = {
    "minimum": "at least {0}",
    "maximum": "at most {0}",
    "exclusiveMinimum": "more than {0}",
    "exclusiveMaximum": "less than {0}",
    "multipleOf": "a multiple of {0}",
    "minLength": "a text of at least {0} characters",
    "maxLength": "a text of at most {0} characters",
    "pattern": "a text that matches {0}",
    "format": "a {0}",
    "minItems": "at least {0} items",
    "maxItems": "at most {0} items",
    "minProperties": "at least {0} keys",
    "maxProperties": "at most {0} keys",
    "uniqueItems": "no item twice",
    "contentEncoding": "a text in {0}",
}


def shown(value: Json) -> str:
    """A value as JSON, cut to a length that fits a sentence."""
    text = canonical(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
