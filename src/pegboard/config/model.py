"""A `pegboard.toml`, read: frozen data, secrets still references."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pegboard.schema.types import JsonObject, digest
from pegboard.store.secrets import Secrets


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardConfig:
    """The table `[board]`; what each field means stands in `pegboard.config.tables`."""

    name: str
    store: Path | str
    search: str
    encoder: str
    threshold: int
    always: tuple[str, ...]
    hidden: tuple[str, ...]
    max_direct: int
    context_tokens: int
    context_share: float
    profile: str
    learn: int
    start_timeout: float
    call_timeout: float
    concurrency: int
    max_result: int
    keep_days: int
    keep_runs: int | None
    asset_days: int
    asset_mb: int
    asset_count: int
    asset_scheme: str
    sign_ins: str
    builtins: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceConfig:
    """One table `[sources.NAME]`.

    Parameters:
        name: the table's name.
        kind: `mcp`, `python`, `recorded` ...: the key that says what it is.
        target: that key's value: a command (tuple) or address, a module, a path. References in it are not read yet.
        prefix: the namespace of its tools.
        allow: selectors, or None where all tools are allowed.
        deny: selectors; they beat `allow`.
        start_timeout: seconds, the board's where it has none of its own.
        call_timeout: seconds, likewise.
        trust_annotations: whether its hints may loosen a policy.
        defer_loading: whether its tools are to be deferred (True) or loaded (False); None where it does not say.
        disabled: whether it is left out.
        options: the keys that only this kind has, defaults filled in (for `mcp`: transport, env, headers, cwd).
        version: the version of its tools.
        shaping: the keys of `config.shaping.SHAPING`, and under `board` the models of the board where they are used.
        origin: the discoverable that it was installed from; None for a source of the file.
        definition: the digest of that discoverable's definition, which a person has agreed to.
        where: the dotted key of the table, for errors.
    """

    name: str
    kind: str
    target: Any
    prefix: str
    allow: tuple[str, ...] | None
    deny: tuple[str, ...]
    start_timeout: float
    call_timeout: float
    trust_annotations: bool
    defer_loading: bool | None
    disabled: bool
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    version: str | None = None
    origin: str | None = None
    definition: str | None = None
    shaping: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def is_shaped(self) -> bool:
        """Whether its tools shall look different from what it lists."""
        return any(value for key, value in self.shaping.items() if key != "board")

    @property
    def where(self) -> str:
        """The dotted key of the table, for errors."""
        return f"sources.{self.name}"

    @property
    def fingerprint(self) -> str:
        """Changes when the source would list other tools, so that a stored listing of the old one is not used."""
        fields = [self.kind, self.target, self.prefix, self.allow, self.deny, self.trust_annotations]
        more = [*([self.version] if self.version else []), *([dict(self.shaping)] if self.is_shaped else [])]
        return digest([*fields, dict(self.options), *more])


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """A whole `pegboard.toml`.

    Parameters:
        path: the file; None for a config made in memory.
        folder: what its relative paths are relative to.
        board: the table `[board]`.
        sources: the sources by name, in the file's order, disabled ones included.
        tables: every other table that `TABLES` defines, defaults filled in.
        secrets: reads references, when they are needed.
        warnings: what has no effect as written.
    """

    path: Path | None
    folder: Path
    board: BoardConfig
    sources: Mapping[str, SourceConfig]
    tables: Mapping[str, JsonObject]
    secrets: Secrets
    warnings: tuple[str, ...] = ()
