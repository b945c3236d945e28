"""What other clients have comes over whole: every format, no secret, nothing twice, and what stays behind is said."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from pegboard.config import load
from pegboard.config.clients import CLIENTS, Haul, Machine, extended, gather
from pegboard.config.clients.jsonc import plain, read
from pegboard.errors import ConfigError

GITHUB_TOKEN = "ghp_0123456789abcdefghijABCDEFGHIJ0123"
BEARER = "Bearer a-rather-long-and-secret-value"

HOME: dict[str, str] = {
    "{config}/Claude/claude_desktop_config.json": json.dumps(
        {"mcpServers": {"github": {"command": "docker", "args": ["run", "gh"], "env": {"GITHUB_TOKEN": GITHUB_TOKEN}}}}
    ),
    "{home}/.claude.json": json.dumps(
        {
            "numStartups": 3,
            "mcpServers": {"docs": {"type": "http", "url": "https://docs.example.com/mcp"}},
            "projects": {
                "{project}": {"mcpServers": {"local-only": {"type": "sse", "url": "https://l.example.com/x"}}}
            },
        }
    ),
    "{project}/.mcp.json": json.dumps(
        {"mcpServers": {"shared": {"command": "${TOOL:-uvx}", "args": ["thing"], "env": {"A": "${A}", "N": 3}}}}
    ),
    "{home}/.cursor/mcp.json": f"""{{
  // people write comments, and https://is.no/comment
  "mcpServers": {{
    "github": {{"command": "docker", "args": ["run", "gh"], "env": {{"GITHUB_TOKEN": "{GITHUB_TOKEN}"}}}}, /* again */
    "cursor-only": {{"url": "https://c.example.com/mcp", "headers": {{"Authorization": "{BEARER}"}}}},
  }},
}}
""",
    "{config}/Code/User/mcp.json": """{
  "inputs": [{"type": "promptString", "id": "perplexity-key", "password": true}],
  "servers": {"perplexity": {"type": "stdio", "command": "npx", "args": ["-y", "p"],
              "env": {"PERPLEXITY_API_KEY": "${input:perplexity-key}"}, "envFile": "/x/.env"}}
}""",
    "{home}/.codeium/windsurf/mcp_config.json": json.dumps(
        {"mcpServers": {"wind": {"serverUrl": "https://w.example.com/sse", "disabled": True, "disabledTools": ["rm"]}}}
    ),
    "{home}/.gemini/settings.json": json.dumps(
        {
            "theme": "x",
            "mcpServers": {
                "gem": {"httpUrl": "https://g.example.com/mcp", "timeout": 5000, "includeTools": ["read", "a.b"]},
                "old": {"url": "https://o.example.com/events", "headers": {"X-Key": "$OLD_KEY"}, "trust": True},
            },
        }
    ),
    "{zed}/settings.json": """// Zed settings
{ "ui_font_size": 16, "context_servers": {
    "zed-new": {"source": "custom", "command": "z", "args": ["--api-key=abcdef123456", "${literal}"]},
    "zed-old": {"command": {"path": "zo", "args": ["x"], "env": {"K": "v"}}, "timeout": 60},
    "extension": {"source": "extension", "settings": {}},
} }""",
    "{home}/.codex/config.toml": """model = "x"
[mcp_servers.cod]
command = "cod"
env_vars = ["LANG"]
startup_timeout_sec = 12.5
tool_timeout_sec = 90
disabled_tools = ["bad"]
enabled = false
[mcp_servers.far]
url = "https://far.example.com/mcp"
bearer_token_env_var = "FAR"
http_headers = { "X-Team" = "blue" }
""",
}
FOLDERS = {
    "linux": {"config": ".config", "zed": ".config/zed"},
    "macos": {"config": "Library/Application Support", "zed": ".config/zed"},
    "windows": {"config": "AppData/Roaming", "zed": "AppData/Roaming/Zed"},
}


def settle(root: Path, platform: str = "linux") -> Machine:
    """A home folder with one config of each client."""
    home, project = root / "home", root / "project"
    names = {"home": str(home), "project": str(project)}
    names |= {key: str(home / folder) for key, folder in FOLDERS[platform].items()}
    for place, text in HOME.items():
        path = Path(place.format(**names))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace("{project}", str(project)))
    return Machine(home, project, platform, {})


def tables(haul: Haul) -> dict[str, Any]:
    return {source.name: source.table for source in haul.sources}


@pytest.fixture
def haul(tmp_path: Path) -> Haul:
    return gather([], settle(tmp_path))


@pytest.mark.parametrize("platform", FOLDERS)
def test_every_client_is_found_in_its_usual_place(tmp_path: Path, platform: str) -> None:
    haul = gather([], settle(tmp_path, platform))
    origins = " ".join(origin for source in haul.sources for origin in source.origins)
    assert [client.title for client in CLIENTS if client.title not in origins] == []
    assert {"Claude Code (user)", "Claude Code (local)", "Claude Code (project)"} <= {
        origin.partition(":")[0] for source in haul.sources for origin in source.origins
    }


def test_each_format_is_read_as_its_client_reads_it(haul: Haul) -> None:
    assert tables(haul) == {
        "github": {"mcp": ["docker", "run", "gh"], "env": {"GITHUB_TOKEN": "${env:GITHUB_TOKEN}"}},
        "docs": {"mcp": "https://docs.example.com/mcp"},
        "local-only": {"mcp": "https://l.example.com/x", "transport": "sse"},
        "shared": {"mcp": ["uvx", "thing"], "env": {"A": "${env:A}", "N": "3"}},
        "cursor-only": {
            "mcp": "https://c.example.com/mcp",
            "headers": {"Authorization": "Bearer ${env:CURSOR_ONLY_TOKEN}"},
        },
        "perplexity": {"mcp": ["npx", "-y", "p"], "env": {"PERPLEXITY_API_KEY": "${env:PERPLEXITY_KEY}"}},
        "wind": {"mcp": "https://w.example.com/sse", "transport": "sse", "deny": ["rm"], "disabled": True},
        "gem": {"mcp": "https://g.example.com/mcp", "allow": ["read", "*.a.b"], "call_timeout": 5},
        "old": {
            "mcp": "https://o.example.com/events",
            "transport": "sse",
            "headers": {"X-Key": "${env:OLD_KEY}"},
        },
        "zed-new": {"mcp": ["z", "--api-key=${env:ZED_NEW_API_KEY}", "$${literal}"]},
        "zed-old": {"mcp": ["zo", "x"], "env": {"K": "v"}, "call_timeout": 60},
        "cod": {
            "mcp": ["cod"],
            "env": {"LANG": "${env:LANG}"},
            "deny": ["bad"],
            "call_timeout": 90,
            "start_timeout": 12.5,
            "disabled": True,
        },
        "far": {
            "mcp": "https://far.example.com/mcp",
            "headers": {"X-Team": "blue", "Authorization": "Bearer ${env:FAR}"},
        },
    }


def test_the_result_loads_and_holds_no_secret(haul: Haul, tmp_path: Path) -> None:
    text = extended("", haul.sources, tmp_path)
    (tmp_path / "pegboard.toml").write_text(text)
    assert list(load(tmp_path).sources) == [source.name for source in haul.sources]
    assert [secret for secret in (GITHUB_TOKEN, BEARER[7:], "abcdef123456") if secret in text] == []


def test_a_duplicate_is_merged_and_both_places_are_told(haul: Haul) -> None:
    github = next(source for source in haul.sources if source.name == "github")
    assert [origin.partition(" (")[0] for origin in github.origins] == ["Claude Desktop", "Cursor"]


def test_the_name_of_a_home_folder_stays_out_of_the_config(haul: Haul, tmp_path: Path) -> None:
    text = extended("", haul.sources, tmp_path)
    assert "# from Cursor (user): ~/.cursor/mcp.json" in text
    assert str(tmp_path / "home") not in text


def test_what_stays_behind_is_said(haul: Haul) -> None:
    notes = {source.name: source.notes for source in haul.sources if source.notes}
    assert notes == {"perplexity": ["envFile is not taken over"], "old": ["trust is not taken over"]}
    assert [(item.name, item.reason) for item in haul.skipped] == [
        ("extension", "it names neither a command nor an address")
    ]


def test_each_variable_is_named_with_the_sources_that_need_it(haul: Haul) -> None:
    assert haul.variables["GITHUB_TOKEN"] == ["github"]
    assert set(haul.variables) >= {"A", "PERPLEXITY_KEY", "OLD_KEY", "ZED_NEW_API_KEY", "LANG", "FAR"}


def test_a_second_import_adds_nothing_and_existing_sources_stay(haul: Haul, tmp_path: Path) -> None:
    before = '[board]\nname = "mine"\n\n[sources.github]\nmcp = ["my-own"] # kept\n'
    machine = settle(tmp_path)
    first = gather([], machine, tomllib.loads(before)["sources"])
    assert "github-claude-desktop" in tables(first)
    text = extended(before, first.sources, tmp_path)
    assert text.startswith(before)
    assert gather([], machine, tomllib.loads(text)["sources"]).sources == []


def test_two_secrets_of_one_name_get_two_variables(tmp_path: Path) -> None:
    servers = {n: {"command": n, "env": {"API_TOKEN": f"value-of-{n}"}} for n in ("a", "b")}
    (tmp_path / "x.json").write_text(json.dumps({"mcpServers": servers}))
    found = tables(gather(["x.json"], Machine(tmp_path, tmp_path, "linux", {})))
    assert found["a"]["env"] == {"API_TOKEN": "${env:API_TOKEN}"}
    assert found["b"]["env"] == {"API_TOKEN": "${env:B_API_TOKEN}"}


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ({"command": "pegboard", "args": ["serve", "--stdio"]}, "it is Pegboard itself"),
        ({"command": "x", "args": ["${workspaceFolder}/a"]}, "${workspaceFolder} has a value in the client alone"),
        ({"command": "x", "args": "no list"}, "args is not a list"),
        ({"type": "ws", "url": "https://a.example.com"}, "the transport ws is not spoken here"),
        ({"url": "unix:///tmp/socket"}, "unix:///tmp/socket is no http(s) address"),
        ("npx thing", "it is not a table"),
    ],
)
def test_one_odd_server_costs_no_other(tmp_path: Path, raw: Any, reason: str) -> None:
    (tmp_path / "x.json").write_text(json.dumps({"servers": {"odd": raw, "good": {"command": "good"}}}))
    haul = gather(["x.json"], Machine(tmp_path, tmp_path, "linux", {}))
    assert tables(haul) == {"good": {"mcp": ["good"]}}
    assert [item.reason for item in haul.skipped] == [reason]


def test_a_broken_file_costs_no_other(tmp_path: Path) -> None:
    machine = settle(tmp_path)
    (machine.home / ".cursor/mcp.json").write_text("{ broken")
    haul = gather([], machine)
    assert "perplexity" in tables(haul)
    assert any(item.name == "" and "Cursor" in item.origin for item in haul.skipped)


def test_a_projects_own_program_runs_in_the_project(tmp_path: Path) -> None:
    (tmp_path / "server.py").touch()
    (tmp_path / ".mcp.json").write_text(json.dumps({"mcpServers": {"s": {"command": "python", "args": ["server.py"]}}}))
    found = tables(gather([str(tmp_path / ".mcp.json")], Machine(tmp_path / "home", tmp_path / "other", "linux", {})))
    assert found == {"s": {"mcp": ["python", "server.py"], "cwd": str(tmp_path.resolve())}}


def test_a_name_that_is_nothing_is_answered_with_the_nearest_client(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="Did you mean cursor"):
        gather(["cursr"], Machine(tmp_path, tmp_path, "linux", {}))


def test_comments_and_trailing_commas_are_blanked_in_place() -> None:
    text = '\ufeff{ // a\n "u": "http://x//y /* no */", /* b\n */ "l": [1, 2, ], // c\n}'
    assert len(plain(text)) == len(text)
    assert read(text) == {"u": "http://x//y /* no */", "l": [1, 2]}
    assert read("  // nothing\n") == {}
