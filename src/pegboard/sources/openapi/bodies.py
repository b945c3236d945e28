"""Request bodies, of both generations."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pegboard.schema.types import Json, Schema
from pegboard.sources.openapi.documents import Documents, Place
from pegboard.sources.openapi.inputs import spread
from pegboard.sources.openapi.operation import Body, Encoding
from pegboard.sources.openapi.parameters import old_schema
from pegboard.sources.openapi.schemas import Schemas, is_file

_PREFERENCE = ("json", "form", "multipart", "text", "bytes")


def read_body(place: Place, documents: Documents, schemas: Schemas, *, default: bool) -> Body | None:
    """The body of a request, in the media type that is easiest to give.

    Parameters:
        place: the request body object.
        documents: the description.
        schemas: converts schemas.
        default: whether a body is needed where the description does not say; authors forget it far more often than
            they mean "optional", and a body with required properties is hardly ever optional.
    """
    bodies: list[Body] = []
    for media_type, holder in (place / "content").members():
        media = documents.follow(holder) or holder
        body = Body(media_type=media_type, schema=schemas.convert(media / "schema"))
        encodings = _encodings(media)
        if body.kind == "multipart":
            body = replace(body, schema=_with_files(body.schema, encodings, schemas))
        bodies.append(
            Body(
                media_type=_concrete(media_type, body.kind),
                schema=_raw_schema(body.kind, media_type) if body.kind in ("text", "bytes") else body.schema,
                required=_required(place, body, schemas, default),
                encodings=encodings,
                description=place.text("description"),
            )
        )
    return min(bodies, key=lambda body: _PREFERENCE.index(body.kind), default=None)


def read_form(raw: Sequence[Place], consumes: Sequence[str], schemas: Schemas) -> Body | None:
    """The body of a Swagger 2.0 operation: its `body` parameter, or its `formData` parameters together."""
    for place in raw:
        if place.text("in") == "body":
            kinds = [Body(media_type=kind, schema={}) for kind in consumes] or [
                Body(media_type="application/json", schema={})
            ]
            best = min(kinds, key=lambda body: _PREFERENCE.index(body.kind))
            kind = best if best.kind in ("json", "text", "bytes") else Body(media_type="application/json", schema={})
            return Body(
                media_type=kind.media_type,
                schema=schemas.convert(place / "schema")
                if kind.kind == "json"
                else _raw_schema(kind.kind, kind.media_type),
                required=place.object.get("required") is True,
                description=place.text("description"),
            )
    fields = [place for place in raw if place.text("in") == "formData"]
    if not fields:
        return None
    files = any(place.object.get("type") == "file" for place in fields)
    multipart = (
        files or not any("urlencoded" in kind for kind in consumes) and any("multipart" in kind for kind in consumes)
    )
    properties: dict[str, Json] = {place.text("name"): old_schema(place, schemas) for place in fields}
    required = [place.text("name") for place in fields if place.object.get("required") is True]
    encodings = {
        place.text("name"): Encoding(explode=place.text("collectionFormat") == "multi", style=_style(place))
        for place in fields
    }
    return Body(
        media_type="multipart/form-data" if multipart else "application/x-www-form-urlencoded",
        schema={"type": "object", "properties": properties, "required": required},
        required=bool(required),
        encodings=encodings,
    )


def _with_files(schema: Schema, encodings: Mapping[str, Encoding], schemas: Schemas) -> Schema:
    """A multipart schema with its parts in sight, those that the encoding calls files as base64."""
    found = spread(schema, schemas.defs)
    if found is None:
        return schema
    files = {
        name: {"type": "string", "contentEncoding": "base64", **part}
        for name, part in found.properties.items()
        if name in encodings and is_file(encodings[name].content_type) and part.get("type", "string") == "string"
    }
    if not files and "properties" in schema:
        return schema
    words = {key: schema[key] for key in ("title", "description") if key in schema}
    more = {} if found.more is None else {"additionalProperties": found.more}
    properties = {**found.properties, **files}
    return {"type": "object", **words, "properties": properties, "required": list(found.required), **more}


def _style(place: Place) -> str:
    return {"ssv": "spaceDelimited", "tsv": "tabDelimited", "pipes": "pipeDelimited"}.get(
        place.text("collectionFormat"), "form"
    )


def _required(place: Place, body: Body, schemas: Schemas, default: bool) -> bool:
    said = place.object.get("required")
    if isinstance(said, bool):
        return said
    schema = body.schema
    names = schemas.needed(schema)
    if set(schema) == {"$ref"} and names:
        schema = schemas.defs[names[0]]
    return default and bool(schema.get("required") or schema.get("anyOf") or schema.get("oneOf"))


def _concrete(media_type: str, kind: str) -> str:
    if "*" not in media_type:
        return media_type
    return "application/json" if kind == "json" else "text/plain" if kind == "text" else "application/octet-stream"


def _raw_schema(kind: str, media_type: str) -> dict[str, Json]:
    if kind == "text":
        return {"type": "string", "description": f"The body, as {media_type}."}
    return {"type": "string", "contentEncoding": "base64", "contentMediaType": media_type}


def _encodings(media: Place) -> dict[str, Encoding]:
    found: dict[str, Encoding] = {}
    for name, place in (media / "encoding").members():
        explode, style = place.object.get("explode"), place.text("style") or "form"
        found[name] = Encoding(
            content_type=place.text("contentType").partition(",")[0].strip() or None,
            style=style,
            explode=explode if isinstance(explode, bool) else style == "form",
        )
    return found
