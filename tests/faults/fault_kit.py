"""Real processes that misbehave on request: how tests start them, and what they see of them."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio

from pegboard.core import Call, Listing, Result, ToolName
from pegboard.sources.mcp import McpSource

SERVERS = Path(__file__).parent / "servers"


class Journal:
    """Every frame that a fault server received."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def frames(self) -> list[dict[str, Any]]:
        text = self.path.read_text() if self.path.exists() else ""
        return [json.loads(line) for line in text.splitlines()]

    def of(self, method: str) -> list[dict[str, Any]]:
        return [frame for frame in self.frames if frame.get("method") == method]

    def calls(self, tool: str) -> int:
        return sum(frame["params"]["name"] == tool for frame in self.of("tools/call"))


class HttpServer:
    """A fault server over HTTP that can be stopped and started on the same port."""

    def __init__(self, options: dict[str, Any]) -> None:
        self.options = options
        self.port = 0
        self.process: subprocess.Popen[str] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"

    def start(self, **more: Any) -> "HttpServer":
        self.options = {**self.options, **more, "port": self.port}
        argv = [sys.executable, str(SERVERS / "over_http.py"), json.dumps(self.options)]
        self.process = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline())
        return self

    def stop(self) -> None:
        if self.process is not None and self.process.stdout is not None:
            self.process.kill()
            self.process.wait()
            self.process.stdout.close()
            self.process = None


async def call(source: McpSource, listing: Listing, name: str, **more: Any) -> Result:
    """Call a listed tool by its bare name."""
    tool = next(tool for tool in listing.tools if tool.name.name == name)
    return await tool.handler(Call(tool=ToolName(source.namespace, name), arguments=more.pop("arguments", {}), **more))


def names(listing: Listing) -> list[str]:
    """The bare names of what is listed."""
    return [tool.name.name for tool in listing.tools]


def words(result: Result) -> str:
    """The first text block of a result."""
    return str(result.content[0]["text"])


async def until(condition: Callable[[], Any]) -> None:
    """Wait until another process has done something; five seconds at most."""
    with anyio.fail_after(60):
        while not condition():  # noqa: ASYNC110
            await anyio.sleep(0.005)
