"""One server of a client's config, as a table of `pegboard.toml`."""

import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any, cast
from urllib.parse import urlsplit

from pegboard.config.clients.secret import Reader, Unreadable, Vault
from pegboard.schema.types import JsonObject

_ADDRESS_KEYS = ("httpUrl", "serverUrl", "url")
_SILENT = {"type", "transport", "source", "description", "name", "title", "$schema"}
_TYPES = {"http": "http", "streamable-http": "http", "streamableHttp": "http", "streamable_http": "http", "sse": "sse"}

_LEAST_MS = 1000
"""Clients count a timeout in milliseconds or, as Zed does, in seconds; below this it can only be seconds."""


@dataclass(slots=True)
class Entry:
    """One server while it is read.

    Parameters:
        name: its name on the board.
        raw: what the client has.
        reader: reads its texts.
        vault: takes its secrets.
        plain_url: as in `Client.plain_url`.
    """

    name: str
    raw: JsonObject
    reader: Reader
    vault: Vault
    plain_url: str = ""
    table: dict[str, Any] = field(default_factory=dict[str, Any])
    notes: list[str] = field(default_factory=list[str])
    used: set[str] = field(default_factory=lambda: set(_SILENT))

    def read(self) -> JsonObject:
        """The table; what was not taken over stands in `notes`.

        Raises:
            Unreadable: it cannot be served, with the reason.
        """
        self.raw = _flat(self.raw)
        address = next((key for key in _ADDRESS_KEYS if self.raw.get(key)), None)
        if self.raw.get("command"):
            self._program()
            self.used.update(_ADDRESS_KEYS if address is None else ())
        elif address:
            self._remote(address)
        else:
            raise Unreadable("it names neither a command nor an address")
        self._common()
        left = sorted(
            key for key, value in self.raw.items() if key not in self.used and value not in (None, "", [], {})
        )
        self.notes += [f"{key} is not taken over" for key in left]
        return self.table

    def _program(self) -> None:
        command, arguments = self._text("command"), [self._as_text(item) for item in self._list("args")]
        if not arguments and " " in command and not Path(command).exists():
            command, *arguments = shlex.split(command, posix=self.reader.machine.platform != "windows")
        if PurePath(command).stem == "pegboard" or arguments[:2] == ["-m", "pegboard"]:
            raise Unreadable("it is Pegboard itself")
        self.table["mcp"] = [command, *self.vault.arguments(self.name, arguments)]
        env = self.vault.environment(self.name, self._texts("env"))
        for item in self._list("env_vars"):
            known = cast("JsonObject", item).get("name", "") if isinstance(item, dict) else str(item)
            env[known] = f"${{env:{known}}}"
        self._put("env", env)
        self.used.add("cwd")
        self._put("cwd", self._cwd([command, *arguments]))

    def _cwd(self, argv: list[str]) -> str | None:
        """Where the program runs; a project's folder where the command names something that lies in it."""
        said, folder = self._text("cwd") if self.raw.get("cwd") else None, self.reader.folder
        if said is not None:
            return str(Path(folder, said)) if folder is not None else said
        inside = folder is not None and any(_relative(text) and Path(folder, text).exists() for text in argv)
        return folder if inside else None

    def _remote(self, key: str) -> None:
        url, kind = self._text(key), self._kind(key)
        self.used.update(_ADDRESS_KEYS)
        if not url.startswith("${") and urlsplit(url).scheme not in ("http", "https"):
            raise Unreadable(f"{url} is no http(s) address")
        self.table["mcp"] = self.vault.address(self.name, url)
        self._put("transport", "sse" if kind == "sse" else None)
        named = "headers" if "headers" in self.raw else "http_headers"
        headers = self.vault.headers(self.name, self._texts(named))
        headers |= {name: f"${{env:{variable}}}" for name, variable in self._texts("env_http_headers").items()}
        self.used.add("bearer_token_env_var")
        if self.raw.get("bearer_token_env_var"):
            headers["Authorization"] = f"Bearer ${{env:{self.raw['bearer_token_env_var']}}}"
        self._put("headers", headers)

    def _kind(self, key: str) -> str:
        said = self.raw.get("type") or self.raw.get("transport")
        if said is not None and said not in _TYPES and said != "stdio":
            raise Unreadable(f"the transport {said} is not spoken here")
        if said in _TYPES:
            return _TYPES[said]
        if key == "url" and self.plain_url:
            return self.plain_url
        return "sse" if urlsplit(str(self.raw[key])).path.rstrip("/").endswith("/sse") else "http"

    def _common(self) -> None:
        for key, names in (("allow", ("includeTools", "enabled_tools")), ("deny", ("excludeTools", "disabledTools"))):
            self._put(key, [_selector(str(tool)) for name in names for tool in self._list(name)])
        if denied := self._list("disabled_tools"):
            self.table["deny"] = [*self.table.get("deny", []), *(_selector(str(tool)) for tool in denied)]
        for key, name, unit in (
            ("call_timeout", "timeout", 1000),
            ("call_timeout", "tool_timeout_sec", 1),
            ("start_timeout", "startup_timeout_sec", 1),
            ("start_timeout", "startup_timeout_ms", 1000),
        ):
            self._put(key, self._seconds(name, unit))
        off = self.raw.get("disabled") is True or self.raw.get("enabled") is False
        self.used.update(("disabled", "enabled"))
        self._put("disabled", off)

    def _seconds(self, name: str, unit: int) -> float | None:
        value = self.raw.get(name)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value / unit <= 604_800:
            return None
        self.used.add(name)
        seconds = value / (1 if name == "timeout" and value < _LEAST_MS else unit)
        return int(seconds) if seconds == int(seconds) else seconds

    def _put(self, key: str, value: object) -> None:
        if value:
            self.table[key] = value

    def _text(self, key: str) -> str:
        self.used.add(key)
        return self._as_text(self.raw[key])

    def _as_text(self, value: object) -> str:
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise Unreadable("a text is needed, and there is something else")
        return self.reader.text(str(value))

    def _list(self, key: str) -> list[Any]:
        return self._of(key, list)

    def _texts(self, key: str) -> dict[str, str]:
        items = cast("dict[str, object]", self._of(key, dict))
        return {name: self._scalar(value) for name, value in items.items() if value is not None}

    def _scalar(self, value: object) -> str:
        return str(value).lower() if isinstance(value, bool) else self._as_text(value)

    def _of(self, key: str, kind: Callable[[], Any]) -> Any:
        self.used.add(key)
        value = self.raw.get(key)
        if value is not None and not isinstance(value, cast("type[Any]", kind)):
            raise Unreadable(f"{key} is not a {'list' if kind is list else 'table'}")
        return kind() if value is None else value


def _flat(raw: JsonObject) -> JsonObject:
    """Zed's older shapes as the one that all have: `command` or `source` as a table."""
    flat = dict(raw)
    for key in ("command", "source"):
        inner = flat.get(key)
        if isinstance(inner, Mapping):
            del flat[key]
            table = dict(cast("JsonObject", inner))
            flat["command"] = flat.get("command") or table.pop("path", None) or table.pop("command", None)
            flat |= {name: value for name, value in table.items() if name != "type"}
    return flat


def _relative(text: str) -> bool:
    """Whether a word of a command looks like the path of something beside it."""
    return bool(text) and not text.startswith(("-", "$")) and not PurePath(text).is_absolute()


def _selector(tool: str) -> str:
    """A tool's own name as a selector."""
    exact = re.sub(r"([*?\[])", r"[\1]", tool)
    return f"*.{exact}" if re.search(r"[.:!]", tool) else exact
