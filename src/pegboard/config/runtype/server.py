"""An MCP server of an agent as a source."""

from typing import Any
from urllib.parse import urlsplit

from pegboard.config.clients.secret import variable_name
from pegboard.config.runtype.finding import Findings, Weight
from pegboard.config.runtype.request import looks_private, referring
from pegboard.config.runtype.template import SECRET, At
from pegboard.schema.types import Json, JsonObject, as_list, as_object

_KEYS = ("id", "url", "name", "transport", "auth", "allowedTools", "enabled", "timeout")


def server_source(row: Json, findings: Findings, at: At, *, private: bool) -> tuple[str, JsonObject] | None:
    """The source of one row of `mcpServers`: its name and its table; None where it is refused."""
    from pegboard.config.runtype.flow import slug

    table = as_object(row)
    id, url = table.get("id"), table.get("url")
    if not isinstance(id, str) or not id.strip() or not isinstance(url, str):
        findings.refuse("SERVER_INCOMPLETE", at, "A server has an id and a url.")
        return None
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        findings.refuse("SERVER_INCOMPLETE", (*at, "url"), f"{url!r} is no web address.")
        return None
    if not private and looks_private(parts.hostname):
        findings.refuse(
            "PRIVATE_ADDRESS",
            (*at, "url"),
            f"{parts.hostname} is no public address.",
            "If you want that, import with --allow-private.",
        )
        return None
    if table.get("transport") not in (None, "streamable_http"):
        findings.refuse(
            "TRANSPORT_UNSUPPORTED",
            (*at, "transport"),
            f"{table['transport']!r} is not spoken here.",
            "Use streamable_http, or describe the API as an OpenAPI source.",
        )
        return None
    for key in table:
        if key not in _KEYS:
            findings.say(Weight.DROPPED, "KEY_WITHOUT_EFFECT", (*at, key), f"{key!r} has no effect here.")
    name = slug(id)
    found: dict[str, Any] = {"mcp": referring(url)}
    headers = _headers(as_object(table.get("auth")), name, findings, (*at, "auth"))
    if headers:
        found["headers"] = headers
    if table.get("allowedTools") is not None:
        found["allow"] = [f"{name}.{tool}" for tool in as_list(table["allowedTools"])]
    if table.get("timeout") is not None and isinstance(table["timeout"], int | float):
        found["call_timeout"] = table["timeout"] / 1000
    if table.get("enabled") is False:
        found["disabled"] = True
    return name, found


def _headers(auth: JsonObject, label: str, findings: Findings, at: At) -> dict[str, str]:
    kind = auth.get("type", "none")

    def secret(key: str) -> str:
        text = str(auth.get(key) or "")
        if SECRET.fullmatch(text):
            return referring(text)
        return findings.secret((*at, key), variable_name(f"{label}_{key}"))

    match kind:
        case "none":
            return {}
        case "bearer":
            return {"Authorization": f"Bearer {secret('token')}"}
        case "api_key" | "custom_header":
            return {str(auth.get("headerName") or "X-API-Key"): secret("token")}
        case "headers":
            return {
                name: referring(str(value)) if SECRET.search(str(value)) else _named(label, name, findings, at)
                for name, value in as_object(auth.get("headers")).items()
            }
        case _:
            findings.refuse(
                "AUTH_UNSUPPORTED",
                (*at, "type"),
                f"{kind!r} is no kind of credentials that is taken over.",
                "Use bearer, api_key, custom_header or headers.",
            )
            return {}


def _named(label: str, name: str, findings: Findings, at: At) -> str:
    return findings.secret((*at, "headers", name), variable_name(f"{label}_{name}"))
