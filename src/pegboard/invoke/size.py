"""Keep an answer within a size: cut what is too large, say so, and keep the whole where it can be read in pages."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, cast

from pegboard.core import Call, Change, Handler, Middleware, Report, Result
from pegboard.errors import StoreError
from pegboard.schema.cut import byte_size, cut_text, cut_value, json_text, surely_fits
from pegboard.schema.types import Json, JsonObject, pointer

DEFAULT_LIMIT = 100_000
"""Bytes; about 25,000 tokens."""

BINARY_LIMIT = 20_000_000
"""Bytes of base64 in one picture, sound or file."""


@dataclass(frozen=True, slots=True)
class Kept:
    """Where the whole of a cut answer is.

    Parameters:
        handle: its handle.
        how: how to read it, in words, such as `Read the rest with result_read, id "r_1", pages 1 to 4.`
    """

    handle: str
    how: str


Keep: TypeAlias = Callable[[Call, str], Awaitable[Kept]]
"""Keeps the whole text of an answer; raises `StoreError` where it cannot."""


def size(keep: Keep | None = None, *, limit_of: Callable[[Call], int] = lambda call: DEFAULT_LIMIT) -> Middleware:
    """Cut answers to a size.

    The value and the texts are each cut to the limit, the mark included: a client shows a model one of them. Values
    stay valid JSON, texts valid UTF-8. Base64 that is there as a block is not repeated in the value. Blocks of
    pictures, sounds and files count only against `BINARY_LIMIT`.

    Parameters:
        keep: keeps the whole; without it what is cut is lost, and the mark says so.
        limit_of: the limit for a call, in bytes of UTF-8.
    """

    def wrap(next_handler: Handler) -> Handler:
        async def handle(call: Call) -> Result:
            result = without_repeats(await next_handler(call))
            limit = limit_of(call)
            if _fits(result, limit):
                return result
            return cut(result, limit, await _kept(keep, call, result))

        return handle

    return wrap


def is_cut(result: Result) -> bool:
    """Whether something of an answer was cut."""
    return result.report is not None and any(change.kind == "cut" for change in result.report.changes)


def _fits(result: Result, limit: int) -> bool:
    if result.value is not None and not surely_fits(result.value, limit) and byte_size(json_text(result.value)) > limit:
        return False
    if result.failure is not None and byte_size(result.failure.message) > limit:
        return False
    texts = sum(byte_size(_text_of(block)) for block in result.content)
    return texts <= limit and all(_binary_size(block) <= BINARY_LIMIT for block in result.content)


async def _kept(keep: Keep | None, call: Call, result: Result) -> Kept | None:
    if keep is None:
        return None
    try:
        return await keep(call, whole_text(result))
    except StoreError:
        return None


def whole_text(result: Result) -> str:
    """All of an answer as one text: its texts, or its value as JSON where that says more."""
    texts = "\n".join(_text_of(block) for block in result.content)
    value = "" if result.value is None else result.value if isinstance(result.value, str) else json_text(result.value)
    if not texts or not value:
        return texts or value
    return texts if len(texts) >= len(value) else f"{texts}\n{value}"


def cut(result: Result, limit: int, kept: Kept | None) -> Result:
    """The result within the limit, with a report of what was cut and where the rest is.

    Parameters:
        result: the whole result.
        limit: bytes for the value's JSON, and for all texts together.
        kept: where the whole is kept, or None where it is lost.
    """
    where = kept.how if kept else "The rest was not kept."
    room = max(limit - byte_size(_mark(limit, 10**10, where)), 4)
    value, changes = result.value, list[Change]()
    size = 0 if value is None else byte_size(json_text(value))
    if size > limit:
        value, cuts = cut_value(value, room)
        changes += [Change("cut", one.pointer, f"{one.message}. {where}") for one in cuts]
    content, more = _cut_blocks(result.content or _as_blocks(value), room, where)
    changes += more
    total = sum(byte_size(_text_of(block)) for block in result.content) or size
    shown = sum(byte_size(_text_of(block)) for block in content)
    mark = {"type": "text", "text": cut_text(_mark(shown, max(total, shown), where), limit)}
    report = result.report or Report()
    failure = result.failure
    if failure is not None:
        failure = replace(failure, message=cut_text(failure.message, limit))
    return replace(
        result,
        value=value,
        failure=failure,
        content=(*content, mark) if changes else content,
        report=replace(report, changes=(*report.changes, *changes)),
        assets=(*result.assets, kept.handle) if kept else result.assets,
    )


def _as_blocks(value: Json) -> tuple[JsonObject, ...]:
    if value is None:
        return ()
    return ({"type": "text", "text": value if isinstance(value, str) else json_text(value)},)


def _mark(shown: int, total: int, where: str) -> str:
    return f"[Cut: {shown} of {total} bytes are shown. {where}]"


def _cut_blocks(blocks: Sequence[JsonObject], room: int, where: str) -> tuple[tuple[JsonObject, ...], list[Change]]:
    """The blocks whose texts take at most so many bytes together: the first whole, one cut, the others left out."""
    kept: list[JsonObject] = []
    changes: list[Change] = []
    for index, block in enumerate(blocks):
        place, text = pointer("content", index), _text_of(block)
        if _binary_size(block) > BINARY_LIMIT:
            changes.append(Change("cut", place, f"left out: {_binary_size(block)} bytes of base64. It is not kept."))
            continue
        part = shorter(text, room)
        room -= byte_size(part)
        if part != text:
            changes.append(Change("cut", place, f"kept {byte_size(part)} of {byte_size(text)} bytes of text. {where}"))
        if part or not text:
            kept.append(block if part == text else _with_text(block, part))
    return tuple(kept), changes


def shorter(text: str, limit: int) -> str:
    """A text cut to so many bytes; one that is a JSON object or list stays one."""
    if byte_size(text) <= limit:
        return text
    if text.lstrip()[:1] in ("{", "[") and limit >= _SMALLEST_JSON:
        try:
            return json_text(cut_value(json.loads(text), limit)[0])
        except (ValueError, RecursionError):
            pass
    return cut_text(text, limit)


_SMALLEST_JSON = 100
"""With less room the start of the text says more than what is left of the JSON."""


def _resource(block: JsonObject) -> JsonObject:
    inner = block.get("resource")
    return cast("JsonObject", inner) if isinstance(inner, Mapping) else {}


def _text_of(block: JsonObject) -> str:
    """The text that a block gives a model; a block of a kind that no one here knows counts whole."""
    match block.get("type"):
        case "text":
            return str(block.get("text", ""))
        case "resource":
            return str(_resource(block).get("text", ""))
        case "image" | "audio" | "resource_link":
            return ""
        case _:
            return json_text(block)


def _with_text(block: JsonObject, text: str) -> JsonObject:
    match block.get("type"):
        case "text":
            return {**block, "text": text}
        case "resource":
            return {**block, "resource": {**_resource(block), "text": text}}
        case _:
            return {"type": "text", "text": text}


def _binary_of(block: JsonObject) -> str:
    data = block.get("data") if block.get("type") in ("image", "audio") else _resource(block).get("blob")
    return data if isinstance(data, str) else ""


def _binary_size(block: JsonObject) -> int:
    return len(_binary_of(block))


_SHORTEST_REPEAT = 64
"""A shorter text may equal a block's data by chance, unless it stands where blocks keep theirs."""


def without_repeats(result: Result) -> Result:
    """The result without the base64 in its value that its content holds as a block already."""
    if result.value is None or not result.content:
        return result
    blocks = {data: index for index, block in enumerate(result.content) if (data := _binary_of(block))}
    if not blocks:
        return result
    changes: list[Change] = []
    value = _replaced(result.value, blocks, (), changes)
    if not changes:
        return result
    report = result.report or Report()
    return replace(result, value=value, report=replace(report, changes=(*report.changes, *changes)))


def _replaced(value: Json, blocks: Mapping[str, int], path: tuple[str | int, ...], changes: list[Change]) -> Json:
    if isinstance(value, str):
        at_home = bool(path) and path[-1] in ("data", "blob")
        if value in blocks and (at_home or len(value) >= _SHORTEST_REPEAT):
            message = f"the same data is content block {blocks[value]}, and is not sent twice"
            changes.append(Change("moved", pointer(*path), message))
            return f"[content block {blocks[value]}]"
        return value
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        return {key: _replaced(inner, blocks, (*path, key), changes) for key, inner in members.items()}
    if isinstance(value, list):
        items = cast("list[Any]", value)
        return [_replaced(inner, blocks, (*path, index), changes) for index, inner in enumerate(items)]
    return value
