"""How a tool shall look, as it is written in a config or in Python."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pegboard.core import Effects
from pegboard.errors import DefinitionError, nearest
from pegboard.schema.canonical import MODELS, Model
from pegboard.schema.fieldmap import FieldMap
from pegboard.schema.types import Json, as_object


@dataclass(frozen=True, kw_only=True)
class Shape:
    """How one tool shall look; every part may be left out.

    Parameters:
        name: another name.
        title: another title.
        description: another description.
        category: what it is about.
        effects: what a call does to the world, as whoever runs the board knows it.
        input: by the tool's own parameter (a path such as `body.ID` leads inside): `false` hides it, a text renames
            it, a table may hold `hide`, `fix`, `rename`, `values` (the tool's value by ours), `model`, `fields`,
            `default`, `required` and keywords of JSON Schema that narrow it.
        takes: the name of a model, where the arguments together are a record of it; `input` may then hide and fix.
        output: the name of a model; a list of paths to keep; or a field map.
        records: the path of what is given of an answer, or a template over it.
        drop: names, also with `*`, that are taken out of answers wherever they stand.
        flatten: whether objects inside of records become fields of them (`address.city` as `address_city`).
        many: whether an answer is a list of records, where the tool does not say.
        raw: whether each raw answer is kept as an asset.
        preview: the parameter of the tool that makes it only show what it would do, or a table with `parameter` and
            `value`. Tools that preview other tools are `compose.Paired`.
    """

    name: str | None = None
    title: str | None = None
    description: str | None = None
    category: str | None = None
    effects: Effects | None = None
    input: Mapping[str, Json] = field(default_factory=dict[str, Json])
    takes: str | None = None
    output: Mapping[str, Json] | Sequence[str] | str | None = None
    records: str | None = None
    drop: Sequence[str] = ()
    flatten: bool = False
    many: bool | None = None
    raw: bool = False
    preview: Any = None

    @property
    def reshapes_output(self) -> bool:
        """Whether answers change."""
        return self.output is not None or self.records is not None or bool(self.drop) or self.flatten


def _hides(patch: Json) -> bool:
    table = as_object(patch)
    return patch is False or "fix" in table or table.get("hide") is True


@dataclass(frozen=True, kw_only=True)
class Shaping:
    """How the tools of a source shall look.

    Parameters:
        every: what holds for each of its tools, as far as the tool has what it speaks of.
        tools: how single tools look, by name or glob; the first that fits.
        maps: how the source's records become those of the models, by model.
        models: the models of the board by name, besides `User`, `Task` and `Event`.
    """

    every: Shape = Shape()
    tools: Mapping[str, Shape] = field(default_factory=dict[str, Shape])
    maps: Mapping[str, Mapping[str, Json]] = field(default_factory=dict[str, Mapping[str, Json]])
    models: Mapping[str, Model] = field(default_factory=dict[str, Model])

    @property
    def hidden(self) -> frozenset[str]:
        """What no tool of the source shows: the parameters that are hidden or fixed in all of them."""
        return frozenset(name for name, patch in self.every.input.items() if _hides(patch) and "*" not in name)

    @property
    def renamed(self) -> dict[str, str]:
        """The new names of the source's tools, by their own."""
        return {name: shape.name for name, shape in self.tools.items() if shape.name and shape.name != name}

    def mapped(self, name: str, where: str) -> tuple[Model, FieldMap]:
        """A model, with this source's map of it.

        Raises:
            DefinitionError: there is no such model, the source has no map of it, or the map does not make it.
        """
        known = {**MODELS, **self.models}
        if name not in known:
            near = nearest(name, known) or list(known)
            raise DefinitionError(f"There is no model {name!r}.", where=where, next_step=f"Known: {', '.join(near)}.")
        if name not in self.maps:
            raise DefinitionError(
                f"The source has no map of {name}.",
                where=where,
                next_step=f'Write it under `models.{name}` of the source: id = "path.to.id" ...',
            )
        fields = FieldMap.parse(self.maps[name], f"models.{name}")
        known[name].check(fields)
        return known[name], fields
