"""From the arguments of a call to a request."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast
from urllib.parse import quote, urljoin, urlsplit

from pegboard.schema.types import Json, JsonObject, Schema, as_object
from pegboard.sources.http.client import Request
from pegboard.sources.http.exchange import BadArgument
from pegboard.sources.openapi.inputs import Inputs
from pegboard.sources.openapi.operation import Body, Operation
from pegboard.sources.openapi.payload import payload_of
from pegboard.sources.openapi.serialize import in_cookie, in_header, in_path, in_query


@dataclass(frozen=True, slots=True)
class Builder:
    """Makes the requests of one operation.

    Parameters:
        operation: the operation.
        inputs: its arguments.
        base: the URL that its path is relative to; empty where none is known.
    """

    operation: Operation
    inputs: Inputs
    base: str

    def build(self, arguments: JsonObject) -> Request:
        """The request for these arguments.

        Raises:
            BadArgument: an argument cannot stand where it belongs, or there is no server to send it to.
        """
        if not self.base:
            raise BadArgument("", "The description names no server.", "The operator sets base_url for this source.")
        path, query = self.operation.path, list[str]()
        headers: list[tuple[str, str]] = [("Accept", _accept(self.operation))]
        cookies: list[str] = []
        for name, parameter in self.inputs.parameters.items():
            if name not in arguments or (arguments[name] is None and parameter.place != "query"):
                continue
            value = arguments[name]
            match parameter.place:
                case "path":
                    path = path.replace(f"{{{parameter.name}}}", in_path(parameter, name, value))
                case "header":
                    headers.append((parameter.name, in_header(parameter, name, value)))
                case "cookie":
                    cookies += in_cookie(parameter, value)
                case _:
                    query += in_query(parameter, value)
        if cookies:
            headers.append(("Cookie", "; ".join(cookies)))
        return self._with_body(
            Request(method=self.operation.method, url=self._url(path, query), headers=tuple(headers)), arguments
        )

    def _url(self, path: str, query: list[str]) -> str:
        # A key of `paths` may hold a query string or fragment of its own, as some vendors write them.
        path, _, own = path.partition("?")
        path = re.sub(r"\{[^{}]*\}", "", path.partition("#")[0])
        base, _, always = self.base.partition("#")[0].partition("?")
        joined = base.rstrip("/") + "/" + quote(path.lstrip("/"), safe="/%:@!$&'()*+,;=~-._")
        pieces = [piece for piece in (always, own.partition("#")[0], *query) if piece]
        return joined + ("?" + "&".join(pieces) if pieces else "")

    def _with_body(self, request: Request, arguments: JsonObject) -> Request:
        body = self.operation.body
        if body is None:
            return request
        value, name, properties = self._content(body, arguments)
        if value is None and not (name and name in arguments and body.kind == "json"):
            return request
        payload = payload_of(body, value, name, properties)
        headers = (*request.headers, ("Content-Type", payload.content_type))
        return Request(
            method=request.method, url=request.url, headers=headers, body=payload.content, shown=payload.shown
        )

    def _content(self, body: Body, arguments: JsonObject) -> tuple[Json, str, Mapping[str, Schema]]:
        inputs = self.inputs
        if inputs.body is not None:
            return arguments.get(inputs.body), inputs.body, as_object(body.schema.get("properties"))
        value = {inputs.fields[name]: part for name, part in arguments.items() if name in inputs.fields}
        if inputs.open:
            known = {*inputs.fields, *inputs.parameters}
            value |= {name: part for name, part in arguments.items() if name not in known}
        properties = {wire: as_object(inputs.schema["properties"][name]) for name, wire in inputs.fields.items()}
        if not value and not body.required:
            return None, "", properties
        return value, "", cast("Mapping[str, Schema]", properties)


def _accept(operation: Operation) -> str:
    kinds = sorted(operation.accepts, key=lambda kind: "json" not in kind)
    return ", ".join([*kinds[:4], "*/*;q=0.1"]) if kinds and "*/*" not in kinds else "application/json, */*;q=0.5"


def base_url(servers: tuple[str, ...], document: str, override: str | None) -> str:
    """The URL that paths are relative to: the operator's, else the first server, relative to the document's address.

    Parameters:
        servers: the URLs that the description gives, as written.
        document: the document's address; a file's gives no server.
        override: the operator's `base_url`.
    """
    if override:
        return override
    for server in servers or ("/",):
        url = urljoin(document, server) if document.startswith(("http://", "https://")) else server
        parts = urlsplit(f"https:{url}" if url.startswith("//") else url)
        if parts.scheme in ("http", "https") and parts.hostname:
            return parts.geturl()
    return ""
