"""Two definitions of one tool compared: names, texts, schemas, and what a call may do."""

from collections.abc import Iterable, Iterator
from typing import Any

from pegboard.schema.diff.difference import Difference, Side, Weight, brief
from pegboard.schema.diff.schemas import diff_schemas
from pegboard.schema.types import Json, JsonObject, as_object, pointer

_INPUT = ("inputSchema", "input_schema", "parameters")
_OUTPUT = ("outputSchema", "output_schema")
_HARM = {"read_only": 0, "idempotent": 1, "additive": 1, "unknown": 2, "destructive": 2}
"""How much a call may harm; what is unknown may destroy."""


def diff_definitions(before: JsonObject, after: JsonObject) -> tuple[Difference, ...]:
    """Where two definitions of a tool differ, and what that means for its callers.

    Parameters:
        before: the older definition: a row as MCP, Anthropic or OpenAI spell it, with our own `effects` if known.
        after: the newer definition, the same.

    Returns:
        The differences with pointers into the rows: name, texts, input, output, effects and hints, the rest.
    """
    return tuple(_differences(before, after))


def verdict(differences: Iterable[Difference]) -> Weight | None:
    """The heaviest weight among differences; None where there is none."""
    weights = {difference.weight for difference in differences}
    return next((weight for weight in Weight if weight in weights), None)


def _differences(before: JsonObject, after: JsonObject) -> Iterator[Difference]:
    if before.get("name") != after.get("name"):
        yield _moved(Weight.BREAKING, "name", before, after, "callers know it by its old name")
    yield from _input(before, after)
    yield from _output(before, after)
    yield from _effects(before.get("effects"), after.get("effects"))
    yield from _hints(as_object(before.get("annotations")), as_object(after.get("annotations")))
    if before.get("format") != after.get("format"):
        yield _moved(Weight.BREAKING, "format", before, after, "it takes another text")
    for key in dict.fromkeys((*before, *after)):
        if key not in _COMPARED and before.get(key) != after.get(key):
            yield Difference(Weight.DOCS, pointer(key), f"{key} changed", before.get(key), after.get(key))


_COMPARED = frozenset({"name", "annotations", "effects", "format", *_INPUT, *_OUTPUT})


def _moved(weight: Weight, key: str, before: JsonObject, after: JsonObject, why: str) -> Difference:
    old, new = before.get(key), after.get(key)
    return Difference(weight, pointer(key), f"{key} {brief(old)} is now {brief(new)}: {why}", old, new)


def _input(before: JsonObject, after: JsonObject) -> Iterator[Difference]:
    (_, old), (key, new) = _held(before, _INPUT), _held(after, _INPUT)
    yield from diff_schemas({} if old is None else old, {} if new is None else new, Side.INPUT, at=pointer(key))


def _output(before: JsonObject, after: JsonObject) -> Iterator[Difference]:
    (lost, old), (key, new) = _held(before, _OUTPUT), _held(after, _OUTPUT)
    if old is not None and new is not None:
        yield from diff_schemas(old, new, Side.OUTPUT, at=pointer(key))
    elif new is not None:
        yield Difference(Weight.COMPATIBLE, pointer(key), "it says now what it answers", None, new)
    elif old is not None:
        yield Difference(Weight.BREAKING, pointer(lost), "it no longer says what it answers", old, None)


def _held(row: JsonObject, keys: tuple[str, ...]) -> tuple[str, Json]:
    """The key under which a row holds a schema, and the schema."""
    return next(((key, row[key]) for key in keys if row.get(key) is not None), (keys[0], None))


def _effects(before: Json, after: Json) -> Iterator[Difference]:
    if before == after or before not in _HARM or after not in _HARM:
        return
    more = _HARM[after] - _HARM[before]
    weight = Weight.BREAKING if more > 0 else Weight.COMPATIBLE if more < 0 else Weight.DOCS
    said = f"effects {before} are now {after}{': a call may do more harm' if more > 0 else ''}"
    yield Difference(weight, "/effects", said, before, after)


def _hints(before: dict[str, Any], after: dict[str, Any]) -> Iterator[Difference]:
    """MCP's hints with their defaults (2026-07-28, ToolAnnotations): a promise that is taken back breaks callers."""
    old, new = _promises(before), _promises(after)
    for hint, promised in new.items():
        if promised is not old[hint] and before.get(hint) != after.get(hint):
            said = _KEPT[hint] if promised else _BROKEN[hint]
            weight = Weight.COMPATIBLE if promised else Weight.BREAKING
            yield Difference(weight, pointer("annotations", hint), said, before.get(hint), after.get(hint))
    for key in dict.fromkeys((*before, *after)):
        if before.get(key) != after.get(key) and (key not in new or new[key] is old[key]):
            yield Difference(
                Weight.DOCS, pointer("annotations", key), f"{key} changed", before.get(key), after.get(key)
            )


def _promises(hints: dict[str, Any]) -> dict[str, bool]:
    """What the hints promise: True where the caller need not fear it."""
    reads = hints.get("readOnlyHint") is True
    return {
        "readOnlyHint": reads,
        "destructiveHint": reads or hints.get("destructiveHint") is False,
        "idempotentHint": reads or hints.get("idempotentHint") is True,
        "openWorldHint": hints.get("openWorldHint") is False,
    }


_BROKEN = {
    "readOnlyHint": "it no longer promises to change nothing",
    "destructiveHint": "it no longer promises to destroy nothing",
    "idempotentHint": "it no longer promises that calling it twice does what once does",
    "openWorldHint": "it no longer promises to stay in a closed world",
}
_KEPT = {
    "readOnlyHint": "it promises now to change nothing",
    "destructiveHint": "it promises now to destroy nothing",
    "idempotentHint": "it promises now that calling it twice does what once does",
    "openWorldHint": "it promises now to stay in a closed world",
}
