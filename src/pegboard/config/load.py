"""From a `pegboard.toml` to a `Config`, or to a list of everything that is wrong with it."""

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from pegboard.config.key import BadValue, Key, Table
from pegboard.config.model import BoardConfig, Config, SourceConfig
from pegboard.config.shaping import MODEL, SHAPING
from pegboard.config.tables import BOARD, SOURCE, SOURCE_KINDS, TABLES
from pegboard.config.types import NAMESPACE, name_of
from pegboard.errors import ConfigError, nearest
from pegboard.schema.types import JsonObject
from pegboard.store.secrets import Secrets

FILE_NAME = "pegboard.toml"
_KINDS = {kind.name: kind for kind in SOURCE_KINDS}
_KIND_KEYS = {key.name for kind in SOURCE_KINDS for key in kind.keys}


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with a config.

    Parameters:
        key: the dotted key; empty for the file as a whole.
        message: what is wrong.
        next_step: what to write.
    """

    key: str
    message: str
    next_step: str

    def __str__(self) -> str:
        return f"{self.key}: {self.message} {self.next_step}" if self.key else f"{self.message} {self.next_step}"


class InvalidConfigError(ConfigError):
    """A config with mistakes, all of them.

    Parameters:
        file: the config.
        problems: what is wrong, in the file's order.
    """

    def __init__(self, file: str, problems: Sequence[Problem]) -> None:
        self.file = file
        self.problems = tuple(problems)
        only = self.problems[0]
        if len(self.problems) == 1:
            where = f"{file}: {only.key}" if only.key else file
            super().__init__(only.message, where=where, next_step=only.next_step)
        else:
            lines = "".join(f"\n  {problem}" for problem in self.problems)
            super().__init__(f"{len(self.problems)} mistakes:{lines}", where=file)


def load(path: Path | str, *, environ: Mapping[str, str] | None = None) -> Config:
    """Read a config.

    Parameters:
        path: the file, or the folder with a `pegboard.toml`.
        environ: where `${env:X}` is looked up; the process's environment by default.

    Raises:
        ConfigError: the file is missing, is not TOML, or has mistakes; all of them are told at once.
    """
    file = Path(path)
    file = file / FILE_NAME if file.is_dir() else file
    return parse(_document(file), folder=file.resolve().parent, path=file, environ=environ)


def parse(
    document: JsonObject, *, folder: Path, path: Path | None = None, environ: Mapping[str, str] | None = None
) -> Config:
    """Make a config of tables that are already read (`{"sources": {...}}`).

    Parameters:
        document: the tables.
        folder: what relative paths are relative to.
        path: the file it comes from, for errors.
        environ: where `${env:X}` is looked up.

    Raises:
        InvalidConfigError: something in it cannot be meant.
    """
    reader = _Reader(folder)
    tables = {table.name: reader.table(table, document.get(table.name, {})) for table in TABLES if not table.named}
    board = BoardConfig(**tables.pop(BOARD.name))
    sources = reader.sources(document.get(SOURCE.name, {}), board)
    named = [table for table in TABLES if table.named and table is not SOURCE]
    tables |= {table.name: reader.named(table, document.get(table.name, {})) for table in named}
    sources = {name: _with_models(source, tables[MODEL.name]) for name, source in sources.items()}
    reader.unknown("", document, [table.name for table in TABLES], {"mcpServers": "Write [sources.NAME]."})
    if reader.problems:
        raise InvalidConfigError(str(path or "config"), reader.problems)
    return Config(
        path=path,
        folder=folder,
        board=board,
        sources=sources,
        tables=tables,
        secrets=Secrets(folder, environ),
        warnings=tuple(reader.warnings),
    )


def _with_models(source: SourceConfig, models: JsonObject) -> SourceConfig:
    """The source with the models that its shapes speak of: another model is another listing."""
    return replace(source, shaping={**source.shaping, "board": models}) if source.is_shaped else source


def source_config(name: str, table: JsonObject, board: BoardConfig, folder: Path) -> SourceConfig:
    """One source, from its table alone.

    Parameters:
        name: the source's name.
        table: its table, as in the file.
        board: the board that it is for.
        folder: what relative paths are relative to.

    Raises:
        InvalidConfigError: something in it cannot be meant.
    """
    reader = _Reader(folder)
    found = reader.sources({name: dict(table)}, board)
    if reader.problems:
        raise InvalidConfigError(f"the source {name}", reader.problems)
    return found[name]


def _document(file: Path) -> JsonObject:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except FileNotFoundError as problem:
        raise ConfigError(
            "There is no such file.",
            where=str(file),
            next_step="Make one with `pegboard init`, or name it with --config.",
        ) from problem
    except OSError as problem:
        raise ConfigError(
            f"It cannot be read: {problem.strerror}.", where=str(file), next_step="Correct the path or its permissions."
        ) from problem
    except UnicodeDecodeError as problem:
        raise ConfigError("It is not UTF-8 text.", where=str(file), next_step="Save it as UTF-8.") from problem
    except tomllib.TOMLDecodeError as problem:
        raise ConfigError(
            f"It is not valid TOML: {problem}.", where=str(file), next_step="Correct it there; texts stand in quotes."
        ) from problem


@dataclass
class _Reader:
    """Reads tables by their definitions and collects what is wrong on the way."""

    folder: Path
    problems: list[Problem] = field(default_factory=list[Problem])
    warnings: list[str] = field(default_factory=list[str])

    def table(self, table: Table, found: Any) -> dict[str, Any]:
        """One plain table, defaults filled in."""
        body = self._body(table.name, found)
        self.unknown(table.name, body, [key.name for key in table.keys], table.hints)
        return self._values(table.name, table.keys, body)

    def named(self, table: Table, found: Any) -> dict[str, dict[str, Any]]:
        """A table of tables, by name."""
        return {
            name: self.table(Table(f"{table.name}.{name}", table.doc, table.keys, hints=table.hints), body)
            for name, body in self._body(table.name, found).items()
        }

    def sources(self, found: Any, board: BoardConfig) -> dict[str, SourceConfig]:
        """The sources, without those that have mistakes."""
        read = {name: self._source(name, body, board) for name, body in self._body(SOURCE.name, found).items()}
        return {name: source for name, source in read.items() if source is not None}

    def unknown(self, where: str, body: JsonObject, known: Sequence[str], hints: Mapping[str, str]) -> None:
        """Report each key that nobody reads."""
        for name in body:
            if name not in known:
                near = nearest(name, known, limit=1)
                step = hints.get(name) or (f"Did you mean {near[0]}?" if near else f"Known are {', '.join(known)}.")
                self._wrong(_join(where, name), "This key is not known.", step)

    def _source(self, name: str, found: Any, board: BoardConfig) -> SourceConfig | None:
        where = _join(SOURCE.name, name)
        before = len(self.problems)
        body = self._body(where, found)
        kind = self._kind(where, body) if len(self.problems) == before else None
        self._check_name(where, name)
        if kind is None:
            return None
        keys = _KINDS[kind].keys
        known = [*_KINDS, *(key.name for key in (*keys, *SOURCE.keys))]
        self._ineffective(where, kind, body)
        self.unknown(where, {key: body[key] for key in body if key not in _KIND_KEYS}, known, SOURCE.hints)
        values = self._values(where, (_KINDS[kind].key, *SOURCE.keys), body)
        options = self._values(where, keys, body)
        if len(self.problems) > before:
            return None
        target = values.pop(kind)
        for key, fallback in (
            ("prefix", name),
            ("start_timeout", board.start_timeout),
            ("call_timeout", board.call_timeout),
        ):
            values[key] = fallback if values[key] is None else values[key]
        shaping = {key.name: values.pop(key.name) for key in SHAPING}
        return SourceConfig(name=name, kind=kind, target=target, options=options, shaping=shaping, **values)

    def _kind(self, where: str, body: JsonObject) -> str | None:
        kinds = [name for name in _KINDS if name in body]
        if len(kinds) == 1:
            return kinds[0]
        if kinds:
            self._wrong(where, f"It has {' and '.join(kinds)}, and a source is one thing.", "Make a table for each.")
            return None
        hint = next((SOURCE.hints[key] for key in body if key in SOURCE.hints), None)
        near = [(key, nearest(key, _KINDS, limit=1)) for key in body]
        typo = next((f"Did you mean {found[0]} instead of {key}?" for key, found in near if found), None)
        self._wrong(where, "It does not say what to serve.", typo or hint or f"Add one of {', '.join(_KINDS)}.")
        return None

    def _check_name(self, where: str, name: str) -> None:
        if not name:
            self._wrong(where, "A source needs a name.", "Write for example [sources.git].")
            return
        try:
            NAMESPACE.read(name, self.folder)
        except BadValue as problem:
            self._wrong(where, problem.message, problem.next_step)

    def _ineffective(self, where: str, kind: str, body: JsonObject) -> None:
        """Warn of keys that are known, and that this source has no use for."""
        own = {key.name: key for key in _KINDS[kind].keys}
        target = "program" if isinstance(body[kind], list) else "address"
        for name in (name for name in body if name in _KIND_KEYS):
            if name not in own:
                self._idle(where, name, f"a source of kind {kind} does not use it")
            elif own[name].only_for not in (None, target):
                article = "an" if own[name].only_for == "address" else "a"
                self._idle(where, name, f"it is for a server with {article} {own[name].only_for}")

    def _idle(self, where: str, name: str, reason: str) -> None:
        self.warnings.append(f"{_join(where, name)} has no effect: {reason}.")

    def _values(self, where: str, keys: Sequence[Key], body: JsonObject) -> dict[str, Any]:
        return {key.name: self._value(_join(where, key.name), key, body) for key in keys}

    def _value(self, where: str, key: Key, body: JsonObject) -> Any:
        if key.name not in body:
            if key.required:
                self._wrong(where, "This key is missing.", f"Write {key.name} = {key.example}.")
            return None if key.default is None else key.type.read(key.default, self.folder)
        try:
            return key.type.read(body[key.name], self.folder)
        except BadValue as problem:
            self._wrong(where + problem.at, problem.message, problem.next_step)
            return None

    def _body(self, where: str, found: Any) -> dict[str, Any]:
        if isinstance(found, dict):
            return cast("dict[str, Any]", found)
        self._wrong(where, f"This is {name_of(found)}, and a table is needed.", f"Write [{where}] and keys under it.")
        return {}

    def _wrong(self, key: str, message: str, next_step: str) -> None:
        self.problems.append(Problem(key, message, next_step))


def _join(where: str, name: str) -> str:
    key = name if re.fullmatch(r"[\w-]+", name) else json.dumps(name)
    return f"{where}.{key}" if where else key
