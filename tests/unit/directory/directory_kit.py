"""Kit: reading directories in tests."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pegboard.config import Config, parse
from pegboard.directory import Reading
from pegboard.directory.read import read_directory


def config(folder: Path, document: Mapping[str, Any], **environ: str) -> Config:
    """The config of these tables."""
    return parse(document, folder=folder, environ=environ)


async def read(path: Path | str, *, cache: Path | None = None, **more: Any) -> Reading:
    """What a directory holds; `more` are further keys of its table."""
    settings = config(Path("/"), {"directories": {"company": {"from": str(path), **more}}})
    return await read_directory("company", settings.tables["directories"]["company"], settings.secrets, cache)
