"""A remote MCP server that wants a sign-in, and the sign-in server behind it, in a thread on loopback."""

import base64
import hashlib
import secrets
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, unquote, urlencode

import httpx2
import mcp_types as types
import uvicorn
from mcp.server.lowlevel import Server
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.types import Receive, Scope, Send

DEVICE = "urn:ietf:params:oauth:grant-type:device_code"


@dataclass
class House:
    """Both servers, what they gave out, and how they are to behave.

    Parameters:
        rotates: whether a refresh token works only once.
        registers: whether clients are registered by themselves.
        devices: whether codes for other devices are given.
        secret: the secret that registered clients get, where they get one.
        lasts: seconds that an access token lasts.
    """

    rotates: bool = True
    registers: bool = True
    devices: bool = True
    secret: str | None = None
    lasts: int = 3600
    metadata_at: str | None = None
    address: str = ""
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    tokens: dict[str, str] = field(default_factory=dict)
    refresh: dict[str, str] = field(default_factory=dict)
    clients: dict[str, str | None] = field(default_factory=dict)
    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    authorized: list[str] = field(default_factory=list)
    polls: list[str] = field(default_factory=lambda: ["authorization_pending", "slow_down"])
    declines: bool = False

    @property
    def url(self) -> str:
        """The MCP server's address."""
        return f"{self.address}/mcp"

    def of(self, kind: str) -> list[dict[str, str]]:
        """The requests of one grant type that the token endpoint had."""
        return [form for grant, form in self.asked if grant == kind]

    def expire(self) -> None:
        """Make every access token worthless."""
        self.tokens.clear()

    # The sign-in server.

    async def resource(self, _: Request) -> Response:
        """RFC 9728."""
        about = {"resource": self.url, "authorization_servers": [self.address], "scopes_supported": ["read"]}
        return JSONResponse(about)

    async def metadata(self, _: Request) -> Response:
        """RFC 8414."""
        where = self.address
        found = {
            "issuer": where,
            "authorization_endpoint": f"{where}/authorize",
            "token_endpoint": f"{where}/token",
            "revocation_endpoint": f"{where}/revoke",
            "code_challenge_methods_supported": ["S256"],
            "authorization_response_iss_parameter_supported": True,
        }
        if self.registers:
            found["registration_endpoint"] = f"{where}/register"
        if self.devices:
            found["device_authorization_endpoint"] = f"{where}/device"
        return JSONResponse(found)

    async def register(self, request: Request) -> Response:
        """RFC 7591."""
        if not self.registers:
            return Response(status_code=404)
        wanted = await request.json()
        id_ = f"client-{len(self.clients) + 1}"
        self.clients[id_] = self.secret
        method = "client_secret_basic" if self.secret else "none"
        given = {**wanted, "client_id": id_, "client_secret": self.secret, "token_endpoint_auth_method": method}
        return JSONResponse(given, 201)

    async def authorize(self, request: Request) -> Response:
        """A person who says yes at once, or no."""
        asked = dict(request.query_params)
        answer = {"state": asked["state"], "iss": self.address}
        if self.declines:
            return RedirectResponse(f"{asked['redirect_uri']}?{urlencode({**answer, 'error': 'access_denied'})}")
        code = secrets.token_hex(8)
        self.codes[code] = asked
        return RedirectResponse(f"{asked['redirect_uri']}?{urlencode({**answer, 'code': code})}")

    async def device(self, request: Request) -> Response:
        """RFC 8628, 3.2."""
        form = await _form(request)
        self.codes["device"] = form
        page = f"{self.address}/enter"
        return JSONResponse(
            {
                "device_code": "device",
                "user_code": "ABCD-EFGH",
                "verification_uri": page,
                "expires_in": 60,
                "interval": 1,
            }
        )

    async def token(self, request: Request) -> Response:
        """RFC 6749, 3.2."""
        form = await _form(request)
        self.asked.append((form["grant_type"], form))
        if not self._is_client(request, form):
            return JSONResponse({"error": "invalid_client"}, 401)
        match form["grant_type"]:
            case "authorization_code":
                asked = self.codes.pop(form["code"], None)
                if asked is None or _challenge(form["code_verifier"]) != asked["code_challenge"]:
                    return JSONResponse({"error": "invalid_grant"}, 400)
                return self._grant(asked.get("scope", ""))
            case "refresh_token":
                scope = self.refresh.get(form["refresh_token"])
                if scope is None:
                    return JSONResponse({"error": "invalid_grant"}, 400)
                if self.rotates:
                    del self.refresh[form["refresh_token"]]
                return self._grant(scope)
            case _:
                if self.polls:
                    return JSONResponse({"error": self.polls.pop(0)}, 400)
                return self._grant(self.codes["device"].get("scope", ""))

    async def revoke(self, request: Request) -> Response:
        """RFC 7009."""
        form = await _form(request)
        self.refresh.pop(form["token"], None)
        return Response()

    def _grant(self, scope: str) -> Response:
        access, again = f"access-{secrets.token_hex(8)}", f"refresh-{secrets.token_hex(8)}"
        self.tokens[access], self.refresh[again] = scope, scope
        return JSONResponse(
            {
                "access_token": access,
                "token_type": "Bearer",
                "expires_in": self.lasts,
                "refresh_token": again,
                "scope": scope,
            }
        )

    def _is_client(self, request: Request, form: dict[str, str]) -> bool:
        if not self.secret:
            return form.get("client_id") in self.clients or not self.registers
        kind, _, word = request.headers.get("authorization", "").partition(" ")
        pair = base64.b64decode(word).decode() if kind == "Basic" else ""
        return unquote(pair) in {f"{id_}:{secret}" for id_, secret in self.clients.items()}

    # The MCP server.

    def guard(self, app: Any) -> Any:
        """The MCP server behind a check of tokens; calling `write` takes the scope of that name."""

        async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
            request = Request(scope, receive)
            given = request.headers.get("authorization", "")
            self.authorized.append(given)
            granted = self.tokens.get(given.partition(" ")[2])
            body = await request.body()
            if granted is None:
                where = self.metadata_at or f"{self.address}/.well-known/oauth-protected-resource/mcp"
                headers = {"WWW-Authenticate": f'Bearer error="invalid_token", resource_metadata="{where}"'}
                await JSONResponse({"error": "invalid_token"}, 401, headers)(scope, receive, send)
                return
            if b'"write"' in body and "write" not in granted.split():
                headers = {"WWW-Authenticate": 'Bearer error="insufficient_scope", scope="read write"'}
                await JSONResponse({"error": "insufficient_scope"}, 403, headers)(scope, receive, send)
                return

            sent = False

            async def again() -> Any:
                nonlocal sent
                if sent:
                    return await receive()
                sent = True
                return {"type": "http.request", "body": body, "more_body": False}

            await app(scope, again, send)

        return guarded


def _challenge(verifier: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()


async def _form(request: Request) -> dict[str, str]:
    return {key: values[0] for key, values in parse_qs((await request.body()).decode()).items()}


def _tools() -> Server[Any]:
    async def list_tools(_context: Any, _params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(
            tools=[types.Tool(name=name, input_schema={"type": "object"}) for name in ("read", "write")]
        )

    async def call_tool(_context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        return types.CallToolResult(content=[types.TextContent(type="text", text=f"did {params.name}")])

    return Server("guarded", on_list_tools=list_tools, on_call_tool=call_tool)


@contextmanager
def house(**how: Any) -> Iterator[House]:
    """Both servers, while the block runs."""
    built = House(**how)
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    built.address = f"http://127.0.0.1:{listener.getsockname()[1]}"
    inner = _tools().streamable_http_app()
    routes = [
        Route("/.well-known/oauth-protected-resource/mcp", built.resource),
        Route("/.well-known/oauth-authorization-server", built.metadata),
        Route("/register", built.register, methods=["POST"]),
        Route("/authorize", built.authorize),
        Route("/device", built.device, methods=["POST"]),
        Route("/token", built.token, methods=["POST"]),
        Route("/revoke", built.revoke, methods=["POST"]),
        Route("/nothing-here", lambda _: Response(status_code=404), methods=["POST"]),
        Route("/broken", lambda _: Response(status_code=500), methods=["POST"]),
        Mount("/", built.guard(inner)),
    ]
    app = Starlette(routes=routes, lifespan=inner.router.lifespan_context)
    server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.005)
    try:
        yield built
    finally:
        server.should_exit = True
        thread.join()


async def browse(address: str) -> None:
    """A person's browser: goes where it is sent."""
    async with httpx2.AsyncClient(follow_redirects=True) as client:
        (await client.get(address)).raise_for_status()
