"""The nouns: frozen data and protocols, no I/O. Read `name`, `spec`, `call`, `tool`, `source`, in this order."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pegboard.core.definition import definition
from pegboard.core.name import ToolName
from pegboard.core.selector import Selection, Selector, select
from pegboard.core.spec import Effects, Freeform, Hint, Relation, Rung, SourceRef, ToolSpec

if TYPE_CHECKING:
    from pegboard.core.asset import Asset, AssetScheme, Shelf
    from pegboard.core.call import (
        Call,
        Change,
        Failure,
        FailureCode,
        Handler,
        ItemReport,
        Log,
        Middleware,
        Mode,
        Progress,
        Report,
        Result,
        SourceReport,
        Status,
        StepReport,
        pipeline,
    )
    from pegboard.core.discoverable import Discoverable, DiscoverableAction, DiscoverableType
    from pegboard.core.mode import default_mode, mode_parameter, offers, take_mode, with_modes, without_modes
    from pegboard.core.session import AGENT_TOOL_CALLS, Budget, Session
    from pegboard.core.source import Health, Listing, Note, NoteKind, Source, SourceState, SourceStatus
    from pegboard.core.tool import Tool

# Where each other name lives: it is imported when it is first used, so that what needs specs alone starts sooner.
_NAMES = {
    "asset": "Asset AssetScheme Shelf",
    "call": """
        Call Change Failure FailureCode Handler ItemReport Log Middleware Mode Progress Report Result
        SourceReport Status StepReport pipeline
        """,
    "discoverable": "Discoverable DiscoverableAction DiscoverableType",
    "mode": "default_mode mode_parameter offers take_mode with_modes without_modes",
    "session": "AGENT_TOOL_CALLS Budget Session",
    "source": "Health Listing Note NoteKind Source SourceState SourceStatus",
    "tool": "Tool",
}
_HOMES = {name: home for home, names in _NAMES.items() for name in names.split()}

__all__ = [
    "Asset",
    "AssetScheme",
    "AGENT_TOOL_CALLS",
    "Budget",
    "Call",
    "Change",
    "Discoverable",
    "DiscoverableAction",
    "DiscoverableType",
    "Effects",
    "Failure",
    "FailureCode",
    "Freeform",
    "Handler",
    "Health",
    "Hint",
    "ItemReport",
    "Listing",
    "Log",
    "Middleware",
    "Mode",
    "Note",
    "NoteKind",
    "Progress",
    "Relation",
    "Report",
    "Result",
    "Rung",
    "Selection",
    "Selector",
    "Session",
    "Shelf",
    "Source",
    "SourceRef",
    "SourceReport",
    "SourceState",
    "SourceStatus",
    "Status",
    "StepReport",
    "Tool",
    "ToolName",
    "ToolSpec",
    "default_mode",
    "definition",
    "mode_parameter",
    "offers",
    "pipeline",
    "select",
    "take_mode",
    "with_modes",
    "without_modes",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return __all__
