"""Operations of a description, called: sign-in, pages, previews, what comes back."""

import json
from typing import Any

import anyio
import pytest
from mock_api import MockApi, Seen, json_reply, serving
from openapi_kit import OK, described, only

from pegboard.core import Call, Health, Listing, Mode, Result, SourceState
from pegboard.sources.openapi import OpenApiSource
from pegboard.sources.openapi.source import Options

SCHEMES: dict[str, Any] = {
    "key": {"type": "apiKey", "in": "query", "name": "api_key"},
    "cookie": {"type": "apiKey", "in": "cookie", "name": "sid"},
    "token": {"type": "http", "scheme": "bearer"},
    "login": {"type": "http", "scheme": "basic"},
    "oauth": {"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": "/token", "scopes": {"read": "r"}}}},
}


def calls(
    document: Any, api: MockApi, *arguments: dict[str, Any], mode: Mode = Mode.EXECUTE, **options: Any
) -> list[Result]:
    async def main() -> list[Result]:
        source = OpenApiSource("api", document, options=Options(**{"base_url": api.url, **options}))
        async with source.session():
            [tool] = (await source.listing()).tools
            return [await tool.handler(Call(tool=tool.name, arguments=one, mode=mode)) for one in arguments]

    return anyio.run(main)


def secured(*alternatives: dict[str, list[str]], **more: Any) -> dict[str, Any]:
    return described("/x", "get", {"security": list(alternatives), **more}, components={"securitySchemes": SCHEMES})


@pytest.mark.parametrize(
    ("security", "auth", "check"),
    [
        ([{"key": []}], {"key": "s3cret"}, lambda seen: seen.pairs == [("api_key", "s3cret")]),
        ([{"cookie": []}], {"cookie": "a b"}, lambda seen: seen.header("cookie") == "sid=a%20b"),
        ([{"token": []}], {"token": "t"}, lambda seen: seen.header("authorization") == "Bearer t"),
        ([{"login": []}], {"login": "u:p"}, lambda seen: seen.header("authorization") == "Basic dTpw"),
        (
            [{"login": []}],
            {"login": {"username": "u", "password": "p"}},
            lambda seen: seen.header("authorization") == "Basic dTpw",
        ),
        (
            [{"token": [], "key": []}],
            {"token": "t", "key": "k"},
            lambda seen: seen.header("authorization") == "Bearer t" and seen.pairs == [("api_key", "k")],
        ),
        ([{"token": []}, {"key": []}], {"key": "k"}, lambda seen: seen.pairs == [("api_key", "k")]),
        ([{"token": []}, {}], {"key": "k"}, lambda seen: seen.pairs == [] and seen.header("authorization") is None),
        ([], {"key": "k"}, lambda seen: seen.pairs == []),
        ([{"token": []}], "raw", lambda seen: seen.header("authorization") == "Bearer raw"),
        ([{"token": []}], {"header": "X-Key", "value": "v"}, lambda seen: seen.header("x-key") == "v"),
    ],
)
def test_requests_are_signed_as_the_operation_needs(security: Any, auth: Any, check: Any) -> None:
    with serving() as api:
        [result] = calls(secured(*security), api, {}, auth=auth)
        assert result.ok
        assert check(api.last), api.last


def test_a_parameter_that_a_credential_fills_is_no_argument() -> None:
    parameters = [{"name": "api_key", "in": "query", "required": True, "schema": {"type": "string"}}]
    document = secured({"key": []}, parameters=parameters)

    async def properties(auth: Any) -> list[str]:
        source = OpenApiSource("api", document, options=Options(auth=auth))
        async with source.session():
            [tool] = (await source.listing()).tools
            return list(tool.spec.properties)

    assert anyio.run(properties, None) == ["api_key"]
    assert anyio.run(properties, {"key": "k"}) == []


def test_a_client_credentials_flow_signs_in_by_itself() -> None:
    def answer(seen: Seen) -> Any:
        return json_reply({"access_token": "tok", "expires_in": 60} if seen.path == "/token" else {})

    with serving(answer) as api:
        auth = {"oauth": {"client_id": "i", "client_secret": "s", "token_url": f"{api.url}/token", "scopes": "read"}}
        calls(secured({"oauth": ["read"]}), api, {}, {}, auth=auth)
        assert [seen.path for seen in api.seen] == ["/token", "/x", "/x"]
        assert api.last.header("authorization") == "Bearer tok"


def paged(name: str, schema: str = "integer", **more: Any) -> dict[str, Any]:
    names = [(name, schema), ("limit", "integer")]
    parameters = [{"name": one, "in": "query", "schema": {"type": kind}} for one, kind in names]
    return described("/x", "get", {"parameters": parameters, **more})


ROWS = [{"id": f"r{n}"} for n in range(25)]


def by_page(seen: Seen) -> Any:
    page, limit = int(dict(seen.pairs).get("page", 1)), int(dict(seen.pairs).get("limit", 10))
    return json_reply(ROWS[(page - 1) * limit : page * limit])


def by_offset(seen: Seen) -> Any:
    start = int(dict(seen.pairs).get("offset", 0))
    return json_reply({"data": ROWS[start : start + 10], "total": 25})


def by_cursor(seen: Seen) -> Any:
    start = int(dict(seen.pairs).get("cursor", 0))
    return json_reply(
        {"items": ROWS[start : start + 10], "meta": {"next_cursor": str(start + 10) if start < 20 else ""}}
    )


def by_link(seen: Seen) -> Any:
    page = int(dict(seen.pairs).get("page", 1))
    link = f'</x?page={page + 1}>; rel="next", </x?page=3>; rel="last"' if page < 3 else '</x?page=1>; rel="first"'
    return json_reply(ROWS[(page - 1) * 10 : page * 10], link=link)


def by_last_id(seen: Seen) -> Any:
    after = dict(seen.pairs).get("starting_after")
    start = next((n + 1 for n, row in enumerate(ROWS) if row["id"] == after), 0)
    return json_reply({"data": ROWS[start : start + 10], "has_more": start + 10 < 25})


@pytest.mark.parametrize(
    ("name", "schema", "answer", "where"),
    [
        ("page", "integer", by_page, None),
        ("page", "integer", by_link, None),
        ("offset", "integer", by_offset, "data"),
        ("cursor", "string", by_cursor, "items"),
        ("starting_after", "string", by_last_id, "data"),
    ],
)
def test_pages_are_read_as_one_call(name: str, schema: str, answer: Any, where: str | None) -> None:
    with serving(answer) as api:
        one, two, all_ = calls(
            paged(name, schema), api, {"limit": 10}, {"limit": 10, "max_pages": 2}, {"limit": 10, "max_pages": 9}
        )
    rows = [result.value[where] if where else result.value for result in (one, two, all_)]
    assert [len(found) for found in rows] == [10, 20, 25]
    assert rows[2] == ROWS
    assert two.report is not None
    assert f"go on with {name} = " in two.report.notes[1]
    assert all_.report is not None
    assert all_.report.notes == ("3 pages were read.",)


def by_link_alone(seen: Seen) -> Any:
    at = int(dict(seen.pairs).get("page", 1))
    more = {"link": f'<?page={at + 1}>; rel="next"'} if at < 3 else {}
    return json_reply(ROWS[at * 2 : at * 2 + 2], **more)


def by_link_with_a_cursor(seen: Seen) -> Any:
    at = int(dict(seen.pairs).get("cursor", "p1")[1:])
    more = {"link": f'<?cursor=p{at + 1}>; rel="next"'} if at < 3 else {}
    return json_reply({"rows": ROWS[at * 2 : at * 2 + 2]}, **more)


def by_address(seen: Seen) -> Any:
    at = int(dict(seen.pairs).get("cursor", "p1")[1:])
    return json_reply({"rows": ROWS[at * 2 : at * 2 + 2], "next": f"{seen.path}?cursor=p{at + 1}" if at < 3 else None})


def by_total(seen: Seen) -> Any:
    at = int(dict(seen.pairs).get("page", 1))
    return json_reply({"rows": ROWS[at * 2 : at * 2 + 2], "meta": {"total_pages": 3}})


def by_clamping(seen: Seen) -> Any:
    at = min(int(dict(seen.pairs).get("page", 1)), 3)
    return json_reply({"rows": ROWS[at * 2 : at * 2 + 2]})


@pytest.mark.parametrize(
    ("name", "schema", "answer", "requests"),
    [
        ("page", "integer", by_link_alone, 3),
        ("cursor", "string", by_link_with_a_cursor, 3),
        ("cursor", "string", by_address, 3),
        ("page", "integer", by_total, 3),
        ("page", "integer", by_clamping, 4),
    ],
)
def test_pages_end_where_the_service_says_so_and_no_page_is_given_twice(
    name: str, schema: str, answer: Any, requests: int
) -> None:
    with serving(answer) as api:
        [result] = calls(paged(name, schema), api, {"max_pages": 50})
        assert len(api.seen) == requests
    rows = result.value if isinstance(result.value, list) else result.value["rows"]
    assert rows == ROWS[2:8]
    assert result.report is not None
    assert result.report.data["pages"] == 3


def test_a_credential_in_the_query_leaves_the_rest_of_it_as_it_was() -> None:
    def listed(name: str, **more: Any) -> dict[str, Any]:
        return {"name": name, "in": "query", "schema": {"type": "array", "items": {"type": "string"}}, **more}

    parameters = [listed("a", explode=False), listed("b", style="spaceDelimited", explode=False)]
    with serving() as api:
        [result] = calls(
            secured({"key": []}, parameters=parameters), api, {"a": ["x", "y,z"], "b": ["1", "2"]}, auth={"key": "k/&"}
        )
        assert result.ok
        assert api.last.query == "a=x,y%2Cz&b=1%202&api_key=k%2F%26"


def test_a_reserved_value_ends_neither_itself_nor_the_query() -> None:
    parameters: list[dict[str, Any]] = [
        {"name": "path", "in": "query", "allowReserved": True, "schema": {"type": "string"}},
        {"name": "tenant", "in": "query", "schema": {"type": "string"}},
    ]
    with serving() as api:
        [result] = calls(
            described("/x", "get", {"parameters": parameters}), api, {"path": "a/b?c&tenant=2#d+[e]", "tenant": "1"}
        )
        assert result.ok
        assert api.last.pairs == [("path", "a/b?c%26tenant=2%23d%2B%5Be%5D"), ("tenant", "1")]


def test_a_base_url_may_hold_a_query_that_every_request_carries() -> None:
    with serving() as api:
        calls(described("/x", "get", {}), api, {}, base_url=f"{api.url}/base?api-version=2")
        assert (api.last.path, api.last.query) == ("/base/x", "api-version=2")


@pytest.mark.parametrize(
    ("part", "encoding", "kind"),
    [
        ({"type": "string", "contentMediaType": "application/octet-stream"}, {}, "application/octet-stream"),
        ({"contentMediaType": "image/png"}, {}, "image/png"),
        ({}, {"contentType": "image/png, image/jpeg"}, "image/png"),
        ({"type": "string", "format": "binary"}, {}, "application/octet-stream"),
        ({"type": "array", "items": {"type": "string", "contentMediaType": "image/gif"}}, {}, "image/gif"),
    ],
)
@pytest.mark.parametrize("whole", [True, False])
def test_a_part_that_is_a_file_takes_the_bytes_of_an_asset(part: Any, encoding: Any, kind: str, whole: bool) -> None:
    form = {"type": "object", "required": ["up"], "properties": {"up": part, "note": {"type": "string"}}}
    media = {"schema": {"$ref": "#/components/schemas/Form"}, **({"encoding": {"up": encoding}} if encoding else {})}
    body = {"required": not whole, "content": {"multipart/form-data": media}}
    document = described("/x", "post", {"requestBody": body}, components={"schemas": {"Form": form}})
    spec = only(document).spec
    schema = spec.properties["body"]["properties"]["up"] if whole else spec.properties["up"]
    assert "contentEncoding" in schema.get("items", schema)
    sent: dict[str, Any] = {"up": ["//79"] if "items" in schema else "//79", "note": "n"}
    with serving() as api:
        [result] = calls(document, api, {"body": sent} if whole else sent)
        assert result.ok, result.failure
        assert api.last.parts() == [("up", b"\xff\xfe\xfd", kind, True), ("note", b"n", "text/plain", False)]


def test_a_page_that_fails_costs_the_pages_after_it_alone() -> None:
    def answer(seen: Seen) -> Any:
        return json_reply({"message": "boom"}, 500) if dict(seen.pairs).get("page") == "2" else by_page(seen)

    with serving(answer) as api:
        [result] = calls(paged("page"), api, {"limit": 10, "max_pages": 3})
    assert result.value == ROWS[:10]
    assert result.report is not None
    assert "Page 2 failed" in result.report.notes[1]
    assert "go on with page = 2" in result.report.notes[1]


def test_operations_without_pages_take_no_pages() -> None:
    with serving() as api:

        async def main() -> Listing:
            source = OpenApiSource("api", described("/x", "get", {}), options=Options(base_url=api.url))
            async with source.session():
                return await source.listing()

        assert anyio.run(main).tools[0].spec.properties == {}


DELETE = described(
    "/things/{id}",
    "delete",
    {"parameters": [{"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}]},
)


def test_the_preview_of_a_change_is_the_request_unsent() -> None:
    with serving() as api:
        [result] = calls(DELETE, api, {"id": "a/b c"}, mode=Mode.PREVIEW)
        assert api.seen == []
    assert result.mode is Mode.PREVIEW
    assert result.value["sent"] is False
    assert (result.value["method"], result.value["url"]) == ("DELETE", f"{api.url}/things/a%2Fb%20c")


@pytest.mark.parametrize("value", ["", ".", ".."])
def test_a_path_part_that_would_lead_elsewhere_is_refused(value: str) -> None:
    with serving() as api:
        [result] = calls(DELETE, api, {"id": value})
        assert api.seen == []
    assert result.failure is not None
    assert result.failure.where == "/id"


def test_the_mode_schema_gives_the_upstreams_own_input() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    document = described("/x", "post", {"requestBody": {"content": {"application/json": {"schema": schema}}}})
    with serving() as api:
        [result] = calls(document, api, {}, mode=Mode.SCHEMA)
        assert api.seen == []
    assert result.value["requestBody"] == {"content": {"application/json": {"schema": schema}}}


def test_an_upload_that_is_no_base64_is_refused() -> None:
    document = described("/x", "put", {"requestBody": {"required": True, "content": {"application/octet-stream": {}}}})
    with serving() as api:
        bad, good, data = calls(
            document, api, {"body": "not base64!"}, {"body": "aGk="}, {"body": "data:x;base64,aGk="}
        )
        assert [seen.body for seen in api.seen] == [b"hi", b"hi"]
    assert bad.failure is not None
    assert bad.failure.where == "/body"
    assert good.ok
    assert data.ok


def test_a_description_without_a_server_says_what_is_missing(tmp_path: Any) -> None:
    (tmp_path / "x.json").write_text(json.dumps(described("/x", "get", {})))
    with serving() as api:
        [result] = calls(str(tmp_path / "x.json"), api, {}, base_url=None)
    assert result.failure is not None
    assert "base_url" in (result.failure.next_step or "")


def test_a_private_server_of_a_description_is_not_reached() -> None:
    with serving() as api:
        document = {**described("/x", "get", {}), "servers": [{"url": api.url}]}
        [refused] = calls(document, api, {}, base_url=None)
        assert api.seen == []
        [allowed] = calls(document, api, {}, base_url=None, allow_private=True)
    assert refused.failure is not None
    assert "allow_private" in (refused.failure.next_step or "")
    assert allowed.ok


def test_health_tells_whether_the_service_is_there() -> None:
    async def main(url: str) -> Health:
        source = OpenApiSource("api", described("/x", "get", {}), options=Options(base_url=url))
        async with source.session():
            await source.listing()
            return await source.health()

    with serving() as api:
        assert anyio.run(main, api.url).state is SourceState.READY
    assert anyio.run(main, api.url).state is SourceState.UNAVAILABLE


def test_open_bodies_take_what_the_description_does_not_name() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": {"type": "integer"}}
    body = {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}
    with serving() as api:
        calls(described("/x", "post", body), api, {"a": "x", "b": 5})
        assert json.loads(api.last.body) == {"a": "x", "b": 5}


def test_operations_of_3_2_are_tools() -> None:
    document = {
        "openapi": "3.2.0",
        "info": {"title": "t", "version": "1"},
        "paths": {
            "/x": {
                "query": {"operationId": "find", "responses": OK},
                "additionalOperations": {"COPY": {"operationId": "copy", "responses": OK}},
            },
            "/y": {
                "get": {
                    "operationId": "raw",
                    "parameters": [
                        {
                            "name": "whole",
                            "in": "querystring",
                            "content": {
                                "application/x-www-form-urlencoded": {
                                    "schema": {"type": "object", "properties": {"a": {"type": "string"}}}
                                }
                            },
                        }
                    ],
                    "responses": OK,
                }
            },
        },
    }
    with serving() as api:

        async def main() -> None:
            source = OpenApiSource("api", document, options=Options(base_url=api.url))
            async with source.session():
                for tool in (await source.listing()).tools:
                    arguments = {"whole": {"a": "x y"}} if tool.name.name == "raw" else {}
                    await tool.handler(Call(tool=tool.name, arguments=arguments, mode=Mode.EXECUTE))

        anyio.run(main)
        assert [(seen.method, seen.path, seen.query) for seen in api.seen] == [
            ("QUERY", "/x", ""),
            ("COPY", "/x", ""),
            ("GET", "/y", "a=x%20y"),
        ]
