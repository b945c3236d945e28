"""The clients as data: where each keeps its servers, under which key, and how it spells variables.

Sources: each client's own documentation of its MCP configuration, as of 2026.
"""

from dataclasses import dataclass, field
from pathlib import Path

from pegboard.config.clients.machine import Machine
from pegboard.errors import ConfigError, nearest


@dataclass(frozen=True, slots=True)
class Place:
    """One file in which a client keeps servers.

    Parameters:
        scope: `user`, `project` or `local` (this person, in one project).
        path: as `Machine.find` reads it; a `*` stands for any one folder.
        keys: where the servers are; `*` is any key (Claude Code's `projects.*.mcpServers`).
        platforms: where it is so; everywhere if empty.
    """

    scope: str
    path: str
    keys: tuple[str, ...]
    platforms: tuple[str, ...] = ()

    def files(self, machine: Machine) -> list[Path]:
        """The files of this place, whether they are there or not; of a pattern, those that are."""
        if self.platforms and machine.platform not in self.platforms:
            return []
        path = machine.find(self.path)
        if "*" not in self.path:
            return [path]
        parent, pattern = next(
            (p, path.relative_to(p)) for p in path.parents if "*" not in str(p.relative_to(p.anchor))
        )
        return sorted(parent.glob(str(pattern)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """One MCP client.

    Parameters:
        name: as typed on the command line.
        title: as people call it.
        places: its files, the strongest scope first.
        variables: what `${X}` means in its files: `none` (nothing), `braces` (a variable), `dollar` (`$X` too).
        plain_url: the transport behind the key `url` where no type is given; by the address if empty.
        remote: what a remote server's entry looks like: the key of the address, and what stands beside it. None
            where the client only starts programs.
    """

    name: str
    title: str
    places: tuple[Place, ...]
    variables: str = "braces"
    plain_url: str = ""
    remote: tuple[str, dict[str, str]] | None = ("url", {})
    stdio: dict[str, str] = field(default_factory=dict[str, str])


_SERVERS = ("mcpServers",)

CLIENTS = (
    Client(
        name="claude-desktop",
        title="Claude Desktop",
        places=(Place("user", "$CONFIG/Claude/claude_desktop_config.json", _SERVERS),),
        variables="none",
        remote=None,
    ),
    Client(
        name="claude-code",
        title="Claude Code",
        places=(
            Place("local", "$CLAUDE/.claude.json", ("projects", "*", "mcpServers")),
            Place("project", "./.mcp.json", _SERVERS),
            Place("user", "$CLAUDE/.claude.json", _SERVERS),
        ),
        remote=("url", {"type": "http"}),
        stdio={"type": "stdio"},
    ),
    Client(
        name="cursor",
        title="Cursor",
        places=(Place("project", "./.cursor/mcp.json", _SERVERS), Place("user", "~/.cursor/mcp.json", _SERVERS)),
    ),
    Client(
        name="vscode",
        title="VS Code",
        places=(
            Place("project", "./.vscode/mcp.json", ("servers",)),
            Place("user", "$CONFIG/Code/User/mcp.json", ("servers",)),
            Place("user", "$CONFIG/Code/User/profiles/*/mcp.json", ("servers",)),
            Place("user", "$CONFIG/Code - Insiders/User/mcp.json", ("servers",)),
            Place("user", "$CONFIG/Code/User/settings.json", ("mcp", "servers")),
        ),
        remote=("url", {"type": "http"}),
        stdio={"type": "stdio"},
    ),
    Client(
        name="windsurf",
        title="Windsurf",
        places=(Place("user", "~/.codeium/windsurf/mcp_config.json", _SERVERS),),
        remote=("serverUrl", {}),
    ),
    Client(
        name="gemini",
        title="Gemini CLI",
        places=(
            Place("project", "./.gemini/settings.json", _SERVERS),
            Place("user", "~/.gemini/settings.json", _SERVERS),
        ),
        variables="dollar",
        plain_url="sse",
        remote=("httpUrl", {}),
    ),
    Client(
        name="zed",
        title="Zed",
        places=(
            Place("project", "./.zed/settings.json", ("context_servers",)),
            Place("user", "$CONFIG/zed/settings.json", ("context_servers",), ("linux",)),
            Place("user", "~/.config/zed/settings.json", ("context_servers",), ("macos",)),
            Place("user", "$CONFIG/Zed/settings.json", ("context_servers",), ("windows",)),
        ),
        variables="none",
    ),
    Client(
        name="codex",
        title="Codex",
        places=(
            Place("project", "./.codex/config.toml", ("mcp_servers",)),
            Place("user", "$CODEX/config.toml", ("mcp_servers",)),
        ),
        variables="none",
    ),
)

FILE = Client(
    name="file",
    title="A file",
    places=tuple(
        Place("project", "", keys)
        for keys in (("mcpServers",), ("servers",), ("mcp", "servers"), ("context_servers",), ("mcp_servers",))
    ),
)
"""Any file with servers in it, whoever it is for."""


def client(name: str) -> Client:
    """A client by its name.

    Raises:
        ConfigError: there is none of this name.
    """
    found = next((known for known in CLIENTS if known.name == name), None)
    if found is None:
        names = [known.name for known in CLIENTS]
        near = nearest(name, names, limit=1)
        step = f"Did you mean {near[0]}?" if near else f"Known are {', '.join(names)}."
        raise ConfigError(f"{name!r} is neither a file nor a client.", next_step=step)
    return found
