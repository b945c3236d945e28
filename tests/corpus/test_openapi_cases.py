"""Public bug reports of other importers: what is right here (case ids in brackets)."""

import json
from typing import Any

import pytest
from mock_api import json_reply
from openapi_kit import INFO, OK, body_of, call, described, only

from pegboard.schema.validate import validator
from pegboard.sources.openapi.requests import base_url

ID_TWICE = described(
    "/users/{id}",
    "put",
    {
        "parameters": [{"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}],
        **body_of(
            {
                "type": "object",
                "properties": {"id": {"type": "integer"}, "name": {"type": "string"}},
                "required": ["id", "name"],
            }
        ),
    },
)


def test_a_path_id_and_a_body_id_are_two_inputs() -> None:  # op-01
    tool = only(ID_TWICE)
    assert list(tool.spec.properties) == ["id", "body_id", "name"]
    assert tool.spec.input["required"] == ["id", "body_id", "name"]
    _, seen = call(ID_TWICE, {"id": 5, "body_id": 6, "name": "x"})
    assert (seen.method, seen.path, json.loads(seen.body)) == ("PUT", "/users/5", {"id": 6, "name": "x"})


def test_a_list_as_body_is_one_input() -> None:  # op-03
    schema = {"type": "array", "items": {"type": "object", "properties": {"sku": {"type": "string"}}}}
    document = described("/items/bulk", "post", body_of(schema))
    tool = only(document)
    assert tool.spec.properties["body"]["type"] == "array"
    assert tool.spec.input["required"] == ["body"]
    _, seen = call(document, {"body": [{"sku": "a"}]})
    assert json.loads(seen.body) == [{"sku": "a"}]


@pytest.mark.parametrize("schema", [{"type": "string"}, {"type": "integer"}, {"type": "boolean"}, {}])
def test_a_single_value_as_body_is_one_input(schema: dict[str, Any]) -> None:
    value = {"string": "x", "integer": 5, "boolean": False}.get(schema.get("type", ""))
    _, seen = call(described("/x", "post", body_of(schema)), {"body": value})
    assert json.loads(seen.body) == value


CIRCULAR = {
    "swagger": "2.0",
    "info": INFO,
    "paths": {
        "/search": {
            "post": {
                "operationId": "search",
                "parameters": [
                    {"in": "body", "name": "q", "required": True, "schema": {"$ref": "#/definitions/Filter"}}
                ],
                "responses": OK,
            }
        }
    },
    "definitions": {
        "Filter": {
            "type": "object",
            "properties": {
                "field": {"type": "string"},
                "and": {"type": "array", "items": {"$ref": "#/definitions/Filter"}},
                "not": {"$ref": "#/definitions/Wrap"},
            },
        },
        "Wrap": {"allOf": [{"$ref": "#/definitions/Filter"}]},
    },
}


def test_circular_references_stay_references() -> None:  # op-04
    tool = only(CIRCULAR)
    assert tool.name.name == "search"
    assert set(tool.spec.input["$defs"]) == {"Filter", "Wrap"}
    arguments = {"field": "a", "and": [{"field": "b", "not": {"and": [{"field": "c"}]}}]}
    assert validator(tool.spec.input).is_valid(arguments)
    assert not validator(tool.spec.input).is_valid({"and": [{"not": {"and": [{"field": 5}]}}]})
    _, seen = call(CIRCULAR, arguments)
    assert json.loads(seen.body) == arguments


PETS = described(
    "/pets",
    "post",
    {"requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Pet"}}}}},
    components={
        "schemas": {
            "Pet": {
                "type": "object",
                "discriminator": {"propertyName": "petType"},
                "properties": {"petType": {"type": "string"}, "name": {"type": "string"}},
                "required": ["petType", "name"],
            },
            "Cat": {
                "allOf": [
                    {"$ref": "#/components/schemas/Pet"},
                    {
                        "type": "object",
                        "properties": {"huntingSkill": {"type": "string"}},
                        "required": ["huntingSkill"],
                    },
                ]
            },
        }
    },
)


def test_fields_of_subtypes_can_be_given() -> None:  # op-05
    tool = only(PETS)
    judge = validator(tool.spec.input)
    cat = {"petType": "Cat", "name": "Tom", "huntingSkill": "lazy"}
    [name] = tool.spec.properties
    assert "huntingSkill" in json.dumps(tool.spec.input)
    assert judge.is_valid({name: cat})
    assert not judge.is_valid({name: {"petType": "Cat", "huntingSkill": "lazy"}})
    assert not judge.is_valid({name: {"name": "Tom", "huntingSkill": "lazy"}})
    _, seen = call(PETS, {name: cat})
    assert json.loads(seen.body) == cat


@pytest.mark.parametrize(
    ("server", "document", "path", "url"),
    [
        (
            "/myapp",
            "https://api.example.com/docs/openapi.json",
            "/api/v1/users",
            "https://api.example.com/myapp/api/v1/users",
        ),
        ("v2", "https://api.example.com/docs/openapi.json", "/users", "https://api.example.com/docs/v2/users"),
        ("../v2/", "https://api.example.com/docs/openapi.json", "/users", "https://api.example.com/v2/users"),
        ("https://other.example", "https://api.example.com/openapi.json", "/users", "https://other.example/users"),
        ("//other.example/x", "https://api.example.com/openapi.json", "/users", "https://other.example/x/users"),
    ],
)
def test_a_relative_server_is_relative_to_the_document(
    server: str, document: str, path: str, url: str
) -> None:  # op-07
    assert base_url((server,), document, None).rstrip("/") + path == url


def test_any_of_stays_as_it_is() -> None:  # op-11
    value = {"anyOf": [{"type": "string", "maxLength": 2000}, {"type": "null"}]}
    document = described("/x", "post", body_of({"type": "object", "properties": {"value": value}}))
    tool = only(document)
    assert tool.spec.properties["value"] == value
    assert validator(tool.spec.input).is_valid({"value": None})
    _, seen = call(
        described("/x", "post", body_of({"type": "object", "properties": {"value": value}})), {"value": None}
    )
    assert json.loads(seen.body) == {"value": None}


def test_names_that_look_alike_stay_apart() -> None:  # op-12
    parameters = [
        {"name": "page[size]", "in": "query", "schema": {"type": "integer"}},
        {"name": "page_size", "in": "query", "schema": {"type": "string"}},
    ]
    document = described("/x", "get", {"parameters": parameters})
    tool = only(document)
    assert list(tool.spec.properties) == ["query_page_size", "page_size"]
    _, seen = call(document, {"query_page_size": 10, "page_size": "x"})
    assert seen.pairs == [("page[size]", "10"), ("page_size", "x")]


COMPANY = described(
    "/company",
    "get",
    {
        "responses": {
            "200": {
                "description": "ok",
                "content": {
                    "application/json": {
                        "schema": {
                            "type": "object",
                            "properties": {"siren": {"type": "string"}, "closed_on": {"type": "string"}},
                        }
                    }
                },
            }
        }
    },
)


def test_an_answer_looser_than_its_schema_reaches_the_model_and_is_noted() -> None:  # op-16
    answer = {"siren": "1", "closed_on": None}
    result, _ = call(COMPANY, {}, json_reply(answer))
    assert result.value == answer
    assert result.report is not None
    assert "closed_on" in result.report.notes[0]
    strict, _ = call(COMPANY, {}, json_reply(answer), check_output=True)
    assert strict.failure is not None
    assert "closed_on" in strict.failure.message
