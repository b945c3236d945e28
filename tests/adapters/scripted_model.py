"""A model on loopback that does what a script says, over OpenAI's Chat Completions or Responses API, streamed."""

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeAlias

Body: TypeAlias = dict[str, Any]
Calls: TypeAlias = Sequence[tuple[str, Body | str]]
"""Calls by name; arguments that are a text are sent as they are, whether they are JSON or not."""
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
        refusals: the HTTP statuses with which it answers at first, before it does anything.
        instead: the bytes that it sends in the place of its answer.
    """

    turns: Sequence[Turn] | Callable[[Body], Turn]
    url: str = ""
    requests: list[Body] = field(default_factory=list[Body])
    finish: str = "stop"
    refusals: list[int] = field(default_factory=list[int])
    instead: bytes | None = None

    def turn(self, body: Body) -> Turn:
        """What it does now."""
        if callable(self.turns):
            return self.turns(body)
        return self.turns[min(len(self.requests), len(self.turns)) - 1]

    def names(self, request: int) -> list[str]:
        """The tools that it saw in a request."""
        return [tool.get("function", tool)["name"] for tool in self.requests[request].get("tools", [])]

    def answers(self, request: int = -1) -> list[str]:
        """What the tools gave it, as a request holds it."""
        body = self.requests[request]
        said = [str(row["output"]) for row in body.get("input", ()) if row.get("type") == "function_call_output"]
        return said or [str(row["content"]) for row in body.get("messages", ()) if row["role"] == "tool"]


@contextmanager
def serving(model: Scripted) -> Iterator[Scripted]:
    """Serve a model on loopback."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if model.refusals:
                self.send_error(model.refusals.pop(0))
                return
            model.requests.append(body)
            chunks = _events(model, body) if self.path.endswith("/responses") else _chunks(model, body)
            events = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks)
            data = f"{events}data: [DONE]\n\n".encode() if model.instead is None else model.instead
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
        text = arguments if isinstance(arguments, str) else json.dumps(arguments)
        function = {"name": name, "arguments": text}
        call = {"index": at, "id": f"call_{number}_{at}", "type": "function", "function": function}
        yield _chunk(body, {"role": "assistant", "tool_calls": [call]})
    yield _chunk(body, {}, "tool_calls")


def _chunk(body: Body, delta: Body, finish: str | None = None) -> Body:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    usage = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5} if finish else None
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": body["model"], "choices": [choice]}
    return chunk if usage is None else {**chunk, "usage": usage}


def _events(model: Scripted, body: Body) -> Iterator[Body]:
    """The events of one response of the Responses API."""
    turn = model.turn(body)
    items: list[Body] = []
    if isinstance(turn, str):
        text = {"type": "output_text", "text": turn, "annotations": []}
        items = [{"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [text]}]
    for at, (name, arguments) in enumerate(() if isinstance(turn, str) else turn):
        written = arguments if isinstance(arguments, str) else json.dumps(arguments)
        id = f"call_{len(model.requests)}_{at}"
        items.append(
            {"type": "function_call", "id": f"f{at}", "call_id": id, "name": name, "arguments": written,
             "status": "completed"}
        )  # fmt: skip
    response = {"id": "r", "object": "response", "created_at": 0, "model": body["model"], "tools": []}
    response |= {"parallel_tool_calls": True, "tool_choice": "auto"}
    order = iter(range(10_000))

    def event(kind: str, **fields: Any) -> Body:
        return {"type": kind, "sequence_number": next(order), **fields}

    yield event("response.created", response={**response, "status": "in_progress", "output": []})
    for at, item in enumerate(items):
        began = {**item, "status": "in_progress", **({"content": []} if "content" in item else {"arguments": ""})}
        yield event("response.output_item.added", output_index=at, item=began)
        if "content" in item:
            place = {"output_index": at, "item_id": item["id"], "content_index": 0, "logprobs": []}
            yield event("response.output_text.delta", delta=turn, **place)
        else:
            place = {"output_index": at, "item_id": item["id"]}
            yield event("response.function_call_arguments.delta", delta=item["arguments"], **place)
            yield event(
                "response.function_call_arguments.done", arguments=item["arguments"], name=item["name"], **place
            )
        yield event("response.output_item.done", output_index=at, item=item)
    used = {"input_tokens": 3, "output_tokens": 2, "total_tokens": 5}
    details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    done = {**response, "status": "completed", "output": items, "usage": {**used, **details}}
    yield event("response.completed", response=done)
