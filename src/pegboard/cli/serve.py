"""`pegboard serve`: the board as an MCP server."""

import os
from pathlib import Path
from typing import Annotated

import anyio
from cyclopts import Parameter

from pegboard.board import Board
from pegboard.board.gateway import serve_http, serve_stdio
from pegboard.cli.banner import connect_lines, size_line, source_line
from pegboard.cli.exit import Exit
from pegboard.cli.open import connected, opened
from pegboard.cli.options import DEFAULT_CONFIG, ConfigFile
from pegboard.cli.output import say
from pegboard.cli.rehearse import talk
from pegboard.cli.stopping import until_stopped
from pegboard.core import SourceState
from pegboard.errors import ConfigError

Flag = Parameter(negative="")
TOKEN_VARIABLE = "PEGBOARD_TOKEN"


async def serve(
    *,
    stdio: Annotated[bool, Flag] = False,
    http: str | None = None,
    token: str | None = None,
    refresh: Annotated[bool, Flag] = False,
    check: Annotated[bool, Flag] = False,
    board_version: str | None = None,
    config: ConfigFile = DEFAULT_CONFIG,
) -> int:
    """Serve the board to MCP clients, over stdio or HTTP.

    Parameters
    ----------
    stdio
        Serve the one client that has started this process.
    http
        Listen on HOST:PORT; the path is /mcp. Port 0 takes a free one. Without --stdio the default is 127.0.0.1:8321.
    token
        The bearer token that HTTP clients must send; PEGBOARD_TOKEN if left out. Needed beyond loopback.
    refresh
        List every source before the first answer, whatever is stored.
    check
        Talk to the board through a real client, say what it saw, and end.
    board_version
        Serve this published version, whatever `versions use` says; live is what the config says now.
    """
    if stdio and (http or check):
        raise ConfigError("--stdio excludes --http and --check.", where="serve", next_step="Leave one of them out.")
    host, port = _address(http or ("127.0.0.1:0" if check else "127.0.0.1:8321"))
    secret = token or os.environ.get(TOKEN_VARIABLE)
    if stdio:
        return await until_stopped(lambda: _stdio(config, refresh, board_version))
    return await until_stopped(lambda: _http(config, host, port, secret, refresh or check, check, board_version))


async def _stdio(config: Path, refresh: bool, version: str | None) -> int:
    async with connected(config, refresh=refresh, version=version) as board:
        await serve_stdio(board)
    return Exit.OK


async def _http(
    config: Path, host: str, port: int, token: str | None, refresh: bool, check: bool, version: str | None
) -> int:
    outcome = [Exit.OK]
    opening = opened(config, refresh=refresh, told=source_line, version=version)
    async with opening as board, anyio.create_task_group() as tasks:
        await _tell_resting(board)

        async def checked(address: str) -> None:
            outcome[0] = await talk(board, address, token)
            tasks.cancel_scope.cancel()

        def ready(address: str) -> None:
            say(size_line(board))
            if check:
                tasks.start_soon(checked, address)
            for line in connect_lines(address, token):
                say(line)

        await serve_http(board, host, port, token, ready)
    return outcome[0]


async def _tell_resting(board: Board) -> None:
    """Tell the sources that have not started, since they are known from the store or disabled."""
    for status in await board.statuses():
        if board.config and status.state in (SourceState.IDLE, SourceState.DISABLED):
            say(source_line(status, board.config))


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if host and port.isdecimal() and int(port) < 65_536:
        return host, int(port)
    raise ConfigError(f"{text!r} is no address.", where="--http", next_step="Write HOST:PORT, such as 127.0.0.1:8321.")
