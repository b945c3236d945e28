"""Calling one tool upstream: as little as possible on the way, one careful retry when the connection fails."""

from typing import Any

from pegboard.core import Call, Handler, Result, ToolSpec
from pegboard.core.call import wanted_level
from pegboard.core.client import ClientError
from pegboard.core.spec import OWN_META
from pegboard.schema.types import JsonObject
from pegboard.sources.mcp.conditional import needs_of
from pegboard.sources.mcp.outcome import failure_of, needs_client, refused_by_client, result_of, unknown_tool
from pegboard.sources.mcp.upstream import Upstream
from pegboard.wire.client import ConnectionLost, WireError
from pegboard.wire.client.parameter import HeaderMap, argument_headers

_ENVELOPE = "io.modelcontextprotocol/"
_LOG_LEVEL = "io.modelcontextprotocol/logLevel"


def make_handler(spec: ToolSpec, upstream: Upstream, headers: HeaderMap | None) -> Handler:
    """The handler of a tool.

    Parameters:
        spec: the tool; its bare name is what the server knows.
        upstream: the server.
        headers: which arguments also travel as HTTP headers.
    """
    name, repeatable = spec.name.name, spec.effects.repeatable

    needs = needs_of(spec)

    async def call_tool(call: Call) -> Result:
        if needs and not any(can_be_asked(call, upstream.may_ask, feature) for feature in needs):
            return needs_client(needs, source=upstream.name, tool=name)
        params: dict[str, Any] = {"name": name, "arguments": call.arguments}
        if call.meta or call.log is not None:
            params["_meta"] = _forwarded(call)
        extra = argument_headers(headers, call.arguments) if headers else None
        for last in (False, True):
            try:
                raw = await upstream.call(params, call, extra)
            except ConnectionLost as error:
                if last or not error.repairable(repeatable=repeatable):
                    return failure_of(error, source=upstream.name, tool=name)
            except ClientError as error:
                return refused_by_client(error, source=upstream.name)
            except WireError as error:
                if unknown_tool(str(error)):
                    upstream.changes.raise_()
                return failure_of(error, source=upstream.name, tool=name)
            else:
                result = result_of(raw)
                if result.failure is not None and unknown_tool(result.failure.message):
                    upstream.changes.raise_()
                return result
        raise AssertionError("the last attempt always returns")

    return call_tool


def can_be_asked(call: Call, may_ask: frozenset[str], feature: str) -> bool:
    """Whether a call's client has a feature that the server may use."""
    return feature in may_ask and call.client is not None and feature in call.client.capabilities


def passed_on(meta: JsonObject) -> dict[str, Any]:
    """`_meta` of a caller without what belongs to the caller's own connection, or to the board."""
    return {
        key: value
        for key, value in meta.items()
        if key != "progressToken"
        and not key.startswith(OWN_META)
        and (not key.startswith(_ENVELOPE) or key == _LOG_LEVEL)
    }


def _forwarded(call: Call) -> JsonObject:
    meta = passed_on(call.meta)
    if call.log is not None:
        meta.setdefault(_LOG_LEVEL, wanted_level(call.log))
    return meta
