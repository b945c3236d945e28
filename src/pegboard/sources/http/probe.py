"""Whether a service can be reached, asked in less than a second and without a request."""

import anyio
import httpcore2

from pegboard.sources.http.address import Allowance, ForbiddenAddressError, GuardedBackend, endpoint

SECONDS = 0.8


async def reachable(url: str, allowance: Allowance) -> str | None:
    """None where a connection can be made, else why not.

    Parameters:
        url: the service's address.
        allowance: where connections may go.
    """
    place = endpoint(url)
    if place is None:
        return f"{url} is no web address."
    host, port = place
    try:
        with anyio.fail_after(SECONDS):
            stream = await GuardedBackend(allowance).connect_tcp(host, port, timeout=SECONDS)
            await stream.aclose()
    except TimeoutError:
        return f"{host}:{port} did not answer within {SECONDS:g} s."
    except (ForbiddenAddressError, httpcore2.NetworkError, httpcore2.TimeoutException) as error:
        return f"{host}:{port} cannot be reached: {error}."
    return None
