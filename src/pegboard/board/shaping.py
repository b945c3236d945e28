"""From the config's tables to the shapes of a source's tools."""

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from pegboard.config import Config, SourceConfig
from pegboard.core import Effects, Shelf, Source
from pegboard.errors import DefinitionError
from pegboard.schema.canonical import Model
from pegboard.schema.shorthand import read_object
from pegboard.schema.types import JsonObject, as_object
from pegboard.sources.python import on_path
from pegboard.sources.shaped import Shape, Shaping, shaped


def reshaped(source: Source, table: SourceConfig, config: Config, shelf: Shelf | None) -> Source:
    """The source with its tools in the shapes that its table gives them.

    Raises:
        DefinitionError: a model of the config cannot be read.
    """
    return shaped(source, shaping_of(table, config.folder), shelf) if table.is_shaped else source


def shaping_of(table: SourceConfig, folder: Path) -> Shaping:
    """The shapes that a source's table gives its tools.

    Raises:
        DefinitionError: a model cannot be read.
    """
    given = table.shaping
    every = {key: given[key] for key in ("input", "output", "records", "drop") if given.get(key)}
    models = as_object(given.get("board"))
    return Shaping(
        every=Shape(**every),
        tools={name: _shape(part) for name, part in as_object(given.get("tools")).items()},
        maps=as_object(given.get("models")),
        models={name: _model(name, as_object(part), folder) for name, part in models.items()},
    )


def _shape(table: JsonObject) -> Shape:
    fields: dict[str, Any] = dict(table)
    if "effects" in fields:
        fields["effects"] = Effects(fields["effects"])
    fields.pop("explore", None)  # always another tool's
    if isinstance(fields.get("preview"), Mapping) and "tool" in fields["preview"]:
        del fields["preview"]  # another tool's: the board pairs them
    return Shape(**fields)


def _model(name: str, table: JsonObject, folder: Path) -> Model:
    where = f"models.{name}"
    python = table.get("python")
    model = Model.of(_class(str(python), folder, where), name) if python else _of_fields(name, table, where)
    says = table.get("description")
    return Model(name, {**model.schema, "description": says}) if says else model


def _of_fields(name: str, table: JsonObject, where: str) -> Model:
    schema = read_object(table.get("fields") or None, f"{where}.fields")
    if schema is None:
        raise DefinitionError("The model has no fields.", where=where, next_step='Write fields = { id = "string" }.')
    return Model(name, schema)


def _class(text: str, folder: Path, where: str) -> Any:
    module, colon, name = text.partition(":")
    try:
        if not colon:
            raise ImportError("a class is written as module:Class")
        with on_path(str(folder), first=True):
            return getattr(import_module(module), name)
    except (ImportError, AttributeError) as problem:
        raise DefinitionError(f"{text} cannot be read: {problem}.", where=f"{where}.python") from None
