"""A GraphQL endpoint as a source."""

import json
import re
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread

from pegboard.core import (
    Call,
    Effects,
    Failure,
    FailureCode,
    Health,
    Listing,
    Mode,
    Note,
    NoteKind,
    Report,
    Result,
    Rung,
    SourceRef,
    SourceState,
    Tool,
    ToolName,
    ToolSpec,
)
from pegboard.core.mode import with_modes, with_own_modes
from pegboard.errors import MissingExtraError, SourceError
from pegboard.schema.repair import repair
from pegboard.schema.types import Json, JsonObject, as_list, as_object
from pegboard.sources.http.address import Allowance
from pegboard.sources.http.answer import result_of
from pegboard.sources.http.auth import credential
from pegboard.sources.http.client import TIMEOUT, Request, SafeClient
from pegboard.sources.http.exchange import Exchange
from pegboard.sources.http.probe import reachable

if TYPE_CHECKING:
    from graphql import GraphQLSchema

MAX_FIELDS = 2_000
_DESTROYS = re.compile(r"(?:^|_)(?:delete|remove|destroy|purge|revoke|archive|cancel|drop|clear)", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Options:
    """How an endpoint becomes a source.

    Parameters:
        endpoint: where requests go, where the target is a schema file.
        auth: credentials of every request.
        headers: header lines of every request.
        allow_private: whether requests may be redirected to private addresses.
        depth: how many levels of objects an answer shows.
        fields: how many fields an answer shows at most.
        seconds: how long one request may take.
    """

    endpoint: str | None = None
    auth: Any = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    allow_private: bool = False
    depth: int = 3
    fields: int = 60
    seconds: float = TIMEOUT


class GraphqlSource:
    """The queries and mutations of a GraphQL endpoint.

    Parameters:
        name: the source's name.
        target: the endpoint's address (it is asked for its schema), or a file with the schema (SDL or introspection).
        prefix: the namespace of its tools; the source's name by default.
        options: see `Options`.
    """

    kind = "graphql"

    def __init__(self, name: str, target: str, *, prefix: str | None = None, options: Options | None = None) -> None:
        self.name = name
        self._target = target
        self._namespace = name if prefix is None else prefix
        self._options = options or Options()
        self._endpoint = self._options.endpoint or (target if target.startswith(("http://", "https://")) else "")
        self._allowance = Allowance.of([self._endpoint], private=self._options.allow_private)
        self._exchange: Exchange | None = None
        self._ended = anyio.Event()

    @asynccontextmanager
    async def session(self) -> AsyncGenerator[None]:
        """Hold connections open."""
        self._ended = anyio.Event()
        options = self._options
        signing = () if options.auth is None else (credential(options.auth, where=f"sources.{self.name}.auth"),)
        async with SafeClient(self._allowance, timeout=options.seconds) as client:
            self._exchange = Exchange(client, signing, Effects.READ_ONLY)
            try:
                yield
            finally:
                self._exchange = None
                self._ended.set()

    async def listing(self) -> Listing:
        """A tool for each query and mutation; subscriptions are left out and said.

        Raises:
            SourceError: the schema cannot be had, or is none.
        """
        try:
            import graphql  # noqa: F401  # pyright: ignore[reportUnusedImport]
        except ImportError:
            raise MissingExtraError("graphql", feature="GraphQL") from None
        if self._endpoint == self._target:
            answer = await self._introspected()
            return await anyio.to_thread.run_sync(lambda: self._listing(_from_introspection(answer, self._target)))
        return await anyio.to_thread.run_sync(lambda: self._listing(_from_file(Path(self._target))))

    async def health(self) -> Health:
        """Whether the endpoint can be connected to."""
        if self._exchange is None:
            return Health(SourceState.IDLE)
        reason = await reachable(self._endpoint, self._allowance) if self._endpoint else "It has no endpoint."
        return Health(SourceState.READY) if reason is None else Health(SourceState.UNAVAILABLE, reason)

    async def changes(self) -> AsyncIterator[None]:
        """A schema does not tell of changes."""
        await self._ended.wait()
        for nothing in ():
            yield nothing

    async def _introspected(self) -> JsonObject:
        from graphql import get_introspection_query

        if self._exchange is None:
            raise SourceError("The source is not open.", where=self.name, next_step="Enter its session first.")
        query = get_introspection_query(descriptions=True)
        answer = await self._exchange.send(self._request({"query": query}))
        if isinstance(answer, Failure):
            raise SourceError(answer.message, where=self._target, next_step=answer.next_step)
        value = as_object(result_of(answer).value)
        if "data" not in value:
            raise SourceError(
                f"It did not tell its schema (status {answer.status}).",
                where=self._target,
                next_step="Give the schema as a file and set endpoint.",
            )
        return as_object(value["data"])

    def _request(self, body: JsonObject) -> Request:
        headers = (("Content-Type", "application/json"), ("Accept", "application/json"), *self._options.headers.items())
        return Request(
            method="POST", url=self._endpoint, headers=headers, body=json.dumps(body).encode(), shown=dict(body)
        )

    def _listing(self, schema: "GraphQLSchema") -> Listing:
        notes: list[Note] = []
        tools: list[Tool] = []
        root: Any
        for word, root in (("query", schema.query_type), ("mutation", schema.mutation_type)):
            fields: dict[str, Any] = dict(root.fields) if root else {}
            for name, found in list(fields.items())[:MAX_FIELDS]:
                try:
                    tools.append(self._tool(schema, word, name, found, {str(tool.name) for tool in tools}, notes))
                except (RecursionError, ValueError, TypeError, AttributeError) as error:
                    message = f"It cannot be read: {type(error).__name__}: {error}"
                    notes.append(Note(NoteKind.SET_ASIDE, name, f"/{word}", message))
        if schema.subscription_type:
            names = ", ".join(list(schema.subscription_type.fields)[:5])
            count = len(schema.subscription_type.fields)
            message = f"{count} subscriptions ({names}) are left out: a call has one answer."
            notes.append(Note(NoteKind.WARNING, None, "/subscription", message))
        return Listing(tuple(tools), tuple(notes), schema.description or "")

    def _tool(
        self, schema: "GraphQLSchema", word: str, name: str, found: Any, taken: set[str], notes: list[Note]
    ) -> Tool:
        from pegboard.sources.graphql.types import Inputs, Selection

        inputs, selection = Inputs(), Selection(schema, depth=self._options.depth, budget=self._options.fields)
        arguments = inputs.arguments(found)
        variables = ", ".join(f"${key}: {argument.type}" for key, argument in found.args.items())
        passed = ", ".join(f"{key}: ${key}" for key in found.args)
        head = f"{word}{f'({variables})' if variables else ''}"
        document = f"{head} {{ {name}{f'({passed})' if passed else ''} {selection.of(found.type)} }}"
        if selection.cut:
            notes.append(Note(NoteKind.WARNING, name, f"/{word}/{name}", "Its answer shows a part of the fields."))
        whole = {**arguments, **({"$defs": inputs.defs} if inputs.defs else {})}
        full = ToolName(self._namespace, name)
        full = full if str(full) not in taken else ToolName(self._namespace, f"{word}_{name}")
        effects = _effects(word, name)
        spec = ToolSpec(
            name=full,
            description=(found.description or f"{word.capitalize()} {name}; gives {found.type}.").strip(),
            input=repair(whole).schema,
            effects=effects,
            rung=Rung.LOW,
            category=word,
            deprecated=found.deprecation_reason,
            meta={"pegboard/upstream_shape": {"document": document, "arguments": variables}},
            source=SourceRef(self.name, self.kind),
        )
        handler = _Run(self, document, name, effects)
        own = [Mode.DRY_RUN] if effects is Effects.READ_ONLY else [Mode.PREVIEW, Mode.DRY_RUN]
        moded = with_modes(spec, own) if effects is Effects.DESTRUCTIVE else with_own_modes(spec, own)
        return Tool(moded, handler)


@dataclass(frozen=True)
class _Run:
    """The handler of one query or mutation."""

    source: GraphqlSource
    document: str
    name: str
    effects: Effects

    async def __call__(self, call: Call) -> Result:
        source = self.source
        exchange = source._exchange  # pyright: ignore[reportPrivateUsage]
        mode = call.mode or Mode.EXECUTE
        if exchange is None or not source._endpoint:  # pyright: ignore[reportPrivateUsage]
            return Result.failed(FailureCode.UNAVAILABLE, "There is no endpoint.", next_step="Set endpoint.")
        body = {"query": self.document, "variables": dict(call.arguments)}
        request = source._request(body)  # pyright: ignore[reportPrivateUsage]
        signed = Exchange(exchange.client, exchange.credentials, self.effects)
        result = await signed.run(call, lambda: request)
        return self._read(result) if mode is Mode.EXECUTE else result

    def _read(self, result: Result) -> Result:
        """The field's own value; errors beside it are notes, errors in its place a failure (GraphQL 7.1)."""
        refused = result.failure.details.get("body") if result.failure is not None else None
        answer = as_object(result.value if result.ok else refused)
        errors = [str(as_object(error).get("message", error)) for error in as_list(answer.get("errors"))]
        data = as_object(answer.get("data")).get(self.name)
        if errors and data is None:
            failure = Failure(
                FailureCode.FAILED,
                f"The service answered: {'; '.join(errors)[:1_000]}",
                next_step="Correct the arguments as it says, and call again.",
                details={"errors": as_list(answer.get("errors"))},
            )
            return Result(failure=failure)
        if not result.ok:
            return result
        return Result(value=data, report=Report(notes=tuple(errors)) if errors else None)


def _effects(word: str, name: str) -> Effects:
    if word == "query":
        return Effects.READ_ONLY
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    return Effects.DESTRUCTIVE if _DESTROYS.search(spaced) else Effects.UNKNOWN


def _from_introspection(data: Json, where: str) -> "GraphQLSchema":
    from graphql import build_client_schema

    try:
        return build_client_schema(data)
    except Exception as error:  # the library raises many kinds for what is no schema
        raise SourceError(f"This is no GraphQL schema: {error}", where=where) from error


def _from_file(path: Path) -> "GraphQLSchema":
    from graphql import GraphQLError, build_schema

    try:
        text = path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise SourceError(f"It cannot be read: {error}.", where=str(path), next_step="Correct the path.") from error
    if text.lstrip().startswith("{"):
        try:
            value = as_object(json.loads(text))
        except ValueError as error:
            raise SourceError(f"It is not valid JSON: {error}.", where=str(path)) from error
        return _from_introspection(value.get("data", value), str(path))
    try:
        return build_schema(text)
    except (GraphQLError, TypeError, RecursionError) as error:
        raise SourceError(f"This is no GraphQL schema: {error}", where=str(path), next_step="Correct it.") from error
