"""What the commands share that take over definitions of Runtype: files, findings, and the config that is written."""

import json as jsonlib
import shutil
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pegboard.cli.exit import Exit
from pegboard.cli.open import opened
from pegboard.cli.output import clean, data, document, foreign, say
from pegboard.config import FILE_NAME, load
from pegboard.config.runtype.finding import Finding, Weight
from pegboard.config.runtype.known import Tools
from pegboard.config.runtype.write import added, tables_text
from pegboard.errors import ConfigError, PegboardError
from pegboard.schema.types import Json, JsonObject, as_object

LARGEST = 20_000_000
"""Bytes of a document that is read."""
_DEEPEST = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What is to be added to a config.

    Parameters:
        tables: by kind and name.
        board: keys of the tables that there is one of.
        origin: what the document is kept as, beside the config.
        document: the document.
    """

    tables: Mapping[tuple[str, str], JsonObject]
    board: Mapping[str, JsonObject]
    origin: str
    document: Json


def read_document(file: Path) -> Json:
    """A JSON or YAML document.

    Raises:
        ConfigError: it cannot be read.
    """
    try:
        if file.stat().st_size > LARGEST:
            raise ConfigError(f"It has more than {LARGEST:,} bytes.", where=str(file))
        text = file.read_text("utf-8-sig")
        value = _yaml(text) if file.suffix in (".yaml", ".yml") else jsonlib.loads(text)
    except OSError as problem:
        raise ConfigError(f"It cannot be read: {problem.strerror}.", where=str(file)) from problem
    except (ValueError, RecursionError) as problem:
        raise ConfigError(f"It is no document: {problem}.", where=str(file)) from problem
    if _depth(value) > _DEEPEST:
        raise ConfigError(f"It is nested more than {_DEEPEST} deep.", where=str(file))
    return value


def _yaml(text: str) -> Any:
    import yaml

    try:
        return jsonlib.loads(jsonlib.dumps(yaml.safe_load(text), default=str))
    except yaml.YAMLError as problem:
        raise ValueError(str(problem)) from problem


def _depth(value: Any) -> int:
    depth, level = 0, [value]
    while level and depth <= _DEEPEST:
        level = [part for each in level for part in _parts(each)]
        depth += 1
    return depth


def _parts(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()  # pyright: ignore[reportUnknownVariableType]


async def tools_of(config: Path, pairs: Sequence[str]) -> Tools:
    """What ids mean: by the pairs ID=TOOL, and by the tools that the board has, if there is one."""
    renamed: dict[str, str] = {}
    for pair in pairs:
        id, mark, name = pair.partition("=")
        if not mark or not id or not name:
            raise ConfigError(f"{pair!r} maps nothing.", where="--map", next_step="Write --map ID=TOOL.")
        renamed[id] = name
    path = config / FILE_NAME if config.is_dir() else config
    if not path.exists():
        return Tools(renamed=renamed)
    agents = list(load(config).tables["agent"])
    async with opened(config) as board:
        known = [str(spec.name) for spec in board.catalog.specs]
    return Tools(known=known, agents=agents, renamed=renamed)


def config_text(config: Path) -> tuple[Path, str]:
    """The config's file, and what is in it; empty where there is none."""
    path = config / FILE_NAME if config.is_dir() else config
    return path, path.read_bytes().decode("utf-8") if path.exists() else ""


def raw_tables(config: Path) -> dict[str, Any]:
    """The config as its file says it."""
    _, text = config_text(config)
    return tomllib.loads(text.removeprefix("\ufeff"))


def whole(config: Path, taken: Taken) -> tuple[str, list[str]]:
    """The config with what is taken over, and what could not be written. Raises `ConfigError`."""
    path, text = config_text(config)
    folder = path.resolve().parent
    return added(text, taken.tables, taken.board, folder)


def _write(config: Path, text: str, taken: Taken) -> Path | None:
    """Write the config and the origin beside it; the config as it was is kept.

    Returns:
        Where the config as it was is; None where there was none.
    """
    path, _ = config_text(config)
    origin = path.parent / taken.origin
    backup = path.with_name(f"{path.name}.bak") if path.exists() else None
    try:
        if backup is not None:
            shutil.copy2(path, backup)
        path.parent.mkdir(parents=True, exist_ok=True)
        origin.write_text(jsonlib.dumps(taken.document, ensure_ascii=False, indent=2) + "\n", "utf-8")
        path.write_bytes(text.encode())
    except OSError as problem:
        raise PegboardError(
            f"It cannot be written: {problem.strerror}.", where=str(path), next_step="Name another place with --config."
        ) from problem
    return backup


@dataclass(frozen=True, slots=True)
class Told:
    """What is said of something that is taken over.

    Parameters:
        findings: what means nothing or something else here.
        shape: the document that `--json` prints, as far as it is of this kind alone.
        made: what it becomes here, in words.
        remarks: what else is to be done by hand.
    """

    findings: Sequence[Finding]
    shape: JsonObject
    made: str
    remarks: Sequence[str] = ()


def take_over(config: Path, taken: Taken | None, told: Told, *, write: bool, json: bool) -> int:
    """Print what is taken over, or add it to the config; returns the exit code.

    Parameters:
        config: the config's file, or its folder.
        taken: what is to be added; None where something could not be taken over.
        told: what is said of it.
        write: add it.
        json: print one JSON document.
    """
    text, left = whole(config, taken) if taken is not None else ("", [])
    written = write and taken is not None
    backup = _write(config, text, taken) if written and taken is not None else None
    if json:
        origin = taken.origin if written and taken is not None else None
        findings = [one.to_json() for one in told.findings]
        document({**told.shape, "written": written, "origin": origin, "findings": findings, "left": left})
        return Exit.OK if taken is not None else Exit.FINDING
    tell(told.findings)
    if taken is None:
        say("Nothing is taken over.")
        return Exit.FINDING
    if not write:
        foreign(tables_text(taken.tables))
    for line in (*(() if write else told.remarks), *left):
        say(line)
    kept = f"; the file as it was is {backup}" if backup else ""
    say(f"{told.made}: " + (f"written{kept}." if write else "add it with --write."))
    return Exit.OK


def give_back(what: str, made: Json, findings: Sequence[Finding], *, as_it_was: bool, ok: bool, json: bool) -> int:
    """Print something in Runtype's own form; returns the exit code.

    Parameters:
        what: what it is: `agent` or `flow`.
        made: the document.
        findings: what it means otherwise there.
        as_it_was: whether it is the document that it was taken over from.
        ok: whether all of it means the same there.
        json: print one JSON document.
    """
    if json:
        document({"ok": ok, "as_it_was": as_it_was, what: made, "findings": [one.to_json() for one in findings]})
    else:
        data(jsonlib.dumps(made, ensure_ascii=False, indent=2))
        tell(findings)
    return Exit.OK if ok else Exit.FINDING


def tell(findings: Iterable[Finding]) -> None:
    """Say each finding, the heaviest first."""
    order = list(Weight)
    for one in sorted(findings, key=lambda each: order.index(each.weight)):
        say(clean(str(one)))


def origin_of(config: Path, table: JsonObject) -> Json:
    """The document that a table was made of, or None where it is not there any more."""
    name: Any = table.get("origin")
    path, _ = config_text(config)
    file = path.parent / str(name) if name else None
    if file is None or not file.exists():
        return None
    return read_document(file)


def table_named(tables: JsonObject, kind: str, name: str) -> JsonObject:
    """The table `[kind.NAME]` of a config's file. Raises `ConfigError` where it has none."""
    from pegboard.errors import nearest

    held = as_object(tables.get(kind))
    if name in held:
        return as_object(held[name])
    near = nearest(name, held) or sorted(held)
    step = f"There are: {', '.join(near)}." if near else f"Write [{kind}.{name}]."
    raise ConfigError(f"The config has no [{kind}.{name}].", where=f"{kind} export", next_step=step)
