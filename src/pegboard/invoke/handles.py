"""Give a tool the bytes of an asset where its parameter asks for base64 and the caller sent a handle."""

from base64 import b64encode, urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import cast

from pegboard.core import AssetScheme, Call, Failure, Handler, Middleware, Result, Shelf
from pegboard.invoke.lookup import SpecOf
from pegboard.schema.alongside import item, member, views
from pegboard.schema.types import Json, JsonObject, Schema, pointer
from pegboard.schema.walk import nodes

ENCODERS = {"base64": b64encode, "base64url": urlsafe_b64encode}
"""How bytes are written, by the schema's `contentEncoding` (JSON Schema 2020-12 Validation, 8.3; RFC 4648)."""


def handles(shelf: Shelf | None, spec_of: SpecOf) -> Middleware:
    """Replace handles in parameters that are declared `contentEncoding: base64`; in all others they stay as they are.

    It stands outside of the guard, which then judges the bytes, and inside of the record, which keeps the handle. A
    handle that stands for nothing of the caller's ends the call before anything runs.

    Parameters:
        shelf: where the assets are; None: nothing is replaced.
        spec_of: the tools.
    """

    if shelf is None:
        return lambda next_handler: next_handler
    place = shelf

    def wrap(next_handler: Handler) -> Handler:
        known: dict[int, tuple[Schema, bool]] = {}

        def takes_bytes(schema: Schema) -> bool:
            found = known.get(id(schema))
            if found is None or found[0] is not schema:
                if len(known) > _REMEMBERED:
                    known.clear()
                found = known[id(schema)] = (schema, any("contentEncoding" in node for _, node in nodes(dict(schema))))
            return found[1]

        async def handle(call: Call) -> Result:
            spec = spec_of(call.tool)
            if spec is None or not takes_bytes(spec.input) or not isinstance(cast("Json", call.arguments), Mapping):
                return await next_handler(call)
            if not _mentions(call.arguments):
                return await next_handler(call)
            filling = _Filling(place, call, spec.input)
            arguments = await filling.value(spec.input, call.arguments, ())
            if filling.failure is not None:
                return Result(failure=filling.failure)
            return await next_handler(replace(call, arguments=arguments) if filling.filled else call)

        return handle

    return wrap


_REMEMBERED = 10_000
_PREFIXES = tuple(f"{scheme}://" for scheme in AssetScheme)


def _mentions(value: Json) -> bool:
    """Whether a handle stands anywhere in a value."""
    if isinstance(value, str):
        return value.startswith(_PREFIXES)
    if isinstance(value, Mapping):
        return any(map(_mentions, cast("JsonObject", value).values()))
    return isinstance(value, list) and any(map(_mentions, cast("list[Json]", value)))


@dataclass
class _Filling:
    """One walk through a call's arguments beside their schema."""

    shelf: Shelf
    call: Call
    root: Schema
    filled: bool = False
    failure: Failure | None = None

    async def value(self, schema: Schema, value: Json, path: tuple[str | int, ...]) -> Json:
        if not schema or self.failure is not None:
            return value
        found = views(self.root, schema)
        if isinstance(value, str):
            return await self._text(found, value, path)
        if isinstance(value, dict):
            members = cast("JsonObject", value).items()
            return {key: await self.value(member(found, key), part, (*path, key)) for key, part in members}
        if isinstance(value, list):
            items = enumerate(cast("list[Json]", value))
            return [await self.value(item(found, index), part, (*path, index)) for index, part in items]
        return value

    async def _text(self, nodes: list[JsonObject], text: str, path: tuple[str | int, ...]) -> str:
        encodings = (str(view.get("contentEncoding", "")).lower() for view in nodes)
        encode = next((ENCODERS[one] for one in encodings if one in ENCODERS), None)
        if encode is None or self.shelf.id_of(text) is None:
            return text
        found = await self.shelf.get(text, self.call.session.principal)
        if isinstance(found, Failure):
            self.failure = replace(found, where=pointer(*path))
            return text
        self.filled = True
        return encode(found[1]).decode()
