"""Signing in from a machine without a browser: the device authorization grant (RFC 8628)."""

import time
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import urlsplit

import anyio
import httpx2
from mcp.client.auth.utils import (
    build_oauth_authorization_server_metadata_discovery_urls,
    build_protected_resource_metadata_discovery_urls,
    extract_resource_metadata_from_www_auth,
    extract_scope_from_www_auth,
)

from pegboard.errors import SourceError
from pegboard.schema.types import as_list, as_object
from pegboard.wire.oauth.keeper import renewed, signed, told
from pegboard.wire.oauth.login import HEADERS, NAME, PING, Registration, unwanted
from pegboard.wire.oauth.signin import SignIn, server_key

GRANT = "urn:ietf:params:oauth:grant-type:device_code"


@dataclass(frozen=True, slots=True)
class DeviceCode:
    """What a person enters, and where.

    Parameters:
        code: the code to enter.
        page: where to enter it.
        whole: the page with the code in it already, where the server has one.
        seconds: how long it can be entered.
    """

    code: str
    page: str
    whole: str | None
    seconds: float


async def sign_in_on_another_device(
    url: str,
    *,
    registration: Registration,
    show: Callable[[DeviceCode], Awaitable[None]],
    transport: httpx2.AsyncBaseTransport,
    sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
) -> SignIn | None:
    """Sign in to a server with a code that a person enters elsewhere.

    Parameters:
        url: the server's address.
        registration: as whom.
        show: shows the code.
        transport: what requests go over; it is closed at the end.
        sleep: waits some seconds between two questions.

    Returns:
        The sign-in; None where the server wants none.

    Raises:
        SourceError: it did not come about, or the server has no such way.
    """
    async with httpx2.AsyncClient(transport=transport, timeout=30, headers=HEADERS) as client:
        try:
            return await _Device(url, registration, client, sleep).run(show)
        except httpx2.HTTPError as problem:
            words = " ".join(str(problem).split())[:300] or type(problem).__name__
            raise SourceError(f"The sign-in failed: {words.rstrip('.')}.", where=url) from None


@dataclass
class _Device:
    url: str
    registration: Registration
    client: httpx2.AsyncClient
    sleep: Callable[[float], Awaitable[None]]

    async def run(self, show: Callable[[DeviceCode], Awaitable[None]]) -> SignIn | None:
        refused = await self.client.post(self.url, json=PING)
        if refused.status_code != 401:
            return unwanted(self.url, refused.status_code)
        about = await self._first(
            build_protected_resource_metadata_discovery_urls(extract_resource_metadata_from_www_auth(refused), self.url)
        )
        servers = [text for text in as_list(about.get("authorization_servers")) if isinstance(text, str)]
        server = await self._first(
            build_oauth_authorization_server_metadata_discovery_urls(servers[0] if servers else None, self.url)
        )
        held = await self._registered(server, about)
        scope = self._scope(extract_scope_from_www_auth(refused), about)
        started = await self._start(server, held, scope)
        await show(started[0])
        return await self._poll(held, *started)

    async def _first(self, urls: Iterable[str]) -> dict[str, Any]:
        for each in urls:
            answer = await self.client.get(each)
            with suppress(ValueError):
                if answer.status_code == 200 and isinstance(found := answer.json(), dict):
                    return cast("dict[str, Any]", found)
        return {}

    def _scope(self, challenged: str | None, about: dict[str, Any]) -> str | None:
        offered = [text for text in as_list(about.get("scopes_supported")) if isinstance(text, str)]
        wanted = challenged.split() if challenged is not None else offered
        return " ".join(dict.fromkeys([*wanted, *self.registration.scopes])) or None

    async def _registered(self, server: dict[str, Any], about: dict[str, Any]) -> SignIn:
        """A sign-in without a token yet, that says who we are and where tokens are had."""
        if not server.get("device_authorization_endpoint") or not server.get("token_endpoint"):
            raise SourceError(
                "The sign-in server takes no codes from other devices (no device_authorization_endpoint).",
                where=self.url,
                next_step="Sign in with a browser: leave out --device, or use --paste.",
            )
        known = self.registration
        client = {"client_id": known.client_id, "client_secret": known.client_secret}
        if known.client_id is None:
            client = await self._register(str(server.get("registration_endpoint") or ""))
        return SignIn(
            server=server_key(self.url),
            access_token="-",
            resource=str(about.get("resource") or server_key(self.url)),
            issuer=str(server.get("issuer") or "") or None,
            token_endpoint=str(server["token_endpoint"]),
            revocation_endpoint=str(server.get("revocation_endpoint") or "") or None,
            client_id=str(client["client_id"]),
            client_secret=str(client.get("client_secret") or "") or None,
            client_auth=str(client.get("token_endpoint_auth_method") or "") or None,
        )

    async def _register(self, endpoint: str) -> dict[str, Any]:
        wanted = {"client_name": NAME, "grant_types": [GRANT, "refresh_token"], "token_endpoint_auth_method": "none"}
        answer = await self.client.post(endpoint, json=wanted) if endpoint else None
        found = _object(answer) if answer is not None else {}
        if not isinstance(found.get("client_id"), str):
            raise SourceError(
                f"The sign-in server registers no client ({told(found) or 'no registration'}).",
                where=self.url,
                next_step="Register one there, and write its id into the source: oauth = { client_id = ... }.",
            )
        return found

    async def _start(self, server: dict[str, Any], held: SignIn, scope: str | None) -> tuple[DeviceCode, str, float]:
        form = {"resource": held.resource or "", **({"scope": scope} if scope else {})}
        answer = await self.client.post(str(server["device_authorization_endpoint"]), **signed(held, form))
        found = _object(answer)
        code, page = found.get("user_code"), found.get("verification_uri")
        if not isinstance(code, str) or not isinstance(page, str) or "device_code" not in found:
            raise SourceError(f"The sign-in server gave no code ({told(found) or answer.status_code}).", where=self.url)
        whole = found.get("verification_uri_complete")
        pages = [text for text in (page, whole) if isinstance(text, str) and urlsplit(text).scheme in ("http", "https")]
        shown = DeviceCode(
            code, pages[0] if pages else "", pages[1] if len(pages) > 1 else None, _seconds(found, "expires_in", 600)
        )
        return shown, str(found["device_code"]), _seconds(found, "interval", 5)

    async def _poll(self, held: SignIn, shown: DeviceCode, code: str, interval: float) -> SignIn:
        waited = 0.0
        while waited < shown.seconds:
            await self.sleep(interval)
            waited += interval
            form = {"grant_type": GRANT, "device_code": code, "resource": held.resource or ""}
            found = _object(await self.client.post(held.token_endpoint or "", **signed(held, form)))
            if "access_token" in found:
                return renewed(held, found, time.time())
            match told(found):
                case "authorization_pending":
                    pass
                case "slow_down":
                    interval += 5
                case other:
                    raise SourceError(f"The sign-in server said no ({other or 'no reason'}).", where=self.url)
        raise SourceError("Nobody entered the code in time.", where=self.url, next_step="Start again.")


def _object(answer: httpx2.Response) -> dict[str, Any]:
    try:
        return as_object(answer.json())
    except ValueError:
        return {}


def _seconds(found: dict[str, Any], key: str, otherwise: float) -> float:
    given = found.get(key)
    if isinstance(given, bool) or not isinstance(given, int | float):
        return otherwise
    return float(given) if 0 < given < 86_400 else otherwise
