"""What `check` and `probe` look at: a board, a server, a file of tools, an API's description."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from pegboard.check.finding import Finding
from pegboard.check.report import Place
from pegboard.check.toolset import Toolset
from pegboard.cli.open import opened, unwell
from pegboard.cli.output import guarded, say
from pegboard.cli.target import endpoint, environment, header_lines, listed
from pegboard.config import FILE_NAME, Config, load
from pegboard.core import Note, SourceRef, ToolName, ToolSpec
from pegboard.errors import ConfigError
from pegboard.schema.types import JsonObject

_DOCUMENT = re.compile(r"\.(?:json|ya?ml)(?:[?#].*)?$", re.IGNORECASE)


@dataclass(frozen=True)
class Subject:
    """Tools to look at.

    Parameters:
        tools: the tools, with what is known around them.
        config: the board's config, where it is a board.
        file: the file that they stand in, for annotations.
        text: what the file holds.
        title: what was looked at, in words.
    """

    tools: Toolset
    config: Config | None = None
    file: Path | None = None
    text: str = field(default="", repr=False)
    title: str = ""

    def locate(self, finding: Finding) -> Place | None:
        """Where a finding stands in the file: at the tool's name, at its source's table, else at the top."""
        if self.file is None:
            return None
        namespace, _, bare = finding.tool.partition(".")
        name = json.dumps(bare or namespace, ensure_ascii=False)
        wanted = (
            rf"^\s*\[+\s*sources\s*\.\s*[\"']?{re.escape(namespace)}[\"']?\s*\]"
            if self.config is not None
            else rf'"(?:name|operationId)"\s*:\s*{re.escape(name)}'
        )
        found = re.search(wanted, self.text, re.MULTILINE) if finding.tool else None
        line = self.text.count("\n", 0, found.start() + 1) + 1 if found else 1
        return Place(_relative(self.file), line)


@dataclass(frozen=True, slots=True)
class Asked:
    """What the command line says of the subject.

    Parameters:
        target: its words; empty for the board of the config.
        config: the config.
        env: variables for a program.
        header: headers for an address.
        timeout: seconds until a server must have answered.
    """

    target: Sequence[str]
    config: Path
    env: Sequence[str] = ()
    header: Sequence[str] = ()
    timeout: float = 30


async def subject(asked: Asked) -> Subject:
    """The tools that are asked for.

    Raises:
        PegboardError: they cannot be read or listed.
    """
    target = list(asked.target)
    if not target:
        return await board(asked.config)
    path = Path(target[0])
    if len(target) == 1 and (path.suffix == ".toml" or (path.is_dir() and (path / FILE_NAME).exists())):
        return await board(path)
    if len(target) == 1 and (path.is_file() or target[0] == "-") and not _runs(path):
        return await _file(path)
    if len(target) == 1 and target[0].startswith(("http://", "https://")) and _DOCUMENT.search(target[0]):
        return await _openapi(target[0], None, "")
    if len(target) == 1 and path.suffix in (".json", ".jsonl", ".yaml", ".yml", ".gz"):
        raise ConfigError("There is no such file.", where=target[0], next_step="Correct the path.")
    with guarded():
        where = endpoint(target)
        listing, _ = await listed(where, environment(asked.env), header_lines(asked.header), False, asked.timeout)
    name = where if isinstance(where, str) else Path(where[-1]).stem
    specs = _within([tool.spec for tool in listing.tools], "server")
    return Subject(_toolset(specs, listing.notes), title=name)


async def board(config: Path) -> Subject:
    """The tools of a board, its own composed ones among them; every source is started."""
    settings = load(config)
    async with opened(config, refresh=True) as found:
        specs = found.catalog.specs
        statuses = await found.statuses()
    for line in unwell(statuses):
        say(line)
    file = settings.path or config
    file = file / FILE_NAME if file.is_dir() else file
    search = None if settings.board.search == "auto" else settings.board.search == "on"
    return Subject(
        Toolset(specs, {status.name: status.notes for status in statuses}, board=True, search=search),
        config=settings,
        file=file,
        text=file.read_text(encoding="utf-8-sig"),
        title=f"the board {settings.board.name}",
    )


async def _file(path: Path) -> Subject:
    """A file of tools, or an API's description: what it holds says which."""
    document = _described(path)
    if document is not None:
        return await _openapi(path, document, path.read_text(encoding="utf-8", errors="replace"))
    return _recorded(path)


def _described(path: Path) -> JsonObject | None:
    """The OpenAPI description in a file, or None where it holds something else."""
    if str(path) == "-" or path.suffix == ".gz" or path.suffix == ".jsonl":
        return None
    from pegboard.sources.document import read_file

    if path.suffix in (".yaml", ".yml"):
        document = read_file(path)
    else:
        try:
            document = json.loads(path.read_bytes())
        except (ValueError, RecursionError):
            return None
    found = cast("dict[str, Any]", document) if isinstance(document, dict) else {}
    return found if "openapi" in found or "swagger" in found else None


async def _openapi(target: Path | str, document: JsonObject | None, text: str) -> Subject:
    from pegboard.sources.openapi import OpenApiSource

    name = re.sub(r"[^A-Za-z0-9_-]", "-", Path(str(target).split("?")[0]).stem) or "api"
    source = OpenApiSource(name, target)
    async with source.session():
        listing = await source.listing()
    tools = _toolset([tool.spec for tool in listing.tools], listing.notes)
    file = target if isinstance(target, Path) and document is not None else None
    return Subject(tools, file=file, text=text, title=str(target))


def _recorded(path: Path) -> Subject:
    import sys

    from pegboard.normalise import normalise_all
    from pegboard.sources.recorded import read_rows, read_text

    text = sys.stdin.read() if str(path) == "-" else read_text(path)
    notes: list[Note] = []
    _, rows = read_rows(text, notes)
    if not rows:
        raise ConfigError(
            "It holds no tools.",
            where=str(path),
            next_step='It must be {"tools": [...]}, an array, one tool a line, or an OpenAPI description.',
        )
    name = _server(text)
    specs, more = normalise_all(rows, namespace=name, source=SourceRef(name, "file"), trusted=False)
    tools = _toolset(specs, (*notes, *more))
    return Subject(tools, file=None if str(path) == "-" else path, text=text, title=str(path))


def _server(text: str) -> str:
    """The name that a recorded listing gives its server; empty where it gives none."""
    try:
        whole: Any = json.loads(text)
    except (ValueError, RecursionError):
        return ""
    row = cast("dict[str, Any]", whole) if isinstance(whole, dict) else {}
    info = row.get("serverInfo")
    named = [row.get("server"), cast("dict[str, Any]", info).get("name") if isinstance(info, dict) else None]
    return next((name for name in named if isinstance(name, str) and re.fullmatch(r"[\w-]+", name)), "")


def _toolset(specs: Sequence[ToolSpec], notes: Sequence[Note]) -> Toolset:
    source = specs[0].source.name if specs else ""
    return Toolset(tuple(specs), {source: notes})


def _within(specs: Sequence[ToolSpec], namespace: str) -> list[ToolSpec]:
    """A server's tools in a namespace: on a board they get one by their source."""
    return [replace(spec, name=ToolName(namespace, spec.name.name, spec.name.version)) for spec in specs]


def _runs(path: Path) -> bool:
    """Whether a file is a program and not data."""
    import os

    data = path.suffix in (".json", ".jsonl", ".yaml", ".yml", ".gz", ".txt")
    return not data and path.is_file() and os.access(path, os.X_OK)


def _relative(path: Path) -> str:
    try:
        return path.resolve().relative_to(Path.cwd()).as_posix()
    except ValueError:
        return path.as_posix()
