"""Turning what a source calls its resources, wherever it does, into what the board calls them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from pegboard.catalog.uri import board_uri
from pegboard.schema.types import Json, JsonObject, as_list, as_object

_OF_THE_WEB = ("http://", "https://")
"""Links that a client opens by itself (MCP 2026-07-28, resources: common URI schemes); they stay as they are."""
_UI = ("ui", "ui/resourceUri")
"""Where the `_meta` of a tool names the page that shows its result (MCP Apps, and its older spelling)."""


@dataclass(frozen=True, slots=True)
class Links:
    """Turns the addresses of one source into the board's.

    Parameters:
        source: the source's name.
    """

    source: str

    def uri(self, uri: str) -> str:
        """An address of the source, on the board."""
        return board_uri(self.source, uri)

    def block(self, block: JsonObject) -> JsonObject:
        """A content block whose link or file can be read from the board."""
        match block.get("type"):
            case "resource_link":
                return self._moved(block)
            case "resource":
                inner = as_object(block.get("resource"))
                moved = self._moved(inner)
                return block if moved is inner else {**block, "resource": moved}
            case _:
                return block

    def blocks(self, blocks: Sequence[JsonObject]) -> tuple[JsonObject, ...]:
        """Content blocks, likewise."""
        return tuple(map(self.block, blocks))

    def contents(self, found: Json) -> list[JsonObject]:
        """The contents of a resource that was read."""
        return [{**one, "uri": self.uri(one["uri"])} if _text(one, "uri") else one for one in _objects(found)]

    def messages(self, found: Json) -> list[JsonObject]:
        """The messages of a prompt."""
        return [
            {**one, "content": self.block(as_object(one["content"]))} if isinstance(one.get("content"), dict) else one
            for one in _objects(found)
        ]

    def tool_meta(self, meta: JsonObject) -> JsonObject:
        """The `_meta` of a tool's row, the page that shows its result readable from the board."""
        if not any(key in meta for key in _UI):
            return meta
        moved: dict[str, Any] = dict(meta)
        ui = as_object(meta.get(_UI[0]))
        if _text(ui, "resourceUri"):
            moved[_UI[0]] = {**ui, "resourceUri": self.uri(ui["resourceUri"])}
        if _text(meta, _UI[1]):
            moved[_UI[1]] = self.uri(meta[_UI[1]])
        return moved

    def _moved(self, holder: JsonObject) -> JsonObject:
        uri = holder.get("uri")
        if not isinstance(uri, str) or uri.startswith(_OF_THE_WEB):
            return holder
        return {**holder, "uri": self.uri(uri)}


def _objects(found: Json) -> list[JsonObject]:
    return [cast("JsonObject", one) for one in as_list(found) if isinstance(one, dict)]


def _text(holder: JsonObject, key: str) -> bool:
    return isinstance(cast("Any", holder.get(key)), str)
