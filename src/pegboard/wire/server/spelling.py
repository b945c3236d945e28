"""Questions as each revision of the handshake family spells them; the stateless family's spelling is the newest."""

from collections.abc import Mapping
from typing import Any, cast
from uuid import uuid4

from pegboard.core.client import ELICIT
from pegboard.schema.types import JsonObject

_MODES_SINCE = "2025-11-25"
"""The revision that names the mode of a question, shows addresses, and gives the options of a choice by `oneOf`."""
STATELESS = "2026-07-28"
"""The revision that shows addresses without an id of their own."""


def spelled(method: str, params: JsonObject, version: str) -> JsonObject:
    """The params of a request, as a protocol version spells them.

    Parameters:
        method: what is asked for.
        params: as the newest revision spells them.
        version: the client's protocol version.
    """
    if method != ELICIT:
        return params
    if params.get("mode") == "url":
        own = version >= STATELESS or "elicitationId" in params
        return params if own else {**params, "elicitationId": str(uuid4())}
    if version >= _MODES_SINCE:
        return {"mode": "form", **params}
    schema = cast("Mapping[str, Any]", params.get("requestedSchema", {}))
    fields = cast("Mapping[str, Any]", schema.get("properties", {}))
    older = {**schema, "properties": {name: _older(one) for name, one in fields.items()}}
    return {**{key: value for key, value in params.items() if key != "mode"}, "requestedSchema": older}


def _older(field: JsonObject) -> JsonObject:
    options = field.get("oneOf")
    if options is None:
        return field
    kept = {key: value for key, value in field.items() if key not in ("oneOf", "default")}
    return {**kept, "enum": [one["const"] for one in options], "enumNames": [one["title"] for one in options]}
