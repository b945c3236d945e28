"""Pointing a client at a board: its config gets one entry, with a backup, and back."""

import os
import re
import shutil
import tomllib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pegboard.config.clients import edit, jsonc
from pegboard.config.clients.machine import Machine
from pegboard.config.clients.table import Client
from pegboard.config.clients.toml import toml_key, toml_value
from pegboard.errors import ConfigError
from pegboard.schema.types import JsonObject

BACKUP = ".before-pegboard"
"""The ending of the backup beside a client's config."""


def entry(known: Client, *, command: Sequence[str] = (), url: str | None = None) -> JsonObject:
    """A board as this client spells a server.

    Parameters:
        known: the client.
        command: the program and its arguments, where the client starts it.
        url: the address, where the client connects to it.

    Raises:
        ConfigError: an address, and the client only starts programs.
    """
    if url is None:
        return {**known.stdio, "command": command[0], "args": list(command[1:])}
    if known.remote is None:
        raise ConfigError(
            f"{known.title} reads no addresses from its config.",
            next_step="Leave --http out: it starts the board itself.",
        )
    key, beside = known.remote
    return {**beside, key: url}


@dataclass(frozen=True, slots=True)
class Attachment:
    """One entry in one client's config.

    Parameters:
        file: the config.
        keys: where its servers are.
        name: the entry's name.
    """

    file: Path
    keys: tuple[str, ...]
    name: str

    @classmethod
    def of(cls, known: Client, scope: str, name: str, machine: Machine) -> "Attachment":
        """The entry of a name in the client's config of a scope.

        Raises:
            ConfigError: the client has no config of this scope.
        """
        for place in known.places:
            if place.scope == scope and "*" not in (*place.keys, *place.path):
                for file in place.files(machine):
                    return cls(file, place.keys, name)
        scopes = sorted({place.scope for place in known.places if "*" not in place.keys})
        raise ConfigError(f"{known.title} has no config of the scope {scope}.", next_step=f"Use {' or '.join(scopes)}.")

    @property
    def backup(self) -> Path:
        """Where the file as it was is kept."""
        return self.file.with_name(self.file.name + BACKUP)

    def shown(self, value: JsonObject) -> str:
        """The entry alone, as a whole config."""
        return self._with("", self._raw("", value))

    def write(self, value: JsonObject) -> bool:
        """Put the entry in, in place of one of its name; the file as it was is kept.

        Returns:
            Whether anything had to be changed.

        Raises:
            ConfigError: the file cannot be edited without touching the rest of it; nothing is changed.
        """
        before = self._read()
        text = before or ""
        after = self._checked(text, lambda: self._with(text, self._raw(text, value)), value)
        if before is not None and self._data(before) == self._data(after):
            return False
        if before is not None and not self._is_ours(before):
            shutil.copy2(self.file, self.backup)
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self._save(after)
        return True

    def undo(self) -> bool:
        """Take the entry out again: the backup comes back if nothing else has changed, else the entry alone is cut.

        Returns:
            Whether there was one.

        Raises:
            ConfigError: the file cannot be edited without touching the rest of it; nothing is changed.
        """
        text = self._read()
        if text is None or self._checked(text, lambda: self._found(text) or "", None, whole=False) == "":
            return False
        if self._is_ours(text):
            os.replace(self.backup, self.file.resolve())
        elif not self.backup.exists() and self._with("", self._found(text) or "") == text:
            self.file.unlink()
        else:
            self._save(self._checked(text, lambda: self._without(text), None))
            self.backup.unlink(missing_ok=True)
        return True

    @property
    def _is_toml(self) -> bool:
        return self.file.suffix == ".toml"

    def _is_ours(self, text: str) -> bool:
        """Whether the file is its backup with the entry put in, and nothing else."""
        if not self.backup.exists():
            return False
        with suppress(ValueError):
            raw = self._found(text)
            return raw is not None and self._with(_text(self.backup), raw) == text
        return False

    def _read(self) -> str | None:
        return _text(self.file) if self.file.exists() else None

    def _save(self, text: str) -> None:
        target = self.file.resolve()
        part = target.with_name(f"{target.name}.pegboard-part")
        part.write_bytes(text.encode())
        if target.exists():
            shutil.copymode(target, part)
        os.replace(part, target)

    def _raw(self, text: str, value: JsonObject) -> str:
        if not self._is_toml:
            return edit.rendered(text, self.keys, value)
        newline = "\r\n" if "\r\n" in text else "\n"
        lines = [self._header, *(f"{key} = {toml_value(item)}" for key, item in value.items())]
        return newline.join([*lines, ""])

    @property
    def _header(self) -> str:
        return f"[{'.'.join(toml_key(key) for key in (*self.keys, self.name))}]"

    def _section(self, text: str) -> re.Match[str] | None:
        head = re.escape(self._header)
        return re.search(
            rf"^{head}[ \t]*(?:#[^\n]*)?\r?$.*?(?=^\[(?!{head[2:-2]}\.)|\Z)", text, re.MULTILINE | re.DOTALL
        )

    def _with(self, text: str, raw: str) -> str:
        if not self._is_toml:
            return edit.placed(text, self.keys, self.name, raw)
        section = self._section(text)
        if section:
            return text[: section.start()] + raw + text[section.end() :]
        newline = "\r\n" if "\r\n" in text else "\n"
        gap = "" if not text else newline if text.endswith("\n") else newline * 2
        return text + gap + raw

    def _found(self, text: str) -> str | None:
        if not self._is_toml:
            return edit.found(text, self.keys, self.name)
        section = self._section(text)
        return section[0] if section else None

    def _without(self, text: str) -> str:
        if not self._is_toml:
            return edit.removed(text, self.keys, self.name)
        section = self._section(text)
        return text[: section.start()] + text[section.end() :] if section else text

    def _data(self, text: str) -> dict[str, Any]:
        return tomllib.loads(text.removeprefix("\ufeff")) if self._is_toml else jsonc.read(text)

    def _checked(self, text: str, change: Callable[[], str], value: JsonObject | None, *, whole: bool = True) -> str:
        """What a change makes of the text, if the data then is what it should be."""
        try:
            expected, after = self._data(text), change()
            if whole:
                self._expect(expected, value)
            if not whole or self._pruned(self._data(after)) == self._pruned(expected):
                return after
            reason = "its form is not understood"
        except (ValueError, AttributeError) as problem:
            reason = str(problem)
        raise ConfigError(
            f"It cannot be edited safely: {reason}.",
            where=str(self.file),
            next_step="Nothing was changed. Add or remove the entry by hand; without --write it is printed.",
        )

    def _expect(self, data: dict[str, Any], value: JsonObject | None) -> None:
        inner = data
        for key in self.keys:
            inner = inner.setdefault(key, {}) if value is not None else inner.get(key, {})
        if value is None:
            inner.pop(self.name, None)
        else:
            inner[self.name] = value

    def _pruned(self, data: dict[str, Any]) -> dict[str, Any]:
        """The data without an empty table of servers: in TOML it comes and goes with its last entry."""
        key = self.keys[0]
        return {name: value for name, value in data.items() if name != key or value or not self._is_toml}


def _text(file: Path) -> str:
    try:
        return file.read_bytes().decode("utf-8")
    except OSError as problem:
        raise ConfigError(
            f"It cannot be read: {problem.strerror}.", where=str(file), next_step="Correct its permissions."
        ) from problem
    except UnicodeDecodeError as problem:
        raise ConfigError("It is not UTF-8 text.", where=str(file), next_step="Save it as UTF-8.") from problem
