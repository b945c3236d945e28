"""How a tool offers its modes: one more parameter in its input, so that every wire and every search shows it."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from pegboard.core.call import Mode
from pegboard.core.spec import Effects, ToolSpec
from pegboard.errors import PegboardError
from pegboard.schema.types import JsonObject, Schema

SAFEST_FIRST = (Mode.SCHEMA, Mode.EXPLORE, Mode.DRY_RUN, Mode.PREVIEW, Mode.EXECUTE)
GENERIC = (Mode.DRY_RUN, Mode.SCHEMA)
"""The modes that every tool has without its author's doing; the pipeline answers them."""

_KEY = "pegboard/mode_parameter"
_OWN = "pegboard/own_modes"
_SAYS = {
    Mode.EXPLORE: "explore lists what could be done",
    Mode.PREVIEW: "preview shows what would change",
    Mode.DRY_RUN: "dry_run only checks",
    Mode.EXECUTE: "execute does it",
    Mode.SCHEMA: "schema shows the input",
}


def mode_named(name: str) -> Mode:
    """The mode of a name, such as `preview` or `dry-run`.

    Raises:
        PegboardError: there is none of that name.
    """
    try:
        return Mode(name.replace("-", "_"))
    except ValueError:
        known = ", ".join(mode.value for mode in Mode)
        raise PegboardError(f"There is no mode {name!r}.", next_step=f"The modes are: {known}.") from None


def with_modes(spec: ToolSpec, modes: Iterable[Mode], *, default: Mode | None = None) -> ToolSpec:
    """The spec of a tool that offers these modes besides execute: its input gains the parameter `mode`.

    Where the tool has a parameter of that name already, the new one is called `call_mode`, `call_mode_2` ...

    Parameters:
        spec: the tool without modes, or with fewer.
        modes: what its handler offers itself, such as `preview`; the generic ones are added.
        default: the mode of a call that names none; None: preview where it has one and its effects hurt or cost,
            else execute.
    """
    bare = without_modes(spec)
    own = {*modes}
    offered = {*own, *GENERIC, Mode.EXECUTE}
    ordered = [mode for mode in SAFEST_FIRST if mode in offered]
    name = _free_name(bare.properties)
    chosen = default or _safest(bare, offered)
    parameter = {
        "type": "string",
        "enum": [mode.value for mode in ordered],
        "default": chosen.value,
        "description": "; ".join(_SAYS[mode] for mode in reversed(ordered)) + ".",
    }
    return replace(
        bare,
        input={**bare.input, "properties": {**bare.properties, name: parameter}},
        modes=tuple(mode.value for mode in ordered if mode is not Mode.EXECUTE),
        meta={**bare.meta, _KEY: name, _OWN: [mode.value for mode in ordered if mode in own]},
    )


def with_own_modes(spec: ToolSpec, modes: Iterable[Mode]) -> ToolSpec:
    """The spec of a tool whose handler answers these modes itself, without a parameter for them on the wire."""
    own = {*modes}
    return replace(spec, meta={**spec.meta, _OWN: [mode.value for mode in SAFEST_FIRST if mode in own]})


def without_modes(spec: ToolSpec) -> ToolSpec:
    """The same spec without the parameter that `with_modes` added."""
    name = mode_parameter(spec)
    if name is None:
        return spec
    properties = {key: value for key, value in spec.properties.items() if key != name}
    meta = {key: value for key, value in spec.meta.items() if key not in (_KEY, _OWN)}
    return replace(spec, input={**spec.input, "properties": properties}, modes=(), meta=meta)


def mode_parameter(spec: ToolSpec) -> str | None:
    """The name of the parameter that chooses the mode, or None where the tool has none."""
    name = spec.meta.get(_KEY)
    return name if isinstance(name, str) and name in spec.properties else None


def default_mode(spec: ToolSpec) -> Mode:
    """The mode of a call that names none."""
    name = mode_parameter(spec)
    if name is None:
        return Mode.EXECUTE
    return Mode(spec.properties[name]["default"])


def offers(spec: ToolSpec, mode: Mode) -> bool:
    """Whether the tool's own handler runs in this mode."""
    return mode is Mode.EXECUTE or mode.value in spec.meta.get(_OWN, ())


def own_modes(spec: ToolSpec) -> tuple[Mode, ...]:
    """The modes besides execute that the tool's own handler runs in."""
    return tuple(Mode(mode) for mode in spec.meta.get(_OWN, ()))


def take_mode(spec: ToolSpec, arguments: JsonObject) -> tuple[Mode | None, JsonObject]:
    """Split the mode off the arguments; what is no mode, or no object, stays as it is, for the guard to refuse."""
    name = mode_parameter(spec)
    if name is None or not isinstance(arguments, Mapping) or arguments.get(name) not in set(Mode):  # pyright: ignore[reportUnnecessaryIsInstance]
        return None, arguments
    return Mode(arguments[name]), {key: value for key, value in arguments.items() if key != name}


def relaxed(schema: Schema) -> Schema:
    """The same input with nothing required, for modes that need no arguments (explore)."""
    return {key: value for key, value in schema.items() if key != "required"}


def _safest(spec: ToolSpec, offered: set[Mode]) -> Mode:
    hurts = spec.costly or spec.effects is Effects.DESTRUCTIVE
    return Mode.PREVIEW if Mode.PREVIEW in offered and hurts else Mode.EXECUTE


def _free_name(properties: Mapping[str, Any]) -> str:
    names = ["mode", "call_mode", *(f"call_mode_{n}" for n in range(2, len(properties) + 3))]
    return next(name for name in names if name not in properties)
