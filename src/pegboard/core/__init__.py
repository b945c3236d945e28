"""The nouns: frozen data and protocols, no I/O. Read `name`, `spec`, `call`, `tool`, `source`, in this order."""

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
from pegboard.core.definition import definition
from pegboard.core.discoverable import Discoverable, DiscoverableAction, DiscoverableType
from pegboard.core.mode import default_mode, mode_parameter, offers, take_mode, with_modes, without_modes
from pegboard.core.name import ToolName
from pegboard.core.selector import Selection, Selector, select
from pegboard.core.session import AGENT_TOOL_CALLS, Budget, Session
from pegboard.core.source import Health, Listing, Note, NoteKind, Source, SourceState, SourceStatus
from pegboard.core.spec import Effects, Freeform, Hint, Relation, Rung, SourceRef, ToolSpec
from pegboard.core.tool import Tool

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
