"""Keep binary parts of an answer aside, so that a model sees a handle where base64 stood."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import cast

from pegboard.core import Asset, Call, Change, Handler, Middleware, Report, Result, Shelf
from pegboard.errors import StoreError
from pegboard.invoke.lookup import SpecOf
from pegboard.invoke.size import BINARY_LIMIT
from pegboard.schema.alongside import item, member, views
from pegboard.schema.cut import json_text, surely_fits
from pegboard.schema.media import OCTETS, Binary, binary_of, declared_beside
from pegboard.schema.types import Json, JsonObject, Schema, as_object, pointer

SMALLEST = 4096
"""Bytes from which on a binary part becomes an asset (document 002, "Binary results")."""
_SMALLEST_TEXT = SMALLEST * 4 // 3
_RUN = re.compile(r"[A-Za-z0-9+/=\\\s]{64,}+")
"""What base64 looks like, also with line breaks and inside of JSON; possessive, so that a search stays linear."""
_SHOWN = ("image", "audio")
"""Blocks that clients can show to a model that sees or hears; they stay, with the handle beside them."""


def binary(shelf: Shelf | None, spec_of: SpecOf, *, applies: Callable[[Call], bool] = lambda call: True) -> Middleware:
    """Put binary parts of `SMALLEST` bytes and more on the shelf, a handle in their place.

    Binary is: the data of picture, sound and file blocks; in values and in texts that are JSON, what the output schema
    declares as base64, data URLs, and base64 that the object around it or its own first bytes tell. A block that a
    client can show stays beside its handle. What cannot be kept stays as it is, and that is noted.

    Parameters:
        shelf: where assets go; None: nothing is replaced.
        spec_of: the tools, for their output schemas.
        applies: whether a call's answer is for a model; code gets the bytes themselves.
    """

    if shelf is None:
        return lambda next_handler: next_handler
    place = shelf

    def wrap(next_handler: Handler) -> Handler:
        async def handle(call: Call) -> Result:
            result = await next_handler(call)
            if not applies(call) or _is_small(result):
                return result
            spec = spec_of(call.tool)
            return await _Stowing(place, call.session.principal, (spec.output if spec else None) or {}).result(result)

        return handle

    return wrap


def _is_small(result: Result) -> bool:
    # The bound is six bytes for one, so that it never errs for a text that is large enough to matter.
    return surely_fits([result.value, list(result.content)], 6 * _SMALLEST_TEXT)


def _has_long(value: Json) -> bool:
    """Whether a value holds a text that is long enough to matter."""
    if isinstance(value, str):
        return len(value) >= _SMALLEST_TEXT
    if isinstance(value, dict):
        return any(map(_has_long, cast("JsonObject", value).values()))
    return isinstance(value, list) and any(map(_has_long, cast("list[Json]", value)))


@dataclass
class _Stowing:
    """One answer on its way out."""

    shelf: Shelf
    owner: str
    root: Schema
    assets: dict[str, Asset] = field(default_factory=dict[str, Asset])
    changes: list[Change] = field(default_factory=list[Change])
    notes: list[str] = field(default_factory=list[str])

    async def result(self, result: Result) -> Result:
        content = [
            part
            for index, block in enumerate(result.content)
            for part in await self._block(block, pointer("content", index))
        ]
        value = await self._value(self.root, result.value, "", {}) if _has_long(result.value) else result.value
        if not self.assets and not self.notes:
            return result
        report = result.report or Report()
        told = [asset.to_json(self.shelf.scheme) for asset in self.assets.values()]
        return replace(
            result,
            value=value,
            content=tuple(content),
            assets=(*result.assets, *(asset.handle(self.shelf.scheme) for asset in self.assets.values())),
            report=replace(
                report,
                changes=(*report.changes, *self.changes),
                notes=(*report.notes, *self.notes),
                data={**report.data, "assets": told} if told else report.data,
            ),
        )

    async def _block(self, block: JsonObject, at: str) -> list[JsonObject]:
        """The block, or what stands for it."""
        match block.get("type"):
            case "image" | "audio" as kind:
                return await self._shown(block, str(block.get("data", "")), block.get("mimeType") or f"{kind}/*", at)
            case "resource":
                resource = as_object(block.get("resource"))
                return await self._shown(block, str(resource.get("blob", "")), resource.get("mimeType") or OCTETS, at)
            case "text":
                text = block.get("text")
                return [{**block, "text": await self._text(text, at)}] if isinstance(text, str) else [block]
            case _:
                return [block]

    async def _shown(self, block: JsonObject, data: str, media_type: str, at: str) -> list[JsonObject]:
        found = binary_of(data, media_type) if len(data) >= _SMALLEST_TEXT else None
        asset = await self._kept(found, data, at)
        if asset is None:
            return [block]
        said: JsonObject = {"type": "text", "text": asset.said(self.shelf.scheme)}
        return [block, said] if block["type"] in _SHOWN and len(data) <= BINARY_LIMIT else [said]

    async def _text(self, text: str, at: str) -> str:
        """A text block: base64 as a whole, or JSON with base64 in it, as servers repeat their structured results."""
        if not any(found.end() - found.start() >= _SMALLEST_TEXT for found in _RUN.finditer(text)):
            return text
        asset = await self._kept(binary_of(text), text, at)
        if asset is not None:
            return asset.said(self.shelf.scheme)
        if text.lstrip()[:1] not in ("{", "["):
            return text
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return text
        before = len(self.changes)
        changed = await self._value(self.root, value, at, {})
        return json_text(changed) if len(self.changes) > before else text

    async def _value(self, schema: Schema, value: Json, at: str, holder: JsonObject) -> Json:
        if isinstance(value, str):
            return await self._string(schema, value, at, holder) if len(value) >= _SMALLEST_TEXT else value
        if isinstance(value, dict):
            found, members = views(self.root, schema), cast("JsonObject", value)
            return {
                key: await self._value(member(found, key), part, at + pointer(key), members)
                for key, part in members.items()
            }
        if isinstance(value, list):
            found, items = views(self.root, schema), cast("list[Json]", value)
            return [
                await self._value(item(found, index), part, at + pointer(index), holder)
                for index, part in enumerate(items)
            ]
        return value

    async def _string(self, schema: Schema, text: str, at: str, holder: JsonObject) -> str:
        asset = await self._kept(binary_of(text, self._declared(schema, holder)), text, at)
        return text if asset is None else asset.handle(self.shelf.scheme)

    def _declared(self, schema: Schema, holder: JsonObject) -> str | None:
        beside = declared_beside(holder)
        for view in views(self.root, schema):
            if str(view.get("contentEncoding", "")).lower() == "base64":
                media_type = view.get("contentMediaType")
                return media_type if isinstance(media_type, str) else beside or OCTETS
        return beside

    async def _kept(self, found: Binary | None, text: str, at: str) -> Asset | None:
        if found is None or len(found.data) < SMALLEST:
            return None
        try:
            asset = await self.shelf.put(found.data, found.media_type, self.owner)
        except StoreError as problem:
            self.notes.append(f"{len(text)} characters of base64 at {at or '/'} stay as they are: {problem}")
            return None
        self.assets[asset.id] = asset
        handle = asset.handle(self.shelf.scheme)
        self.changes.append(Change("moved", at, f"{asset.size} bytes of {asset.media_type} are kept as {handle}."))
        return asset
