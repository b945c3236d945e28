"""An HTTP request of a flow as one of a source: its templates become arguments, its secrets references."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast
from urllib.parse import urlsplit

from pegboard.config.clients.secret import is_secret, variable_name
from pegboard.config.runtype.finding import Findings, Weight
from pegboard.config.runtype.javascript import Part
from pegboard.config.runtype.template import SECRET, At, hole
from pegboard.schema.types import Json, JsonObject, as_object
from pegboard.sources.http.address import is_public

_HOLE = re.compile(r"\{\{(.*?)\}\}", re.S)
_NUMERIC = re.compile(r"[\da-f:]+:[\da-f:.]*|(0x[\da-f]+|\d+)(\.(0x[\da-f]+|\d+))*")
"""An address in numbers, in any of the spellings that a resolver takes."""
_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")
_KEYS = ("url", "method", "headers", "body", "query")


@dataclass
class Request:
    """A request with placeholders.

    Parameters:
        table: as the key `http` of a source takes it.
        args: the placeholders, each with what it reads in the chain.
        auth: as the key `auth` of a source takes it; None for none.
    """

    table: dict[str, Json] = field(default_factory=dict[str, Json])
    args: dict[str, Json] = field(default_factory=dict[str, Json])
    auth: Json = None


class RequestReader:
    """Reads the request of one step.

    Parameters:
        read: how a path reads in our language.
        findings: hears of what cannot be taken over.
        label: what variables of secrets are called after.
        private: whether private addresses may be asked.
    """

    def __init__(
        self, read: Callable[[str, tuple[Part, ...]], str], findings: Findings, label: str, *, private: bool
    ) -> None:
        self._read, self._findings, self._label, self._private = read, findings, label, private
        self._found = Request()

    def request(self, http: Json, at: At) -> Request:
        """The request of a table `{url, method, headers, body}`."""
        table = as_object(http)
        url = table.get("url")
        if not isinstance(url, str) or not url:
            self._findings.refuse("REQUEST_WITHOUT_URL", (*at, "url"), "It names no address.", 'Write "url".')
            return self._found
        for key in table:
            if key not in _KEYS:
                self._findings.say(
                    Weight.DROPPED, "KEY_WITHOUT_EFFECT", (*at, key), f"{key!r} has no effect on a request here."
                )
        found = self._found.table
        found["url"] = self._text(url, (*at, "url"))
        self._check_host(str(found["url"]), (*at, "url"))
        found["method"] = self._method(table, at)
        headers = self._headers(as_object(table.get("headers")), (*at, "headers"))
        if headers:
            found["headers"] = headers
        if table.get("query"):
            found["query"] = self._value(table["query"], (*at, "query"))
        if table.get("body") is not None:
            found["body"] = self._body(table["body"], (*at, "body"))
        return self._found

    def sign(self, auth: Json, at: At) -> None:
        """Take over the credentials of a table `{type, ...}`."""
        table = as_object(auth)
        kind = str(table.get("type", "none"))
        if kind == "none":
            return
        if kind == "bearer":
            self._found.auth = self._secret("token", table.get("token"), at)
        elif kind == "basic":
            user = str(table.get("username") or "")
            self._found.auth = {"username": user, "password": self._secret("password", table.get("password"), at)}
        elif kind in ("api_key", "custom_header"):
            name = str(table.get("headerName") or "X-API-Key")
            key = "token" if table.get("token") is not None else "value" if "value" in table else "apiKey"
            self._found.auth = {"header": name, "value": self._secret(key, table.get(key), at)}
        else:
            self._findings.refuse(
                "AUTH_UNSUPPORTED",
                (*at, "type"),
                f"{kind!r} is no kind of credentials that is taken over.",
                "Use bearer, basic, api_key or custom_header.",
            )

    def _method(self, table: JsonObject, at: At) -> str:
        method = str(table.get("method") or "GET").upper()
        if method not in _METHODS:
            self._findings.refuse(
                "METHOD_UNKNOWN", (*at, "method"), f"{method!r} is no method.", f"Use {', '.join(_METHODS[:5])}."
            )
        return method

    def _headers(self, headers: JsonObject, at: At) -> dict[str, Json]:
        kept: dict[str, Json] = {}
        for name, value in headers.items():
            text = str(value)
            if self._found.auth is None and SECRET.search(text) and not _HOLE.search(SECRET.sub("", text)):
                self._found.auth = {"header": name, "value": referring(text)}
            elif is_secret(name, text) and "{{" not in text:
                self._found.auth = {"header": name, "value": self._secret(name, text, (*at, name), keep_scheme=True)}
            else:
                kept[name] = self._text(text, (*at, name))
        return kept

    def _secret(self, key: str, value: Json, at: At, *, keep_scheme: bool = False) -> str:
        text = "" if value is None else str(value)
        if SECRET.fullmatch(text):
            return referring(text)
        if not text:
            self._findings.refuse("SECRET_MISSING", (*at, key), "It names no secret.", "Write {{secret:KEY}}.")
        scheme = re.match(r"(?i)(bearer|basic|token)\s+", text) if keep_scheme else None
        variable = variable_name(f"{self._label}_{key}")
        return self._findings.secret(at if keep_scheme else (*at, key), variable, scheme[0] if scheme else "")

    def _text(self, text: str, at: At) -> str:
        """A text with placeholders of ours; each stands for an argument."""

        def put(found: re.Match[str]) -> str:
            if SECRET.fullmatch(found[0]):
                return "\0{env:" + found[1].strip().removeprefix("secret:") + "}"
            path = hole(found[0], found[1], self._findings, at)
            return found[0] if path is None else f"{{{{{self._argument(path)}}}}}"

        return _HOLE.sub(put, text).replace("${", "$${").replace("\0{", "${")

    def _argument(self, path: tuple[str, tuple[Part, ...]]) -> str:
        name = re.sub(r"\W+", "_", "_".join(map(str, (path[0], *path[1])))).strip("_") or "value"
        name = f"_{name}" if name[0].isdigit() else name
        value = f"${{{self._read(path[0], path[1])}}}"
        found, number = name, 1
        while self._found.args.get(found, value) != value:
            number += 1
            found = f"{name}_{number}"
        self._found.args[found] = value
        return found

    def _body(self, body: Json, at: At) -> Json:
        """A body as JSON where it is one: a text of a flow often is JSON with templates in it."""
        return self._value(body, at)

    def _value(self, value: Json, at: At) -> Json:
        if isinstance(value, str):
            return self._text(value, at)
        if isinstance(value, Mapping):
            rows = cast("Mapping[str, Any]", value)
            return {key: self._value(part, (*at, key)) for key, part in rows.items() if self._given(part, (*at, key))}
        if isinstance(value, list):
            parts = cast("list[Any]", value)
            return [self._value(part, (*at, n)) for n, part in enumerate(parts) if self._given(part, (*at, n))]
        return value

    def _given(self, value: Json, at: At) -> bool:
        if value is None:
            self._findings.say(
                Weight.CHANGED, "NULL_LEFT_OUT", at, "null is left out of the request: a config has no null."
            )
        return value is not None

    def _check_host(self, url: str, at: At) -> None:
        parts = urlsplit(url)
        host = (parts.hostname or "").lower()
        if parts.scheme not in ("http", "https") or not host or "{{" in parts.netloc or "${" in parts.netloc:
            self._findings.refuse(
                "HOST_NOT_FIXED", at, f"{url!r} is no web address with a fixed host.", "Write out the host."
            )
        elif not self._private and looks_private(host):
            self._findings.refuse(
                "PRIVATE_ADDRESS",
                at,
                f"{host} is no public address, and a document may not send requests there.",
                "If you want that, import with --allow-private.",
            )


def looks_private(host: str) -> bool:
    """Whether a host is one of this machine or of a network of its own, as far as its name tells."""
    if host == "localhost" or host.endswith((".localhost", ".local", ".internal", ".lan", ".home.arpa")):
        return True
    if re.fullmatch(r"[\d.]+|[\da-f:]+:[\da-f:.]*", host) or re.fullmatch(
        r"(0x[\da-f]+|\d+)(\.(0x[\da-f]+|\d+))*", host
    ):
        return not is_public(host)
    return "." not in host


def referring(text: str) -> str:
    """A text with our references in the place of Runtype's; what else looks like one is escaped."""
    return SECRET.sub(lambda found: f"\0{{env:{found[1]}}}", text).replace("${", "$${").replace("\0{", "${")
