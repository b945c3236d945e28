"""Kit: a real gateway process over real upstream processes, and real clients of the `mcp` package."""

import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
from mcp import Client
from mcp.client.stdio import StdioServerParameters

WORKSHOP = Path(__file__).parent / "workshop_server.py"
PATIENCE = 30.0
"""Seconds after which something that should have happened has not."""


class Visitor:
    """A client, and everything that it hears.

    Parameters:
        mode: its protocol family, as `mcp.Client` takes it.
        folder: the folder of the board that it visits.
    """

    client: Client

    def __init__(self, mode: str, folder: Path) -> None:
        self.mode = mode
        self.folder = folder
        self.heard: list[Any] = []
        self.logged: list[str] = []

    @property
    def diary(self) -> str:
        """What the upstreams wrote down last."""
        path = self.folder / "diary"
        return path.read_text() if path.exists() else ""

    async def on_message(self, message: Any) -> None:
        self.heard.append(message)

    async def on_log(self, params: Any) -> None:
        self.logged.append(f"{params.level}: {params.data}")

    def count(self, kind: type) -> int:
        return sum(isinstance(message, kind) for message in self.heard)

    async def names(self) -> set[str]:
        """The names of the tools in its list."""
        return {tool.name for tool in (await self.client.list_tools()).tools}

    async def call(self, tool: str, **arguments: Any) -> Any:
        return await self.client.call_tool(tool, arguments)


@dataclass
class Gateway:
    """A board folder, and the ways to reach a gateway on it.

    Parameters:
        folder: holds `pegboard.toml`.
        transport: `stdio`: each client starts a gateway; `http`: all clients share one process.
    """

    folder: Path
    transport: str
    address: str | None = None
    processes: list[subprocess.Popen[str]] = field(default_factory=list)

    @property
    def command(self) -> list[str]:
        return [sys.executable, "-m", "pegboard", "serve", "--config", str(self.folder / "pegboard.toml")]

    @property
    def target(self) -> StdioServerParameters | str:
        if self.transport == "stdio":
            return StdioServerParameters(command=self.command[0], args=[*self.command[1:], "--stdio"])
        if self.address is None:
            self.address = self.start()
        return self.address

    def start(self, *more: str) -> str:
        """Start a gateway over HTTP; returns its address once it accepts connections."""
        process = subprocess.Popen(
            [*self.command, "--http", "127.0.0.1:0", *more], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        self.processes.append(process)
        assert process.stdout is not None
        told: list[str] = []
        for line in process.stdout:
            told.append(line)
            found = next((word for word in line.split() if word.startswith("http://") and word.endswith("/mcp")), None)
            if found is not None:
                return found
        raise AssertionError("".join(told))

    def client(self, mode: str, visitor: Visitor | None = None) -> AbstractAsyncContextManager[Client]:
        """A client of this gateway."""
        heard = {"message_handler": visitor.on_message, "logging_callback": visitor.on_log} if visitor else {}
        return Client(self.target, mode=mode, read_timeout_seconds=PATIENCE, log_level="warning", **heard)

    def close(self) -> None:
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            process.communicate(timeout=PATIENCE)


MakeGateway = Callable[..., Gateway]
"""`gateway("http", {"ws": workshop()}, 'search = "on"')`."""


def workshop(**more: str) -> str:
    """The table of a workshop upstream over stdio; `more` are further keys, in TOML."""
    lines = [f'mcp = ["{sys.executable}", "{WORKSHOP}"]', *(f"{key} = {value}" for key, value in more.items())]
    return "\n".join(lines)


def board(folder: Path, sources: Mapping[str, str], settings: str = "") -> Path:
    """Write a board of these tables into a folder."""
    tables = [f"[board]\n{settings}", *(f"[sources.{name}]\n{table}" for name, table in sources.items())]
    (folder / "pegboard.toml").write_text("\n\n".join(tables))
    return folder


async def until(condition: Callable[[], Any]) -> Any:
    """Wait until a condition holds; in another process there is no event to wait for."""
    with anyio.fail_after(PATIENCE):
        while not (found := condition()):  # noqa: ASYNC110
            await anyio.sleep(0.02)
        return found
