"""The sign-in on the wire: the token on each request."""

import httpx2

from pegboard.wire.oauth.keeper import Keeper


class SignedTransport(httpx2.AsyncBaseTransport):
    """Puts the token on requests, and sends a refused one once more with another.

    Parameters:
        inner: what they go over.
        keeper: knows the token.
    """

    def __init__(self, inner: httpx2.AsyncBaseTransport, keeper: Keeper) -> None:
        self._inner, self._keeper = inner, keeper

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send it."""
        token = await self._keeper.token()
        if token is not None:
            request.headers["Authorization"] = f"Bearer {token}"
        response = await self._inner.handle_async_request(request)
        if response.status_code != 401:
            return response
        other = await self._keeper.another(token)
        if other is None:
            return response
        await response.aclose()
        request.headers["Authorization"] = f"Bearer {other}"
        return await self._inner.handle_async_request(request)

    async def aclose(self) -> None:
        """End it."""
        await self._inner.aclose()
