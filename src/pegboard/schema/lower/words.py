"""Says in words what a schema demands, for the keywords that a dialect cannot carry."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pegboard.schema.types import Json, as_list, as_object, canonical

LONGEST = 240
"""Characters of the longest phrase."""

_FORMATS = {
    "uri": "a URI",
    "uri-reference": "a URI reference",
    "date-time": "a date and time (RFC 3339)",
    "date": "a date (YYYY-MM-DD)",
    "time": "a time (RFC 3339)",
    "duration": "a duration (ISO 8601)",
    "email": "an email address",
    "hostname": "a host name",
    "ipv4": "an IPv4 address",
    "ipv6": "an IPv6 address",
    "uuid": "a UUID",
    "regex": "a regular expression",
    "binary": "binary data",
    "password": "a password",
}


def text_of(value: Json) -> str:
    """A JSON value as it would be written, cut where it is long."""
    return _short(canonical(value))


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1].rstrip() + "…"


def _range(low: Json, high: Json, unit: str) -> str:
    if low is not None and high is not None:
        return f"exactly {low}{unit}" if low == high else f"from {low} to {high}{unit}"
    return f"at least {low}{unit}" if low is not None else f"at most {high}{unit}"


_COUNTS = {"Length": " characters", "Items": " items", "Properties": " keys", "Contains": " such items"}


def bounds(node: Mapping[str, Any], keywords: list[str]) -> dict[str, str]:
    """The words for each bound of a node that is among the keywords; a pair of bounds shares its words."""
    found: dict[str, str] = {}
    for suffix, unit in _COUNTS.items():
        pair = [key for key in (f"min{suffix}", f"max{suffix}") if key in keywords]
        if pair:
            low, high = (node[key] if key in pair else None for key in (f"min{suffix}", f"max{suffix}"))
            found |= dict.fromkeys(pair, _range(low, high, unit))
    pair = [key for key in ("minimum", "maximum") if key in keywords]
    if pair:
        low, high = (node[key] if key in pair else None for key in ("minimum", "maximum"))
        found |= dict.fromkeys(pair, _range(low, high, ""))
    return found


def _keys(value: Json) -> str:
    return "; ".join(f"keys that match {name} hold {brief(schema)}" for name, schema in as_object(value).items())


def _needs(value: Json) -> str:
    return "; ".join(f"{name} needs {_and(as_list(needs))}" for name, needs in as_object(value).items() if needs)


def _schemas(value: Json) -> str:
    return "; ".join(f"with {name}: {brief(schema)}" for name, schema in as_object(value).items())


_PHRASES: dict[str, Callable[[Json], str]] = {
    "format": lambda value: _FORMATS.get(value, f"format {value}"),
    "pattern": lambda value: f"matches the pattern {value}",
    "default": lambda value: f"default: {text_of(value)}",
    "examples": lambda value: f"for example: {_short(', '.join(text_of(sample) for sample in as_list(value)))}",
    "exclusiveMinimum": lambda value: f"more than {value}",
    "exclusiveMaximum": lambda value: f"less than {value}",
    "multipleOf": lambda value: "a whole number" if value == 1 else f"a multiple of {value}",
    "uniqueItems": lambda value: "no item twice" if value else "",
    "contains": lambda value: f"holds an item that is {brief(value)}",
    "propertyNames": lambda value: f"each key is {brief(value)}",
    "patternProperties": _keys,
    "dependentRequired": _needs,
    "dependentSchemas": _schemas,
    "not": lambda value: f"not {brief(value)}",
    "contentEncoding": lambda value: f"encoded in {value}",
    "contentMediaType": lambda value: f"content of type {value}",
    "deprecated": lambda value: "deprecated" if value else "",
    "readOnly": lambda value: "read-only" if value else "",
    "writeOnly": lambda value: "write-only" if value else "",
    "unevaluatedProperties": lambda value: "no other keys" if value is False else "",
    "unevaluatedItems": lambda value: "no further items" if value is False else "",
    "additionalProperties": lambda value: "no other keys" if value is False else f"other keys hold {brief(value)}",
}


def say(node: Mapping[str, Any], keywords: list[str]) -> dict[str, str]:
    """The words for some of a node's keywords; empty words for one that demands nothing."""
    found = bounds(node, keywords)
    for key in keywords:
        if key not in found:
            phrase = _PHRASES.get(key)
            found[key] = _short(phrase(node[key]) if phrase else f"{key}: {text_of(node[key])}")
    return found


def brief(schema: Json) -> str:
    """A schema in a few words: `"a" or "b"`, `an object with a and b`; as JSON where words do not do."""
    node = as_object(schema)
    if not node.keys() - {"description", "title"}:
        return "any value"
    if "const" in node:
        return text_of(node["const"])
    if "$ref" in node:
        return f"of the form {node['$ref'].rpartition('/')[2] or 'of the arguments'}"
    if as_list(node.get("enum")):
        return _or([text_of(value) for value in node["enum"]])
    for union in ("anyOf", "oneOf"):
        if union in node and not {"properties", "required", "allOf"} & node.keys():
            return _or([brief(branch) for branch in node[union]])
    if "required" in node or as_object(node.get("properties")):
        return _object(node)
    kinds = as_list(node.get("type")) or ([node["type"]] if "type" in node else [])
    if kinds and not node.keys() - {"type", "description", "title", "properties", "items", "format"}:
        words = _FORMATS.get(node.get("format", ""))
        return words or _or([_article(kind) for kind in kinds])
    return _short(canonical({key: value for key, value in node.items() if key not in ("description", "title")}))


def _object(node: Mapping[str, Any]) -> str:
    """What an object must and may hold, with the values of the keys that are pinned."""
    table, needed = as_object(node.get("properties")), as_list(node.get("required"))
    pinned = [f"{name} {brief(child)}" for name, child in table.items() if {"const", "enum"} & as_object(child).keys()]
    plain = [name for name in needed if not {"const", "enum"} & as_object(table.get(name)).keys()]
    if pinned or plain:
        return _and([*pinned, *plain])
    return _and(list(table)) + " (optional)" if table else "an object"


def _article(kind: str) -> str:
    return kind if kind == "null" else f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"


def _and(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}" if words else ""


def _or(words: list[str]) -> str:
    words = list(dict.fromkeys(words))
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}" if words else ""


def listed(words: list[str]) -> str:
    """Words joined with `or`."""
    return _or(words)


def alternatives(branches: Sequence[Mapping[str, Any]], shared: list[str], *, exactly: bool) -> str:
    """The rule that branches of an object leave: which sets of keys may be given.

    Parameters:
        branches: the object schemas.
        shared: the keys that all of them require, which need no words.
        exactly: whether only one of them may hold.
    """
    sets = [_branch(branch, shared) for branch in branches]
    told = [words for words in dict.fromkeys(sets) if words]
    if not told:
        return ""
    if len(told) < 2 and len(told) == len(set(sets)):
        return told[0] if told else ""
    lead = "exactly one of" if exactly else "at least one of"
    if any(not words for words in sets):
        told.append("none of these keys")
    return _short_list(f"{lead}: ", [f"({index}) {words}" for index, words in enumerate(told, 1)])


def _short_list(lead: str, parts: list[str]) -> str:
    """As many parts as fit a generous length, and how many more there are."""
    kept: list[str] = []
    for part in parts:
        if sum(len(other) + 2 for other in kept) + len(part) > 6 * LONGEST:
            kept.append(f"and {len(parts) - len(kept)} more")
            break
        kept.append(part)
    return lead + "; ".join(kept)


def _branch(branch: Mapping[str, Any], shared: list[str]) -> str:
    table = as_object(branch.get("properties"))
    pins = {name: child for name, child in table.items() if _pinned(child)}
    needed = [name for name in as_list(branch.get("required")) if name not in shared and name not in pins]
    free = [name for name in table if name not in pins and name not in needed and name not in shared]
    pinned = _and([f"{name} {brief(child)}" for name, child in pins.items()])
    rest = _and(needed) or (f"{_and(free)} (optional)" if free else "")
    return f"{pinned}: {rest}" if pinned and rest else pinned or rest


def _pinned(schema: Json) -> bool:
    node = as_object(schema)
    return "const" in node or len(as_list(node.get("enum"))) == 1
