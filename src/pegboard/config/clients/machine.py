"""Whose configs are looked for, and where: the home folder, the project and the platform, as data."""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

_PLATFORMS = {"darwin": "macos", "win32": "windows"}


@dataclass(frozen=True, slots=True)
class Machine:
    """One person's machine.

    Parameters:
        home: the home folder.
        project: the folder whose project configs count.
        platform: `linux`, `macos` or `windows`.
        environ: environment variables that move configs (`XDG_CONFIG_HOME`, `APPDATA`, `CODEX_HOME`,
            `CLAUDE_CONFIG_DIR`) or that a config asks for.
    """

    home: Path
    project: Path
    platform: str
    environ: Mapping[str, str]

    @classmethod
    def here(cls) -> Self:
        """The machine, person and folder of this process."""
        return cls(Path.home(), Path.cwd(), _PLATFORMS.get(sys.platform, "linux"), os.environ)

    def find(self, path: str) -> Path:
        """A path of the client table as a path of this machine.

        Parameters:
            path: starts with `~`, `.`, or one of `$CONFIG`, `$CLAUDE`, `$CODEX`.
        """
        head, _, rest = path.partition("/")
        return self._root(head) / rest

    def _root(self, head: str) -> Path:
        match head:
            case "~":
                return self.home
            case "$CONFIG":
                return self._config()
            case "$CLAUDE":
                return self._moved("CLAUDE_CONFIG_DIR", self.home)
            case "$CODEX":
                return self._moved("CODEX_HOME", self.home / ".codex")
            case _:
                return self.project

    def _config(self) -> Path:
        if self.platform == "macos":
            return self.home / "Library" / "Application Support"
        if self.platform == "windows":
            return self._moved("APPDATA", self.home / "AppData" / "Roaming")
        return self._moved("XDG_CONFIG_HOME", self.home / ".config")

    def _moved(self, variable: str, usual: Path) -> Path:
        return Path(self.environ[variable]) if self.environ.get(variable) else usual
