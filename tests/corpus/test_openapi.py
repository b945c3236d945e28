"""Real descriptions become tools, and calls reach the service as the description says.

Set PEGBOARD_OPENAPI to a folder to run the same on other descriptions. Where the whole corpus stands beside the
checkout it is read too.
"""

import json
import os
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from mock_api import MockApi, Seen, json_reply, read_form, read_query, read_simple, serving, strings, text
from schema_values import arguments
from styles import STYLES, SWAGGER_STYLES
from tests.checkers.dialects import faults

from pegboard.check import Severity, Toolset
from pegboard.check import check as check_tools
from pegboard.core import Call, Listing, Mode, NoteKind, Result, Tool
from pegboard.schema.lower import DIALECTS, lower
from pegboard.sources.document import read_file
from pegboard.sources.openapi import OpenApiSource
from pegboard.sources.openapi.source import Options

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
FOLDER = Path(os.environ.get("PEGBOARD_OPENAPI", Path(__file__).parent / "openapi"))
WHOLE = Path(__file__).parents[3] / "shared" / "corpus" / "openapi"


def files(folder: Path) -> list[Path]:
    found = folder.iterdir() if folder.is_dir() else ()
    return sorted(path for path in found if path.suffix in (".json", ".yaml", ".yml"))


DOCUMENTS: dict[str, Any] = {path.name: path for path in files(FOLDER)}
DOCUMENTS |= {f"whole {path.name}": path for path in files(WHOLE)}
DOCUMENTS |= {"styles": STYLES, "swagger styles": SWAGGER_STYLES}


@lru_cache
def document(name: str) -> dict[str, Any]:
    found = DOCUMENTS[name]
    return read_file(found) if isinstance(found, Path) else found


def operations(name: str) -> list[tuple[str, str, dict[str, Any], list[dict[str, Any]]]]:
    """Method, path, operation and its parameters, read from the description itself."""
    whole = document(name)

    def followed(node: Any) -> Any:
        while "$ref" in node:
            node = whole if node["$ref"] == "#" else _at(whole, node["$ref"])
        return node

    found = []
    for path, item in whole["paths"].items():
        for method, operation in followed(item).items():
            if method in METHODS:
                own = [followed(one) for one in operation.get("parameters", [])]
                names = {(one["name"], one["in"]) for one in own}
                shared = [followed(one) for one in followed(item).get("parameters", [])]
                parameters = [one for one in shared if (one["name"], one["in"]) not in names] + own
                found.append((method.upper(), path, operation, parameters))
    return found


def _at(whole: Any, reference: str) -> Any:
    for part in reference[2:].split("/"):
        whole = whole[part.replace("~1", "/").replace("~0", "~")]
    return whole


async def listed(name: str, options: Options | None = None) -> Listing:
    source = OpenApiSource("api", DOCUMENTS[name], options=options)
    async with source.session():
        return await source.listing()


@pytest.mark.requirement("C13.1")
@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_operation_is_a_tool_or_set_aside_with_a_reason(name: str) -> None:
    listing = anyio.run(listed, name)
    aside = [note for note in listing.notes if note.kind is NoteKind.SET_ASIDE]
    assert len(listing.tools) + len(aside) == len(operations(name))
    assert len({tool.name for tool in listing.tools}) == len(listing.tools)
    assert all(note.message for note in listing.notes)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_tools_say_what_they_do_and_take_sound_schemas(name: str) -> None:
    for tool in anyio.run(listed, name).tools:
        assert tool.spec.description.strip()
        assert len(tool.spec.description) <= 1_000
        assert tool.spec.input["type"] == "object"
        assert set(tool.spec.input["required"]) <= set(tool.spec.properties)
        for reference in _references(tool.spec.input):
            assert reference.startswith("#/$defs/"), (tool.name, reference)
            _at(tool.spec.input, reference)


@pytest.mark.slow
@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_tool_is_taken_by_every_provider(name: str) -> None:
    """What each dialect's checker, which knows nothing of the lowering, would refuse: nothing."""
    refused = []
    for tool in anyio.run(listed, name).tools:
        for dialect in (one for one in DIALECTS if one != "codex"):  # the baseline has its own cases
            found = lower(tool.spec.input, dialect)
            wrong = [found.refused] if found.refused else faults(dialect, found.schema, strict=found.strict)
            refused += [(str(tool.name), dialect, fault) for fault in wrong]
    assert refused == []


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_check_finds_no_error_in_what_was_made(name: str) -> None:
    listing = anyio.run(listed, name)
    found = check_tools(Toolset(tuple(tool.spec for tool in listing.tools), notes={"api": listing.notes}))
    assert [str(finding) for finding in found if finding.severity is Severity.ERROR] == []


def _references(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"]
        for part in node.values():
            yield from _references(part)
    elif isinstance(node, list):
        for part in node:
            yield from _references(part)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_listing_is_the_same_in_every_run(name: str) -> None:
    first, second = anyio.run(listed, name), anyio.run(listed, name)
    assert [json.dumps(tool.spec.input) for tool in first.tools] == [
        json.dumps(tool.spec.input) for tool in second.tools
    ]
    assert [tool.spec.digest for tool in first.tools] == [tool.spec.digest for tool in second.tools]


@pytest.fixture(scope="module")
def api() -> Iterator[MockApi]:
    with serving() as service:
        yield service


def fits(tool: Tool, given: dict[str, Any]) -> bool:
    """Leave out what no request can carry: empty path parts, control characters in headers."""
    inputs = tool.handler.builder.inputs  # type: ignore[attr-defined]
    for argument, parameter in inputs.parameters.items():
        value = given.get(argument)
        if argument not in given:
            continue
        leaves = _leaves(value)
        if parameter.place == "path" and (not leaves or any(leaf in ("", ".", "..") for leaf in leaves)):
            return False
        if parameter.place == "header" and any(
            not leaf.isprintable() or leaf != leaf.strip() or not leaf.isascii() for leaf in leaves
        ):
            return False
        if isinstance(value, list | dict) and any(leaf == "" for leaf in leaves) and parameter.style != "json":
            return False
    return True


def _leaves(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text(part) for part in (*value, *value.values())]
    return [text(part) for part in value] if isinstance(value, list) else [text(value)]


@pytest.mark.slow
@pytest.mark.parametrize("name", DOCUMENTS)
def test_calls_reach_the_service_as_the_description_says(name: str, api: MockApi) -> None:
    """Method, path, query, headers and body, over arguments made from each tool's own schema."""
    base = api.url + "/base/v1"
    tools = {}

    async def main() -> None:
        source = OpenApiSource("api", DOCUMENTS[name], options=Options(base_url=base))
        async with source.session():
            for tool in (await source.listing()).tools:
                tools[tool.spec.meta["pegboard/operation"]] = tool
            for method, path, operation, parameters in operations(name):
                tool = tools[f"{method} {path}"]
                cases = examples(tool)
                for given in cases:
                    api.seen.clear()
                    call = Call(tool=tool.name, arguments=given, mode=Mode.EXECUTE)
                    result = await tool.handler(call)
                    assert result.ok, (tool.name, given, result.failure)
                    check(name, tool, operation, parameters, path, method, given, api.last, "/base/v1")

    anyio.run(main)


def examples(tool: Tool, count: int = 5) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    schema = json.loads(json.dumps(tool.spec.input))
    for extra in ("mode", "max_pages"):
        schema["properties"].pop(extra, None)

    @settings(
        max_examples=count, database=None, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck)
    )
    @given(arguments(schema).filter(lambda value: fits(tool, value)))
    def collect(value: dict[str, Any]) -> None:
        found.append(value)

    collect()
    return found


def check(
    name: str,
    tool: Tool,
    operation: dict[str, Any],
    parameters: list[dict[str, Any]],
    path: str,
    method: str,
    given: dict[str, Any],
    seen: Seen,
    prefix: str,
) -> None:
    assert seen.method == method
    where = {argument: tuple(place) for argument, place in tool.spec.meta.get("pegboard/renamed", {}).items()}
    known = {
        one["name"]: one
        for one in parameters
        if one["in"] in ("path", "query", "header", "cookie") and (one["in"], one["name"]) not in where.values()
    }
    placed: dict[str, dict[str, Any]] = {"path": {}, "query": {}, "header": {}, "cookie": {}, "body": {}}
    for argument, value in given.items():
        place, wire = where.get(argument, (None, argument))
        if place is None:
            place = known[wire]["in"] if wire in known else "body"
        placed[place][wire] = value
    by_key = {(one["in"], one["name"]): one for one in parameters}
    segments = match(path, seen.path.removeprefix(prefix))
    assert set(segments) == set(placed["path"]), (path, seen.path)
    for wire, value in placed["path"].items():
        assert read_simple(by_key["path", wire], value, segments[wire]) == strings(value)
    for wire, value in placed["query"].items():
        if value in ([], {}):
            continue
        want = value if "content" in by_key["query", wire] else strings(value)
        assert read_query(by_key["query", wire], value, seen.pairs) == want, (wire, seen.query)
    assert {key.partition("[")[0] for key, _ in seen.pairs} <= {
        *placed["query"],
        *(key for value in placed["query"].values() if isinstance(value, dict) for key in value),
    } | {wire.partition("[")[0] for wire in placed["query"]}
    for wire, value in placed["header"].items():
        if value in ([], {}, None):
            continue
        assert read_simple(by_key["header", wire], value, seen.header(wire) or "", str) == strings(value)
    for wire, value in placed["cookie"].items():
        if value not in ([], {}):
            assert read_query({**by_key["cookie", wire], "style": "form"}, value, seen.cookies) == strings(value)
    check_body(tool, placed["body"], seen)


def match(template: str, path: str) -> dict[str, str]:
    import re

    template = template.partition("?")[0].partition("#")[0]
    pattern = "".join(
        f"(?P<p{at // 2}>[^/]*)" if at % 2 else re.escape(part)
        for at, part in enumerate(re.split(r"\{([^{}]+)\}", template))
    )
    found = re.fullmatch(pattern, path)
    assert found is not None, (template, path)
    names = re.findall(r"\{([^{}]+)\}", template)
    return {one: found[f"p{at}"] for at, one in enumerate(names)}


def check_body(tool: Tool, given: dict[str, Any], seen: Seen) -> None:
    inputs = tool.handler.builder.inputs  # type: ignore[attr-defined]
    if not given:
        assert seen.body in (b"", b"{}") or seen.kind.startswith("multipart")
        return
    value = given[inputs.body] if inputs.body is not None else given
    if "json" in seen.kind:
        assert json.loads(seen.body) == value
    elif seen.kind == "application/x-www-form-urlencoded":
        pairs = read_form(seen.body)
        for wire, part in value.items():
            listed = [each for key, each in pairs if key == wire]
            if isinstance(part, list):
                want = [text(each) for each in part]
                assert listed == want or listed == [",".join(want)] or not part
            else:
                assert listed == [text(part)]
    elif seen.kind.startswith("multipart/"):
        check_parts(value, seen)
    elif seen.kind.startswith("text/") or seen.kind.endswith("xml"):
        assert seen.body.decode() == value
    else:
        import base64

        assert seen.body == base64.b64decode(value)


def check_parts(value: dict[str, Any], seen: Seen) -> None:
    import base64

    parts = seen.parts()
    for wire, part in value.items():
        own = [(content, kind, file) for name, content, kind, file in parts if name == wire]
        each = part if isinstance(part, list) else [part]
        assert len(own) == len(each)
        for want, (content, kind, file) in zip(each, own, strict=True):
            if file:
                assert content == base64.b64decode(want)
            elif kind == "application/json":
                assert json.loads(content) == want
            else:
                assert content.decode() == text(want)


def test_a_description_of_the_service_itself_is_the_one_that_is_served(api: MockApi) -> None:
    """`openapi = "http://.../openapi.json"` with relative servers, fetched from the service."""
    whole = {**document("petstore-3.0.json"), "servers": [{"url": "/api/v3"}]}

    async def main() -> Result:
        source = OpenApiSource("pets", f"{api.url}/docs/openapi.json")
        async with source.session():
            tools = {tool.name.name: tool for tool in (await source.listing()).tools}
            tool = tools["getPetById"]
            return await tool.handler(Call(tool=tool.name, arguments={"petId": 7}))

    def answer(seen: Seen) -> Any:
        return json_reply(whole if seen.path == "/docs/openapi.json" else {"name": "Rex", "photoUrls": []})

    api.answer = answer
    try:
        result = anyio.run(main)
    finally:
        api.answer = lambda seen: json_reply({})
    assert result.value == {"name": "Rex", "photoUrls": []}
    assert (api.last.method, api.last.path) == ("GET", "/api/v3/pet/7")
