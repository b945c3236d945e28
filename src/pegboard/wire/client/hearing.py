"""What a server says unasked: requests of its own, changes of its list, log messages."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import anyio
from mcp.shared.dispatcher import CallOptions, DispatchContext, Dispatcher
from mcp.shared.exceptions import MCPError
from mcp_types import METHOD_NOT_FOUND

from pegboard.core.client import ClientError
from pegboard.schema.types import Json, JsonObject
from pegboard.wire.client.negotiate import Declared, Peer, request_headers
from pegboard.wire.client.wire import Wire

_TOOLS_CHANGED = "notifications/tools/list_changed"
_MESSAGE = "notifications/message"
_COMPLETE = "notifications/elicitation/complete"
_LISTEN = "subscriptions/listen"

# The first and the longest pause before a stream that ended is opened again, in seconds, and how long one must have
# lasted for the pause to start small again.
_PAUSE, _LONGEST_PAUSE, _SOUND = 1.0, 60.0, 30.0

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Hooks:
    """Who hears what a server says outside of answers. All are plain functions and must not block.

    Parameters:
        changed: the list of tools may have changed.
        noticed: any other notification: method, params.
        logged: a log message: level, data, logger.
        event: something worth a line in the report, such as a refused request.
        completed: what an elicitation by address was about is done.
    """

    changed: Callable[[], None] = field(default=lambda: None)
    noticed: Callable[[str, Mapping[str, Any]], None] = field(default=lambda _method, _params: None)
    logged: Callable[[str, Json, str | None], None] = field(default=lambda _level, _data, _logger: None)
    event: Callable[[str], None] = field(default=lambda _text: None)
    completed: Callable[[JsonObject], None] = field(default=lambda _params: None)


@dataclass(frozen=True)
class Hearing:
    """The receiving half of a connection.

    Parameters:
        declared: what was declared to the server; a request for anything else is refused at once.
        hooks: who hears the rest.
    """

    declared: Declared
    hooks: Hooks

    async def on_request(
        self, _context: DispatchContext[Any], method: str, params: Mapping[str, Any] | None
    ) -> dict[str, Any]:
        """Answer a request of the server.

        Raises:
            MCPError: nobody here answers such requests.
        """
        if method == "ping":
            return {}
        answer = self.declared.answers.get(method)
        if answer is None:
            self.hooks.event(f"It asked for {method}, which was not declared to it and was refused.")
            raise MCPError(code=METHOD_NOT_FOUND, message=f"This client does not support {method}.")
        try:
            return await answer(params or {})
        except ClientError as error:
            raise MCPError(code=error.code, message=error.message, data=error.data) from None

    def on_frame(self, method: str, params: Mapping[str, Any] | None) -> bool:
        """Hear a notification, in the order of arrival; nobody else needs to."""
        if method == _TOOLS_CHANGED:
            self.hooks.changed()
        elif method == _COMPLETE and params is not None:
            self.hooks.completed(params)
        elif method == _MESSAGE and params is not None:
            logger = params.get("logger")
            level = str(params.get("level", "info"))
            self.hooks.logged(level, params.get("data"), logger if isinstance(logger, str) else None)
        else:
            self.hooks.noticed(method, params or {})
        return True

    async def on_notify(self, _context: DispatchContext[Any], _method: str, _params: Mapping[str, Any] | None) -> None:
        """Never called, for `on_frame` hears everything first; the dispatcher wants one."""

    async def listen(self, dispatcher: Dispatcher[Any], peer: Peer, wire: Wire) -> None:
        """Hold a stream of list changes open (MCP 2026-07-28, subscriptions); open it anew when it breaks."""
        pause = _PAUSE
        for number in count(1):
            begun = anyio.current_time()
            if not await self._listen_once(f"listen-{number}", dispatcher, peer, wire):
                self.hooks.event(f"It announces list changes, but does not know {_LISTEN}.")
                return
            pause = _PAUSE if anyio.current_time() - begun > _SOUND else min(pause * 2, _LONGEST_PAUSE)
            await anyio.sleep(pause)
            self.hooks.changed()
            for list_ in peer.announced - {"tools"}:
                self.hooks.noticed(f"notifications/{list_}/list_changed", {})

    async def _listen_once(self, id_: str, dispatcher: Dispatcher[Any], peer: Peer, wire: Wire) -> bool:
        """One stream, to its end; False if the server does not know such streams."""
        wanted = {f"{list_}ListChanged": True for list_ in sorted(peer.announced)}
        params = {"notifications": wanted, "_meta": dict(peer.envelope)}
        options: CallOptions = {"request_id": id_}
        if wire.headers:
            options["headers"] = request_headers(peer, _LISTEN, params)
        try:
            await dispatcher.send_raw_request(_LISTEN, params, options)
        except MCPError as error:
            wire.faults.pop(id_, None)
            _log.debug("the stream of changes ended: %s", error.message)
            return error.code != METHOD_NOT_FOUND
        return True
