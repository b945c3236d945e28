"""Credentials, put on a request after everything else: they are in no schema, no preview and no trace."""

import time
from base64 import b64encode
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, cast
from urllib.parse import quote, urlencode

import anyio

from pegboard.errors import ConfigError, SourceError
from pegboard.schema.types import JsonObject, as_object
from pegboard.sources.http.client import Request, SafeClient

_EARLY = 30.0
"""Seconds before its end at which a token counts as spent."""


class Credential(Protocol):
    """Something that signs requests."""

    async def sign(self, request: Request, client: SafeClient) -> Request:
        """The request with the credential on it. Raises `SourceError` where none can be had."""
        ...

    def spent(self) -> bool:
        """Told that a request was refused with 401; whether another attempt with a new credential makes sense."""
        ...


@dataclass(frozen=True, slots=True)
class Fixed:
    """A credential that does not change.

    Parameters:
        place: `header`, `query` or `cookie`.
        name: the header's, parameter's or cookie's name.
        value: what stands there.
    """

    place: str
    name: str
    value: str = field(repr=False)

    async def sign(self, request: Request, client: SafeClient) -> Request:
        """Put it there."""
        match self.place:
            case "query":
                return replace(request, query_secrets={**request.query_secrets, self.name: self.value})
            case "cookie":
                before = [value for name, value in request.headers if name.lower() == "cookie"]
                line = "; ".join([*before, f"{self.name}={quote(self.value, safe='')}"])
                return request.with_header("cookie", line, secret=True)
            case _:
                return request.with_header(self.name, self.value, secret=True)

    def spent(self) -> bool:
        """There is no other."""
        return False


def bearer(token: str) -> Fixed:
    """A bearer token (RFC 6750)."""
    return Fixed("header", "Authorization", f"Bearer {token}")


def basic(user: str, password: str) -> Fixed:
    """User name and password (RFC 7617)."""
    return Fixed("header", "Authorization", "Basic " + b64encode(f"{user}:{password}".encode()).decode())


@dataclass
class ClientCredentials:
    """OAuth 2 client credentials (RFC 6749 section 4.4): a token is fetched when needed, and again when it is spent.

    Parameters:
        token_url: where tokens come from.
        client_id: who asks.
        client_secret: the secret.
        scopes: what for.
    """

    token_url: str
    client_id: str
    client_secret: str = field(repr=False)
    scopes: tuple[str, ...] = ()
    _token: str | None = field(default=None, repr=False)
    _until: float = 0.0
    _lock: anyio.Lock = field(default_factory=anyio.Lock, repr=False)

    async def sign(self, request: Request, client: SafeClient) -> Request:
        """Put a valid token on the request.

        Raises:
            SourceError: the token endpoint gave none.
        """
        async with self._lock:
            if self._token is None or time.monotonic() > self._until:
                await self._fetch(client)
        return request.with_header("Authorization", f"Bearer {self._token}", secret=True)

    def spent(self) -> bool:
        """Forget the token; a new one may work."""
        had, self._token = self._token, None
        return had is not None

    async def _fetch(self, client: SafeClient) -> None:
        import json

        from pegboard.core import Effects
        from pegboard.sources.http.failure import BROKEN, broken

        form = {"grant_type": "client_credentials", **({"scope": " ".join(self.scopes)} if self.scopes else {})}
        signed = await basic(quote(self.client_id, safe=""), quote(self.client_secret, safe="")).sign(
            Request(
                method="POST",
                url=self.token_url,
                headers=(("Content-Type", "application/x-www-form-urlencoded"), ("Accept", "application/json")),
                body=urlencode(form).encode(),
            ),
            client,
        )
        try:
            answer = await client.send(signed)
        except BROKEN as error:
            raise self._fault(broken(error, Effects.READ_ONLY).message) from error
        try:
            found = cast("JsonObject", json.loads(answer.text))
            self._token = str(found["access_token"])
            lives = float(found.get("expires_in", 300))
        except (ValueError, KeyError, TypeError, AttributeError):
            raise self._fault(f"it answered {answer.status} and gave no access_token.") from None
        self._until = time.monotonic() + max(0.0, lives - _EARLY)

    def _fault(self, message: str) -> SourceError:
        return SourceError(
            f"The token endpoint gave no token: {message}",
            where=self.token_url,
            next_step="Check client_id, client_secret, scopes and token_url in `auth`.",
        )


def credential(value: Any, *, where: str, token_url: str | None = None, scopes: tuple[str, ...] = ()) -> Credential:
    """A credential as the config writes it, for a service that says no more about it.

    A text is a bearer token, or the whole `Authorization` header where it has a space. A table is one of
    `{ token }`, `{ username, password }`, `{ header, value }`, `{ query, value }`, `{ cookie, value }`,
    `{ client_id, client_secret, token_url, scopes }`.

    Parameters:
        value: the text or table, its references replaced.
        where: the key, for errors.
        token_url: where tokens come from, if the document says so.
        scopes: what for, if the document says so.

    Raises:
        ConfigError: it is none of these.
    """
    if isinstance(value, str):
        return Fixed("header", "Authorization", value) if " " in value.strip() else bearer(value.strip())
    table = as_object(value)
    if "client_id" in table and "client_secret" in table and (url := table.get("token_url") or token_url):
        wanted: Any = table.get("scopes", scopes)
        listed = tuple(wanted.split()) if isinstance(wanted, str) else tuple(map(str, wanted))
        return ClientCredentials(str(url), str(table["client_id"]), str(table["client_secret"]), listed)
    if "username" in table and "password" in table:
        return basic(str(table["username"]), str(table["password"]))
    if "token" in table:
        return bearer(str(table["token"]))
    for place in ("header", "query", "cookie"):
        if place in table and "value" in table:
            return Fixed(place, str(table[place]), str(table["value"]))
    raise ConfigError(
        "This is no credential.",
        where=where,
        next_step="Write a token, or a table with token; username and password; header (or query, cookie) and value; "
        "or client_id, client_secret and token_url.",
    )
