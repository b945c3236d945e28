"""A model on loopback that speaks OpenAI's Chat Completions API, streamed, and does what a script says."""

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeAlias

Body: TypeAlias = dict[str, Any]
Calls: TypeAlias = Sequence[tuple[str, Body]]
Turn: TypeAlias = str | Calls
"""What the model does in one turn: say something and be done, or call tools, all at once."""


@dataclass
class Scripted:
    """A model.

    Parameters:
        turns: its turns, in order; the last one again where more are wanted. A function makes them from the request.
        url: where it listens: a base URL.
        requests: what it was sent.
        finish: why its last words end, as the API says it.
    """

    turns: Sequence[Turn] | Callable[[Body], Turn]
    url: str = ""
    requests: list[Body] = field(default_factory=list[Body])
    finish: str = "stop"

    def turn(self, body: Body) -> Turn:
        """What it does now."""
        if callable(self.turns):
            return self.turns(body)
        return self.turns[min(len(self.requests), len(self.turns)) - 1]

    def names(self, request: int) -> list[str]:
        """The tools that it saw in a request."""
        return [tool["function"]["name"] for tool in self.requests[request].get("tools", [])]

    def answers(self, request: int = -1) -> list[str]:
        """What the tools gave it, as a request holds it."""
        return [str(row["content"]) for row in self.requests[request]["messages"] if row["role"] == "tool"]


@contextmanager
def serving(model: Scripted) -> Iterator[Scripted]:
    """Serve a model on loopback."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            model.requests.append(body)
            events = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in _chunks(model, body))
            data = f"{events}data: [DONE]\n\n".encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    model.url = f"http://127.0.0.1:{server.server_port}/v1"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()


def _chunks(model: Scripted, body: Body) -> Iterator[Body]:
    turn = model.turn(body)
    if isinstance(turn, str):
        for word in turn.split(" "):
            yield _chunk(body, {"role": "assistant", "content": word if word == turn.split(" ")[0] else f" {word}"})
        yield _chunk(body, {}, model.finish)
        return
    number = len(model.requests)
    for at, (name, arguments) in enumerate(turn):
        function = {"name": name, "arguments": json.dumps(arguments)}
        call = {"index": at, "id": f"call_{number}_{at}", "type": "function", "function": function}
        yield _chunk(body, {"role": "assistant", "tool_calls": [call]})
    yield _chunk(body, {}, "tool_calls")


def _chunk(body: Body, delta: Body, finish: str | None = None) -> Body:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    usage = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5} if finish else None
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": body["model"], "choices": [choice]}
    return chunk if usage is None else {**chunk, "usage": usage}
