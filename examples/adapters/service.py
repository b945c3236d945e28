"""A service of another age over HTTP, with an OpenAPI description, and a GraphQL endpoint: python service.py [PORT].

It prints its address and serves until it is stopped. Names are short, dates are seconds, answers are wrapped: what an
adapter is there to hide.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from graphql import build_schema, graphql_sync

USERS: dict[str, dict[str, Any]] = {
    "u1": {"uid": "u1", "usr_nm": "Ann Smith", "eml": "ann@x.example", "crtd": 1_700_000_000, "addr": {"cty": "Paris"}},
    "u2": {"uid": "u2", "usr_nm": "Bob Jones", "eml": "bob@x.example", "crtd": 1_710_000_000, "addr": {"cty": "Rome"}},
}
UID = {"name": "uid", "in": "path", "required": True, "schema": {"type": "string"}}
USER = {
    "type": "object",
    "properties": {
        "uid": {"type": "string"},
        "usr_nm": {"type": "string"},
        "eml": {"type": "string"},
        "crtd": {"type": "integer", "description": "When it was made, in seconds."},
        "addr": {"type": "object", "properties": {"cty": {"type": "string"}}},
    },
}


def answers(schema: dict[str, Any]) -> dict[str, Any]:
    """The responses of an operation: the service wraps each answer."""
    wrapped = {"type": "object", "properties": {"sts": {"type": "string"}, "rslt": schema}}
    return {"200": {"description": "It worked.", "content": {"application/json": {"schema": wrapped}}}}


DESCRIPTION = {
    "openapi": "3.1.0",
    "info": {"title": "Users of another age", "version": "1"},
    "servers": [{"url": "/v1"}],
    "paths": {
        "/usr/{uid}": {
            "get": {
                "operationId": "getUser",
                "summary": "Read a user.",
                "parameters": [UID, {"name": "fmt", "in": "query", "schema": {"type": "string", "enum": ["j", "x"]}}],
                "responses": answers(USER),
            },
            "delete": {
                "operationId": "deleteUser",
                "summary": "Delete a user.",
                "parameters": [UID],
                "responses": answers({"type": "string"}),
            },
        },
        "/usr": {
            "get": {
                "operationId": "searchUsers",
                "summary": "Find users by a part of their name.",
                "parameters": [{"name": "nm", "in": "query", "required": True, "schema": {"type": "string"}}],
                "responses": answers({"type": "array", "items": USER}),
            }
        },
    },
}
GRAPHQL = build_schema("""
type City { name: String!, people: [String!]! }
type Query {
  "Find cities by a part of their name."
  cities(name: String! = ""): [City!]!
}
""")


def cities(_info: object, name: str) -> list[dict[str, Any]]:
    """The cities in which users live."""
    found: dict[str, list[str]] = {}
    for user in USERS.values():
        found.setdefault(user["addr"]["cty"], []).append(user["usr_nm"])
    return [{"name": city, "people": people} for city, people in found.items() if name.lower() in city.lower()]


class Service(BaseHTTPRequestHandler):
    """Answers the requests of the description."""

    def do_GET(self) -> None:
        """Read."""
        parts = urlsplit(self.path)
        match parts.path.strip("/").split("/"):
            case ["openapi.json"]:
                self.answer(200, DESCRIPTION)
            case ["v1", "usr", uid] if uid in USERS:
                self.answer(200, {"sts": "ok", "rslt": USERS[uid]})
            case ["v1", "usr"]:
                wanted = parse_qs(parts.query).get("nm", [""])[0].lower()
                self.answer(200, {"sts": "ok", "rslt": [u for u in USERS.values() if wanted in u["usr_nm"].lower()]})
            case ["motd"]:
                self.answer(200, "Be kind.", "text/plain")
            case _:
                self.answer(404, {"sts": "err", "msg": f"nothing at {parts.path}"})

    def do_DELETE(self) -> None:
        """Delete."""
        uid = self.path.rpartition("/")[2]
        gone = USERS.pop(uid, None)
        self.answer(200 if gone else 404, {"sts": "ok" if gone else "err", "rslt": uid})

    def do_POST(self) -> None:
        """Answer a GraphQL query."""
        asked = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
        done = graphql_sync(
            GRAPHQL, asked["query"], {"cities": cities}, variable_values=asked.get("variables"),
            operation_name=asked.get("operationName"),
        )  # fmt: skip
        self.answer(200, done.formatted)

    def answer(self, status: int, value: Any, kind: str = "application/json") -> None:
        """Send an answer."""
        body = value.encode() if isinstance(value, str) and kind == "text/plain" else json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 0), Service)
    sys.stdout.write(f"http://127.0.0.1:{server.server_address[1]}\n")
    sys.stdout.flush()
    server.serve_forever()
