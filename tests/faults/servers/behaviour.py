"""What the fault servers do, without a transport: raw JSON-RPC, both families, and every misbehaviour on request.

The options come as one JSON object, so that each test says in one place what its server does wrong:

    families   which introductions it knows: "handshake", "modern" (default: both)
    unknown    what it does with an introduction that it does not know: "error" (default), "ignore", "exit"
    capabilities, instructions
    pages      the pages of tools/list: {"tools": [...], "nextCursor": ...}, found by the cursor before; by default one
    loop       every page has the cursor "x"
    endless    every page has a new cursor: "fresh" with a new tool each, "barren" with the same ones
    mute       the cursor for which no page ever comes
    refuse     the cursor that is answered with an error
    perish     the cursor at which the process ends
    rename     after the tool `rename` was called, `echo` is called `echo_two`
    announce   whether a change of the list is announced
    journal    a file that gets every frame that came in, one a line
"""

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

OBJECT = {"type": "object"}
PROMISE = {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}
NAMES = [
    "echo",
    "rename",
    "storm",
    "die",
    "hang",
    "half",
    "garble",
    "twice",
    "wrong_id",
    "fail",
    "error",
    "blocks",
    "progress",
    "log",
    "ask",
    "environment",
    "structured",
    "unstructured",
    "unfit",
    "odd_content",
    "input_required",
    "count",
    "block",
    "numbers",
]
CACHE = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
Send = Callable[[dict[str, Any]], None]


class Behaviour:
    """One server's state."""

    def __init__(self, options: dict[str, Any]) -> None:
        self.options = options
        self.renamed = False
        self.calls = 0
        self.listeners: list[Any] = []
        self.waiting: dict[Any, tuple[Any, Send]] = {}

    def receive(self, frame: dict[str, Any], send: Send) -> None:
        """Handle one frame; answers go through `send`."""
        self.note(frame)
        method, id_ = frame.get("method"), frame.get("id")
        if method is None:
            self.answer_came(frame)
        elif id_ is not None:
            self.request(method, id_, frame.get("params") or {}, send)

    def note(self, frame: dict[str, Any]) -> None:
        """Write the frame down."""
        path = self.options.get("journal")
        if path:
            with open(path, "a", encoding="utf-8") as file:
                file.write(json.dumps(frame) + "\n")

    def request(self, method: str, id_: Any, params: dict[str, Any], send: Send) -> None:
        """Answer a request."""
        families = self.options.get("families", ["handshake", "modern"])
        if method == "server/discover" and "modern" in families:
            result = {"supportedVersions": ["2026-07-28"], **self.introduction()}
            send(answer(id_, {**result, **CACHE}))
        elif method == "initialize" and "handshake" in families:
            send(answer(id_, {"protocolVersion": "2025-11-25", **self.introduction(), "serverInfo": INFO}))
        elif method in ("server/discover", "initialize"):
            self.refuse_introduction(method, id_, send)
        elif method == "tools/list" and params.get("cursor", "") == self.options.get("mute"):
            return
        elif method == "tools/list" and params.get("cursor", "") == self.options.get("perish"):
            os._exit(9)
        elif method == "tools/list" and params.get("cursor", "") == self.options.get("refuse"):
            send(error(id_, -32603, "The page broke"))
        elif method == "tools/list":
            send(answer(id_, self.page(params.get("cursor"))))
        elif method == "subscriptions/listen":
            self.listeners.append((id_, send))
            acknowledged = {"notifications": params["notifications"], "_meta": subscription(id_)}
            send(notification("notifications/subscriptions/acknowledged", acknowledged))
        elif method == "tools/call":
            self.call(params.get("name", ""), id_, params, send)
        elif method in ("ping", "logging/setLevel"):
            send(answer(id_, {}))
        else:
            send(error(id_, -32601, f"Method not found: {method}"))

    def introduction(self) -> dict[str, Any]:
        """Capabilities and instructions."""
        capabilities = self.options.get("capabilities", {"tools": {"listChanged": True}, "logging": {}})
        return {"capabilities": capabilities, "instructions": self.options.get("instructions", "")}

    def refuse_introduction(self, method: str, id_: Any, send: Send) -> None:
        """What an old server does with `server/discover`, or a new one with `initialize`."""
        match self.options.get("unknown", "error"):
            case "ignore":
                return
            case "exit":
                os._exit(9)
            case _ if method == "initialize":
                send(error(id_, -32022, "Unsupported protocol version", {"supported": ["2026-07-28"]}))
            case _:
                send(error(id_, -32601, f"Method not found: {method}"))

    def page(self, cursor: str | None) -> dict[str, Any]:
        """One page of tools."""
        if self.options.get("loop"):
            return {"tools": [tool(f"t{n}") for n in range(8)], "nextCursor": "x"}
        if kind := self.options.get("endless"):
            number = 0 if cursor is None else int(cursor)
            name = f"t{number}" if kind == "fresh" else "t"
            return {"tools": [tool(name)], "nextCursor": str(number + 1)}
        pages = self.options.get("pages") or [{"tools": list(self.default_tools())}]
        if cursor is None:
            return {**CACHE, **pages[0]}
        before = next(n for n, page in enumerate(pages) if page.get("nextCursor") == cursor)
        return {**CACHE, **pages[before + 1]}

    def default_tools(self) -> Iterator[dict[str, Any]]:
        """One tool for each thing that a server can do."""
        hints = {"echo": {"readOnlyHint": True}, "die": self.options.get("die_hints", {}), "count": {}}
        for name in NAMES:
            shown = "echo_two" if name == "echo" and self.renamed else name
            row = {**tool(shown), "annotations": hints.get(name, {})}
            yield {**row, "outputSchema": PROMISE} if name in ("structured", "unstructured", "unfit") else row

    def call(self, name: str, id_: Any, params: dict[str, Any], send: Send) -> None:
        """Run a tool, if `call_NAME` is there."""
        self.calls += 1
        known = {row["name"] for row in self.default_tools()}
        run = getattr(self, "call_" + ("echo" if name == "echo_two" else name), None)
        if run is None or name not in known:
            send(error(id_, -32602, f"Unknown tool: {name}"))
        else:
            run(id_, params, send)

    def changed(self, fallback: Send) -> None:
        """Announce that the list changed, in the form of the family."""
        for id_, send in self.listeners:
            send(notification("notifications/tools/list_changed", {"_meta": subscription(id_)}))
        if not self.listeners:
            fallback(notification("notifications/tools/list_changed"))

    def answer_came(self, frame: dict[str, Any]) -> None:
        """An answer to a request of ours: tell the waiting call what it was."""
        waiting = self.waiting.pop(frame.get("id"), None)
        if waiting is not None:
            id_, send = waiting
            send(answer(id_, text(json.dumps(frame.get("error") or frame.get("result")))))

    def call_echo(self, id_: Any, params: dict[str, Any], send: Send) -> None:
        send(
            answer(
                id_, {**text(json.dumps(params.get("arguments"))), "structuredContent": {"meta": params.get("_meta")}}
            )
        )

    def call_count(self, id_: Any, _params: dict[str, Any], send: Send) -> None:
        send(answer(id_, text(f"{os.getpid()} {self.calls}")))

    def call_rename(self, id_: Any, _params: dict[str, Any], send: Send) -> None:
        self.renamed = True
        if self.options.get("announce", True):
            self.changed(send)
        send(answer(id_, text("renamed")))

    def call_storm(self, id_: Any, _params: dict[str, Any], send: Send) -> None:
        for _ in range(500):
            self.changed(send)
        send(answer(id_, text("calm")))

    def call_die(self, _id: Any, _params: dict[str, Any], _send: Send) -> None:
        sys.stderr.write("going down in flames\n")
        sys.stderr.flush()
        os._exit(7)

    def call_hang(self, _id: Any, _params: dict[str, Any], _send: Send) -> None:
        """Never answer; the journal shows whether a cancellation came."""

    def call_block(self, _id: Any, _params: dict[str, Any], _send: Send) -> None:
        time.sleep(600)

    def call_numbers(self, id_: Any, _params: dict[str, Any], send: Send) -> None:
        numbers = [1.5, float("nan"), float("inf"), -float("inf")]
        send(answer(id_, {"content": [], "structuredContent": {"numbers": numbers, "text": "NaN"}}))

    def call_half(self, id_: Any, _params: dict[str, Any], _send: Send) -> None:
        sys.stdout.write(json.dumps(answer(id_, text("x" * 100)))[:60])
        sys.stdout.flush()
        os._exit(0)

    def call_garble(self, id_: Any, _params: dict[str, Any], send: Send) -> None:
        send({"jsonrpc": "2.0", "id": id_, "result": None})

    def call_twice(self, id_: Any, _params: dict[str, Any], send: Send) -> None:
        send(answer(id_, text("first")))
        send(answer(id_, text("second")))

    def call_wrong_id(self, id_: Any, _params: dict[str, Any], send: Send) -> None:
        send(answer(987654, text("for nobody")))
        send(answer("no-such-id", text("for nobody")))
        send({"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "whose?"}})
        send(answer(id_, text("for you")))

    def call_fail(self, id_: Any, _params: dict[str, Any], send: Send) -> None:
        send(answer(id_, {**text("quota exceeded"), "isError": True}))

    def call_error(self, id_: Any, _params: dict[str, Any], send: Send) -> None:
        send(error(id_, -32603, "it broke", {"hint": "try less"}))

    def call_blocks(self, id_: Any, _params: dict[str, Any], send: Send) -> None:
        send(answer(id_, {"content": BLOCKS, "_meta": {"trace": "t"}, "newField": {"kept": True}}))

    def call_progress(self, id_: Any, params: dict[str, Any], send: Send) -> None:
        token = (params.get("_meta") or {}).get("progressToken")
        for step in (1, 2, 3):
            told = {"progressToken": token, "progress": step, "total": 3, "message": f"step {step}"}
            send(notification("notifications/progress", told))
        send(answer(id_, text("done")))

    def call_log(self, id_: Any, _params: dict[str, Any], send: Send) -> None:
        send(notification("notifications/message", {"level": "warning", "logger": "db", "data": {"slow": 3}}))
        send(answer(id_, text("done")))

    def call_ask(self, id_: Any, params: dict[str, Any], send: Send) -> None:
        self.waiting["ask-1"] = (id_, send)
        given = params.get("arguments") or {}
        method = given.get("method", "sampling/createMessage")
        asked = given.get("params", {"messages": [], "maxTokens": 1})
        send({"jsonrpc": "2.0", "id": "ask-1", "method": method, "params": asked})

    def call_environment(self, id_: Any, _params: dict[str, Any], send: Send) -> None:
        send(answer(id_, {"content": [], "structuredContent": {"env": dict(os.environ), "cwd": os.getcwd()}}))

    def call_structured(self, id_: Any, _params: dict[str, Any], send: Send) -> None:
        send(answer(id_, {**text("{}"), "structuredContent": {"id": "1"}}))

    def call_unfit(self, id_: Any, _params: dict[str, Any], send: Send) -> None:
        send(answer(id_, {**text("{}"), "structuredContent": {"id": 7}}))

    def call_unstructured(self, id_: Any, _params: dict[str, Any], send: Send) -> None:
        send(answer(id_, {"content": []}))

    def call_odd_content(self, id_: Any, _params: dict[str, Any], send: Send) -> None:
        send(answer(id_, {"content": ["plain", {"type": "hologram", "depth": 3}, 7]}))

    def call_input_required(self, id_: Any, _params: dict[str, Any], send: Send) -> None:
        asked = {"inputRequests": {"q": {"method": "elicitation/create", "params": {}}}, "requestState": "s"}
        send(answer(id_, {"resultType": "input_required", **asked}))


INFO = {"name": "faulty", "version": "1"}
BLOCKS = [
    {"type": "text", "text": "words", "annotations": {"audience": ["user"]}, "futureField": 1},
    {"type": "image", "data": "AAAA", "mimeType": "image/png"},
    {"type": "audio", "data": "AAAA", "mimeType": "audio/wav"},
    {"type": "resource_link", "uri": "file:///a", "name": "a"},
    {"type": "resource", "resource": {"uri": "file:///b", "text": "inside"}},
    {"type": "hologram", "depth": 3},
]


def tool(name: str) -> dict[str, Any]:
    """A plain tool."""
    return {"name": name, "description": f"The tool {name}.", "inputSchema": OBJECT}


def text(words: str) -> dict[str, Any]:
    """A result of one text block."""
    return {"content": [{"type": "text", "text": words}]}


def answer(id_: Any, result: dict[str, Any]) -> dict[str, Any]:
    """A JSON-RPC response."""
    return {"jsonrpc": "2.0", "id": id_, "result": result}


def error(id_: Any, code: int, message: str, data: Any = None) -> dict[str, Any]:
    """A JSON-RPC error."""
    return {"jsonrpc": "2.0", "id": id_, "error": {"code": code, "message": message, "data": data}}


def notification(method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
    """A JSON-RPC notification."""
    return {"jsonrpc": "2.0", "method": method, "params": params or {}}


def subscription(id_: Any) -> dict[str, Any]:
    """The `_meta` that ties a notification to its stream."""
    return {"io.modelcontextprotocol/subscriptionId": id_}
