"""The forms of tool rows and content blocks that MCP clients accept, and how to bring foreign ones into them.

Clients check a list or an answer as a whole: one field of a wrong kind costs them every tool, or the whole result. So
a field that no client would take is left out alone, and said (MCP 2025-11-25 and 2026-07-28, schema).
"""

from collections.abc import Callable, Mapping
from operator import is_
from typing import Any, TypeAlias, cast

from pegboard.schema.types import Json, JsonObject, pointer

Field: TypeAlias = Callable[[Any, str, list[str]], Any]
"""The value as clients take it, or None; JSON pointers of what was left out inside are added to the list."""


def trim(found: JsonObject, form: Mapping[str, Field], at: str, lost: list[str]) -> JsonObject:
    """The object without fields that break its form; fields that the form does not know stay.

    Parameters:
        found: the object as it came.
        form: the optional fields that clients check.
        at: where the object is, as a JSON pointer.
        lost: gets the pointers of what is left out.
    """
    kept: dict[str, Any] | None = None
    for key, field in form.items():
        value = found.get(key)
        taken = None if value is None else field(value, at + pointer(key), lost)
        if taken is value:
            continue
        kept = dict(found) if kept is None else kept
        if taken is None:
            del kept[key]
            lost.append(at + pointer(key))
        else:
            kept[key] = taken
    return found if kept is None else kept


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _kind(kind: type) -> Field:
    return lambda value, at, lost: value if isinstance(value, kind) else None


def _one_of(*words: str) -> Field:
    return lambda value, at, lost: value if value in words else None


def _object(form: Mapping[str, Field]) -> Field:
    return lambda value, at, lost: trim(cast("JsonObject", value), form, at, lost) if isinstance(value, dict) else None


def _all_of(fits: Callable[[Any], bool]) -> Field:
    def taken(value: Any, at: str, lost: list[str]) -> Any:
        return cast("Any", value) if isinstance(value, list) and all(map(fits, cast("list[Any]", value))) else None

    return taken


def _priority(value: Any, at: str, lost: list[str]) -> Any:
    return value if isinstance(value, int | float) and 0 <= value <= 1 else None


def _icons(value: Any, at: str, lost: list[str]) -> Any:
    if not isinstance(value, list):
        return None
    found = cast("list[Any]", value)
    taken = [_icon(icon, f"{at}/{index}", lost) for index, icon in enumerate(found)]
    kept = [icon for icon in taken if icon is not None]
    return found if all(map(is_, taken, found)) and len(kept) == len(found) else kept


def _icon(value: Any, at: str, lost: list[str]) -> JsonObject | None:
    if isinstance(value, dict) and isinstance(cast("JsonObject", value).get("src"), str):
        return trim(cast("JsonObject", value), _ICON, at, lost)
    lost.append(at)
    return None


_TEXT, _BOOLEAN, _ANY_OBJECT = _kind(str), _kind(bool), _kind(dict)
_ICON: Mapping[str, Field] = {"mimeType": _TEXT, "sizes": _all_of(_is_text), "theme": _one_of("dark", "light")}
_HINTS: Mapping[str, Field] = {
    "title": _TEXT,
    **dict.fromkeys(("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"), _BOOLEAN),
}
_ANNOTATIONS: Mapping[str, Field] = {
    "audience": _all_of(("user", "assistant").__contains__),
    "priority": _priority,
    "lastModified": _TEXT,
}
_ANY_BLOCK: Mapping[str, Field] = {"_meta": _ANY_OBJECT, "annotations": _object(_ANNOTATIONS)}
_RESOURCE: Mapping[str, Field] = {"_meta": _ANY_OBJECT, "mimeType": _TEXT}
_LINK: Mapping[str, Field] = {
    "title": _TEXT,
    "description": _TEXT,
    "mimeType": _TEXT,
    "size": _kind(int),
    "icons": _icons,
}
_BLOCKS: Mapping[str, tuple[tuple[str, ...], Mapping[str, Field]]] = {
    "text": (("text",), _ANY_BLOCK),
    "image": (("data", "mimeType"), _ANY_BLOCK),
    "audio": (("data", "mimeType"), _ANY_BLOCK),
    "resource_link": (("uri", "name"), _ANY_BLOCK | _LINK),
    "resource": ((), _ANY_BLOCK | {"resource": _object(_RESOURCE)}),
}

ROW: Mapping[str, Field] = {
    "_meta": _ANY_OBJECT,
    "annotations": _object(_HINTS),
    "icons": _icons,
    "execution": _object({"taskSupport": _one_of("forbidden", "optional", "required")}),
}
"""The optional fields of a row of `tools/list`."""


_ANY_PRIMITIVE: Mapping[str, Field] = {
    "_meta": _ANY_OBJECT,
    "name": _TEXT,
    "title": _TEXT,
    "description": _TEXT,
    "icons": _icons,
}
_ANY_RESOURCE = _ANY_PRIMITIVE | {"mimeType": _TEXT, "annotations": _object(_ANNOTATIONS)}
_ARGUMENT: Mapping[str, Field] = {"title": _TEXT, "description": _TEXT, "required": _BOOLEAN}


def _arguments(value: Any, at: str, lost: list[str]) -> Any:
    if not isinstance(value, list):
        return None
    found = cast("list[Any]", value)
    taken = [_argument(one, f"{at}/{index}", lost) for index, one in enumerate(found)]
    return found if all(map(is_, taken, found)) else [one for one in taken if one is not None]


def _argument(value: Any, at: str, lost: list[str]) -> JsonObject | None:
    if isinstance(value, dict) and isinstance(cast("JsonObject", value).get("name"), str):
        return trim(cast("JsonObject", value), _ARGUMENT, at, lost)
    lost.append(at)
    return None


PRIMITIVES: Mapping[str, Mapping[str, Field]] = {
    "resources": _ANY_RESOURCE | {"size": _kind(int)},
    "resourceTemplates": _ANY_RESOURCE,
    "prompts": _ANY_PRIMITIVE | {"arguments": _arguments},
}
"""The fields of the rows of the other lists, by the member of the answer that holds them."""


def block(found: JsonObject, at: str, lost: list[str]) -> JsonObject | None:
    """The content block as clients take it; None if it is of no kind that they know, or lacks what makes it one.

    Parameters are those of `trim`.
    """
    known = _BLOCKS.get(str(found.get("type")))
    if known is None or not all(isinstance(found.get(key), str) for key in known[0]):
        return None
    if found["type"] == "resource" and not _is_resource(found.get("resource")):
        return None
    return found if len(found) == 1 + len(known[0]) else trim(found, known[1], at, lost)


def _is_resource(value: Json) -> bool:
    if not isinstance(value, dict):
        return False
    found = cast("dict[str, Any]", value)
    return isinstance(found.get("uri"), str) and any(isinstance(found.get(key), str) for key in ("text", "blob"))
