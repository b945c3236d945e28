"""Descriptions of our own with every way in which a value can travel."""

from typing import Any

NAMES: dict[str, Any] = {"type": "array", "items": {"type": "string", "minLength": 1}, "minItems": 1}
POINT: dict[str, Any] = {
    "type": "object",
    "properties": {"x": {"type": "integer"}, "y": {"type": "string", "minLength": 1}},
    "required": ["x", "y"],
    "additionalProperties": False,
}


def _styled(place: str, styles: dict[str, tuple[bool, ...]]) -> dict[str, Any]:
    paths: dict[str, Any] = {}
    for style, explodes in styles.items():
        for explode in explodes:
            for kind, schema in (("one", {"type": "string", "minLength": 1}), ("list", NAMES), ("object", POINT)):
                if style == "deepObject" and kind != "object" or style.endswith("Delimited") and kind == "one":
                    continue
                path = f"/{place}/{style}/{explode}/{kind}".lower()
                parameter = {
                    "name": "v",
                    "in": place,
                    "required": True,
                    "style": style,
                    "explode": explode,
                    "schema": schema,
                }
                url = path + "/{v}/end" if place == "path" else path
                paths[url] = {"get": {"parameters": [parameter], "responses": {"200": {"description": "ok"}}}}
    return paths


STYLES: dict[str, Any] = {
    "openapi": "3.1.0",
    "info": {"title": "Styles", "version": "1"},
    "servers": [{"url": "https://example.com"}],
    "paths": {
        **_styled("path", {"simple": (False, True), "label": (False, True), "matrix": (False, True)}),
        **_styled(
            "query",
            {"form": (False, True), "spaceDelimited": (False,), "pipeDelimited": (False,), "deepObject": (True,)},
        ),
        **_styled("header", {"simple": (False, True)}),
        **_styled("cookie", {"form": (False,)}),
        "/json/{id}": {
            "parameters": [
                {"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}},
                {"name": "id", "in": "query", "schema": {"type": "boolean"}},
                {"name": "id", "in": "header", "schema": {"type": "string", "minLength": 1}},
                {"name": "filter", "in": "query", "content": {"application/json": {"schema": POINT}}},
                {"name": "page[size]", "in": "query", "schema": {"type": "integer"}},
                {"name": "page_size", "in": "query", "schema": {"type": "string"}},
                {"name": "class", "in": "query", "schema": {"type": "string"}},
                {"name": "Ünïcode", "in": "query", "schema": {"type": "string"}},
            ],
            "put": {
                "requestBody": {
                    "required": True,
                    "content": {
                        "application/json": {
                            "schema": {
                                "type": "object",
                                "properties": {"id": {"type": "string"}, "tree": {"$ref": "#/components/schemas/Tree"}},
                                "required": ["id"],
                            }
                        }
                    },
                },
                "responses": {"200": {"description": "ok"}},
            },
        },
        "/list": {
            "post": {
                "requestBody": {"required": True, "content": {"application/json": {"schema": NAMES}}},
                "responses": {"204": {"description": "none"}},
            }
        },
        "/form": {
            "post": {
                "requestBody": {
                    "required": True,
                    "content": {
                        "application/x-www-form-urlencoded": {
                            "schema": {
                                "type": "object",
                                "properties": {
                                    "a": {"type": "string"},
                                    "l": NAMES,
                                    "o": POINT,
                                    "n": {"type": "number"},
                                },
                                "required": ["a"],
                            },
                            "encoding": {"l": {"explode": False}},
                        }
                    },
                },
                "responses": {"200": {"description": "ok"}},
            }
        },
        "/upload": {
            "post": {
                "requestBody": {
                    "required": True,
                    "content": {
                        "multipart/form-data": {
                            "schema": {
                                "type": "object",
                                "properties": {
                                    "file": {"type": "string", "format": "binary"},
                                    "files": {"type": "array", "items": {"type": "string", "format": "binary"}},
                                    "note": {"type": "string"},
                                    "meta": POINT,
                                },
                                "required": ["file"],
                            },
                            "encoding": {"file": {"contentType": "image/png"}},
                        }
                    },
                },
                "responses": {"200": {"description": "ok"}},
            }
        },
        "/bytes": {
            "put": {
                "requestBody": {"required": True, "content": {"application/octet-stream": {}}},
                "responses": {"200": {"description": "ok"}},
            }
        },
        "/text": {
            "post": {
                "requestBody": {"required": True, "content": {"text/plain": {"schema": {"type": "string"}}}},
                "responses": {"200": {"description": "ok"}},
            }
        },
        "/union": {
            "post": {
                "requestBody": {
                    "required": True,
                    "content": {
                        "application/json": {
                            "schema": {
                                "oneOf": [
                                    {"$ref": "#/components/schemas/Circle"},
                                    {"$ref": "#/components/schemas/Square"},
                                ],
                                "discriminator": {
                                    "propertyName": "kind",
                                    "mapping": {"circle": "#/components/schemas/Circle", "square": "Square"},
                                },
                            }
                        }
                    },
                },
                "responses": {"200": {"description": "ok"}},
            }
        },
    },
    "components": {
        "schemas": {
            "Tree": {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "children": {"type": "array", "items": {"$ref": "#/components/schemas/Tree"}},
                },
            },
            "Circle": {
                "type": "object",
                "properties": {"kind": {"type": "string"}, "radius": {"type": "number"}},
                "required": ["kind", "radius"],
            },
            "Square": {
                "type": "object",
                "properties": {"kind": {"type": "string"}, "side": {"type": "number"}},
                "required": ["kind", "side"],
            },
        }
    },
}


def _collection(place: str, form: str) -> dict[str, Any]:
    parameter = {
        "name": "v",
        "in": place,
        "required": True,
        "type": "array",
        "items": {"type": "string", "minLength": 1},
        "minItems": 1,
        "collectionFormat": form,
    }
    path = f"/{place}/{form}" + ("/{v}" if place == "path" else "")
    return {path: {"get": {"parameters": [parameter], "responses": {"200": {"description": "ok"}}}}}


SWAGGER_STYLES: dict[str, Any] = {
    "swagger": "2.0",
    "info": {"title": "Styles", "version": "1"},
    "host": "example.com",
    "basePath": "/v1",
    "schemes": ["http", "https"],
    "consumes": ["application/json"],
    "paths": {
        **_collection("query", "csv"),
        **_collection("query", "ssv"),
        **_collection("query", "tsv"),
        **_collection("query", "pipes"),
        **_collection("query", "multi"),
        **_collection("path", "csv"),
        **_collection("header", "csv"),
        "/body/{id}": {
            "put": {
                "parameters": [
                    {"name": "id", "in": "path", "required": True, "type": "integer"},
                    {
                        "name": "thing",
                        "in": "body",
                        "required": True,
                        "schema": {
                            "type": "object",
                            "required": ["id"],
                            "properties": {"id": {"type": "integer"}, "when": {"type": "string", "format": "date"}},
                        },
                    },
                ],
                "responses": {"200": {"description": "ok", "schema": {"type": "object"}}},
            }
        },
        "/file": {
            "post": {
                "consumes": ["multipart/form-data"],
                "parameters": [
                    {"name": "file", "in": "formData", "type": "file", "required": True},
                    {"name": "note", "in": "formData", "type": "string"},
                ],
                "responses": {"200": {"description": "ok"}},
            }
        },
    },
}
