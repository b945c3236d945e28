"""A GraphQL service as tools, against a real executor over HTTP."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from graphql import build_schema, graphql_sync, parse, validate
from mock_api import MockApi, Seen, json_reply, serving

from pegboard.core import Call, Effects, Listing, Mode, Result
from pegboard.errors import SourceError
from pegboard.schema.validate import validator
from pegboard.sources.graphql import GraphqlSource
from pegboard.sources.graphql.source import Options

SDL = """
"A library."
schema { query: Query mutation: Mutation subscription: Subscription }
enum Sort { TITLE YEAR }
input Where { title: String, and: [Where!], year: Int }
interface Node { id: ID! }
type Author implements Node { id: ID!, name: String!, books: [Book!]! }
type Book implements Node { id: ID!, title: String!, year: Int, author: Author!, similar(limit: Int!): [Book!]! }
union Found = Book | Author
scalar Date
type Query {
  "Find books."
  books(where: Where, sort: Sort = TITLE, first: Int! = 10): [Book!]!
  book(id: ID!): Book
  search(text: String!): [Found!]!
  node(id: ID!): Node
  today: Date
  version: String @deprecated(reason: "Use today.")
}
type Mutation {
  addBook(title: String!, on: Date): Book!
  deleteBook(id: ID!): Boolean
  book(id: ID!): Boolean
}
type Subscription { added: Book! }
"""
SCHEMA = build_schema(SDL)
AUTHOR: dict[str, Any] = {"__typename": "Author", "id": "a1", "name": "Ann"}
BOOKS = [{"__typename": "Book", "id": f"b{n}", "title": f"T{n}", "year": 2000 + n, "author": AUTHOR} for n in range(3)]
AUTHOR["books"] = BOOKS


def fail(*_: Any, **__: Any) -> None:
    raise ValueError("no such book")


ROOT: dict[str, Any] = {
    "books": lambda info, where=None, sort=None, first=10: BOOKS[:first],
    "book": lambda info, id: next((book for book in BOOKS if book["id"] == id), None) if id != "bad" else fail(),
    "search": lambda info, text: [BOOKS[0], AUTHOR],
    "node": lambda info, id: AUTHOR,
    "today": "2020-01-01",
    "addBook": lambda info, title, on=None: {**BOOKS[0], "title": title},
    "deleteBook": lambda info, id: fail(),
}


def answer(seen: Seen) -> Any:
    body = json.loads(seen.body)
    result = graphql_sync(SCHEMA, body["query"], ROOT, variable_values=body.get("variables"))
    return json_reply(result.formatted)


@pytest.fixture(scope="module")
def api() -> Iterator[MockApi]:
    with serving(answer) as service:
        yield service


def listed(target: str, **options: Any) -> Listing:
    async def main() -> Listing:
        source = GraphqlSource("lib", target, options=Options(**options))
        async with source.session():
            return await source.listing()

    return anyio.run(main)


def call(api: MockApi, name: str, arguments: dict[str, Any], mode: Mode = Mode.EXECUTE, **options: Any) -> Result:
    async def main() -> Result:
        source = GraphqlSource("lib", api.url, options=Options(**options))
        async with source.session():
            tools = {tool.name.name: tool for tool in (await source.listing()).tools}
            return await tools[name].handler(Call(tool=tools[name].name, arguments=arguments, mode=mode))

    return anyio.run(main)


@pytest.mark.requirement("R7.3", "C13.1")
def test_queries_and_mutations_are_tools_and_subscriptions_are_said(api: MockApi) -> None:
    listing = listed(api.url)
    names = [tool.name.name for tool in listing.tools]
    assert names == ["books", "book", "search", "node", "today", "version", "addBook", "deleteBook", "mutation_book"]
    specs = {tool.name.name: tool.spec for tool in listing.tools}
    assert specs["books"].description == "Find books."
    assert specs["books"].effects is Effects.READ_ONLY
    assert specs["addBook"].effects is Effects.UNKNOWN
    assert specs["deleteBook"].effects is Effects.DESTRUCTIVE
    assert specs["version"].deprecated == "Use today."
    assert any("1 subscriptions (added) are left out" in note.message for note in listing.notes)


def test_arguments_are_schemas_with_recursion_kept(api: MockApi) -> None:
    [books] = [tool.spec for tool in listed(api.url).tools if tool.name.name == "books"]
    judge = validator(books.input)
    assert judge.is_valid({"where": {"and": [{"title": "x", "and": [{"year": None}]}]}, "sort": "YEAR", "first": 2})
    for bad in ({"where": {"and": [{"titel": "x"}]}}, {"sort": "AGE"}, {"first": None}, {"nope": 1}):
        assert not judge.is_valid(bad), bad
    assert books.properties["first"]["default"] == 10
    assert books.input["required"] == []


@pytest.mark.parametrize("depth", [0, 1, 3, 6])
@pytest.mark.parametrize("fields", [1, 5, 60])
def test_every_generated_document_is_valid_whatever_the_budget(depth: int, fields: int, tmp_path: Path) -> None:
    (tmp_path / "s.graphql").write_text(SDL)
    for tool in listed(str(tmp_path / "s.graphql"), depth=depth, fields=fields).tools:
        document = tool.spec.meta["pegboard/upstream_shape"]["document"]
        assert validate(SCHEMA, parse(document)) == [], document


MANY = """
interface Node { id: ID!, owner: Person }
type Person implements Node { id: ID!, owner: Person, name: String! }
type Pear implements Node { id: ID!, owner: Person, size: Int!, near: Person }
type Plum implements Node { id: ID!, owner: Person, size: String, near: Pear }
union Thing = Pear | Plum
input By @oneOf { id: ID, name: String }
type Query { node(id: ID!): Node, thing(by: By!): Thing }
"""


@pytest.mark.parametrize("fields", [1, 4, 60])
def test_an_answer_of_several_types_shows_the_fields_of_each_and_is_valid(fields: int, tmp_path: Path) -> None:
    (tmp_path / "many.graphql").write_text(MANY)
    tools = {tool.name.name: tool.spec for tool in listed(str(tmp_path / "many.graphql"), fields=fields).tools}
    for spec in tools.values():
        document = spec.meta["pegboard/upstream_shape"]["document"]
        assert validate(build_schema(MANY), parse(document)) == []
        assert "__typename" in document
        assert fields < 60 or "size_Plum: size" in document
    judge = validator(tools["thing"].input)
    assert judge.is_valid({"by": {"id": "1"}})
    assert not judge.is_valid({"by": {"id": "1", "name": "x"}})


def test_calls_give_the_fields_own_value(api: MockApi) -> None:
    books = call(api, "books", {"first": 1})
    assert books.value[0]["title"] == "T0"
    assert books.value[0]["author"]["name"] == "Ann"
    assert call(api, "search", {"text": "x"}).value[1]["__typename"] == "Author"
    assert call(api, "today", {}).value == "2020-01-01"
    assert call(api, "book", {"id": "none"}).value is None
    assert call(api, "addBook", {"title": "New"}).value["title"] == "New"


def test_errors_are_failures_with_the_services_words(api: MockApi) -> None:
    failure = call(api, "deleteBook", {"id": "b1"}).failure
    assert failure is not None
    assert "no such book" in failure.message


def test_a_preview_of_a_mutation_is_the_request_unsent(api: MockApi) -> None:
    result = call(api, "deleteBook", {"id": "b1"}, Mode.PREVIEW, auth="tok")
    assert result.value["sent"] is False
    assert result.value["body"]["variables"] == {"id": "b1"}
    assert "deleteBook" in result.value["body"]["query"]
    assert "tok" not in str(result)
    assert "deleteBook" not in api.last.body.decode()


def test_a_schema_file_with_an_endpoint(api: MockApi, tmp_path: Path) -> None:
    (tmp_path / "s.graphql").write_text(SDL)

    async def main() -> Result:
        source = GraphqlSource("lib", str(tmp_path / "s.graphql"), options=Options(endpoint=api.url, auth="tok"))
        async with source.session():
            tool = (await source.listing()).tools[1]
            return await tool.handler(Call(tool=tool.name, arguments={"id": "b2"}, mode=Mode.EXECUTE))

    assert anyio.run(main).value["title"] == "T2"
    assert api.last.header("authorization") == "Bearer tok"


@pytest.mark.parametrize(
    "text", ["type Query {", "", "{}", "{", '{"data": {"__schema": 5}}', "type X { a: Int }\n" * 2]
)
def test_what_is_no_schema_is_said(text: str, tmp_path: Path) -> None:
    (tmp_path / "s.graphql").write_text(text)
    with pytest.raises(SourceError, match=r"s\.graphql"):
        listed(str(tmp_path / "s.graphql"))


@pytest.mark.parametrize(
    "reply", [json_reply({"errors": [{"message": "introspection is off"}]}), (404, {}, b""), json_reply([])]
)
def test_an_endpoint_that_does_not_tell_its_schema_is_said(reply: Any) -> None:
    with serving(lambda seen: reply) as api, pytest.raises(SourceError):
        listed(api.url)
