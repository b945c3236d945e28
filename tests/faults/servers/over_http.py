"""A fault server over streamable HTTP: `python over_http.py '{"port": 0}'`; it prints its port as the first line.

Its own options, besides those of `behaviour`:

    port      the port; 0 takes a free one
    expire    how many times a request is answered 404 because the session has expired, after the first call; -1: always
    expired   the status of that answer: 404 (default) or 400, with the words "Session terminated"
    status    the status of every answer to tools/call, instead of a result
    refuse    the status of every request at all
    drop      tools/call: the connection is closed without an answer: "before" or "after" the SSE stream began
    sse       answers come as a stream
"""

import json
import sys
import threading
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from behaviour import Behaviour

OPTIONS: dict[str, Any] = json.loads(sys.argv[1]) if len(sys.argv) > 1 else {}
BEHAVIOUR = Behaviour(OPTIONS)
SESSIONS: set[str] = set()
LOCK = threading.Lock()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        """Stay silent."""

    def do_GET(self) -> None:
        self.plain(OPTIONS.get("refuse", 405))

    def do_DELETE(self) -> None:
        BEHAVIOUR.note({"method": "DELETE", "session": self.headers.get("mcp-session-id")})
        SESSIONS.discard(self.headers.get("mcp-session-id", ""))
        self.plain(204)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        frame = json.loads(body)
        note = {key: self.headers.get(key) for key in ("mcp-session-id", "mcp-method", "mcp-name", "authorization")}
        note |= {key.lower(): value for key, value in self.headers.items() if key.lower().startswith("mcp-param-")}
        method = frame.get("method")
        if OPTIONS.get("refuse"):
            BEHAVIOUR.note({**frame, "headers": note})
            self.plain(OPTIONS["refuse"])
        elif method == "tools/call" and self.misbehave(frame, note):
            return
        elif "id" not in frame:
            BEHAVIOUR.note({**frame, "headers": note})
            self.plain(202)
        else:
            self.serve({**frame, "headers": note})

    def misbehave(self, frame: dict[str, Any], note: dict[str, Any]) -> bool:
        if self.session_expired():
            BEHAVIOUR.note({**frame, "headers": note, "expired": True})
            self.plain(OPTIONS.get("expired", 404), "Session terminated")
        elif OPTIONS.get("status"):
            BEHAVIOUR.note({**frame, "headers": note})
            self.plain(OPTIONS["status"])
        elif OPTIONS.get("drop"):
            BEHAVIOUR.note({**frame, "headers": note})
            if OPTIONS["drop"] == "after":
                self.stream()
                self.wfile.write(b": begun\n\n")
            self.close_connection = True
        else:
            return False
        return True

    def session_expired(self) -> bool:
        with LOCK:
            session = self.headers.get("mcp-session-id")
            if session is None:
                return False
            left = OPTIONS.get("expire", 0)
            if left and BEHAVIOUR.calls:
                OPTIONS["expire"] = left - 1 if left > 0 else left
                SESSIONS.discard(session)
            return session not in SESSIONS

    def serve(self, frame: dict[str, Any]) -> None:
        streaming = OPTIONS.get("sse") or frame["method"] == "subscriptions/listen"
        frames: list[dict[str, Any]] = []

        def send(answer: dict[str, Any]) -> None:
            if streaming:
                self.wfile.write(f"event: message\ndata: {json.dumps(answer)}\n\n".encode())
                self.wfile.flush()
            else:
                frames.append(answer)

        if streaming:
            self.stream()
        BEHAVIOUR.receive(frame, send)
        if frame["method"] == "subscriptions/listen":
            threading.Event().wait()
        elif streaming:
            self.close_connection = True
        elif not frames:
            self.connection.recv(1)
            BEHAVIOUR.note({"closed": frame["id"]})
            self.close_connection = True
        else:
            self.whole(frames[-1], frame["method"] == "initialize")

    def stream(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()

    def whole(self, answer: dict[str, Any], opens: bool) -> None:
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        if opens:
            session = uuid.uuid4().hex
            SESSIONS.add(session)
            self.send_header("mcp-session-id", session)
        self.end_headers()
        self.wfile.write(body)

    def plain(self, status: int, words: str = "") -> None:
        self.send_response(status)
        self.send_header("content-length", str(len(words)))
        self.end_headers()
        self.wfile.write(words.encode())


def main() -> None:
    server = ThreadingHTTPServer(("127.0.0.1", OPTIONS.get("port", 0)), Handler)
    server.daemon_threads = True
    print(server.server_address[1], flush=True)  # noqa: T201
    server.serve_forever()


if __name__ == "__main__":
    main()
