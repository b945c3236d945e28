"""Residency: which tools are in a model's list from the start, and which ones it finds by search."""

from dataclasses import dataclass
from typing import Literal

from pegboard.catalog import Catalog
from pegboard.core import Selection, ToolSpec

Search = Literal["auto", "on", "off"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Residency:
    """The policy.

    Parameters:
        search: `auto`: search at `threshold` tools and more; `on`: the meta-tools always; `off`: every tool is direct.
        threshold: from this number of tools on, only the hot set is direct.
        always: selectors of the hot set.
        max_direct: how many tools are direct at most under search; the rest of the hot set is deferred. What a session
            finds and loads comes on top.
    """

    search: Search = "auto"
    threshold: int = 20
    always: tuple[str, ...] = ()
    max_direct: int = 50


@dataclass(frozen=True, slots=True)
class Exposed:
    """What the policy decides for one catalog.

    Parameters:
        direct: in the list from the start.
        deferred: found by search.
        meta: whether the meta-tools are in the list.
        notes: what a reader should know.
    """

    direct: tuple[ToolSpec, ...]
    deferred: tuple[ToolSpec, ...] = ()
    meta: bool = False
    notes: tuple[str, ...] = ()


def expose(catalog: Catalog, policy: Residency) -> Exposed:
    """Decide the exposure of every tool of a catalog, in the catalog's order."""
    if policy.search == "off":
        return Exposed(catalog.specs, notes=_crowd(catalog, policy))
    if len(catalog) < policy.threshold:
        return Exposed(catalog.specs, meta=policy.search == "on")
    always = Selection.parse(policy.always)
    wanted = [spec for spec in catalog.specs if spec in always or spec.defer is False]
    direct = tuple(wanted[: policy.max_direct])
    shown = {spec.name for spec in direct}
    notes: tuple[str, ...] = ()
    if len(wanted) > len(direct):
        notes = (f"{len(wanted)} tools are to be always loaded; {len(wanted) - len(direct)} of them are deferred,"
                 f" because max_direct is {policy.max_direct}.",)  # fmt: skip
    return Exposed(direct, tuple(spec for spec in catalog.specs if spec.name not in shown), True, notes)


def _crowd(catalog: Catalog, policy: Residency) -> tuple[str, ...]:
    if len(catalog) <= policy.max_direct:
        return ()
    counts = ", ".join(f"{namespace or 'no namespace'} {len(specs)}" for namespace, specs in catalog.namespaces.items())
    return (
        f"All {len(catalog)} tools are in the list, because search is off ({counts})."
        " Set search to auto, or split the board by namespace.",
    )
