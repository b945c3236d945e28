"""The meta-tools of a board, as ordinary tools."""

from collections.abc import Mapping

from pegboard.core import Tool, ToolName
from pegboard.discovery import (
    assets,
    call,
    describe,
    documentation,
    health,
    install,
    intent,
    listing,
    manage,
    pages,
    search,
)
from pegboard.discovery.define import bound
from pegboard.discovery.desk import Desk

_TOOLS = (
    (search.SPEC, search.tool_search),
    (describe.SPEC, describe.tool_describe),
    (call.SPEC, call.tool_call),
    (listing.SPEC, listing.list_available_tools),
    (intent.SPEC, intent.find_tool_by_intent),
    (health.SPEC, health.check_service_health),
    (pages.SPEC, pages.result_read),
    (assets.SPEC, assets.asset_read),
    (documentation.SPEC, documentation.get_platform_documentation),
    (install.SPEC, install.request_plugin_install),
    *manage.HANDLERS,
)

META_NAMES = frozenset(spec.name.name for spec, _ in _TOOLS)
"""Wire names that no other tool may take."""

BUILTINS = {spec.name.name: spec for spec in (assets.SPEC, documentation.SPEC)}
"""Tools of the board itself that are in a list only where the config says so."""

_LATER = (pages.SPEC, install.SPEC, *manage.SPECS.values())

SHOWN = tuple(spec for spec, _ in _TOOLS if spec not in _LATER and spec.name.name not in BUILTINS)
"""The meta-tools in a list. `result_read` joins a session's list when one of its results is cut, and
`request_plugin_install` every list where there can be something to ask for."""


def meta_tools(desk: Desk) -> Mapping[ToolName, Tool]:
    """The meta-tools on one board, by name."""
    return {spec.name: bound(spec, handler, desk) for spec, handler in _TOOLS}
