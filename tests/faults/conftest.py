"""Fixtures: a journal, sources on a fault server over stdio, fault servers over HTTP."""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fault_kit import SERVERS, HttpServer, Journal

from pegboard.sources.mcp import McpSource


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "journal.jsonl")


@pytest.fixture
def stdio(journal: Journal) -> Callable[..., McpSource]:
    """Makes a source on a fault server over stdio; the options of the server, then those of the source."""

    def make(options: dict[str, Any] | None = None, **settings: Any) -> McpSource:
        text = json.dumps({"journal": str(journal.path), **(options or {})})
        argv = [sys.executable, str(SERVERS / "over_stdio.py"), text]
        return McpSource(settings.pop("name", "faulty"), argv, **{"start_timeout": 10.0, **settings})

    return make


@pytest.fixture
def http(journal: Journal) -> Iterator[Callable[..., HttpServer]]:
    """Starts fault servers over HTTP, and stops them at the end."""
    started: list[HttpServer] = []

    def start(**options: Any) -> HttpServer:
        server = HttpServer({"journal": str(journal.path), **options}).start()
        started.append(server)
        return server

    yield start
    for server in started:
        server.stop()
