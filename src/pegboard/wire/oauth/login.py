"""Signing in with a browser: the SDK's authorization code flow with PKCE, up to the tokens (MCP, Authorization)."""

import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

import httpx2
from mcp.client.auth import OAuthClientProvider
from mcp.client.auth.exceptions import OAuthFlowError
from mcp.client.auth.utils import union_scopes
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from mcp_types.version import LATEST_PROTOCOL_VERSION
from pydantic import AnyUrl, ValidationError

from pegboard.errors import SourceError
from pegboard.wire.oauth.callback import Arrival
from pegboard.wire.oauth.signin import SignIn, server_key

NAME = "Pegboard"
logging.getLogger("mcp").addHandler(logging.NullHandler())
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
"""What a server is asked for, to see whether it wants a sign-in."""
HEADERS = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": LATEST_PROTOCOL_VERSION}


@dataclass(frozen=True, slots=True)
class Registration:
    """As whom we sign in.

    Parameters:
        client_id: the client that somebody registered for us; None registers one.
        client_secret: its secret, where it has one.
        metadata_url: the address of our client metadata document, for servers that read it in the place of a
            registration.
        scopes: scopes to ask for, besides those that the server asks for.
    """

    client_id: str | None = None
    client_secret: str | None = field(default=None, repr=False)
    metadata_url: str | None = None
    scopes: Sequence[str] = ()


class _Memory:
    """The SDK's storage during one sign-in."""

    def __init__(self, client: OAuthClientInformationFull | None) -> None:
        self.client = client

    async def get_tokens(self) -> OAuthToken | None:
        return None

    async def set_tokens(self, tokens: OAuthToken) -> None:
        pass

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


class _Provider(OAuthClientProvider):
    """The SDK's flow, with scopes of our own on top."""

    scopes: Sequence[str] = ()

    @property
    def token_endpoint(self) -> str:
        return self._get_token_endpoint()

    async def _perform_authorization(self) -> httpx2.Request:
        wanted = self.context.client_metadata
        wanted.scope = union_scopes(wanted.scope, " ".join(self.scopes) or None)
        return await super()._perform_authorization()


async def sign_in(
    url: str,
    *,
    registration: Registration,
    redirect: str,
    visit: Callable[[str], Awaitable[None]],
    arrive: Callable[[], Awaitable[Arrival]],
    transport: httpx2.AsyncBaseTransport,
) -> SignIn | None:
    """Sign in to a server.

    Parameters:
        url: the server's address.
        registration: as whom.
        redirect: where the browser comes back to.
        visit: has the person open an address.
        arrive: waits for the browser to come back.
        transport: what requests go over; it is closed at the end.

    Returns:
        The sign-in; None where the server wants none.

    Raises:
        SourceError: it did not come about.
    """
    provider = _Provider(
        url,
        OAuthClientMetadata(redirect_uris=[AnyUrl(redirect)], client_name=NAME),
        _Memory(_known(registration, redirect)),
        visit,
        lambda: _code(arrive),
        registration.metadata_url,
    )
    provider.scopes = registration.scopes
    status = await _knock(url, provider, transport)
    if provider.context.current_tokens is None:
        return unwanted(url, status)
    return _found(url, provider)


def unwanted(url: str, status: int) -> None:
    """What an answer without a sign-in says: that none is wanted.

    Raises:
        SourceError: it says something else.
    """
    if status in (401, 403):
        raise SourceError(f"The server refuses with HTTP {status} and does not say how to sign in.", where=url)
    if status == 404 or status >= 500:
        raise SourceError(
            f"The server answers with HTTP {status}, so nobody knows whether it wants a sign-in.",
            where=url,
            next_step="Check the address, and that the server is well.",
        )


async def _knock(url: str, provider: _Provider, transport: httpx2.AsyncBaseTransport) -> int:
    """A request that makes the server ask for a sign-in; returns the last answer's status."""
    try:
        async with httpx2.AsyncClient(transport=transport, auth=provider, timeout=30, headers=HEADERS) as client:
            async with client.stream("POST", url, json=PING) as answer:
                return answer.status_code
    except OAuthFlowError as problem:
        raise SourceError(f"The sign-in failed: {_told(problem)}", where=url) from None
    except ValidationError:
        raise SourceError("The sign-in failed: the server's description of it cannot be read.", where=url) from None
    except httpx2.HTTPError as problem:
        raise SourceError(
            f"The sign-in failed: {_told(problem)}",
            where=url,
            next_step="Check the address, and that the server and its sign-in server can be reached.",
        ) from None


def _told(problem: Exception) -> str:
    return (" ".join(str(problem).split())[:300] or type(problem).__name__).rstrip(".") + "."


async def _code(arrive: Callable[[], Awaitable[Arrival]]) -> AuthorizationCodeResult:
    found = await arrive()
    if found.error:
        raise OAuthFlowError(f"The sign-in server said no ({found.error[:80]})")
    return AuthorizationCodeResult(code=found.code, state=found.state, iss=found.issuer)


def _known(given: Registration, redirect: str) -> OAuthClientInformationFull | None:
    if given.client_id is None:
        return None
    method = "client_secret_post" if given.client_secret else "none"
    return OAuthClientInformationFull(
        client_id=given.client_id,
        client_secret=given.client_secret,
        token_endpoint_auth_method=method,
        redirect_uris=[AnyUrl(redirect)],
    )


def _found(url: str, provider: _Provider) -> SignIn:
    context = provider.context
    tokens, client, server = context.current_tokens, context.client_info, context.oauth_metadata
    assert tokens is not None and client is not None
    revocation = server.revocation_endpoint if server is not None else None
    return SignIn(
        server=server_key(url),
        access_token=tokens.access_token,
        refresh_token=tokens.refresh_token,
        expires=time.time() + tokens.expires_in if tokens.expires_in is not None else None,
        scope=tokens.scope,
        resource=context.get_resource_url(),
        issuer=str(server.issuer) if server is not None else None,
        token_endpoint=provider.token_endpoint,
        revocation_endpoint=str(revocation) if revocation is not None else None,
        client_id=client.client_id,
        client_secret=client.client_secret,
        client_auth=client.token_endpoint_auth_method or "none",
    )
