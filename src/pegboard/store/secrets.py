"""References in a config: where a secret stands, never the secret; and paths beside the config.

    ${env:GITHUB_TOKEN}    an environment variable
    ${file:token.txt}      a file's text without the white space around it; relative to the config's folder
    ${path:data.db}        no secret: the absolute path of a file or folder, relative to the config's folder
    $${literal}            not a reference: the text `${literal}`

A reference is read when it is needed, and everything that was read is told to whoever redacts.
"""

import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from pegboard.errors import ConfigError, SourceError, nearest

_REFERENCE = re.compile(r"\$\$\{|\$\{([^}]*)(\}?)")


class Secrets:
    """Reads references, and remembers what it read.

    Parameters:
        folder: what relative files are relative to.
        environ: the environment; the process's own by default.
    """

    def __init__(self, folder: Path, environ: Mapping[str, str] | None = None) -> None:
        self._folder = folder
        self._environ = os.environ if environ is None else environ
        self._values: dict[str, str] = {}
        self._listeners: list[Callable[[str], object]] = []

    def reveal(self, value: Any, *, where: str = "") -> Any:
        """`value` with each reference in it replaced, in texts at any depth of lists and tables.

        Parameters:
            value: a text, or lists and tables of texts; anything else comes back as it is.
            where: the key that holds it, for the error.

        Raises:
            SourceError: a variable is not set, or a file cannot be read.
        """
        match value:
            case str():
                return self._reveal_text(value, where)
            case Mapping():
                table = cast("Mapping[str, Any]", value)
                return {key: self.reveal(item, where=f"{where}.{key}") for key, item in table.items()}
            case list() | tuple():
                items = cast("list[Any] | tuple[Any, ...]", value)
                return type(items)(self.reveal(item, where=f"{where}[{n}]") for n, item in enumerate(items))
            case _:
                return value

    def has(self, variable: str) -> bool:
        """Whether an environment variable is set, and not empty."""
        return bool(self._environ.get(variable))

    def watch(self, listener: Callable[[str], object]) -> None:
        """Tell `listener` each secret that was read and each that will be, once."""
        self._listeners.append(listener)
        for value in self._values.values():
            listener(value)

    @property
    def known(self) -> tuple[str, ...]:
        """Every secret read so far."""
        return tuple(self._values.values())

    def _reveal_text(self, text: str, where: str) -> str:
        check_references(text, where=where)
        return _REFERENCE.sub(lambda found: self._read(found, where), text)

    def _read(self, found: re.Match[str], where: str) -> str:
        if found[1] is None:
            return "${"
        scheme, _, rest = found[1].partition(":")
        if scheme == "path":
            return str(self._path(rest))
        value = self._variable(rest, where) if scheme == "env" else self._file(rest, where)
        self._remember(value)
        return value

    def _variable(self, name: str, where: str) -> str:
        if name in self._environ:
            return self._environ[name]
        near = [f"${known}" for known in nearest(name, self._environ, limit=1)]
        raise SourceError(
            f"The environment variable {name} is not set.",
            where=where or None,
            next_step=f"Set it before you start pegboard{f', or did you mean {near[0]}' if near else ''}.",
        )

    def _file(self, name: str, where: str) -> str:
        path = self._path(name)
        try:
            return path.read_text().strip()
        except (OSError, UnicodeDecodeError) as problem:
            reason = problem.strerror if isinstance(problem, OSError) else "it is not text"
            raise SourceError(
                f"The secret's file {path} cannot be read: {reason}.",
                where=where or None,
                next_step="Write the secret there, or correct the path (it is relative to the config).",
            ) from problem

    def _path(self, name: str) -> Path:
        return (self._folder / Path(name).expanduser()).resolve()

    def _remember(self, value: str) -> None:
        if not value or value in self._values:
            return
        self._values[value] = value
        for listener in self._listeners:
            listener(value)


def references(text: str) -> Iterator[str]:
    """The references in a text, without their `${` and `}`."""
    return (found[1] for found in _REFERENCE.finditer(text) if found[1] is not None)


def check_references(text: str, *, where: str = "") -> None:
    """Make sure that every reference in a text can be meant.

    Raises:
        ConfigError: one is not closed, names nothing, or has an unknown scheme.
    """
    for found in _REFERENCE.finditer(text):
        if found[1] is not None:
            _check(found, where)


def _check(found: re.Match[str], where: str) -> None:
    body, closed = found[1], found[2]
    scheme, colon, rest = body.partition(":")
    if not closed:
        message, step = f"The reference {found[0]!r} is not closed.", "End it with }, or write $${ for a literal ${."
    elif not colon:
        message = f"The reference {found[0]} does not say where to look."
        step = f"Write ${{env:{body or 'NAME'}}} for an environment variable, or $${{ for a literal ${{."
    elif scheme not in ("env", "file", "path"):
        message, step = f"{scheme!r} is no place to look.", "Write ${env:NAME}, ${file:PATH} or ${path:PATH}."
    elif not rest.strip():
        message, step = f"The reference {found[0]} names nothing.", f"Write ${{{scheme}:NAME}}."
    else:
        return
    raise ConfigError(message, where=where or None, next_step=step)
