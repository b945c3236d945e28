"""A server that a command looks at without adding it: how it is written on the command line, and what it lists."""

import os
import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from pegboard.cli.output import clean
from pegboard.core import Listing
from pegboard.errors import ConfigError, SourceError


async def listed(
    target: list[str] | str, env: Mapping[str, str], headers: Mapping[str, str], sse: bool, timeout: float
) -> tuple[Listing, float | None]:
    """What an MCP server lists, and how many seconds it took to start.

    Raises:
        SourceError: it cannot be listed; what it said on its error output stands in the message.
    """
    from pegboard.sources.mcp import McpSource

    source = McpSource(
        "server",
        target,
        prefix="",
        env=env,
        headers=headers,
        transport="sse" if sse else "http",
        start_timeout=timeout,
        call_timeout=timeout,
    )
    async with source.session():
        try:
            return await source.listing(), source.start_seconds
        except SourceError as problem:
            said = clean(source.stderr.strip())
            raise SourceError(
                f"{problem.message}{f' It said: {said[-500:]}' if said else ''}",
                where=shlex.join(target) if isinstance(target, list) else target,
                next_step=problem.next_step or "Start it by hand to see what is wrong.",
            ) from None


def endpoint(target: Sequence[str]) -> list[str] | str:
    """The program with its arguments, or the address, that the words of a command line name.

    Raises:
        ConfigError: an address stands with arguments.
    """
    if target[0].startswith(("http://", "https://")):
        if len(target) > 1:
            raise ConfigError("An address takes no arguments.", where=target[0], next_step=f"Leave out {target[1]!r}.")
        return target[0]
    words = shlex.split(target[0]) if len(target) == 1 and not Path(target[0]).exists() else target
    return list(words)


def environment(given: Iterable[str]) -> dict[str, str]:
    """The variables of `--env NAME=VALUE` and `--env NAME`.

    Raises:
        ConfigError: a name without a value is not set here.
    """
    env: dict[str, str] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals and name not in os.environ:
            raise ConfigError(f"The variable {name} is not set.", where="--env", next_step=f"Write {name}=VALUE.")
        env[name] = value if equals else os.environ[name]
    return env


def header_lines(given: Iterable[str]) -> dict[str, str]:
    """The headers of `--header "NAME: VALUE"`.

    Raises:
        ConfigError: one has no colon.
    """
    headers: dict[str, str] = {}
    for text in given:
        name, colon, value = text.partition(":")
        if not colon:
            raise ConfigError(f"{name!r} is no header.", where="--header", next_step='Write "NAME: VALUE".')
        headers[name.strip()] = value.strip()
    return headers
