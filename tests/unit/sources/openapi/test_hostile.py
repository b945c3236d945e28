"""Descriptions that are broken, huge or hostile cost as little as they can."""

import json
from pathlib import Path
from typing import Any

import anyio
import pytest
from openapi_kit import INFO, OK, described, listing

from pegboard.core import Effects, NoteKind
from pegboard.errors import ConfigError, SourceError
from pegboard.sources.document import read_document
from pegboard.sources.openapi import OpenApiSource


def from_file(path: Path) -> Any:
    async def main() -> Any:
        source = OpenApiSource("api", str(path))
        async with source.session():
            return await source.listing()

    return anyio.run(main)


def test_a_dangling_reference_costs_what_it_names_and_nothing_else() -> None:
    document = {
        "openapi": "3.0.3",
        "info": INFO,
        "paths": {
            "/a": {
                "post": {
                    "operationId": "a",
                    "parameters": [{"$ref": "#/components/parameters/Gone"}],
                    "requestBody": {
                        "content": {
                            "application/json": {
                                "schema": {
                                    "type": "object",
                                    "properties": {"x": {"$ref": "#/components/schemas/Gone"}, "y": {"type": "string"}},
                                }
                            }
                        }
                    },
                    "responses": {"200": {"$ref": "#/components/responses/Gone"}},
                }
            },
            "/b": {"post": {"operationId": "b", "requestBody": {"$ref": "#/gone"}, "responses": OK}},
            "/c": {"$ref": "#/components/pathItems/Gone"},
            "/d/{id}": {"get": {"operationId": "d", "responses": OK}},
        },
    }
    found = listing(document)
    tools = {tool.name.name: tool.spec for tool in found.tools}
    assert set(tools) == {"a", "b", "d"}
    assert tools["a"].properties == {"x": {}, "y": {"type": "string"}}
    assert tools["d"].properties == {"id": {"type": "string"}}
    messages = " ".join(note.message for note in found.notes)
    for gone in ("parameters/Gone", "schemas/Gone", "responses/Gone", "#/gone", "{id}"):
        assert gone in messages
    assert [note.tool for note in found.notes if note.kind is NoteKind.SET_ASIDE] == ["/c"]


def test_references_that_only_lead_to_each_other_end() -> None:
    document = described(
        "/x",
        "post",
        {"requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/A"}}}}},
        components={"schemas": {"A": {"$ref": "#/components/schemas/B"}, "B": {"$ref": "#/components/schemas/A"}}},
    )
    assert len(listing(document).tools) == 1


BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{chr(98 + n)}: &{chr(98 + n)} [{','.join(['*' + chr(97 + n)] * 9)}]\n" for n in range(9)
)
MERGES = "a: &a {x: 1}\n" + "".join(
    f"{chr(98 + n)}: &{chr(98 + n)}\n  <<: [{','.join(['*' + chr(97 + n)] * 9)}]\n" for n in range(9)
)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (BOMB, "aliases stand for more than"),
        ("a: &a\n  b: *a\n", "recursive"),
        ("[" * 50_000, "nested too deeply"),
        ("- " * 50_000, "depth"),
        ('{"a":' * 50_000, "nested too deeply"),
        ("a: !!python/object/apply:os.system ['true']", "could not determine a constructor"),
        ("a: 1\n---\nb: 2", "single document"),
        ("a: [", "cannot be read"),
        ("\x00", "cannot be read"),
    ],
)
def test_a_document_that_cannot_be_data_is_refused(text: str, says: str) -> None:
    with pytest.raises(SourceError) as caught:
        read_document(text.encode(), "doc.yaml")
    assert says in str(caught.value)
    assert str(caught.value).startswith("doc.yaml: ")


def test_yaml_is_read_by_its_core_schema() -> None:
    text = "a: no\nb: 2020-01-01\nc: 010\nd: 1e3\ne: ~\nf: true\n200: x\n? [1]\n: y\n<<: {a: z, g: 1}\n"
    assert read_document(text.encode(), "x") == {
        "a": "no",
        "b": "2020-01-01",
        "c": 10,
        "d": 1000.0,
        "e": None,
        "f": True,
        "200": "x",
        "[1]": "y",
        "g": 1,
    }
    assert read_document(MERGES.encode(), "x")["j"] == {"x": 1}


def test_a_document_that_is_too_large_is_refused_before_it_is_read(tmp_path: Path) -> None:
    with (tmp_path / "big.json").open("wb") as file:
        file.truncate(70_000_000)
    with pytest.raises(SourceError, match="64,000,000"):
        from_file(tmp_path / "big.json")
    with pytest.raises(SourceError, match="10,000,000"):
        read_document(b"a: " + b"x" * 11_000_000, "x")


@pytest.mark.slow
def test_a_document_of_forty_megabytes_is_imported_by_selection() -> None:
    properties = {f"p{n}": {"type": "string", "description": "x" * 5_000} for n in range(40)}
    filler = {"type": "object", "properties": properties}
    paths = {
        f"/things{n}/{{id}}": {
            "post": {
                "operationId": f"op{n}",
                "tags": ["odd" if n % 2 else "even"],
                "requestBody": {"content": {"application/json": {"schema": filler}}},
                "responses": OK,
            }
        }
        for n in range(200)
    }
    text = json.dumps({"openapi": "3.1.0", "info": INFO, "paths": paths})
    assert len(text) > 40_000_000
    found = listing(json.loads(text), select=["category:odd", "!op1"])
    assert len(found.tools) == 99


@pytest.mark.parametrize(
    "document",
    [
        {},
        [],
        None,
        "text",
        {"openapi": "4.0", "paths": {}},
        {"swagger": "1.2"},
    ],
)
def test_what_is_no_description_is_refused_with_a_next_step(document: Any, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(json.dumps(document))
    with pytest.raises(SourceError, match="no OpenAPI 3 or Swagger 2"):
        from_file(tmp_path / "x.json")


ODD = [None, 5, "x", [], {}, True, [None], {"a": None}]


@pytest.mark.parametrize("odd", ODD, ids=[json.dumps(one) for one in ODD])
@pytest.mark.parametrize(
    "where",
    ["paths", "item", "operation", "parameters", "parameter", "schema", "requestBody", "content", "media", "responses"]
    + ["security", "servers", "tags", "operationId", "required", "properties", "enum", "components"],
)
def test_odd_values_anywhere_cost_themselves_alone(where: str, odd: Any) -> None:
    good = {"get": {"operationId": "good", "responses": OK}}
    schema: Any = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    for key in ("required", "properties", "enum"):
        if where == key:
            schema = {**schema, key: odd}
    if where == "schema":
        schema = odd
    parameter = odd if where == "parameter" else {"name": "q", "in": "query", "schema": schema}
    media = odd if where == "media" else {"schema": schema}
    content = odd if where == "content" else {"application/json": media}
    operation: Any = {
        "operationId": odd if where == "operationId" else "odd",
        "parameters": odd if where == "parameters" else [parameter],
        "requestBody": odd if where == "requestBody" else {"content": content},
        "responses": odd if where == "responses" else {"200": {"content": content}},
        "security": odd if where == "security" else [],
        "servers": odd if where == "servers" else [],
        "tags": odd if where == "tags" else ["t"],
    }
    item = odd if where == "item" else {"post": odd if where == "operation" else operation}
    paths = odd if where == "paths" else {"/good": good, "/odd": item}
    document = {"openapi": "3.1.0", "info": INFO, "paths": paths, "components": odd if where == "components" else {}}
    names = [tool.name.name for tool in listing(document).tools]
    assert where == "paths" or "good" in names


def test_names_that_are_missing_taken_machine_made_or_long_are_mended() -> None:
    def get(name: str | None = None) -> dict[str, Any]:
        return {"get": {**({"operationId": name} if name else {}), "responses": OK}}

    paths = {
        "/users": get(),
        "/users/{id}": get(),
        "/users/{user_id}/posts": get(),
        "/a": get("same"),
        "/b": get("same"),
        "/items/{item_id}": get("read_item_items__item_id__get"),
        "/long": get("x" * 90),
        "/v1/api/things": get(),
        "/github": get("issues/list-for-repo"),
    }
    found = listing({"openapi": "3.0.0", "info": INFO, "paths": paths})
    assert [tool.name.name for tool in found.tools] == [
        "list_users",
        "get_user",
        "list_user_posts",
        "same",
        "same_get_b",
        "read_item",
        "get_long",
        "list_things",
        "issues/list-for-repo",
    ]
    assert found.tools[5].spec.aliases == ("read_item_items__item_id__get",)
    assert "no operationId" in found.notes[0].message
    assert any("90 characters; it is called 'get_long'" in note.message for note in found.notes)


@pytest.mark.parametrize(
    ("method", "name", "effects"),
    [
        ("get", "list", Effects.READ_ONLY),
        ("put", "replace", Effects.IDEMPOTENT),
        ("post", "create", Effects.ADDITIVE),
        ("post", "chat_delete", Effects.DESTRUCTIVE),
        ("post", "deleteAllThings", Effects.DESTRUCTIVE),
        ("delete", "x", Effects.DESTRUCTIVE),
        ("patch", "update", Effects.UNKNOWN),
        ("get", "list_deleted", Effects.READ_ONLY),
    ],
)
def test_effects_follow_the_verb_and_the_name(method: str, name: str, effects: Effects) -> None:
    [tool] = listing(described("/x", method, {"operationId": name})).tools
    assert tool.spec.effects is effects


def test_files_beside_the_description_are_read_and_others_are_not(tmp_path: Path) -> None:
    folder = tmp_path / "api"
    (folder / "schemas").mkdir(parents=True)
    (tmp_path / "secret.json").write_text('{"type": "object", "properties": {"secret": {"type": "string"}}}')
    (folder / "schemas" / "pet.yaml").write_text(
        "type: object\nproperties:\n  name: {type: string}\n  friend: {$ref: '#'}\n"
        "  home: {$ref: '../common.json#/Home'}\n"
    )
    (folder / "common.json").write_text('{"Home": {"type": "object", "properties": {"street": {"type": "string"}}}}')
    schema = {"type": "object", "properties": {"pet": {"$ref": "schemas/pet.yaml"}, "x": {"$ref": "../secret.json"}}}
    document = described("/x", "post", {"requestBody": {"content": {"application/json": {"schema": schema}}}})
    (folder / "openapi.json").write_text(json.dumps(document))
    found = from_file(folder / "openapi.json")
    text = json.dumps(found.tools[0].spec.input)
    assert "street" in text
    assert "secret" not in text
    assert any("lies elsewhere" in note.message for note in found.notes)


def test_credentials_for_a_scheme_that_does_not_exist_are_refused() -> None:
    schemes = {"key": {"type": "apiKey", "in": "header", "name": "X"}, "other": {"type": "http", "scheme": "bearer"}}
    document = described("/x", "get", {}, components={"securitySchemes": schemes})
    with pytest.raises(ConfigError, match="no security scheme 'kei'"):
        listing(document, auth={"kei": "s"})
