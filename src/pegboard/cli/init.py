"""`pegboard init`: a commented config to start from."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from pegboard.cli.exit import Exit
from pegboard.cli.options import DEFAULT_CONFIG, ConfigFile
from pegboard.cli.output import data, say
from pegboard.config import FILE_NAME, template
from pegboard.errors import PegboardError


def init(
    *,
    config: ConfigFile = DEFAULT_CONFIG,
    name: str | None = None,
    force: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Write a commented pegboard.toml.

    Parameters
    ----------
    config
        Where to write it: a file, or a folder.
    name
        The board's name; the folder's if left out.
    force
        Write over a file that is there.
    """
    path = config / FILE_NAME if config.is_dir() else config
    if path.exists() and not force:
        raise PegboardError("There is a file already.", where=str(path), next_step="Write over it with --force.")
    _write(path, template(name or path.resolve().parent.name or "pegboard"))
    data(str(path))
    say("Uncomment a source in it, then look at what it offers: pegboard list")
    return Exit.OK


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as problem:
        raise PegboardError(
            f"It cannot be written: {problem.strerror}.", where=str(path), next_step="Name another place with --config."
        ) from problem
