"""Puts a kept sign-in on every request, and renews it: alone, where it can; else the server's refusal stands."""

import time
from base64 import b64encode
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias, cast
from urllib.parse import quote

import anyio
import anyio.to_thread

from pegboard.errors import StoreError
from pegboard.schema.types import as_object
from pegboard.wire.oauth.signin import SignIn
from pegboard.wire.oauth.vault import Vault

if TYPE_CHECKING:
    import httpx2

Transport: TypeAlias = "Callable[[], httpx2.AsyncBaseTransport] | None"
"""Makes what requests to a token endpoint go over; None for whatever the system has."""


class Keeper:
    """The sign-in to one server, for every connection with it.

    Parameters:
        server: the server, as `server_key` names it.
        vault: where its sign-in is kept.
        transport: what renewals go over; by default whatever the system has.
        clock: Unix time in seconds.
    """

    def __init__(
        self,
        server: str,
        vault: Vault,
        *,
        transport: Transport = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.server = server
        self._vault, self._transport, self._clock = vault, transport, clock
        self._signin: SignIn | None = None
        self._loaded = False
        self._lock: anyio.Lock | None = None
        self.trouble: str | None = None
        """Why there is no token that works, where that is known."""

    @property
    def secrets(self) -> tuple[str, ...]:
        """The texts that may not be repeated in a message."""
        return self._signin.secrets if self._signin is not None else ()

    async def token(self) -> str | None:
        """The access token for a request; renewed first where its time is over."""
        if not self._loaded:
            async with self._locked():
                if not self._loaded:
                    await self._load()
        held = self._signin
        if held is not None and held.spent(self._clock()) and held.renewable:
            return await self.another(held.access_token)
        return held.access_token if held is not None else None

    async def another(self, refused: str | None) -> str | None:
        """A token other than the one that was refused: one that was signed in for meanwhile, or a renewed one.

        Parameters:
            refused: the token that the server did not take; None where there was none.

        Returns:
            The token; None where only a person can get one.
        """
        async with self._locked():
            held = self._signin
            if held is not None and held.access_token != refused:
                return held.access_token
            await self._load()
            held = self._signin
            if held is None or held.access_token != refused:
                return held.access_token if held is not None else None
            return await self._renew(held)

    def _locked(self) -> anyio.Lock:
        if self._lock is None:
            self._lock = anyio.Lock()
        return self._lock

    async def _load(self) -> None:
        self._loaded = True
        try:
            self._signin = await anyio.to_thread.run_sync(self._vault.load, self.server)
        except StoreError as problem:
            self.trouble = str(problem)

    async def _renew(self, held: SignIn) -> str | None:
        if not held.renewable:
            self.trouble = "the sign-in has ended"
            return None
        found = await self._ask(held)
        if found is None:
            await self._load()  # another process may have renewed it, and spent the refresh token by that
            now = self._signin
            return now.access_token if now is not None and now.access_token != held.access_token else None
        self._signin, self.trouble = found, None
        with suppress(StoreError):  # it serves this process all the same
            await anyio.to_thread.run_sync(self._vault.save, found)
        return found.access_token

    async def _ask(self, held: SignIn) -> SignIn | None:
        form = {"grant_type": "refresh_token", "refresh_token": held.refresh_token or ""}
        if held.resource:
            form["resource"] = held.resource
        import httpx2

        over = self._transport() if self._transport is not None else None
        try:
            async with httpx2.AsyncClient(transport=over, timeout=20) as client:
                answer = await client.post(held.token_endpoint or "", **signed(held, form))
                found: Any = answer.json()
        except (httpx2.HTTPError, ValueError) as problem:
            self.trouble = f"the sign-in could not be renewed ({type(problem).__name__})"
            return None
        given = as_object(found)
        if answer.status_code != 200 or not isinstance(given.get("access_token"), str):
            self.trouble = f"the sign-in could not be renewed ({told(given) or f'HTTP {answer.status_code}'})"
            return None
        return renewed(held, given, self._clock())


def renewed(held: SignIn, found: dict[str, Any], now: float) -> SignIn:
    """A sign-in with what a token endpoint gave (RFC 6749 section 5.1); what it left out stays as it was."""
    seconds = found.get("expires_in")
    with suppress(TypeError, ValueError):
        seconds = float(cast("Any", seconds))
    return replace(
        held,
        access_token=str(found["access_token"]),
        refresh_token=str(found.get("refresh_token") or held.refresh_token or "") or None,
        expires=now + seconds if isinstance(seconds, float) else None,
        scope=str(found.get("scope") or held.scope or "") or None,
    )


def signed(held: SignIn, form: dict[str, str]) -> dict[str, Any]:
    """Form and headers of a request to a token endpoint, with who we are (RFC 6749 section 2.3.1)."""
    id_, secret = held.client_id or "", held.client_secret
    headers = {"Accept": "application/json"}
    if secret and held.client_auth == "client_secret_basic":
        pair = f"{quote(id_, safe='')}:{quote(secret, safe='')}"
        headers["Authorization"] = "Basic " + b64encode(pair.encode()).decode()
        return {"data": form, "headers": headers}
    more = {"client_secret": secret} if secret and held.client_auth != "none" else {}
    return {"data": {**form, "client_id": id_, **more}, "headers": headers}


def told(found: Mapping[str, Any]) -> str | None:
    """The error code of an OAuth answer (RFC 6749 section 5.2), as far as it is one."""
    code = found.get("error")
    return code if isinstance(code, str) and len(code) < 64 and code.replace("_", "").isalnum() else None
