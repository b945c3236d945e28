"""Models on loopback that speak four providers' APIs: they search where they can, call one tool, and say what it gave.

They are as strict as the providers about what comes back: a call that is echoed without its namespace, an answer to a
call that nobody made, a reference to a tool that the request does not hold and a deferred tool without a search are
answered with 400, as the APIs do (specs 2.2, 3.1, 4).
"""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Body = dict[str, Any]


class Refused(Exception):
    """The provider's 400."""


@dataclass
class Model:
    """What the model wants.

    Parameters:
        tool: the end of the name of the tool that it wants to call.
        query: what it searches for where it does not see that tool.
        arguments: what it calls the tool with, in the shape of the schema that it was shown.
        url: where it listens.
        requests: what it was sent.
    """

    tool: str
    query: str
    arguments: Body
    url: str = ""
    requests: list[Body] = field(default_factory=list[Body])

    @property
    def environment(self) -> dict[str, str]:
        """The variables with which the vendors' SDKs find it."""
        return {
            "OPENAI_BASE_URL": f"{self.url}/v1",
            "OPENAI_API_KEY": "none",
            "ANTHROPIC_BASE_URL": self.url,
            "ANTHROPIC_API_KEY": "none",
            "GOOGLE_GEMINI_BASE_URL": self.url,
            "GEMINI_API_KEY": "none",
        }

    def wants(self, names: list[str]) -> str | None:
        """The first of the names that is the tool's."""
        return next((name for name in names if name.endswith(self.tool)), None)

    def next(self, names: list[str], last: str | None) -> tuple[str, Body] | str:
        """What it does: call a tool, or say what the last one gave it.

        Parameters:
            names: the tools that it sees.
            last: what its tool gave it, if it was called.
        """
        if last is not None:
            return f"The tool says: {last}"
        found = self.wants(names)
        if found is not None:
            return found, self.arguments
        if "tool_search" not in names:
            raise Refused(f"no tool for {self.query!r} among {names}")
        return "tool_search", {"query": self.query}


@contextmanager
def serving(model: Model) -> Iterator[Model]:
    """Serve a model on loopback."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            model.requests.append(body)
            try:
                status, answer = 200, _api(self.path)(model, body)
            except Refused as refusal:
                status, answer = 400, {"error": {"type": "invalid_request_error", "message": str(refusal)}}
            data = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    model.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()


def _api(path: str) -> Callable[[Model, Body], Body]:
    apis = {"/responses": responses, "/chat/completions": chat, "/messages": messages, ":generateContent": generate}
    return next(api for end, api in apis.items() if path.partition("?")[0].endswith(end))


# OpenAI Responses


def responses(model: Model, body: Body) -> Body:
    """One response of OpenAI's Responses API."""
    items = [item for item in body["input"] if isinstance(item, dict)]
    shown, groups = _shown(body.get("tools", []))
    client = any(tool["type"] == "tool_search" and tool.get("execution") == "client" for tool in body.get("tools", []))
    pending: dict[str, Body] = {}
    last: str | None = None
    searched = False
    for item in items:
        kind = item.get("type", "message")
        if kind in ("function_call", "custom_tool_call"):
            if groups.get(item["name"]) and item.get("namespace") not in groups[item["name"]]:
                raise Refused(f"Missing namespace for {kind} '{item['name']}'")
            pending[item["call_id"]] = item
        elif kind == "tool_search_call":
            pending[item["call_id"]] = item
        elif kind == "tool_search_output":
            pending.pop(_made(pending, item["call_id"]))
            found, more = _shown(item["tools"], loaded=True)
            shown, groups, searched = [*shown, *found], {**groups, **more}, True
        elif kind.endswith("_output"):
            called = pending.pop(_made(pending, item["call_id"]))["name"]
            said = item["output"] if isinstance(item["output"], str) else json.dumps(item["output"])
            last = None if called == "tool_search" else said
    if pending:
        raise Refused(f"No tool output found for {[*pending]}")
    names = shown if searched or not client else [*shown, "tool_search"]
    chosen = model.next(names, last)
    if isinstance(chosen, str):
        output: Body = {
            "type": "message",
            "id": "m",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": chosen, "annotations": []}],
        }
    elif chosen[0] == "tool_search" and client:
        output = {
            "type": "tool_search_call",
            "id": "s",
            "call_id": f"call_{len(items)}",
            "execution": "client",
            "status": "completed",
            "arguments": chosen[1],
        }
    else:
        output = {
            "type": "function_call",
            "id": "f",
            "call_id": f"call_{len(items)}",
            "name": chosen[0],
            "arguments": json.dumps(chosen[1]),
            "status": "completed",
        }
        if groups.get(chosen[0]):
            output["namespace"] = groups[chosen[0]][0]
    return {
        "id": "r",
        "object": "response",
        "created_at": 0,
        "model": body["model"],
        "output": [output],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }


def _shown(tools: list[Body], *, loaded: bool = False) -> tuple[list[str], dict[str, list[str]]]:
    """The functions that the model sees, and the namespaces that each stands in."""
    late = [tool for entry in tools for tool in entry.get("tools", [entry]) if tool.get("defer_loading")]
    if late and not loaded and not any(tool["type"] == "tool_search" for tool in tools):
        raise Refused("Deferred tools require tools.tool_search")
    names: list[str] = []
    groups: dict[str, list[str]] = {}
    for entry in tools:
        for tool in entry.get("tools", [entry]):
            if "name" in tool and (loaded or not tool.get("defer_loading")):
                names.append(tool["name"])
                if entry["type"] == "namespace":
                    groups.setdefault(tool["name"], []).append(entry["name"])
    return names, groups


def _made(pending: Body, id: str) -> str:
    if id not in pending:
        raise Refused(f"No tool call found for call_id {id}")
    return id


# OpenAI Chat


def chat(model: Model, body: Body) -> Body:
    """One completion of OpenAI's Chat API."""
    names = [(tool.get("function") or tool["custom"])["name"] for tool in body.get("tools", [])]
    pending: dict[str, str] = {}
    last: str | None = None
    for message in body["messages"]:
        for call in message.get("tool_calls") or []:
            pending[call["id"]] = call["function"]["name"]
        if message["role"] == "tool":
            name = pending.pop(_made(pending, message["tool_call_id"]))
            last = None if name == "tool_search" else message["content"]
    chosen = model.next(names, last)
    answer: Body = {"role": "assistant", "content": chosen if isinstance(chosen, str) else None}
    if not isinstance(chosen, str):
        function = {"name": chosen[0], "arguments": json.dumps(chosen[1])}
        answer["tool_calls"] = [{"id": f"call_{len(body['messages'])}", "type": "function", "function": function}]
    reason = "stop" if isinstance(chosen, str) else "tool_calls"
    choice = {"index": 0, "message": answer, "finish_reason": reason}
    return {"id": "c", "object": "chat.completion", "created": 0, "model": body["model"], "choices": [choice]}


# Anthropic


def messages(model: Model, body: Body) -> Body:
    """One message of Anthropic's API."""
    tools = body.get("tools", [])
    if tools and all(tool.get("defer_loading") for tool in tools):
        raise Refused("At least one tool must not be deferred")
    seen = [tool["name"] for tool in tools if not tool.get("defer_loading")]
    pending: dict[str, str] = {}
    last: str | None = None
    for message in body["messages"]:
        blocks = message["content"] if isinstance(message["content"], list) else []
        for block in blocks:
            if block["type"] == "tool_use":
                pending[block["id"]] = block["name"]
            elif block["type"] == "tool_result":
                name = pending.pop(_made(pending, block["tool_use_id"]))
                content = block["content"] if isinstance(block["content"], list) else []
                for reference in (each for each in content if each["type"] == "tool_reference"):
                    if reference["tool_name"] not in [tool["name"] for tool in tools]:
                        raise Refused(f"Tool reference '{reference['tool_name']}' not found in available tools")
                    seen.append(reference["tool_name"])
                last = None if name == "tool_search" else json.dumps(block["content"], ensure_ascii=False)
    chosen = model.next(seen, last)
    if isinstance(chosen, str):
        block = {"type": "text", "text": chosen}
    else:
        block = {"type": "tool_use", "id": f"toolu_{len(body['messages'])}", "name": chosen[0], "input": chosen[1]}
    return {
        "id": "msg",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": [block],
        "stop_reason": "end_turn" if isinstance(chosen, str) else "tool_use",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }


# Gemini


def generate(model: Model, body: Body) -> Body:
    """One content of Gemini's API; the parts of its calls are signed, and must come back so."""
    names = [one["name"] for tool in body.get("tools", []) for one in tool["functionDeclarations"]]
    last: str | None = None
    for content in body["contents"]:
        for part in content["parts"]:
            if "functionCall" in part and part.get("thoughtSignature") != "c2lnbmVk":
                raise Refused("Function call is missing a thought_signature in functionCall parts")
            if "functionResponse" in part:
                answer = part["functionResponse"]
                last = None if answer["name"] == "tool_search" else json.dumps(answer["response"], ensure_ascii=False)
    chosen = model.next(names, last)
    if isinstance(chosen, str):
        part = {"text": chosen}
    else:
        part = {"functionCall": {"id": "g", "name": chosen[0], "args": chosen[1]}, "thoughtSignature": "c2lnbmVk"}
    return {"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}]}
