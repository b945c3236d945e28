"""A tool that is one HTTP request (the shape of Runtype's `external` tools, traces-and-runtype 8.2)."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast
from urllib.parse import quote, urlencode, urlsplit

from pegboard.core import Call, Mode, Report, Result
from pegboard.errors import DefinitionError
from pegboard.schema.types import Json, JsonObject, as_object
from pegboard.sources.http.client import Request
from pegboard.sources.http.exchange import BadArgument, Exchange
from pegboard.sources.templated.fill import Missing, fill, fill_text, placeholders, text_of


@dataclass(frozen=True)
class RequestTemplate:
    """A request with placeholders. In the URL, values are percent-encoded and cannot leave their place.

    Parameters:
        url: its address.
        method: its verb.
        headers: header lines.
        query: the query string, by parameter; a parameter whose argument is not given is left out.
        body: its body: a value to send as JSON, or a text.
    """

    url: str
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    query: JsonObject = field(default_factory=dict[str, Any])
    body: Json = None

    @classmethod
    def read(cls, table: JsonObject, where: str) -> "RequestTemplate":
        """The template that a table describes.

        Raises:
            DefinitionError: it has no address, or one whose host is a placeholder.
        """
        url = str(table.get("url", ""))
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or placeholders(parts.netloc):
            raise DefinitionError(
                f"{url!r} is no web address with a fixed host.", where=where, next_step='Write url = "https://...".'
            )
        body = table.get("body")
        method = str(table.get("method", "POST" if body is not None else "GET")).upper()
        headers = {str(key): str(value) for key, value in as_object(table.get("headers")).items()}
        return cls(url, method, headers, as_object(table.get("query")), body)

    @property
    def names(self) -> list[str]:
        """The placeholders, each once."""
        return placeholders([self.url, dict(self.headers), dict(self.query), self.body])

    @property
    def needed(self) -> list[str]:
        """The placeholders that every request needs."""
        return placeholders([self.url, dict(self.headers)])

    def request(self, arguments: JsonObject) -> Request:
        """The request for these arguments. Raises `BadArgument` where one cannot stand in its place."""
        path, mark, query = self.url.partition("?")
        try:
            for name in placeholders(path):
                if text_of(arguments.get(name, "")) in ("", ".", ".."):
                    raise BadArgument(name, "It cannot stand in a path.", "Give the identifier of one thing.")
            url = fill_text(path, arguments, lambda text: quote(text, safe=""))
            url += mark + fill_text(query, arguments, lambda text: quote(text, safe=""))
            headers = tuple((key, _line(key, fill_text(value, arguments))) for key, value in self.headers.items())
        except Missing as error:
            raise BadArgument(str(error.args[0]), "It is needed and was not given.") from None
        given = cast("dict[str, Json]", fill(dict(self.query), arguments))
        if given:
            pairs = urlencode({key: text_of(value) for key, value in given.items() if value is not None})
            url += ("&" if mark else "?") + pairs
        return self._with_body(Request(method=self.method, url=url, headers=headers), arguments)

    def _with_body(self, request: Request, arguments: JsonObject) -> Request:
        if self.body is None:
            return request
        try:
            value = fill(self.body, arguments)
        except Missing as error:
            raise BadArgument(str(error.args[0]), "It is needed and was not given.") from None
        given = {name.lower(): text for name, text in request.headers}
        is_text = isinstance(value, str) and "json" not in given.get("content-type", "")
        content = value if is_text else json.dumps(value, ensure_ascii=False)
        kind = "text/plain; charset=utf-8" if is_text else "application/json"
        headers = request.headers if "content-type" in given else (*request.headers, ("Content-Type", kind))
        return Request(
            method=request.method,
            url=request.url,
            headers=headers,
            body=content.encode("utf-8", "replace"),
            shown=value,
        )


@dataclass(frozen=True)
class RequestRun:
    """The handler of a tool that is one request."""

    template: RequestTemplate
    exchange: Exchange

    async def __call__(self, call: Call) -> Result:
        """Fill the template and send the request; a preview shows it unsent."""
        if call.mode is Mode.SCHEMA:
            shape = {"method": self.template.method, "url": self.template.url, "body": self.template.body}
            return Result(value=shape, mode=Mode.SCHEMA, report=Report(notes=("Nothing was called.",)))
        return await self.exchange.run(call, lambda: self.template.request(call.arguments))


def _line(name: str, text: str) -> str:
    if any(ord(char) < 32 or ord(char) == 127 for char in text):
        raise BadArgument(name, "A header cannot hold line breaks or control characters.")
    return text
