"""`pegboard auth`: sign in to remote servers, see who is signed in, and sign out."""

import json as jsonlib
import sys
import time
from typing import TYPE_CHECKING, Annotated, Any

import anyio
from cyclopts import App, Parameter

from pegboard.cli.exit import Exit
from pegboard.cli.options import DEFAULT_CONFIG, AsJson, ConfigFile
from pegboard.cli.output import clean, data, document, say, table
from pegboard.cli.when import clock_time
from pegboard.config import Config, SourceConfig, load
from pegboard.errors import ConfigError, PegboardError, SourceError, nearest

if TYPE_CHECKING:
    from pegboard.board.remote import Remote
    from pegboard.wire.oauth import SignIn
    from pegboard.wire.oauth.callback import Arrival
    from pegboard.wire.oauth.device import DeviceCode

app = App(name="auth", help="Sign in to remote servers, see who is signed in, and sign out.")
Flag = Annotated[bool, Parameter(negative="")]
PATIENCE = 300.0
"""Seconds that a person has for the browser."""


@app.command
async def login(
    source: str,
    *,
    scope: Annotated[list[str] | None, Parameter(negative="")] = None,
    device: Flag = False,
    paste: Flag = False,
    no_browser: Flag = False,
    port: int = 0,
    wait: float = PATIENCE,
    config: ConfigFile = DEFAULT_CONFIG,
    json: AsJson = False,
) -> int:
    """Sign in to a source's server, in a browser here or elsewhere; every board of yours with that server has it then.

    Running boards notice it at their next call. Ends with exit code 1 if the server wants no sign-in.

    Parameters
    ----------
    source
        The source's name.
    scope
        A scope to ask for besides those that the server asks for; may be repeated.
    device
        With a code that you enter in a browser on another device.
    paste
        Paste the address that the browser ended at: for a machine whose loopback your browser does not reach.
    no_browser
        Only print the address to open.
    port
        The loopback port that the browser comes back to, where the sign-in server wants a fixed one.
    wait
        Seconds until it is given up.
    """
    remote = _remote(load(config), source)
    found: SignIn | None = None
    with anyio.move_on_after(wait) as limit:
        found = await (
            _on_device(remote, scope or []) if device else _in_browser(remote, scope or [], port, paste, not no_browser)
        )
    if limit.cancelled_caught:
        raise SourceError(f"Nobody signed in within {wait:g} s.", where=f"sources.{source}", next_step="Start again.")
    if found is None:
        say(f"{source} wants no sign-in.")
    else:
        remote.vault.save(found)
    if json:
        document({"source": source, "signed_in": found is not None, **(_shape(found) if found else {})})
    elif found is not None:
        say(f"Signed in to {source}; kept in {remote.vault.place}.")
    return Exit.OK if found is not None else Exit.FINDING


@app.command(name="list")
def list_sign_ins(*, config: ConfigFile = DEFAULT_CONFIG, json: AsJson = False) -> int:
    """List the remote servers of the board and how each is signed in to."""
    settings = load(config)
    rows = [_state(settings, each) for each in settings.sources.values() if _is_remote(each)]
    if json:
        document({"sources": rows})
        return Exit.OK
    table(("source", "state", "until", "scope", "kept in"), [_row(row) for row in rows])
    if not rows:
        say("The board has no remote servers.")
    return Exit.OK


@app.command
async def logout(source: str, *, config: ConfigFile = DEFAULT_CONFIG, json: AsJson = False) -> int:
    """Sign out: the tokens are given back where the server takes them (RFC 7009), and forgotten here.

    Ends with exit code 1 if nobody is signed in.

    Parameters
    ----------
    source
        The source's name.
    """
    remote = _remote(load(config), source)
    held = remote.vault.load(remote.server)
    revoked = await _revoke(remote, held) if held is not None else False
    gone = remote.vault.remove(remote.server)
    if json:
        document({"source": source, "signed_out": gone, "revoked": revoked})
    elif gone:
        say(f"Signed out of {source}." + ("" if revoked else " The server was not told: it has no way for it."))
    else:
        say(f"Nobody is signed in to {source}.")
    return Exit.OK if gone else Exit.FINDING


@app.command
def export(source: str, *, config: ConfigFile = DEFAULT_CONFIG) -> int:
    """Print a sign-in with its secrets, for PEGBOARD_SIGN_IN_<SOURCE> on a machine where nobody can sign in.

    Parameters
    ----------
    source
        The source's name.
    """
    remote = _remote(load(config), source)
    held = remote.vault.load(remote.server)
    if held is None:
        raise SourceError(
            "Nobody is signed in.", where=f"sources.{source}", next_step=f"Run `pegboard auth login {source}`."
        )
    say(f"This holds secrets: put it into {remote.vault.variable} over there, and nowhere else.")
    data(jsonlib.dumps(held.to_json(), separators=(",", ":")))
    return Exit.OK


async def _in_browser(remote: "Remote", scopes: list[str], port: int, paste: bool, opens: bool) -> "SignIn | None":
    from pegboard.wire.oauth.callback import waiting

    async def visit(address: str) -> None:
        say("Open this address, and sign in there:")
        say(f"  {clean(address)}")
        if opens and not paste and sys.stderr.isatty():
            import webbrowser

            await anyio.to_thread.run_sync(webbrowser.open, address)

    try:
        async with waiting(port) as callback:
            arrive = _pasted if paste else callback.wait
            return await _sign_in(remote, scopes, callback.address, visit, arrive)
    except OSError as problem:
        raise SourceError(
            f"The port {port} cannot be listened on: {problem.strerror}.", next_step="Give another with --port."
        ) from None


async def _sign_in(remote: "Remote", scopes: list[str], redirect: str, visit: Any, arrive: Any) -> "SignIn | None":
    from pegboard.wire.oauth.login import sign_in

    return await sign_in(
        remote.url,
        registration=_registration(remote, scopes),
        redirect=redirect,
        visit=visit,
        arrive=arrive,
        transport=remote.transport(),
    )


async def _pasted() -> "Arrival":
    from pegboard.wire.oauth.callback import arrival

    say("Paste the address that the browser ended at (it may show an error page):")
    while line := await anyio.to_thread.run_sync(sys.stdin.readline, abandon_on_cancel=True):
        found = arrival(line)
        if found is not None:
            return found
        say("There is no code in that address. Copy the whole of it:")
    raise SourceError("There was nothing to read.", next_step="Paste the address into the terminal.")


async def _on_device(remote: "Remote", scopes: list[str]) -> "SignIn | None":
    from pegboard.wire.oauth.device import sign_in_on_another_device

    async def show(code: "DeviceCode") -> None:
        say("On any device, open:")
        say(f"  {clean(code.whole or code.page)}")
        say("and enter the code:")
        say(f"  {clean(code.code)}")

    return await sign_in_on_another_device(
        remote.url, registration=_registration(remote, scopes), show=show, transport=remote.transport()
    )


def _registration(remote: "Remote", scopes: list[str]) -> Any:
    from pegboard.wire.oauth.login import Registration

    wanted = [*remote.scopes, *scopes]
    return Registration(remote.client_id, remote.client_secret, remote.client_metadata_url, wanted)


async def _revoke(remote: "Remote", held: "SignIn") -> bool:
    import httpx2

    from pegboard.wire.oauth.keeper import signed

    if held.revocation_endpoint is None:
        return False
    form = {"token": held.refresh_token or held.access_token}
    try:
        async with httpx2.AsyncClient(transport=remote.transport(), timeout=20) as client:
            answer = await client.post(held.revocation_endpoint, **signed(held, form))
    except httpx2.HTTPError:
        return False
    return answer.status_code == 200


def _is_remote(source: SourceConfig) -> bool:
    return source.kind == "mcp" and isinstance(source.target, str)


def _remote(settings: Config, name: str) -> "Remote":
    from pegboard.board.remote import remote_of

    found = settings.sources.get(name)
    if found is None:
        near = nearest(name, settings.sources)
        raise ConfigError(
            f"There is no source {name!r}.",
            where="sources",
            next_step=f"Did you mean {', '.join(near)}?" if near else "`pegboard auth list` shows them.",
        )
    if not _is_remote(found):
        raise ConfigError(
            "It is no remote MCP server, so there is nothing to sign in to.",
            where=f"sources.{name}",
            next_step="Give it its credentials with `env` or `auth`.",
        )
    return remote_of(settings, found, settings.secrets.reveal(found.target, where=f"{found.where}.mcp"))


def _state(settings: Config, source: SourceConfig) -> dict[str, Any]:
    """How one server is signed in to."""
    row: dict[str, Any] = {"source": source.name}
    if any(header.lower() == "authorization" for header in source.options["headers"]):
        return {**row, "state": "headers"}
    try:
        remote = _remote(settings, source.name)
        held = remote.vault.load(remote.server)
    except PegboardError as problem:
        return {**row, "state": "unreadable", "problem": str(problem)}
    if held is None:
        return {**row, "state": "signed_out"}
    ended = held.expires is not None and held.expires < time.time() and not held.renewable
    return {**row, "state": "ended" if ended else "signed_in", "place": remote.vault.place, **_shape(held)}


def _shape(held: "SignIn") -> dict[str, Any]:
    """What may be shown of a sign-in."""
    return {
        "server": held.server,
        "issuer": held.issuer,
        "scope": held.scope,
        "expires": held.expires,
        "renewable": held.renewable,
    }


def _row(row: dict[str, Any]) -> tuple[Any, ...]:
    until = ""
    if row.get("renewable"):
        until = "renewed by itself"
    elif row.get("expires"):
        until = clock_time(row["expires"])
    words = {"signed_in": "signed in", "signed_out": "signed out", "headers": "by its headers"}
    return row["source"], words.get(row["state"], row["state"]), until, row.get("scope") or "", row.get("place", "")
