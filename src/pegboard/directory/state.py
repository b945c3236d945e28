"""What is installed on a board, beside its config: one TOML file in the board's state, changed in one step.

The user's own `pegboard.toml` is never touched. The file has the same tables (`[sources.NAME]`), where each comes from
(`[installed.NAME]`), and which sources are switched (`[switched]`).
"""

import os
import re
import tomllib
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from pegboard.config.template import to_toml
from pegboard.core import DiscoverableType
from pegboard.errors import StoreError
from pegboard.schema.types import JsonObject

FILE_NAME = "installed.toml"
FOLDER = "installed"
"""Holds the environment or copy of each source that has one."""
_HEAD = "# What is installed on this board. Change it with: pegboard install, enable, disable, uninstall.\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """One installed source.

    Parameters:
        name: its name on the board.
        table: its table, as in `pegboard.toml`; empty for a plugin that only brings topics.
        tool_id: the discoverable that it comes from.
        type: connector or plugin.
        directory: the directory that it was found in.
        digest: of the definition that it was installed from.
        version: the version that was installed, where one is known.
        folder: its environment or copy; None for a source that has none.
        at: Unix time in seconds.
    """

    name: str
    table: JsonObject
    tool_id: str
    type: DiscoverableType
    directory: str
    digest: str
    version: str | None = None
    folder: str | None = None
    at: float = 0.0


@dataclass(frozen=True, slots=True)
class State:
    """What a board has besides its config.

    Parameters:
        sources: the installed sources, by name, in the order in which they were installed.
        switched: sources, of the config too, that are switched off (True) or on (False) whatever their table says.
    """

    sources: Mapping[str, Installed] = field(default_factory=dict[str, Installed])
    switched: Mapping[str, bool] = field(default_factory=dict[str, bool])

    def of(self, type: DiscoverableType, tool_id: str) -> list[Installed]:
        """The sources that came from a discoverable."""
        return [one for one in self.sources.values() if (one.type, one.tool_id) == (type, tool_id)]

    def put(self, *installed: Installed) -> "State":
        """With these, switched on."""
        names = {one.name for one in installed}
        kept = {name: off for name, off in self.switched.items() if name not in names}
        return State({**self.sources, **{one.name: one for one in installed}}, kept)

    def drop(self, *names: str) -> "State":
        """Without these."""
        return State(
            {name: one for name, one in self.sources.items() if name not in names},
            {name: off for name, off in self.switched.items() if name not in names},
        )

    def switch(self, name: str, off: bool) -> "State":
        """With a source switched off or on."""
        return replace(self, switched={**self.switched, name: off})


class StateFile:
    """The file of a board's state.

    Parameters:
        folder: the board's store; None where nothing outlives the process.
    """

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self.warnings: list[str] = []
        self._held = State()
        self._seen: tuple[int, int] | None = None

    @property
    def path(self) -> Path | None:
        """Where it is."""
        return None if self.folder is None else self.folder / FILE_NAME

    @property
    def held(self) -> State:
        """What it held when it was read or changed last."""
        return self._held

    def changed(self) -> bool:
        """Whether another process has changed it since it was read; fast."""
        return self._stamp() != self._seen

    def read(self) -> State:
        """What it holds; an entry that cannot be read is left out, and reported in `warnings`."""
        if self.path is not None:
            self._seen = self._stamp()
            self._held = self._read(self.path)
        return self._held

    def change(self, step: Callable[[State], State]) -> State:
        """Change it in one step that no other process can come between.

        Raises:
            StoreError: it cannot be written.
        """
        if self.path is None:
            self._held = step(self._held)
            return self._held
        try:
            with locked(self.path.with_suffix(".lock")):
                after = step(self.read())
                self._write(self.path, after)
                self._held, self._seen = after, self._stamp()
        except OSError as problem:
            reason = problem.strerror or str(problem)
            step_ = "Correct its permissions, or name another `store` in [board]."
            raise StoreError(f"It cannot be written: {reason}.", where=str(self.path), next_step=step_) from problem
        return self._held

    def _stamp(self) -> tuple[int, int] | None:
        if self.path is None:
            return None
        try:
            found = self.path.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_ino

    def _read(self, path: Path) -> State:
        try:
            document = tomllib.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return State()
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as problem:
            self._warn(f"{path} cannot be read: {problem}. What is installed is left out until it is mended.")
            return State()
        return State(dict(self._installed(document)), self._switched(document))

    def _installed(self, document: Mapping[str, Any]) -> Generator[tuple[str, Installed]]:
        tables = _table(document.get("sources"))
        for name, row in _table(document.get("installed")).items():
            try:
                fields: dict[str, Any] = {**row, "type": DiscoverableType(row["type"])}
                yield name, Installed(name=name, table=_table(tables.get(name)), **fields)
            except (KeyError, TypeError, ValueError) as problem:
                self._warn(f"{self.path}: the installed source {name} cannot be read ({problem!r}) and is left out.")

    def _switched(self, document: Mapping[str, Any]) -> dict[str, bool]:
        return {name: off for name, off in _table(document.get("switched")).items() if isinstance(off, bool)}

    def _write(self, path: Path, state: State) -> None:
        if path.exists() and not _is_toml(path):  # a person may still want to mend it
            path.rename(path.with_name(f"{FILE_NAME}.broken-{os.getpid()}"))
        draft = path.with_name(f"{FILE_NAME}.{os.getpid()}.new")
        draft.write_text(to_text(state), encoding="utf-8")
        draft.chmod(0o600)
        draft.replace(path)

    def _warn(self, message: str) -> None:
        if message not in self.warnings:
            self.warnings.append(message)


def to_text(state: State) -> str:
    """A state as TOML."""
    parts = [_HEAD]
    for one in state.sources.values():
        origin = {
            key: getattr(one, key) for key in ("tool_id", "type", "directory", "digest", "version", "folder", "at")
        }
        if one.table:
            parts.append(_block(f"sources.{_key(one.name)}", one.table))
        parts.append(_block(f"installed.{_key(one.name)}", {k: v for k, v in origin.items() if v is not None}))
    if state.switched:
        parts.append(_block("switched", state.switched))
    return "\n".join(parts)


def _block(header: str, table: JsonObject) -> str:
    rows = (f"{_key(key)} = {to_toml(value)}\n" for key, value in table.items() if value is not None)
    return f"[{header}]\n{''.join(rows)}"


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else to_toml(name)


def _table(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _is_toml(path: Path) -> bool:
    try:
        tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        return False
    return True


@contextmanager
def locked(path: Path) -> Generator[None]:
    """Hold a lock that other processes wait for; it ends with the process, however that ends."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as file:
        _lock(file.fileno())
        try:
            yield
        finally:
            with suppress(OSError):
                _unlock(file.fileno())


def _lock(descriptor: int) -> None:
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        getattr(msvcrt, "locking")(descriptor, getattr(msvcrt, "LK_LOCK"), 1)  # noqa: B009
    else:
        fcntl.flock(descriptor, fcntl.LOCK_EX)


def _unlock(descriptor: int) -> None:
    try:
        import fcntl
    except ImportError:
        import msvcrt

        getattr(msvcrt, "locking")(descriptor, getattr(msvcrt, "LK_UNLCK"), 1)  # noqa: B009
    else:
        fcntl.flock(descriptor, fcntl.LOCK_UN)
