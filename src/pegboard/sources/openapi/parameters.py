"""Parameter objects, of both generations."""

from pegboard.schema.types import Schema, as_object
from pegboard.sources.openapi.documents import Place
from pegboard.sources.openapi.operation import Parameter
from pegboard.sources.openapi.schemas import Schemas

_DEFAULT_STYLE = {"path": "simple", "header": "simple", "query": "form", "cookie": "form", "querystring": "form"}
_STYLES = {
    "path": ("simple", "label", "matrix"),
    "header": ("simple",),
    "query": ("form", "spaceDelimited", "pipeDelimited", "deepObject"),
    "cookie": ("form", "cookie"),
    "querystring": ("form",),
}
_COLLECTIONS = {
    "csv": ("form", False),
    "ssv": ("spaceDelimited", False),
    "tsv": ("tabDelimited", False),
    "pipes": ("pipeDelimited", False),
    "multi": ("form", True),
}
_NOT_SCHEMA = frozenset(("name", "in", "required", "allowEmptyValue", "collectionFormat", "description"))


def read_parameter(place: Place, schemas: Schemas, *, swagger: bool) -> Parameter:
    """A parameter, from its object."""
    return _old(place, schemas) if swagger else _new(place, schemas)


def _new(place: Place, schemas: Schemas) -> Parameter:
    where, node = place.text("in"), place.object
    content = list((place / "content").members())
    style = place.text("style")
    if style not in _STYLES[where]:
        style = _DEFAULT_STYLE[where]
    explode = node.get("explode")
    source = place / "schema"
    if content:
        media, holder = content[0]
        source = (schemas.documents.follow(holder) or holder) / "schema"
        style = "form" if where == "querystring" and "json" not in media else "json"
    return Parameter(
        name=place.text("name"),
        place=where,
        schema=_described(schemas.convert(source), place),
        required=node.get("required") is True or where == "path",
        style=style,
        explode=explode if isinstance(explode, bool) else style in ("form", "cookie"),
        reserved=node.get("allowReserved") is True,
        empty=node.get("allowEmptyValue") is True,
    )


def _old(place: Place, schemas: Schemas) -> Parameter:
    where, node = place.text("in"), place.object
    style, explode = _COLLECTIONS.get(place.text("collectionFormat"), ("form", False))
    if where in ("path", "header"):
        style, explode = "simple" if style == "form" else style, False
    return Parameter(
        name=place.text("name"),
        place=where,
        schema=old_schema(place, schemas),
        required=node.get("required") is True or where == "path",
        style=style,
        explode=explode,
        empty=node.get("allowEmptyValue") is True,
    )


def old_schema(place: Place, schemas: Schemas) -> Schema:
    """The schema that a Swagger 2.0 parameter that is not a body has in its own members."""
    node = {key: value for key, value in place.object.items() if key not in _NOT_SCHEMA}
    return _described(schemas.convert(Place(place.document, place.at, node)), place)


def _described(schema: Schema, place: Place) -> Schema:
    """The parameter's own words and examples win over those of its schema."""
    more: dict[str, object] = {}
    if place.text("description"):
        more["description"] = place.text("description")
    example = place.object.get("example")
    if example is None:
        named = [as_object(found.value).get("value") for _, found in (place / "examples").members()]
        example = next((value for value in named if value is not None), None)
    if example is not None and "examples" not in schema:
        more["examples"] = [example]
    if place.object.get("deprecated") is True:
        more["deprecated"] = True
    return {**schema, **more}
